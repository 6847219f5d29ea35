// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/two_level.hpp>

#include <functional>

#include "all_gather_suite.hpp"
#include "all_reduce_suite.hpp"
#include "broadcast_suite.hpp"
#include "reduce_scatter_suite.hpp"
#include "reduce_suite.hpp"

/// What every collective promises, by two levels; called by all ranks of `comm`.
namespace two_level_suite {

/// Nodes of a few ranks; most of these numbers do not divide that of all.
template <class F>
void for_nodes(F f) {
    for (int const per_node : {2, 3, 4}) f(per_node);
}

template <class Comm>
void broadcasts(Comm& comm, int rank, int ranks) {
    for_nodes([&](int per_node) {
        for (int const lanes : {1, 4}) {
            papcoll::two_level const policy{.ranks_per_node = per_node, .lanes = lanes, .block_bytes = 520};
            broadcast_suite::promises(comm, rank, ranks, policy);
        }
    });
}

template <class Comm>
void reductions(Comm& comm, int rank, int ranks) {
    for_nodes([&](int per_node) {
        for (int const lanes : {1, 4})
            for (std::size_t const n : {0u, 1u, 5u, 3000u})
                for (int const root : {0, ranks / 2, ranks - 1}) {
                    papcoll::two_level const policy{
                        .ranks_per_node = per_node, .lanes = lanes, .block_bytes = 1000};
                    reduce_suite::check_sum(comm, rank, ranks, n, root, policy);
                }
    });
}

template <class Comm>
void gathers_and_scatters(Comm& comm, int rank, int ranks) {
    for_nodes([&](int per_node) {
        papcoll::two_level const policy{.ranks_per_node = per_node, .lanes = {}, .block_bytes = {}};
        all_gather_suite::promises(comm, rank, ranks, policy);
        reduce_scatter_suite::promises(comm, rank, ranks, policy);
    });
}

template <class Comm>
void all_reductions(Comm& comm, int rank, int ranks) {
    for_nodes([&](int per_node) {
        papcoll::two_level const policy{.ranks_per_node = per_node, .lanes = {}, .block_bytes = {}};
        all_reduce_suite::promises<double>(comm, rank, ranks, policy);
    });
}

template <class Comm>
void mistakes(Comm& comm) {
    double value = 0;
    auto const complaint = [&](papcoll::two_level const& policy) {
        return collective_suite::complaint_of([&] { papcoll::broadcast(comm, value, 0, policy); });
    };
    CHECK(complaint({.ranks_per_node = 0, .lanes = {}, .block_bytes = {}}).find("ranks_per_node") !=
          std::string::npos);
    CHECK(complaint({.ranks_per_node = {}, .lanes = 0, .block_bytes = {}}).find("lanes") !=
          std::string::npos);
    CHECK(complaint({.ranks_per_node = {}, .lanes = {}, .block_bytes = 0}).find("block_bytes") !=
          std::string::npos);
}

} // namespace two_level_suite
