// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 2 3
// env.single: PAPCOLL_TEST_THREADS=single
// env.tcp: PAPCOLL_TEST_THREADS=single OMPI_MCA_btl=self,tcp
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

// Messages that the program sends by MPI itself go on while its ranks are in calls through shared memory, of
// which MPI knows nothing: one of 4 MiB leaves piece by piece, whenever its sender lets the MPI library work.

namespace mpi = boost::mpi;
using papcoll::shared_memory;

namespace {

constexpr int message_bytes = 4 << 20;

enum class form { blocking, begun };

/// The sum over the ranks.
auto sum_of(mpi::communicator const& comm, std::vector<int> const& in, form how) -> std::vector<int> {
    std::vector<int> out(in.size());
    if (how == form::begun)
        papcoll::iall_reduce(comm, in.data(), in.size(), out.data(), std::plus<>(), shared_memory{}).wait();
    else
        papcoll::all_reduce(comm, in.data(), in.size(), out.data(), std::plus<>(), shared_memory{});
    return out;
}

/// All ranks' strings, each of so many characters. The boxes of a node have room for some of 10, of longer
/// ones the contents follow as messages.
auto strings_of(mpi::communicator const& comm, std::size_t n, form how) -> std::vector<std::string> {
    std::vector<std::string> out(static_cast<std::size_t>(comm.size()));
    std::string const mine(n, 'a');
    if (how == form::begun)
        papcoll::iall_gather(comm, &mine, 1, out.data()).wait();
    else
        papcoll::all_gather(comm, &mine, 1, out.data());
    return out;
}

/// A message from rank 0 to the last one.
class message {
public:
    explicit message(mpi::communicator const& comm)
        : m_receiver(comm.size() - 1)
        , m_rank(comm.rank())
        , m_data(static_cast<std::size_t>(message_bytes), m_rank == 0 ? 'x' : '-') {
        if (m_rank == 0) MPI_Isend(m_data.data(), message_bytes, MPI_CHAR, m_receiver, 0, comm, &m_request);
        if (m_rank == m_receiver) MPI_Irecv(m_data.data(), message_bytes, MPI_CHAR, 0, 0, comm, &m_request);
    }
    message(message const&) = delete;
    auto operator=(message const&) -> message& = delete;

    [[nodiscard]] auto is_for(int rank) const -> bool { return rank == m_receiver; }
    auto is_there() -> bool {
        int there = 0;
        MPI_Test(&m_request, &there, MPI_STATUS_IGNORE);
        return there != 0;
    }
    /// It is over.
    void check() {
        MPI_Wait(&m_request, MPI_STATUS_IGNORE);
        if (m_rank == m_receiver) CHECK(std::count(m_data.begin(), m_data.end(), 'x') == message_bytes);
    }

private:
    int m_receiver;
    int m_rank;
    std::vector<char> m_data;
    MPI_Request m_request = MPI_REQUEST_NULL;
};

void compute(std::chrono::microseconds time) {
    auto const end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) continue;
}

/// The receiver waits for it in MPI before it comes to the call.
void while_it_waits(mpi::communicator const& comm, form how) {
    for (std::size_t const n : {1u, 3'000u, 100'000u}) {
        message m(comm);
        if (m.is_for(comm.rank())) m.check();
        CHECK(sum_of(comm, std::vector<int>(n, 1), how) == std::vector<int>(n, comm.size()));
        m.check();
    }
    for (std::size_t const n : {10u, 1'100u, 2'000u, 3'000u, 100'000u}) {
        message m(comm);
        if (m.is_for(comm.rank())) m.check();
        CHECK(strings_of(comm, n, how) ==
              std::vector<std::string>(static_cast<std::size_t>(comm.size()), std::string(n, 'a')));
        m.check();
    }
}
/// Rank 0 always comes last, waits for nobody, and makes calls until the message is there.
void while_it_never_waits(mpi::communicator const& comm, form how) {
    for (std::size_t const n : {1u, 3'000u}) {
        message m(comm);
        for (int there = 0; there == 0;) {
            if (comm.rank() == 0) compute(std::chrono::microseconds(200));
            bool const seen = m.is_for(comm.rank()) && m.is_there();
            there = sum_of(comm, std::vector<int>(n, seen ? 1 : 0), how).front();
        }
        m.check();
    }
}

} // namespace

TEST_CASE("messages of the program progress while ranks wait in shared memory") {
    mpi::communicator const world = mpi::communicator().split(0);
    papcoll::attach(world);
    while_it_waits(world, form::blocking);
    while_it_waits(world, form::begun);
    papcoll::attach(world, {.checks = papcoll::check_level::agreed}); // driven with others
    while_it_waits(world, form::blocking);
}

TEST_CASE("messages of the program progress while a rank makes calls in which it never waits") {
    mpi::communicator const world = mpi::communicator().split(0);
    papcoll::attach(world);
    while_it_never_waits(world, form::blocking);
    while_it_never_waits(world, form::begun);
    papcoll::attach(world, {.checks = papcoll::check_level::agreed}); // driven with others
    while_it_never_waits(world, form::blocking);
}
