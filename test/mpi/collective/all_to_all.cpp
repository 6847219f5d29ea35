// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/serialization/utility.hpp>

#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../support/all_to_all_suite.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    CAPTURE(comm.rank());
    all_to_all_suite::promises(comm, comm.rank(), comm.size(), policy);
    all_to_all_suite::forms(comm, comm.rank(), comm.size(), policy);
}

/// f(policy) for each algorithm.
template <class F>
void for_each_algorithm(F const& f) {
    f(papcoll::all_to_all_linear{});
    f(papcoll::all_to_all_pairwise{});
    f(papcoll::all_to_all_bruck{});
    f(papcoll::all_to_all_linear_sync{.window = 2});
}

/// Blocks of n elements made by make(from, to, i), apart and in place.
template <class T, class Make, class Policy>
void exchange(mpi::communicator const& comm, std::size_t n, Make const& make, Policy const& policy) {
    std::vector<T> in, expected, out;
    for (int r = 0; r < comm.size(); ++r)
        for (std::size_t i = 0; i < n; ++i) {
            in.push_back(make(comm.rank(), r, i));
            expected.push_back(make(r, comm.rank(), i));
        }
    papcoll::all_to_all(comm, in, n, out, policy);
    CHECK((out == expected));
    papcoll::iall_to_all(comm, boost::mpi::inplace(in.data()), n, policy).wait();
    CHECK((in == expected));
}

} // namespace

TEST_CASE("all_to_all by papcoll's policies") {
    mpi::communicator const world;
    for_each_algorithm([&](auto const& policy) { promises(world, policy); });
}

TEST_CASE("all_to_all by the MPI library") { promises(mpi::communicator(), papcoll::native{}); }

TEST_CASE("all_to_all of long blocks") {
    mpi::communicator const world;
    auto const make = [](int from, int to, std::size_t i) {
        return std::complex<double>(from * 100 + to, static_cast<double>(i));
    };
    auto const run = [&](auto const& policy) { exchange<std::complex<double>>(world, 5000, make, policy); };
    for_each_algorithm(run);
    run(papcoll::native{});
}

TEST_CASE("all_to_all of a type that MPI packs") {
    mpi::communicator const world;
    using element = std::pair<int, double>; // has a Boost.MPI datatype and is not trivially copyable
    static_assert(!std::is_trivially_copyable_v<element>);
    auto const make = [](int from, int to, std::size_t i) {
        return element(from * 100 + to, static_cast<double>(i) / 3);
    };
    for (std::size_t const n : {0u, 1u, 500u})
        for_each_algorithm([&](auto const& policy) { exchange<element>(world, n, make, policy); });
}

TEST_CASE("all_to_all on sub-communicators in reversed order") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    promises(part, papcoll::all_to_all_bruck{});
    promises(part, papcoll::all_to_all_linear_sync{.window = 2});
}

TEST_CASE("all_to_all: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    all_to_all_suite::bad_arguments(part, part.rank(), part.size());
    all_to_all_suite::agreed_checks(part, part.rank(), part.size());
}
