// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/core.hpp>

#include <doctest/doctest.h>
#include <mpi.h>

#include "../support/mixed_suite.hpp"
#include "../support/open_suite.hpp"
#include "../support/shared_memory_suite.hpp"
#include "../support/two_level_suite.hpp"

namespace {

/// A communicator of this test's own: all ranks, or two parts in reversed order.
class group {
public:
    explicit group(bool in_parts = false) {
        int me = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
        MPI_Comm_split(MPI_COMM_WORLD, in_parts && me % 3 == 1 ? 1 : 0, in_parts ? -me : me, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
    }
    group(group const&) = delete;
    auto operator=(group const&) -> group& = delete;
    ~group() { MPI_Comm_free(&comm); }

    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    int ranks = 1;
};

/// What every collective promises, by a policy that has all of them.
template <class Policy>
void all_promises(group const& g, Policy const& policy) {
    auto const& comm = g.comm;
    broadcast_suite::promises(comm, g.rank, g.ranks, policy);
    all_reduce_suite::promises<double>(comm, g.rank, g.ranks, policy);
    gather_suite::promises(comm, g.rank, g.ranks, policy);
    all_gather_suite::promises(comm, g.rank, g.ranks, policy);
    all_gatherv_suite::promises(comm, g.rank, g.ranks, policy);
    reduce_scatter_suite::promises(comm, g.rank, g.ranks, policy);
    reduce_scatter_suite::blocks(comm, g.rank, g.ranks, policy);
    all_to_all_suite::promises(comm, g.rank, g.ranks, policy);
    all_to_allv_suite::promises(comm, g.rank, g.ranks, policy);
    scatter_suite::promises(comm, g.rank, g.ranks, policy);
    rooted_parts_suite::gatherv_promises(comm, g.rank, g.ranks, policy);
    rooted_parts_suite::scatterv_promises(comm, g.rank, g.ranks, policy);
    prefix_suite::promises(comm, g.rank, g.ranks, policy);
    barrier_suite::promises(comm, g.rank, g.ranks, policy);
    operators_suite::rank_order(comm, g.rank, g.ranks, policy);
    for (int const root : {0, g.ranks - 1})
        reduce_suite::check_sum(comm, g.rank, g.ranks, 3'000, root, policy);
}

} // namespace

TEST_CASE("reductions in all forms, plans, requests and mistakes") {
    group const g;
    reduce_suite::all(g.comm, g.rank, g.ranks);
}

TEST_CASE("all collectives through the memory of the node") {
    group const g;
    papcoll::attach(g.comm);
    shared_memory_suite::all(g.comm, g.rank, g.ranks);
    shared_memory_suite::together(g.comm, g.rank, g.ranks);
}

TEST_CASE("all collectives by the default policy, on sub-communicators, too") {
    all_promises(group(), papcoll::automatic{});
    all_promises(group(true), papcoll::automatic{});
}

TEST_CASE("all collectives by the default policy and messages") {
    group const g;
    papcoll::attach(g.comm, {.node_memory = 0});
    all_promises(g, papcoll::automatic{});
}

TEST_CASE("all collectives by the MPI library") {
    all_promises(group(), papcoll::native{});
    all_promises(group(true), papcoll::native{});
}

TEST_CASE("many under way together, by messages") {
    group const g;
    mixed_suite::lengths(g.comm, g.rank, g.ranks, {0, 1, 300, 5'000});
}

TEST_CASE("gathers of data that comes later") {
    group const g;
    open_suite::all_policies(g.comm, g.rank, g.ranks);
}

TEST_CASE("two levels") {
    group const g;
    two_level_suite::all_reductions(g.comm, g.rank, g.ranks);
    two_level_suite::gathers_and_scatters(g.comm, g.rank, g.ranks);
}
