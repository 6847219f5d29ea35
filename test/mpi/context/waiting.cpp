// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 8
// env.single: PAPCOLL_TEST_THREADS=single
// env.mixed: PAPCOLL_TEST_THREADS=mixed
#include <papcoll/monitor.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mpi = boost::mpi;

namespace {

/// Over before MPI is initialised here and destroyed after it is finalized.
std::optional<papcoll::arrival_monitor> outliving;
/// Of a call that the other ranks do not make.
papcoll::request given_up;
bool is_given_up = false;

auto all_have_threads() -> bool {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    MPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return level == MPI_THREAD_MULTIPLE;
}

/// All-reductions of n ones.
struct sum_of_ones {
    explicit sum_of_ones(std::size_t n)
        : in(n, 1)
        , out(n) {}
    auto begin(mpi::communicator const& comm) {
        return papcoll::iall_reduce(comm, in.data(), in.size(), out.data(), std::plus<>(),
                                    papcoll::circulant{});
    }
    [[nodiscard]] auto is_right(mpi::communicator const& comm) const -> bool {
        return std::all_of(out.begin(), out.end(), [&](double x) { return x == comm.size(); });
    }
    std::vector<double> in, out;
};

} // namespace

TEST_CASE("a request progresses while its program waits in MPI, or calls progress()") {
    mpi::communicator const world;
    papcoll::attach(world);
    sum_of_ones sum(200'000);
    bool const threads = all_have_threads();
    auto r = sum.begin(world);
    if (world.rank() != 0) r.wait();
    if (threads) {
        MPI_Barrier(world);
    } else {
        MPI_Request barrier = MPI_REQUEST_NULL;
        MPI_Ibarrier(world, &barrier);
        for (int over = 0; over == 0;) {
            papcoll::progress();
            MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
        }
    }
    r.wait();
    CHECK(sum.is_right(world));
}

TEST_CASE("many requests, waited for together, one by one, and in any order") {
    mpi::communicator const world;
    papcoll::attach(world);
    std::vector<sum_of_ones> sums(60, sum_of_ones(10));
    for (int way = 0; way < 4; ++way) {
        std::vector<papcoll::request> pending;
        for (auto& s : sums) {
            s.out.assign(10, 0);
            pending.push_back(s.begin(world));
        }
        if (way == 0) papcoll::wait_all(pending.begin(), pending.end());
        if (way == 1) std::for_each(pending.rbegin(), pending.rend(), [](auto& r) { r.wait(); });
        if (way == 2)
            while (!papcoll::test_all(pending.begin(), pending.end())) std::this_thread::yield();
        if (way == 3)
            for (std::size_t left = pending.size(); left > 0; --left) {
                auto const ended = papcoll::wait_any(pending.begin(), pending.end());
                REQUIRE(ended != pending.end());
                pending.erase(ended);
            }
        for (auto const& s : sums) CHECK(s.is_right(world));
    }
    std::vector<papcoll::request> none;
    papcoll::wait_all(none.begin(), none.end());
    CHECK(papcoll::wait_any(none.begin(), none.end()) == none.end());
    CHECK(papcoll::test_all(none.begin(), none.end()));
}

TEST_CASE("wait_all waits for all of them before it throws") {
    mpi::communicator const world;
    papcoll::attach(world);
    auto const bad = papcoll::commutative([](double, double) -> double { throw std::domain_error("bad"); });
    sum_of_ones one(50), three(50);
    std::vector<double> in(5000, 1), out(5000);
    std::vector<papcoll::request> pending;
    pending.push_back(one.begin(world));
    pending.push_back(
        papcoll::iall_reduce(world, in.data(), in.size(), out.data(), bad, papcoll::circulant{}));
    pending.push_back(three.begin(world));
    bool threw = false;
    try {
        papcoll::wait_all(pending.begin(), pending.end());
    } catch (std::runtime_error const&) { // a rank may miss a value before it combines one
        threw = true;
    } catch (std::domain_error const&) {
        threw = true;
    }
    CHECK(threw == (world.size() > 1));
    CHECK(one.is_right(world));
    CHECK(three.is_right(world));
}

TEST_CASE("no operation takes the tag of one that is under way, however many come between") {
    mpi::communicator const world;
    papcoll::attach(world);
    auto const p = static_cast<std::size_t>(world.size());
    std::vector<int> gathered(100 * p, -1), mine(100, world.rank());
    auto open = papcoll::open_all_gather(world, gathered.data(), 100, papcoll::ring{});
    int const rounds = world.size() <= 3 ? papcoll::detail::closed_operations + 100 : 50;
    int number = 0;
    for (int i = 0; i < rounds; ++i) {
        number = world.rank() == i % world.size() ? i : -1;
        papcoll::broadcast(world, number, i % world.size(), papcoll::binomial_tree{});
        if (number != i) FAIL("operation " << i << " got the data of another");
    }
    open.contribute(mine.data());
    open.wait();
    for (std::size_t i = 0; i < gathered.size(); ++i) CHECK_UNARY(gathered[i] == static_cast<int>(i / 100));
}

TEST_CASE("a request whose tag comes round waits until the older one has ended") {
    mpi::communicator const world;
    if (world.size() > 3) return;
    papcoll::attach(world);
    std::size_t const n = 100'000; // long: it ends when all drive
    sum_of_ones first(n), second(n);
    auto older = first.begin(world);
    // On every rank the same numbers pass, without messages.
    auto const c = papcoll::context_of(world);
    for (int i = 1; i < papcoll::detail::closed_operations; ++i) c->next_tag(c->tags());
    auto newer = second.begin(world);
    if (world.rank() % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    newer.wait();
    older.wait();
    CHECK(first.is_right(world));
    CHECK(second.is_right(world));
}

TEST_CASE("an operation that has ended holds no tag, though nobody has asked for it and it is observed") {
    mpi::communicator const world = mpi::communicator().split(0);
    if (world.size() > 3) return;
    int seen = 0;
    papcoll::observe(world, [&](papcoll::collective_record const&) { ++seen; });
    sum_of_ones first(10), other(1);
    auto ended = first.begin(world);
    int const many = papcoll::detail::closed_operations + 10;
    for (int i = 0; i < many; ++i)
        papcoll::all_reduce(world, other.in, other.out, std::plus<>(), papcoll::circulant{});
    CHECK(ended.ended());
    ended.wait();
    CHECK(first.is_right(world));
    CHECK(seen == many + 1);
}

TEST_CASE("as many split-phase operations as there are tags may be open, and no more") {
    mpi::communicator const self = mpi::communicator().split(mpi::communicator().rank());
    papcoll::attach(self);
    int const one = 1;
    std::vector<int> out(static_cast<std::size_t>(papcoll::detail::open_operations) + 1);
    std::vector<papcoll::open_request<int>> open;
    for (std::size_t i = 0; i + 1 < out.size(); ++i)
        open.push_back(papcoll::open_all_gather(self, &out[i], 1, papcoll::ring{}));
    CHECK_THROWS_AS((void)papcoll::open_all_gather(self, &out.back(), 1, papcoll::ring{}), std::logic_error);
    for (auto& o : open) o.contribute(&one);
    papcoll::wait_all(open.begin(), open.end());
    CHECK(std::count(out.begin(), out.end(), 1) == papcoll::detail::open_operations);
}

TEST_CASE("a monitor may outlive MPI") {
    mpi::communicator const world;
    outliving.emplace(world);
    outliving->computation_begin();
    outliving->computation_end();
    CHECK(outliving->arrivals().times().size() <= static_cast<std::size_t>(world.size()));
}

TEST_CASE("a request that is under way when MPI is finalized fails") {
    mpi::communicator const world = mpi::communicator().split(0);
    papcoll::attach(world);
    if (world.rank() != 0 || world.size() == 1) return; // who never come
    static std::vector<int> in(4000, 1), out(4000);
    given_up = papcoll::iall_reduce(world, in.data(), in.size(), out.data(), std::plus<>());
    CHECK_FALSE(given_up.test());
    is_given_up = true;
}

namespace {

auto fails(papcoll::request& r) -> bool {
    try {
        r.wait();
    } catch (std::logic_error const& e) {
        return std::string(e.what()).starts_with("papcoll: MPI was finalized");
    }
    return false;
}

/// Uses the monitor and the request when MPI is finalized; what they do wrong ends the program.
struct after_mpi {
    ~after_mpi() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0) return;
        if (is_given_up && !fails(given_up)) std::terminate();
        if (!outliving) return;
        outliving->computation_begin();
        outliving->progress(0.5);
        outliving->computation_end();
        if (outliving->arrivals().given() || !outliving->is_closed()) std::terminate();
    }
} const at_exit;

} // namespace
