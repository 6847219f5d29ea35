// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "all_gather_suite.hpp"
#include "all_gatherv_suite.hpp"
#include "all_reduce_suite.hpp"
#include "broadcast_suite.hpp"
#include "collective_suite.hpp"
#include "reduce_calls.hpp"
#include "reduce_scatter_suite.hpp"

/// All collectives by circulant, under way together; called by all ranks of `comm`.
namespace mixed_suite {

using calls = std::tuple<broadcast_suite::one_call, reduce_calls::one_call, all_gather_suite::one_call,
                         all_gatherv_suite::one_call, reduce_scatter_suite::one_call,
                         all_reduce_suite::one_call<double>, all_reduce_suite::one_call<int>>;

/// `n` elements on each rank, or about as many.
inline auto one_of_each(int rank, int ranks, std::size_t n) -> calls {
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<std::size_t> uneven(p), rich(p);
    for (std::size_t r = 0; r < p; ++r) uneven[r] = r % 3 == 1 ? 0 : n + r * 7 % 5;
    rich[p / 2] = n;
    return {{rank, ranks - 1, n},  {rank, ranks, ranks / 2, n},
            {rank, ranks, n},      {rank, uneven, all_gatherv_suite::layout::backwards_with_gaps},
            {rank, uneven},        {rank, ranks, n},
            {rank, ranks, n, true}};
}

/// Begun in one order, which is all that ranks have to agree on, and completed in any.
template <class Comm, class Policy>
void in_flight(Comm& comm, int rank, int ranks, std::size_t n, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    auto first = one_of_each(rank, ranks, n);
    auto second = one_of_each(rank, ranks, n / 3);
    std::vector<papcoll::request> pending;
    auto const begin = [&](auto&... call) {
        (call.reset(static_cast<int>(pending.size())), ...);
        (pending.push_back(call.begin(comm, policy)), ...);
    };
    std::apply(begin, first);
    std::apply(begin, second);
    if (rank % 3 == 1) { // one by one, from the back
        for (auto i = pending.rbegin(); i != pending.rend(); ++i) i->wait();
    } else if (rank % 3 == 2) { // as they end
        for (std::size_t open = pending.size(); open > 0;) {
            open = 0;
            for (auto& p : pending) open += p.test() ? 0 : 1;
        }
    } else {
        for (auto& p : pending) p.wait();
    }
    auto const check = [](auto const&... call) { (call.check(), ...); };
    std::apply(check, first);
    std::apply(check, second);
}

/// One after the other.
template <class Comm, class Policy>
void one_by_one(Comm& comm, int rank, int ranks, std::size_t n, Policy const& policy) {
    auto each = one_of_each(rank, ranks, n);
    auto const run = [&](auto&... call) {
        (call.reset(0), ...);
        (call.run(comm, policy), ...);
        (call.check(), ...);
    };
    std::apply(run, each);
}

/// On links where circulant takes each of its ways and cuts long messages into the shortest pieces.
template <class Comm>
void lengths(Comm& comm, int rank, int ranks, std::vector<std::size_t> const& lengths) {
    for (auto const& link : {all_reduce_suite::slow_to_begin, all_reduce_suite::slow_to_move}) {
        papcoll::attach(comm, papcoll::attach_options{.link = link});
        for (std::size_t const n : lengths) {
            CAPTURE(n);
            one_by_one(comm, rank, ranks, n, papcoll::circulant{});
            one_by_one(comm, rank, ranks, n, papcoll::circulant{.block_bytes = 5000});
            in_flight(comm, rank, ranks, n, papcoll::circulant{});
        }
    }
}

} // namespace mixed_suite
