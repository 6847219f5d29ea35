// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 5 7 8 13
// env.single: PAPCOLL_TEST_THREADS=single
// env.mixed: PAPCOLL_TEST_THREADS=mixed
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi.hpp>
#include <boost/serialization/vector.hpp>

#include "../../support/padded.hpp"
#include "../../support/reduce_suite.hpp"

namespace mpi = boost::mpi;

TEST_CASE("reduce on a Boost.MPI communicator") {
    mpi::communicator const world;
    reduce_suite::all(world, world.rank(), world.size());
}

TEST_CASE("reduce on an MPI_Comm") {
    mpi::communicator const world;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(world, &comm);
    reduce_suite::roots_and_sizes(comm, world.rank(), world.size());
    reduce_suite::forms(comm, world.rank(), world.size());
    MPI_Comm_free(&comm);
}

TEST_CASE("reduce on sub-communicators in reversed order") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    reduce_suite::roots_and_sizes(part, part.rank(), part.size());
    reduce_suite::delays(part, part.rank(), part.size());
    reduce_suite::requests(part, part.rank(), part.size());
}

TEST_CASE("native gives the same") {
    mpi::communicator const world = mpi::communicator().split(0);
    int const rank = world.rank();
    int const ranks = world.size();
    for (std::size_t const n : {0u, 1u, 1000u}) {
        reduce_suite::check_sum(world, rank, ranks, n, ranks - 1, papcoll::native{});
        auto const in = reduce_suite::values(rank, n);
        std::vector<double> out(n);
        auto r =
            papcoll::ireduce(world, in.data(), n, out.data(), std::plus<>(), ranks - 1, papcoll::native{});
        r.wait();
        if (rank == ranks - 1) CHECK(out == reduce_suite::sums(ranks, n));
    }
    reduce_suite::operators(world, rank, ranks, papcoll::native{});
    papcoll::attach(world);
    auto plan = papcoll::plan_reduce<double>(world, 10, std::plus<>(), 0, papcoll::native{});
    auto values = reduce_suite::values(rank, 10);
    plan.run(mpi::inplace(values.data()));
    CHECK(values == (rank == 0 ? reduce_suite::sums(ranks, 10) : reduce_suite::values(rank, 10)));

    auto const fails = [](int, int) -> int { throw std::range_error("native"); };
    int const one = 1;
    int result = 0;
    auto const call = [&] {
        papcoll::reduce(world, one, result, papcoll::commutative(fails), 0, papcoll::native{});
    };
    bool threw = false;
    try {
        call();
    } catch (std::range_error const&) {
        threw = true;
    }
    CHECK((threw || rank != 0 || ranks == 1));
    CHECK_THROWS_AS(papcoll::reduce(world, one, result, std::plus<>(), -1, papcoll::native{}),
                    std::invalid_argument);
}

TEST_CASE("native requests keep the order of their calls, whatever is ready first") {
    for (bool const agreed : {false, true})
        for (int repetition = 0; repetition < 20; ++repetition) {
            mpi::communicator const world = mpi::communicator().split(0);
            if (agreed)
                papcoll::attach(world, papcoll::attach_options{.checks = papcoll::check_level::agreed});
            int const one = 1, thousand = 1000;
            int first = 0, second = 0;
            auto a = papcoll::ireduce(world, one, first, std::plus<>(), 0, papcoll::native{});
            auto b = papcoll::ireduce(world, thousand, second, std::plus<>(), 0, papcoll::native{});
            b.wait();
            a.wait();
            if (world.rank() == 0) CHECK(first == world.size());
            if (world.rank() == 0) CHECK(second == 1000 * world.size());
        }
}

TEST_CASE("whoever waits progresses the operations of other communicators, too") {
    mpi::communicator const world = mpi::communicator().split(0);
    mpi::communicator const other = world.split(0);
    std::size_t const n = 100000;
    auto const in = reduce_suite::values(world.rank(), n);
    std::vector<double> out(n);
    papcoll::attach(world);
    auto pending = papcoll::ireduce(world, in.data(), n, out.data(), std::plus<>(), 0,
                                    papcoll::clairvoyant{.segments = 8});
    if (world.rank() != 0) pending.wait();
    reduce_suite::check_sum(other, other.rank(), other.size(), n, 0, papcoll::clairvoyant{.segments = 8});
    pending.wait();
    if (world.rank() == 0) CHECK(out == reduce_suite::sums(world.size(), n));
}

TEST_CASE("transports of one's own give their communicators back") {
    mpi::communicator const world;
    for (int repetition = 0; repetition < 3; ++repetition) {
        std::weak_ptr<void> context;
        {
            papcoll::boost_mpi_transport t(world);
            reduce_suite::check_sum(t, t.rank(), t.size(), 500, 0, papcoll::clairvoyant{});
            context = papcoll::context_of(t);
        }
        CHECK(context.expired());
    }
}

TEST_CASE("an agreed check refuses ranks that take different policies, native among them") {
    mpi::communicator const world = mpi::communicator().split(0);
    if (world.size() == 1) return;
    papcoll::attach(world, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    std::vector<int> in(5, 1), out(5);
    if (world.rank() == 0)
        CHECK_THROWS_AS(papcoll::reduce(world, in.data(), 5, out.data(), std::plus<>(), 0, papcoll::native{}),
                        std::invalid_argument);
    else
        CHECK_THROWS_AS(
            papcoll::reduce(world, in.data(), 5, out.data(), std::plus<>(), 0, papcoll::clairvoyant{}),
            std::invalid_argument);
}

TEST_CASE("types with a Boost.MPI datatype that are more than bytes") {
    mpi::communicator const world;
    int const ranks = world.size();
    auto const check = [&](auto const& policy, auto const& op) {
        std::vector<padded> in(300), out(300);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = {world.rank(), static_cast<double>(i)};
        papcoll::reduce(world, in.data(), in.size(), out.data(), op, 0, policy);
        for (std::size_t i = 0; i < in.size() && world.rank() == 0; ++i) {
            CHECK(out[i].count == ranks * (ranks - 1) / 2);
            CHECK(out[i].weight == static_cast<double>(i) * ranks);
        }
    };
    check(papcoll::clairvoyant{.segments = 7}, papcoll::commutative(add_padded{}));
    check(papcoll::native{}, add_padded{});
    for (std::uint64_t seed = 1; seed < 6; ++seed)
        check(papcoll::scheduled<random_reduction>{.algorithm = {seed}, .segments = 5},
              papcoll::commutative(add_padded{}));
}

TEST_CASE("communicators come and go, with requests under way") {
    for (int repetition = 0; repetition < 5; ++repetition) {
        papcoll::request pending;
        std::vector<double> in = reduce_suite::values(mpi::communicator().rank(), 2000), out(2000);
        {
            MPI_Comm comm = MPI_COMM_NULL;
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            papcoll::attach(comm);
            pending = papcoll::ireduce(comm, in.data(), in.size(), out.data(), std::plus<>(), 0,
                                       papcoll::clairvoyant{});
            MPI_Comm_free(&comm);
        }
        pending.wait();
        if (mpi::communicator().rank() == 0)
            CHECK(out == reduce_suite::sums(mpi::communicator().size(), 2000));
    }
}
