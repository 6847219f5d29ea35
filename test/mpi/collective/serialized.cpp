// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "../../support/serialized_suite.hpp"
#include "../../support/used_memory.hpp"

TEST_CASE("values without an MPI datatype") {
    boost::mpi::communicator const world;
    serialized_suite::all(world, world.rank(), world.size());
}

TEST_CASE("long values are not kept when their call has ended") {
    boost::mpi::communicator const all;
    if (all.size() > 3) return;
    double const length = 1 << 23;
    std::string const text(static_cast<std::size_t>(length), static_cast<char>('a' + all.rank()));
    for (std::size_t const memory : {std::size_t(0), std::size_t(1) << 18}) {
        auto const world = all.split(0);
        papcoll::attach(world, {.node_memory = memory});
        auto const keeps_nothing = [&](auto const& call) {
            call(text), call("a"); // what plans and MPI's pools take
            double const before = test_support::used_memory();
            call(text);
            CHECK(test_support::used_memory() - before < length / 2);
        };
        keeps_nothing([&](std::string value) { papcoll::broadcast(world, value, 0); });
        keeps_nothing([&](std::string value) { papcoll::ibroadcast(world, &value, 1, 0).wait(); });
        keeps_nothing([&](std::string const& value) {
            std::vector<std::string> values;
            papcoll::gather(world, value, values, 0);
        });
        keeps_nothing([&](std::string const& value) {
            std::string sum;
            papcoll::all_reduce(world, value, sum, std::plus<>());
        });
    }
}

TEST_CASE("a repeated call moves all of its values") {
    boost::mpi::communicator const world;
    auto const rank = std::to_string(world.rank());
    auto const ranks = static_cast<std::size_t>(world.size());
    std::string joined;
    for (int r = 0; r < world.size(); ++r) joined += std::to_string(r);
    papcoll::binomial_tree const tree{};
    for (int repetition = 0; repetition < 4; ++repetition) {
        std::vector<std::string> const mine{rank, rank + "b", rank + "c"};
        std::vector<std::string> values =
            world.rank() == 0 ? std::vector<std::string>{"x", "y", "z"} : std::vector<std::string>(3);
        papcoll::broadcast(world, values.data(), 3, 0, tree);
        CHECK(values == std::vector<std::string>{"x", "y", "z"});
        std::vector<std::string> sums(3);
        papcoll::all_reduce(world, mine.data(), 3, sums.data(), std::plus<>(), tree);
        CHECK(sums[0] == joined);
        CHECK(sums[2].size() == joined.size() + ranks);
        std::vector<std::string> all(3 * ranks);
        papcoll::all_gather(world, mine.data(), 3, all.data());
        CHECK(all.back() == std::to_string(world.size() - 1) + "c");
        if (world.rank() == 0) {
            papcoll::reduce(world, mine, sums, std::plus<>(), 0, tree);
            CHECK(sums[1].size() == joined.size() + ranks);
        } else {
            papcoll::reduce(world, mine, std::plus<>(), 0, tree);
        }
    }
}
