// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/program.hpp"

/// papcoll-bench model: what the one-ported model of papcoll::simulate says of schedules; no MPI.
namespace bench {

void add_model_schedulers(program& all, CLI::App& group);
void add_model_background(program& all, CLI::App& group);
void add_model_clairvoyant(program& all, CLI::App& group);
void add_model_trees(program& all, CLI::App& group);
void add_model_figure2(program& all, CLI::App& group);
void add_model_gathers(program& all, CLI::App& group);
void add_model_circulant(program& all, CLI::App& group);
void add_model_stragglar(program& all, CLI::App& group);
void add_model_speed(program& all, CLI::App& group);

} // namespace bench
