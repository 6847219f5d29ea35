// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/all_to_all.hpp>
#include <papcoll/program/all_to_all.hpp>
#include <papcoll/program/program_builder.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace papcoll::inline v0 {

PAPCOLL_IMPL auto detail::exchange_plan(block_exchange const& how, call_shape const& shape) -> program {
    program_builder to(shape.in_place);
    write_all_to_all(to, how, shape.rank, leaving_ranges(shape), rank_ranges(shape));
    return to.finish();
}

PAPCOLL_IMPL void all_to_all_linear_sync::check(call_shape const&) const {
    if (window < 1)
        throw std::invalid_argument("papcoll: window must be at least 1, but is " + std::to_string(window));
}

} // namespace papcoll::inline v0
