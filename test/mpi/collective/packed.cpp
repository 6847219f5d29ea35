// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "../../support/own_schedulers.hpp"
#include "../../support/padded.hpp"

namespace mpi = boost::mpi;

// An operator of integers and of sums of halves, which are exact: so that a census may combine it.
template <>
struct papcoll::is_exactly_associative<add_padded, padded> : std::true_type {};

namespace {

using list = std::vector<padded>;

auto of(int rank, std::size_t i) -> padded { return {rank + 1, 0.5 * static_cast<double>(i % 7)}; }
auto values(int rank, std::size_t n) -> list {
    list result;
    for (std::size_t i = 0; i < n; ++i) result.push_back(of(rank, i));
    return result;
}
auto sums(int ranks, std::size_t n) -> list {
    list result;
    for (std::size_t i = 0; i < n; ++i) result.emplace_back(ranks * (ranks + 1) / 2, ranks * of(0, i).weight);
    return result;
}

template <class Policy>
void copies(mpi::communicator const& world, std::size_t n, Policy const& policy) {
    auto const p = static_cast<std::size_t>(world.size());
    auto const mine = values(world.rank(), n);
    auto data = mine;
    papcoll::broadcast(world, data.data(), n, world.size() - 1, policy);
    CHECK(data == values(world.size() - 1, n));
    list all, expected, part;
    for (int r = 0; r < world.size(); ++r) {
        auto const theirs = values(r, n);
        expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
    papcoll::all_gather(world, mine.data(), n, all, policy);
    CHECK(all == expected);
    std::vector<int> sizes(p);
    list some;
    for (std::size_t r = 0; r < p; ++r) {
        sizes[r] = static_cast<int>(r % 3 == 1 ? 0 : n / (r + 1));
        auto const theirs = values(static_cast<int>(r), static_cast<std::size_t>(sizes[r]));
        some.insert(some.end(), theirs.begin(), theirs.end());
    }
    part.assign(mine.begin(), mine.begin() + sizes[static_cast<std::size_t>(world.rank())]);
    papcoll::all_gatherv(world, part, all, sizes, policy);
    CHECK(all == some);
}

template <class Policy>
void gathers(mpi::communicator const& world, std::size_t n, Policy const& policy) {
    list expected;
    for (int r = 0; r < world.size(); ++r) {
        auto const theirs = values(r, n);
        expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
    for (int root = 0; root < world.size(); ++root) {
        auto const mine = values(world.rank(), n);
        list all;
        papcoll::gather(world, mine.data(), n, all, root, policy);
        CHECK(all == (world.rank() == root ? expected : list()));
        CHECK(mine == values(world.rank(), n));
    }
}

template <class Policy, class Op>
void reductions(mpi::communicator const& world, std::size_t n, Policy const& policy, Op const& op) {
    auto const p = static_cast<std::size_t>(world.size());
    auto const mine = values(world.rank(), n * p);
    list out(n * p);
    papcoll::reduce(world, mine.data(), n * p, out.data(), op, 0, policy);
    if (world.rank() == 0) CHECK(out == sums(world.size(), n * p));
    papcoll::all_reduce(world, mine, out, op, policy);
    CHECK(out == sums(world.size(), n * p));
    papcoll::reduce_scatter(world, mine, std::vector<std::size_t>(p, n), out, op, policy);
    auto const expected = sums(world.size(), n * p);
    auto const first = expected.begin() + static_cast<std::ptrdiff_t>(n) * world.rank();
    CHECK(out == list(first, first + static_cast<std::ptrdiff_t>(n)));
}

} // namespace

TEST_CASE("types with a Boost.MPI datatype that are more than bytes, by circulant and a gather tree") {
    mpi::communicator const world;
    for (auto const& link : {papcoll::link_model{papcoll::ticks(1'000'000), 1e-3},
                             papcoll::link_model{papcoll::ticks(1), 100.0}}) {
        papcoll::attach(world, papcoll::attach_options{.link = link});
        for (std::size_t const n : {0u, 1u, 40u, 700u}) {
            copies(world, n, papcoll::circulant{});
            copies(world, n, papcoll::circulant{.block_bytes = 200});
            gathers(world, n, papcoll::knomial_tree{});
            reductions(world, n, papcoll::circulant{}, papcoll::commutative(add_padded{})); // a census, too
        }
    }
}

TEST_CASE("types with a Boost.MPI datatype that are more than bytes, by other policies") {
    mpi::communicator const world;
    auto const inexact = [](padded const& a, padded const& b) { return add_padded{}(a, b); };
    reductions(world, 60, papcoll::circulant{}, papcoll::commutative(inexact));
    copies(world, 60, own_schedulers::round_the_ring{});
    reductions(world, 60, own_schedulers::to_the_owners{}, papcoll::commutative(inexact));
    copies(world, 60, papcoll::native{});
    reductions(world, 60, papcoll::native{}, add_padded{});
}
