// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

void bench::add_model(program& all) {
    auto& group = all.add_group("model", "Schedulers compared in the one-ported model, without MPI");
    add_model_schedulers(all, group);
    add_model_background(all, group);
    add_model_clairvoyant(all, group);
    add_model_trees(all, group);
    add_model_figure2(all, group);
    add_model_gathers(all, group);
    add_model_circulant(all, group);
    add_model_stragglar(all, group);
    add_model_speed(all, group);
}
