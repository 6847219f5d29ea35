// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/impl/barrier_signs.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>

#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// A barrier of ranks that share the memory of their nodes: those of a node tell its first one that they have
/// come, the first ones of all nodes hear of each other by write_signs, and tell the others.
/// `members`: the ranks of this node; `leaders`: the first one of each, in which `node` is this one's.
inline void write_node_barrier(program_builder& to, std::span<int const> members, int rank,
                               std::span<int const> leaders, int node, sign_choice const& chosen) {
    std::span<region const> const nothing;
    if (rank != members.front()) {
        to.post(nothing);
        return to.await(members.front(), 1, nothing);
    }
    std::vector<program::index> heard;
    for (int const other : members.subspan(1)) {
        heard.push_back(to.next());
        to.await(other, 1, nothing);
    }
    heard = write_signs(to, leaders, node, chosen, std::move(heard));
    if (members.size() == 1) return;
    for (auto const earlier : heard) to.after(earlier);
    to.post(nothing);
}

} // namespace papcoll::inline v0::detail
