// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/shared_memory.hpp>

#include <cstddef>
#include <vector>

#include "all_gather_suite.hpp"
#include "all_gatherv_suite.hpp"
#include "all_reduce_suite.hpp"
#include "all_to_all_suite.hpp"
#include "all_to_allv_suite.hpp"
#include "barrier_suite.hpp"
#include "broadcast_suite.hpp"
#include "gather_suite.hpp"
#include "mixed_suite.hpp"
#include "operators_suite.hpp"
#include "prefix_suite.hpp"
#include "reduce_scatter_suite.hpp"
#include "reduce_suite.hpp"
#include "rooted_parts_suite.hpp"
#include "scatter_suite.hpp"

/// All collectives through memory that the ranks share; called by all ranks of `comm`, which are on one node.
namespace shared_memory_suite {

/// Of so little memory that data of a few kilobytes goes through it in many chunks.
inline constexpr std::size_t little_memory = std::size_t(8) << 10;

/// Without what attaches again, by which the memory would become another.
template <class T, class Comm, class Policy>
void all_reductions(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, all_reduce_suite::calls<T>(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, all_reduce_suite::some<T>(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, all_reduce_suite::one_call<T>{rank, ranks, 900}, policy);
    collective_suite::planned(comm, all_reduce_suite::some<T>(rank, ranks), policy);
}
/// Likewise.
template <class Comm, class Policy>
void long_parts(Comm& comm, int rank, int ranks, Policy const& policy) {
    for (auto const& sizes : collective_suite::long_sizes(ranks)) {
        collective_suite::one_by_one(comm, std::vector{all_gatherv_suite::one_call{rank, sizes}}, policy);
        collective_suite::one_by_one(comm, std::vector{reduce_scatter_suite::one_call{rank, sizes}}, policy);
    }
}

template <class Comm>
void all(Comm& comm, int rank, int ranks) {
    papcoll::shared_memory const policy;
    auto const attachments = papcoll::context_of(comm)->attachments();
    broadcast_suite::promises(comm, rank, ranks, policy);
    all_reductions<double>(comm, rank, ranks, policy);
    all_reductions<int>(comm, rank, ranks, policy);
    gather_suite::promises(comm, rank, ranks, policy);
    gather_suite::every_root(comm, rank, ranks, policy);
    all_gather_suite::promises(comm, rank, ranks, policy);
    all_gatherv_suite::promises(comm, rank, ranks, policy);
    reduce_scatter_suite::promises(comm, rank, ranks, policy);
    long_parts(comm, rank, ranks, policy);
    all_to_all_suite::promises(comm, rank, ranks, policy);
    all_to_allv_suite::promises(comm, rank, ranks, policy);
    scatter_suite::promises(comm, rank, ranks, policy);
    scatter_suite::every_root(comm, rank, ranks, policy);
    rooted_parts_suite::gatherv_promises(comm, rank, ranks, policy);
    rooted_parts_suite::scatterv_promises(comm, rank, ranks, policy);
    prefix_suite::promises(comm, rank, ranks, policy);
    barrier_suite::promises(comm, rank, ranks, policy);
    reduce_scatter_suite::blocks(comm, rank, ranks, policy);
    for (std::size_t const n : {0u, 1u, 50u, 3'000u})
        for (int const root : {0, ranks / 2, ranks - 1})
            reduce_suite::check_sum(comm, rank, ranks, n, root, policy);
    operators_suite::rank_order(comm, rank, ranks, policy);
    CHECK(papcoll::context_of(comm)->attachments() == attachments); // always by this memory
    all_reduce_suite::same_bits(comm, rank, ranks, policy);         // attaches
}

/// Several under way at a time, and one after the other, with more calls than there are areas.
template <class Comm>
void together(Comm& comm, int rank, int ranks) {
    for (std::size_t const n : {0u, 1u, 40u, 700u}) {
        mixed_suite::in_flight(comm, rank, ranks, n, papcoll::shared_memory{});
        mixed_suite::one_by_one(comm, rank, ranks, n, papcoll::shared_memory{});
    }
    for (int i = 0; i < 40; ++i)
        mixed_suite::one_by_one(comm, rank, ranks, i % 4 == 3 ? 900 : 3, papcoll::shared_memory{});
}

} // namespace shared_memory_suite
