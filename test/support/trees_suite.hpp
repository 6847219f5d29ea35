// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "all_reduce_suite.hpp"
#include "broadcast_suite.hpp"
#include "collective_suite.hpp"
#include "reduce_calls.hpp"

/// The tree policies; called by all ranks of `comm`.
namespace trees_suite {

/// Matrices modulo a prime: their product does not commute.
using matrix = std::array<std::int64_t, 4>;
struct product {
    auto operator()(matrix const& a, matrix const& b) const -> matrix {
        auto const cell = [&](std::size_t i, std::size_t j) {
            return (a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j]) % 10007;
        };
        return {cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)};
    }
};
inline auto matrix_of(int rank, std::size_t i) -> matrix {
    auto const r = rank + 1;
    return {r, static_cast<std::int64_t>(i % 97) + 2, r * 3 % 7, r + 5};
}

/// In rank order for every root, of few elements and many, in one block and several.
template <class Comm, class Policy>
void rank_order(Comm& comm, int rank, int ranks, Policy const& policy) {
    for (std::size_t const n : {1u, 60u}) {
        std::vector<matrix> in(n), expected(n);
        for (std::size_t i = 0; i < n; ++i) {
            in[i] = matrix_of(rank, i);
            expected[i] = matrix_of(0, i);
            for (int r = 1; r < ranks; ++r) expected[i] = product()(expected[i], matrix_of(r, i));
        }
        for (int root = 0; root < ranks; ++root) {
            CAPTURE(root);
            std::vector<matrix> out(n);
            papcoll::reduce(comm, in.data(), n, out.data(), product(), root, policy);
            CHECK(out == (rank == root ? expected : std::vector<matrix>(n)));
        }
        std::vector<matrix> all(n);
        papcoll::all_reduce(comm, in, all, product(), policy);
        CHECK(all == expected);
    }
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    reduce_calls::promises(comm, rank, ranks, policy);
    broadcast_suite::promises(comm, rank, ranks, policy);
    collective_suite::one_by_one(comm, all_reduce_suite::some<double>(rank, ranks), policy);
    rank_order(comm, rank, ranks, policy);
}

/// True and wrong predictions of one late rank.
template <class Comm>
void arrivals(Comm& comm, int rank, int ranks) {
    using namespace std::chrono_literals;
    reduce_calls::promises(comm, rank, ranks, papcoll::arrival_tree{});
    for (int const late : {0, ranks / 2, ranks - 1})
        for (auto const delay : {0ms, 1ms, 1000ms}) {
            std::vector<papcoll::ticks> times(static_cast<std::size_t>(ranks), papcoll::ticks(-50));
            times[static_cast<std::size_t>(late)] = delay;
            papcoll::arrival_tree const policy{.arrivals = times, .transfer_time = 300us};
            collective_suite::one_by_one(comm, reduce_calls::every_root(rank, ranks), policy);
            collective_suite::late_ranks(comm, rank, ranks,
                                         reduce_calls::one_call{rank, ranks, ranks / 2, 500}, policy);
            collective_suite::one_by_one(comm, all_reduce_suite::some<double>(rank, ranks), policy);
        }
}

template <class Comm>
void all(Comm& comm, int rank, int ranks) {
    using namespace std::chrono_literals;
    promises(comm, rank, ranks, papcoll::binomial_tree{});
    promises(comm, rank, ranks, papcoll::fibonacci_tree{.segments = 3});
    promises(comm, rank, ranks, papcoll::knomial_tree{.radix = 3});
    collective_suite::one_by_one(comm, reduce_calls::every_root(rank, ranks), papcoll::bine_tree{});
    collective_suite::one_by_one(comm, all_reduce_suite::some<double>(rank, ranks),
                                 papcoll::bine_tree{.segments = 3});
    broadcast_suite::promises(comm, rank, ranks, papcoll::bine_tree{});
    promises(comm, rank, ranks, papcoll::greedy_tree{.transfer_time = 5us, .compute_time = 1us});
    rank_order(comm, rank, ranks, papcoll::fibonacci_tree{});
    rank_order(comm, rank, ranks, papcoll::binomial_tree{.segments = 7});
    rank_order(comm, rank, ranks, papcoll::knomial_tree{});
    rank_order(comm, rank, ranks, papcoll::knomial_tree{.radix = 4, .segments = 2});
    rank_order(comm, rank, ranks, papcoll::greedy_tree{.max_transfers = 3});
    rank_order(comm, rank, ranks, papcoll::greedy_tree{.compute_per_element = 1e5, .max_reducers = 2});
    rank_order(comm, rank, ranks,
               papcoll::greedy_tree{.transfer_time = 1us, .compute_time = 4us, .segments = 5});
    arrivals(comm, rank, ranks);
    double const cost = papcoll::agreed_combine_cost<matrix>(comm, product());
    auto const largest = papcoll::commutative([](double a, double b) { return a > b ? a : b; });
    CHECK(cost > 0);
    CHECK(papcoll::all_reduce(comm, cost, largest, papcoll::circulant{}) == cost);
    rank_order(comm, rank, ranks, papcoll::greedy_tree{.compute_per_element = cost});
}

} // namespace trees_suite
