// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.mixed: PAPCOLL_TEST_THREADS=mixed
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/open_suite.hpp"
#include "../../support/open_uneven_suite.hpp"

namespace mpi = boost::mpi;

namespace {

auto all_have_threads() -> bool {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    MPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return level == MPI_THREAD_MULTIPLE;
}
/// Rank 0 hears from all others by a message of the program's own, and does nothing for papcoll meanwhile.
void wait_for_others(mpi::communicator const& comm) {
    for (int peer = 1; peer < comm.size(); ++peer)
        MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
}
void tell_first(mpi::communicator const& comm) { MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, comm); }

} // namespace

TEST_CASE("split-phase collectives, told right and wrong arrivals") {
    mpi::communicator const world;
    open_suite::all_policies(world, world.rank(), world.size());
    open_suite::mistakes(world, world.rank(), world.size());
}

TEST_CASE("a rank forwards what others need while its program is elsewhere") {
    if (!all_have_threads()) return;
    mpi::communicator const world;
    open_suite::elements const all{world.size(), 30'000, 1};
    auto out = all.nothing();
    auto const part = all.part(world.rank());
    papcoll::attach(world);
    auto open = papcoll::open_all_gather(world, out, all.n, papcoll::ring{});
    open.contribute(part.data());
    if (world.rank() == 0) wait_for_others(world);
    open.wait();
    if (world.rank() != 0) tell_first(world);
    CHECK(out == all.whole());
}

TEST_CASE("the root receives what others contribute while its program is elsewhere") {
    if (!all_have_threads()) return;
    mpi::communicator const world;
    open_suite::elements const all{world.size(), 30'000, 1};
    auto out = all.nothing();
    auto const part = all.part(world.rank());
    papcoll::attach(world);
    auto open = papcoll::open_gather(world, out, all.n, 0, papcoll::sorted_linear{});
    if (world.rank() == 0) wait_for_others(world);
    open.contribute(part.data());
    open.wait();
    if (world.rank() != 0) tell_first(world);
    if (world.rank() == 0) CHECK(out == all.whole());
}

TEST_CASE("communicators may go while operations on them wait for data") {
    mpi::communicator const world;
    open_suite::elements const all{world.size(), 50, 1};
    for (int repetition = 0; repetition < 20; ++repetition) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(world, &comm);
        auto out = all.nothing();
        auto const part = all.part(world.rank());
        papcoll::attach(comm);
        auto open = papcoll::open_all_gather(comm, out, all.n, papcoll::ring{});
        MPI_Comm_free(&comm);
        open.contribute(part.data());
        open.wait();
        CHECK(out == all.whole());
    }
}

TEST_CASE("split-phase collectives with agreed checks") {
    mpi::communicator const world;
    auto const comm = world.split(0);
    papcoll::attach(comm, {.checks = papcoll::check_level::agreed});
    bool const last = comm.rank() == comm.size() - 1;
    std::vector<int> out(static_cast<std::size_t>(comm.size()) * 3);
    std::vector<int> const part(3, comm.rank());
    if (comm.size() > 1)
        collective_suite::says("ranks disagree on the policy", [&] {
            std::vector<papcoll::ticks> const arrivals(static_cast<std::size_t>(comm.size()),
                                                       papcoll::ticks{last ? 1 : 2});
            auto open =
                papcoll::open_all_gather(comm, out.data(), 3, papcoll::background_ring{.arrivals = arrivals});
            open.contribute(part.data());
            open.wait();
        });
    open_suite::agreed_checks(comm, comm.rank(), comm.size());
    open_suite::in_flight(comm, comm.rank(), comm.size(), papcoll::background_circulant{});
}

TEST_CASE("split-phase collectives on sub-communicators in reversed order") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    open_suite::all_policies(part, part.rank(), part.size());
}
