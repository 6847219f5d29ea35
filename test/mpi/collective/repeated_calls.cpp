// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 5 7
// env.single: PAPCOLL_TEST_THREADS=single
//
// A blocking call that repeats the last one is known by its description: calls that differ from the last one
// in one thing must not be taken for it.
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/inplace.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <vector>

namespace {

/// Counts its own calls; too long to be kept in place.
struct counting {
    std::array<long, 4> calls{};

    auto operator()(long a, long b) -> long {
        if (++calls[0] > 200) throw std::runtime_error("the operator of another run");
        return a + b;
    }
};

} // namespace

TEST_CASE("calls that differ in one thing from the last one") {
    boost::mpi::communicator const world;
    int const p = world.size();
    int const sum = p * (p + 1) / 2;
    std::vector<int> const in(9, world.rank() + 1);
    std::vector<float> const floats(9, static_cast<float>(world.rank() + 1)); // of the same size as an int
    for (int repetition = 0; repetition < 3; ++repetition) {
        for (std::size_t const n : {std::size_t(4), std::size_t(4), std::size_t(9), std::size_t(0)}) {
            std::vector<int> out(9, -1);
            papcoll::all_reduce(world, in.data(), n, out.data(), std::plus<>());
            for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == (i < n ? sum : -1));
        }
        std::vector<float> of_floats(9);
        papcoll::all_reduce(world, floats.data(), 9, of_floats.data(), std::plus<>());
        CHECK(of_floats[8] == static_cast<float>(sum));
        std::vector<int> out(9, -1);
        papcoll::all_reduce(world, in.data(), 9, out.data(), std::plus<>());
        papcoll::all_reduce(world, in.data(), 9, out.data(), std::bit_or<>());
        CHECK(out[8] == [&] {
            int all = 0;
            for (int r = 1; r <= p; ++r) all |= r;
            return all;
        }());
        auto both = in;
        papcoll::all_reduce(world, boost::mpi::inplace(both.data()), 9, std::bit_or<>());
        CHECK(both == out);
        papcoll::all_reduce(world, in.data(), 9, out.data(), std::plus<>(), papcoll::binomial_tree{});
        CHECK(out[8] == sum);
        papcoll::all_reduce(world, in.data(), 9, out.data(), std::plus<>(),
                            papcoll::circulant{.block_bytes = 8});
        CHECK(out[8] == sum);
        for (int root = 0; root < p; ++root) {
            std::vector<int> value(9, world.rank());
            papcoll::broadcast(world, value.data(), 9, root);
            CHECK(value == std::vector<int>(9, root));
        }
        CHECK_THROWS_AS(papcoll::broadcast(world, static_cast<int*>(nullptr), 0, p), std::invalid_argument);
    }
}

TEST_CASE("a call that is bad after good ones throws as a first one does") {
    boost::mpi::communicator const world(MPI_COMM_SELF,
                                         boost::mpi::comm_duplicate); // its failures are its own
    std::vector<int> values(9, 1), out(9);
    for (int i = 0; i < 2; ++i) papcoll::all_reduce(world, values.data(), 9, out.data(), std::plus<>());
    int const* const nothing = nullptr;
    CHECK_THROWS_AS(papcoll::all_reduce(world, nothing, 9, out.data(), std::plus<>()), std::invalid_argument);
    CHECK_THROWS_AS(papcoll::all_reduce(world, values.data(), 9, static_cast<int*>(nullptr), std::plus<>()),
                    std::invalid_argument);
    CHECK_THROWS_AS(papcoll::all_reduce(world, values.data(), 9, values.data(), std::plus<>()),
                    std::invalid_argument);
    papcoll::all_reduce(world, values.data(), 9, out.data(), std::plus<>());
    CHECK(out == values);
}

TEST_CASE("each run of a plan has an operator of its own") {
    boost::mpi::communicator const world;
    papcoll::attach(world);
    auto plan =
        papcoll::plan_all_reduce<long>(world, 5, papcoll::commutative(counting()), papcoll::circulant{});
    std::vector<long> const in(5, 1);
    std::vector<long> out(5);
    for (int i = 0; i < 100; ++i) plan.run(in.data(), out.data());
    CHECK(out == std::vector<long>(5, world.size()));
}
