// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// All collectives, of ranks that are on one node, through memory that they share (see node_exchange): data
/// is copied into it and taken, or combined, from there. Operands are combined in the order of the ranks; of
/// reduce, reduce_scatter and long all_reduces on three ranks or more, in calls that block, in the order in
/// which they come, where the operator is exact or in_any_order says so.
/// Nobody waits who only gives, as long as there is room: the ranks of a gather or a reduce that are not the
/// root, and the root of a broadcast or a scatter. There is room for about two thirds of what each rank
/// shares, 176 KiB unless attach_options::node_memory says otherwise, and for up to a chunk less where whole
/// chunks do not fill it; of what arrives in time the root has combined all when the last rank comes. In
/// longer reductions of more than two ranks each rank combines a share; longer scans go from rank to rank.
/// Where ranks know their own sizes alone (gatherv, scatterv, all_to_allv) parts that are very long go by
/// messages.
///
/// For elements that travel as their bytes, where attach could share memory and all ranks of the communicator
/// are on one node; see attach_options::node_memory. `automatic` takes it there. O(n) instructions for n
/// chunks of up to an eighth of that memory.
struct shared_memory {
    static constexpr bool reorders_operands = false;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind) -> bool { return true; }

    [[nodiscard]] auto name() const -> std::string_view { return "shared_memory"; }
    /// Whether a call of this shape can be made so.
    [[nodiscard]] static auto serves(call_shape const& shape) -> bool;
    /// Throws std::invalid_argument where it cannot.
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(shared_memory const&, shared_memory const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/shared_memory.hpp>
#endif
