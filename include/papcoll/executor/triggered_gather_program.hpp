// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <cstddef>
#include <vector>

namespace papcoll::inline v0 {

/// Who sends what in a triggered gather; the same on all ranks but for the offsets. Plans keep it.
struct triggered_gather_program {
    int root = 0;
    /// The ranks that have elements, without the root, in the order in which it asks them.
    std::vector<int> order;
    /// What each rank has, in elements; where it begins counts at the root.
    std::vector<block_range> parts;
    /// Elements of a rank's first message, at least 1.
    std::size_t first_elements = 1;

    /// The memory behind it.
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return detail::held_bytes(order) + detail::held_bytes(parts);
    }
};

} // namespace papcoll::inline v0
