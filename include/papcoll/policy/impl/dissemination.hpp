// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/dissemination.hpp>
#include <papcoll/program/dissemination_barrier.hpp>
#include <papcoll/program/program_builder.hpp>

namespace papcoll::inline v0 {

PAPCOLL_IMPL auto dissemination::plan(call_shape const& shape, link_model const&) const -> program {
    program_builder to;
    write_dissemination_barrier(to, shape.ranks, shape.rank, radix);
    return to.finish();
}

} // namespace papcoll::inline v0
