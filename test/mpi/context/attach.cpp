// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/monitor.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

/// A duplicate of MPI_COMM_WORLD that is freed at the end.
class duplicate {
public:
    explicit duplicate(MPI_Comm of = MPI_COMM_WORLD) { MPI_Comm_dup(of, &m_comm); }
    duplicate(duplicate const&) = delete;
    auto operator=(duplicate const&) -> duplicate& = delete;
    ~duplicate() { MPI_Comm_free(&m_comm); }
    operator MPI_Comm() const { return m_comm; } // NOLINT(google-explicit-constructor)

private:
    MPI_Comm m_comm = MPI_COMM_NULL;
};

auto rank_of(MPI_Comm comm) -> int {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}
auto size_of(MPI_Comm comm) -> int {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}
auto sum_of_ranks(MPI_Comm comm) -> long { return long{size_of(comm)} * (size_of(comm) - 1) / 2; }

/// Kibibytes of this process in memory.
auto resident() -> long {
    std::ifstream statm("/proc/self/statm");
    long total = 0, in_memory = 0;
    statm >> total >> in_memory;
    return in_memory * (sysconf(_SC_PAGESIZE) / 1024);
}

int copies = 0, deletions = 0;
auto copied(MPI_Comm, int, void*, void* in, void* out, int* flag) -> int {
    ++copies;
    *static_cast<void**>(out) = in;
    *flag = 1;
    return MPI_SUCCESS;
}
auto deleted(MPI_Comm, int, void*, void*) -> int {
    ++deletions;
    return MPI_SUCCESS;
}

} // namespace

TEST_CASE("calls that do not block want an attached communicator, and say so; those that block attach") {
    duplicate const comm;
    long const mine = rank_of(comm);
    long sum = -1;
    std::vector<long> all(static_cast<std::size_t>(size_of(comm)));
    auto const refused = [](auto const& call) {
        try {
            call();
        } catch (std::logic_error const& e) {
            CHECK(std::string(e.what()).find("papcoll::attach(comm)") != std::string::npos);
            return;
        }
        FAIL("it must throw");
    };
    refused([&] { (void)papcoll::iall_reduce(comm, mine, sum, std::plus<>()); });
    refused([&] { (void)papcoll::plan_all_reduce<long>(MPI_Comm(comm), 1, std::plus<>()); });
    refused([&] { (void)papcoll::open_all_gather(comm, all.data(), 1); });
    refused([&] { (void)papcoll::context_of(comm); });
    papcoll::all_reduce(comm, mine, sum, std::plus<>());
    CHECK(sum == sum_of_ranks(comm));
    sum = -1;
    papcoll::iall_reduce(comm, mine, sum, std::plus<>()).wait();
    CHECK(sum == sum_of_ranks(comm));
}

TEST_CASE("nothing of papcoll's is under way on the user's communicator while the user's code runs") {
    for (int repetition = 0; repetition < 20; ++repetition) {
        duplicate const comm;
        papcoll::attach(comm);
        long const mine = rank_of(comm);
        long ours = -1, theirs = -1;
        auto r = papcoll::iall_reduce(comm, mine, ours, std::plus<>());
        MPI_Request native = MPI_REQUEST_NULL;
        MPI_Iallreduce(&mine, &theirs, 1, MPI_LONG, MPI_SUM, comm, &native);
        r.wait();
        MPI_Wait(&native, MPI_STATUS_IGNORE);
        CHECK(ours == sum_of_ranks(comm));
        CHECK(theirs == sum_of_ranks(comm));
        MPI_Comm half = MPI_COMM_NULL; // another communicator's number is allotted
        auto again = papcoll::iall_reduce(comm, mine, ours, std::plus<>());
        MPI_Comm_split(comm, rank_of(comm) % 2, 0, &half);
        again.wait();
        MPI_Comm_free(&half);
    }
}

TEST_CASE("ranks may hold different numbers of communicators when papcoll attaches") {
    std::vector<MPI_Comm> mine(static_cast<std::size_t>(rank_of(MPI_COMM_WORLD) % 3), MPI_COMM_NULL);
    for (auto& comm : mine) MPI_Comm_dup(MPI_COMM_SELF, &comm);
    for (int repetition = 0; repetition < 30; ++repetition) {
        duplicate const comm;
        papcoll::attach(comm);
        if (repetition % 3 == rank_of(MPI_COMM_WORLD) % 3) {
            mine.push_back(MPI_COMM_NULL);
            MPI_Comm_dup(MPI_COMM_SELF, &mine.back());
        }
        long const one = 1;
        long sum = 0;
        papcoll::all_reduce(comm, one, sum, std::plus<>());
        CHECK(sum == size_of(comm));
    }
    for (auto& comm : mine) MPI_Comm_free(&comm);
}

TEST_CASE("while a rank attaches, the operations that others wait for progress") {
    duplicate const a;
    papcoll::attach(a);
    duplicate const b;
    std::vector<double> const in(100'000, 1);
    std::vector<double> out(in.size());
    // Long messages: none is over before its receiver drives.
    auto r = papcoll::iall_reduce(a, in.data(), in.size(), out.data(), std::plus<>(), papcoll::circulant{});
    if (rank_of(a) == 0) {
        papcoll::attach(b);
        r.wait();
    } else {
        r.wait();
        papcoll::attach(b);
    }
    CHECK(out == std::vector<double>(in.size(), size_of(a)));
}

TEST_CASE("while a rank makes a monitor or synchronises a clock, operations progress, too") {
    duplicate const a;
    papcoll::attach(a);
    std::vector<double> const in(100'000, 1);
    std::vector<double> out(in.size());
    for (int what = 0; what < 3; ++what) {
        std::fill(out.begin(), out.end(), 0);
        auto r =
            papcoll::iall_reduce(a, in.data(), in.size(), out.data(), std::plus<>(), papcoll::circulant{});
        papcoll::synchronised_clock clock;
        auto const collective = [&] {
            if (what == 0) papcoll::arrival_monitor const monitor(a);
            if (what == 1) clock.synchronise(a);
            if (what == 2) papcoll::harmonize(a, clock, std::chrono::microseconds(1));
        };
        if (rank_of(a) == 0) collective();
        r.wait();
        if (rank_of(a) != 0) collective();
        CHECK(out == std::vector<double>(in.size(), size_of(a)));
    }
}

TEST_CASE("a rank that synchronises a monitor gives what another waits for in arrivals()") {
    papcoll::arrival_monitor monitor{MPI_COMM_WORLD};
    for (int i = 0; i < 3; ++i) {
        if (rank_of(MPI_COMM_WORLD) == 0) {
            monitor.computation_begin();
            monitor.computation_end();
        }
        (void)monitor.arrivals();
        monitor.synchronise();
    }
    CHECK(monitor.clock().track().known());
}

TEST_CASE("an attachment copies no attributes of the user's, and frees none") {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copied, deleted, &key, nullptr);
    {
        duplicate const comm;
        MPI_Comm_set_attr(comm, key, nullptr);
        copies = deletions = 0;
        papcoll::attach(comm);
        papcoll::attach(comm, {.checks = papcoll::check_level::agreed});
        papcoll::arrival_monitor const monitor(comm);
        CHECK(copies == 0);
        CHECK(deletions == 0);
    }
    CHECK(deletions == 1); // of the user's communicator itself
    MPI_Comm_free_keyval(&key);
}

TEST_CASE("attaching and freeing leaves nothing behind") {
    auto const cycles = [](int n) {
        for (int i = 0; i < n; ++i) {
            duplicate const comm;
            papcoll::attach(comm);
        }
    };
    cycles(30);
    long const before = resident();
    cycles(150);
    CHECK(resident() - before < 2000); // 520 KiB each if the buffers of the ping stayed
}

TEST_CASE("an attachment that is refused leaves nothing, and all ranks learn of it") {
    duplicate const comm;
    constexpr auto latest = std::chrono::hours(1);
    for (papcoll::link_model const& wrong :
         {papcoll::link_model{papcoll::ticks(-1), 1}, papcoll::link_model{latest + papcoll::ticks(1), 1},
          papcoll::link_model{latest, 1.1e9}, papcoll::link_model{latest, 1, 1.1e9}})
        CHECK_THROWS_AS(papcoll::attach(comm, {.link = wrong}), std::invalid_argument);
    CHECK_THROWS_AS((void)papcoll::context_of(comm), std::logic_error);
    papcoll::attach(comm);
    CHECK_NOTHROW((void)papcoll::context_of(comm));
}

TEST_CASE("wrong options of one rank are refused by all") {
    duplicate const comm;
    bool const is_last = rank_of(comm) == size_of(comm) - 1;
    papcoll::attach_options too_much, negative;
    negative.link = papcoll::link_model{papcoll::ticks(1000), is_last ? -1.0 : 1.0};
    if (is_last) too_much.node_memory = (std::size_t(1) << 30U) + 1;
    for (auto const& options : {too_much, negative})
        CHECK_THROWS_AS(papcoll::attach(comm, options), std::invalid_argument);
    CHECK_THROWS_AS((void)papcoll::context_of(comm), std::logic_error);
}

TEST_CASE("an observer may hold other communicators, which end with it, also at the end of MPI") {
    auto const watch = [](MPI_Comm comm) {
        auto const held = std::make_shared<duplicate>();
        papcoll::attach(*held);
        papcoll::observe(comm, [held](papcoll::collective_record const&) {});
    };
    {
        duplicate const comm;
        watch(comm);
        std::vector<int> all(static_cast<std::size_t>(size_of(comm)));
        int const rank = rank_of(comm);
        papcoll::all_gather(comm, &rank, 1, all.data());
        CHECK(all.back() == size_of(comm) - 1);
    }
    MPI_Comm never_freed = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &never_freed);
    watch(never_freed);
}

TEST_CASE("a communicator may be freed while operations are under way on it") {
    long const one = 1;
    long sum = 0;
    papcoll::request r;
    {
        duplicate const comm;
        papcoll::attach(comm);
        r = papcoll::iall_reduce(comm, one, sum, std::plus<>());
    }
    r.wait();
    CHECK(sum == size_of(MPI_COMM_WORLD));
}
