// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/collective_kind.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

struct tuning_text; // see context/settings.hpp

} // namespace detail

/// The shape of a call: what policies may look at. The same on all ranks but for `rank`, `displacements` and
/// `in_place`; where is_uneven() also but for `count` and the sizes.
struct call_shape {
    /// Which collective it is.
    collective_kind operation = collective_kind::reduce;
    /// How many ranks take part.
    int ranks = 1;
    int rank = 0;
    /// The root, of collectives that have one.
    int root = 0;
    /// Elements in all: of one rank's data where every rank has or gets the whole (broadcast, reduce,
    /// all_reduce, reduce_scatter, scan, exscan), of all ranks' together in an all-gather, a gather, a
    /// scatter and an all-to-all; where is_uneven() of what this rank has or gets.
    std::size_t count = 0;
    /// The size of an element.
    std::size_t element_bytes = 1;
    /// Elements of each rank where the data belongs to ranks; empty: count ÷ ranks each. Of an uneven gather
    /// or scatter the root has them; elsewhere it is one number, of the rank's own elements. Of an uneven
    /// all-to-all: what comes from each rank.
    std::span<std::size_t const> sizes = {};
    /// Where each rank's elements begin; empty: one rank's behind the other's.
    std::span<std::size_t const> displacements = {};
    /// Of an uneven all-to-all: what goes to each rank.
    std::span<std::size_t const> leaving_sizes = {};
    /// Where what goes to each rank begins.
    std::span<std::size_t const> leaving_displacements = {};
    /// A number for each rank, equal where they share a node; empty: not known.
    std::span<int const> nodes = {};
    /// Bytes that each rank shares with the others of its node for such elements; 0: none.
    std::size_t shared_bytes = 0;
    /// Whether the operator is exactly associative, so that ranks may combine in different orders and still
    /// get the same bits.
    bool exact = false;
    /// Whether a rank may combine what others give in the order in which they come.
    bool any_order = false;
    /// Whether the operator, if there is one, commutes.
    bool commutative = true;
    /// Whether the operator may throw, as one may that is not noexcept and is not the MPI library's own.
    bool may_throw = false;
    /// Whether the plan has buffers of its own for all its calls, which may be in the memory of the node.
    bool own_buffers = false;
    /// Whether the result goes where this rank's operands or part are. Ranks may differ in it.
    bool in_place = false;
    /// Whether the rank contributes its data later, to where the result goes if there is such a place.
    bool late = false;
    /// Whether elements travel serialized: each is one piece, and much longer than it seems.
    bool one_piece = false;
    /// Whether the MPI library has a routine of its own for the call. It has none for other transports, for
    /// values that travel serialized, and for data that is contributed later.
    bool has_native = false;
    /// Which of the candidates of `automatic`, the best by its model first; above 0 where papcoll learns.
    std::size_t candidate = 0;
    /// The tuning table of the environment, for `automatic`; null: none is named.
    detail::tuning_text const* tuning = nullptr;

    /// How many bytes `count` elements have.
    [[nodiscard]] auto bytes() const -> std::size_t { return count * element_bytes; }
    /// Whether each rank knows the sizes of its own parts alone (gatherv, scatterv, all_to_allv). What all
    /// ranks must do alike cannot depend on sizes then.
    [[nodiscard]] auto is_uneven() const -> bool {
        return !sizes.empty() &&
               (operation == collective_kind::gather || operation == collective_kind::scatter ||
                operation == collective_kind::all_to_all);
    }
};

namespace detail {

/// Parts of these sizes; without displacements one behind the other.
[[nodiscard]] inline auto listed_ranges(std::span<std::size_t const> sizes,
                                        std::span<std::size_t const> displacements)
    -> std::vector<block_range> {
    std::vector<block_range> ranges;
    ranges.reserve(sizes.size());
    std::size_t next = 0;
    for (std::size_t r = 0; r < sizes.size(); ++r) {
        ranges.push_back({displacements.empty() ? next : displacements[r], sizes[r]});
        next += sizes[r];
    }
    return ranges;
}

} // namespace detail

/// What belongs to each rank, in elements. Without sizes the count is divided as evenly as it can be. What
/// this rank does not know of the others is empty.
[[nodiscard]] inline auto rank_ranges(call_shape const& shape) -> std::vector<block_range> {
    if (shape.sizes.empty()) return ranges_of({shape.count, shape.ranks});
    auto const ranks = static_cast<std::size_t>(shape.ranks);
    if (shape.sizes.size() == ranks) return detail::listed_ranges(shape.sizes, shape.displacements);
    std::vector<block_range> ranges(ranks);
    ranges[static_cast<std::size_t>(shape.rank)] = {0, shape.sizes[0]};
    return ranges;
}
/// What an all-to-all takes from this rank for each other.
[[nodiscard]] inline auto leaving_ranges(call_shape const& shape) -> std::vector<block_range> {
    if (shape.sizes.empty()) return ranges_of({shape.count, shape.ranks});
    return detail::listed_ranges(shape.leaving_sizes, shape.leaving_displacements);
}

namespace detail {

/// Throws std::invalid_argument where the ranks have parts of different sizes.
inline void require_equal_parts(call_shape const& shape, char const* policy) {
    if (shape.is_uneven())
        throw std::invalid_argument(std::string("papcoll: ") + policy +
                                    " is for parts of equal sizes; choose another policy");
}

/// Into how many blocks the parts of ranks are cut that are long; the others stay whole.
struct part_cut {
    int blocks = 1;
    /// In elements.
    std::size_t longest_whole = 0;

    [[nodiscard]] auto operator()(std::size_t part) const -> int {
        if (part <= longest_whole) return 1;
        return std::max(static_cast<int>(std::min(part, static_cast<std::size_t>(blocks))), 1);
    }
};

} // namespace detail

} // namespace papcoll::inline v0
