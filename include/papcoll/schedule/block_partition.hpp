// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace papcoll::inline v0 {

/// `count` elements cut into `blocks` contiguous blocks whose sizes differ by one at most; with more blocks
/// than elements some are empty. Block b starts at element ⌊b·count/blocks⌋.
struct block_partition {
    /// How many elements there are.
    std::size_t count = 0;
    /// How many blocks they are cut into.
    int blocks = 1;

    /// Where a block begins, in elements.
    [[nodiscard]] constexpr auto offset(int block) const -> std::size_t {
        auto const b = static_cast<std::size_t>(block);
        auto const n = static_cast<std::size_t>(blocks);
        // count = q·n + r, so b·count/n = b·q + b·r/n without overflow
        return b * (count / n) + b * (count % n) / n;
    }
    [[nodiscard]] constexpr auto size(int block) const -> std::size_t {
        return offset(block + 1) - offset(block);
    }
    /// How many elements the longest block has.
    [[nodiscard]] constexpr auto largest() const -> std::size_t {
        auto const n = static_cast<std::size_t>(blocks);
        return count / n + (count % n != 0 ? 1 : 0);
    }
};

/// Where a block lies, in elements.
struct block_range {
    /// Where it begins, in elements.
    std::size_t offset = 0;
    std::size_t size = 0;

    friend auto operator==(block_range const&, block_range const&) -> bool = default;
};

/// The ranges of all blocks of a partition, moved up by `first` elements.
[[nodiscard]] inline auto ranges_of(block_partition const& partition, std::size_t first = 0)
    -> std::vector<block_range> {
    std::vector<block_range> ranges;
    ranges.reserve(static_cast<std::size_t>(partition.blocks));
    for (int b = 0; b < partition.blocks; ++b)
        ranges.push_back({first + partition.offset(b), partition.size(b)});
    return ranges;
}

} // namespace papcoll::inline v0
