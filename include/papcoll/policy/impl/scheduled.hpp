// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/scheduled.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

namespace papcoll::inline v0 {

PAPCOLL_IMPL auto detail::scheduled_plan(call_shape const& shape, link_model const& link,
                                         std::optional<int> segments, std::span<ticks const> arrivals,
                                         scheduler_ref algorithm, std::optional<scheduler_ref> back)
    -> program {
    auto const kind = shape.operation;
    bool const has_parts = kind == collective_kind::all_gather || kind == collective_kind::reduce_scatter;
    auto const ranks = static_cast<std::size_t>(shape.ranks);
    auto const parts = has_parts ? ranks : 1;
    auto most = std::min<std::size_t>(256, static_cast<std::size_t>(most_blocks(shape)) / parts);
    // reversed() looks at the transfers of all ranks.
    if (kind == collective_kind::all_reduce) most = std::min(most, (std::size_t(1) << 20) / ranks);
    auto const wanted = shape.bytes() / parts / (std::size_t(64) << 10);
    int const n = segments.value_or(static_cast<int>(std::max<std::size_t>(std::min(wanted, most), 1)));

    auto const layout = has_parts ? layout_of_ranks(shape, part_cut{n, 0}) : layout_of_root(shape, n);
    auto const windows = windows_for(layout.longest() * shape.element_bytes, shape, link);
    plan_writer plan(shape);
    plan.add(algorithm, layout, windows, arrivals);
    if (kind == collective_kind::all_reduce && back) plan.add(*back, layout, windows, arrivals);
    return plan.finish();
}

} // namespace papcoll::inline v0
