// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 2 3 5
// env.single: PAPCOLL_TEST_THREADS=single
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/inplace.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../../support/shared_memory_suite.hpp"

// Calls through shared memory that go wrong.
//
// Promised: a rank that has thrown alone, or that makes another call than the others, is found out by those
// who need its data when it makes its next call on the communicator, or has come to its own; they throw then,
// and all are in step again. A rank that never calls again is waited for, as in MPI.
//
// Not promised: that those throw who do not need its data; and that a rank which agrees with some and not
// with others gets right data in a call in which ranks disagree, such as a broadcast of which two ranks think
// that they are the root.

namespace mpi = boost::mpi;
using papcoll::shared_memory;

namespace {

/// No rank is more calls ahead of another.
constexpr int most = papcoll::detail::node_memory::sign_lines;

enum class ending {
    well,
    told, ///< of a disagreement, or that data is missing
    own   ///< by what the operator of this rank threw
};
template <class F>
auto ending_of(F const& f) -> ending {
    try {
        f();
    } catch (papcoll::missing_value_error const&) {
        return ending::told;
    } catch (std::invalid_argument const&) {
        return ending::told;
    } catch (std::length_error const&) {
        return ending::told;
    } catch (std::domain_error const&) {
        return ending::own;
    }
    return ending::well;
}

/// Short data and long.
void expect_sums(mpi::communicator const& comm) {
    for (std::size_t const n : {3u, 60'000u}) {
        std::vector<int> const in(n, comm.rank() + 1);
        std::vector<int> out(n);
        papcoll::all_reduce(comm, in, out, std::plus<>(), shared_memory{});
        CHECK(out == std::vector<int>(n, comm.size() * (comm.size() + 1) / 2));
    }
}

/// In doubles: of nothing, in a short area, in the long one, and in many chunks.
constexpr std::size_t none = 0, few = 5, some = 9'000, many = 200'000;
using counts = std::pair<std::size_t, std::size_t>;
constexpr counts disagreements[] = {{few, few + 1}, {few, none},      {none, few},  {few, some},
                                    {some, few},    {some, some + 1}, {some, many}, {many, many - 1},
                                    {many, none},   {none, many}};

/// f(count, whether this rank is the one that differs) for each pair of counts and each rank that differs.
template <class F>
void for_disagreements(mpi::communicator const& world, F f) {
    for (auto const& [n, other] : disagreements)
        for (int const odd : {0, world.size() - 1}) {
            CAPTURE(n);
            CAPTURE(other);
            CAPTURE(odd);
            f(world.rank() == odd ? other : n, odd);
            expect_sums(world);
        }
}

} // namespace

TEST_CASE("ranks that disagree on the count: those who need the data of others throw, blocking") {
    mpi::communicator const world;
    papcoll::attach(world);
    std::vector<double> in(many, 1), out(many);
    for_disagreements(world, [&](std::size_t n, int) {
        auto const all = ending_of(
            [&] { papcoll::all_reduce(world, in.data(), n, out.data(), std::plus<>(), shared_memory{}); });
        if (n > 0) CHECK(all == ending::told);
    });
    std::vector<double> gathered(many * static_cast<std::size_t>(world.size()));
    for_disagreements(world, [&](std::size_t n, int) {
        auto const all =
            ending_of([&] { papcoll::all_gather(world, in.data(), n, gathered.data(), shared_memory{}); });
        if (n > 0) CHECK(all == ending::told);
    });
    for_disagreements(world, [&](std::size_t n, int odd) {
        auto const there = ending_of([&] { papcoll::broadcast(world, out.data(), n, 0, shared_memory{}); });
        bool const receives_from_another = world.rank() != 0 && (odd == 0 || world.rank() == odd);
        if (n > 0 && receives_from_another) CHECK(there == ending::told);
    });
    for_disagreements(world, [&](std::size_t n, int) {
        auto const there = ending_of(
            [&] { papcoll::reduce(world, in.data(), n, out.data(), std::plus<>(), 0, shared_memory{}); });
        if (n > 0 && world.rank() == 0) CHECK(there == ending::told);
    });
}

TEST_CASE("ranks that disagree on the count, with others under way") {
    mpi::communicator const world;
    papcoll::attach(world);
    std::vector<double> in(many, 1), out(many), good(some);
    for_disagreements(world, [&](std::size_t n, int) {
        auto bad = papcoll::iall_reduce(world, in.data(), n, out.data(), std::plus<>(), shared_memory{});
        auto behind =
            papcoll::iall_reduce(world, in.data(), some, good.data(), std::plus<>(), shared_memory{});
        CHECK(ending_of([&] { behind.wait(); }) == ending::well);
        CHECK(std::count(good.begin(), good.end(), world.size()) == static_cast<std::ptrdiff_t>(some));
        auto const all = ending_of([&] { bad.wait(); });
        if (n > 0) CHECK(all == ending::told);
    });
}

TEST_CASE("ranks that disagree on the root, or on what they call") {
    mpi::communicator const world;
    papcoll::attach(world);
    int const last = world.size() - 1;
    std::vector<double> in(many, 1), out(many);
    for (std::size_t const n : {few, some, many})
        for (int const odd : {0, last}) {
            CAPTURE(n);
            CAPTURE(odd);
            bool const differs = world.rank() == odd;
            auto const reduced = ending_of([&] {
                papcoll::reduce(world, in.data(), n, out.data(), std::plus<>(), differs ? last : 0,
                                shared_memory{});
            });
            if (odd == last && world.rank() == 0) CHECK(reduced == ending::told);
            expect_sums(world);
            (void)ending_of(
                [&] { papcoll::broadcast(world, out.data(), n, differs ? last : 0, shared_memory{}); });
            expect_sums(world);
            auto const mixed = ending_of([&] {
                if (differs)
                    papcoll::all_to_all(world, in.data(), few, out.data(), shared_memory{});
                else
                    papcoll::all_reduce(world, in.data(), n, out.data(), std::plus<>(), shared_memory{});
            });
            CHECK(mixed == ending::told);
            expect_sums(world);
        }
}

TEST_CASE("a rank that throws alone is found out when it makes its next call") {
    mpi::communicator const world;
    papcoll::attach(world);
    int const last = world.size() - 1;
    std::vector<double> in(many, 1), out(many);
    for (std::size_t const n : {few, some, many})
        for (int const bad : {0, last}) {
            auto const all = ending_of([&] {
                papcoll::all_reduce(world, world.rank() == bad ? nullptr : in.data(), n, out.data(),
                                    std::plus<>(), shared_memory{});
            });
            CHECK(all == ending::told);
            expect_sums(world);
            // The next call may go by messages.
            CHECK(ending_of([&] {
                      auto r = papcoll::iall_reduce(world, world.rank() == bad ? nullptr : in.data(), n,
                                                    out.data(), std::plus<>(), shared_memory{});
                      r.wait();
                  }) == ending::told);
            int value = 1;
            papcoll::broadcast(world, value, 0, papcoll::binomial_tree{});
            int sum = 0;
            papcoll::all_reduce(world, value, sum, std::plus<>(), papcoll::circulant{});
            CHECK(sum == world.size());
        }
    // More often than there are areas, where nobody needs its data.
    for (int i = 0; i < most + 10; ++i) {
        int value = world.rank() == 0 ? i : -1;
        auto const there = ending_of([&] {
            papcoll::broadcast(world, world.rank() == last ? nullptr : &value, 1, 0, shared_memory{});
        });
        CHECK((there == ending::told) == (world.rank() == last));
        if (world.rank() != last) CHECK(value == i);
    }
    expect_sums(world);
}

TEST_CASE("an operator that throws on one rank is heard of wherever its result is missing") {
    mpi::communicator const world;
    papcoll::attach(world);
    std::vector<double> in(many, 1), out(many);
    for (int const bad : {0, world.size() - 1})
        for (std::size_t const n : {few, some, many})
            for (bool const begun : {false, true}) {
                CAPTURE(n);
                CAPTURE(bad);
                CAPTURE(begun);
                auto const op = papcoll::commutative([&](double a, double b) {
                    if (world.rank() == bad) throw std::domain_error("bad");
                    return a + b;
                });
                out.assign(many, 0);
                auto const all = ending_of([&] {
                    if (begun)
                        papcoll::iall_reduce(world, in.data(), n, out.data(), op, shared_memory{}).wait();
                    else
                        papcoll::all_reduce(world, in.data(), n, out.data(), op, shared_memory{});
                });
                bool const combines_a_share = n > few;
                if (world.rank() == bad)
                    CHECK(all == ending::own);
                else if (combines_a_share)
                    CHECK(all == ending::told);
                else
                    CHECK(all == ending::well);
                if (all == ending::well)
                    CHECK(std::count(out.begin(), out.end(), world.size()) == static_cast<std::ptrdiff_t>(n));
                expect_sums(world);
            }
}

TEST_CASE("plans stay good when papcoll attaches again with more memory, with less, and with none") {
    mpi::communicator const world = mpi::communicator().split(0);
    papcoll::attach(world);
    std::vector<int> const in(3'000, 1);
    std::vector<int> out(in.size());
    auto plan = papcoll::plan_all_reduce<int>(world, in.size(), std::plus<>(), shared_memory{});
    auto free_plan = papcoll::plan_all_reduce<int>(world, in.size(), std::plus<>());
    auto const expect = [&](auto& p) {
        for (int i = 0; i < 20; ++i) {
            out.assign(in.size(), 0);
            if (i % 2 == 0)
                p.run(in.data(), out.data());
            else
                p.start(in.data(), out.data()).wait();
            CHECK(out == std::vector<int>(in.size(), world.size()));
        }
    };
    expect(plan);
    for (std::size_t const memory : {shared_memory_suite::little_memory, std::size_t(0), std::size_t(1) << 20,
                                     std::size_t(100), std::size_t(64) << 10}) {
        CAPTURE(memory);
        papcoll::attach(world, {.node_memory = memory});
        expect(free_plan);
        if (memory >= shared_memory_suite::little_memory)
            expect(plan);
        else
            CHECK_THROWS_AS(plan.run(in.data(), out.data()), std::invalid_argument);
        expect(free_plan);
    }
}

TEST_CASE("with an observer, and with agreed checks") {
    mpi::communicator const world = mpi::communicator().split(0);
    std::atomic<int> seen{0};
    papcoll::observe(world, [&](papcoll::collective_record const&) { ++seen; });
    shared_memory_suite::together(world, world.rank(), world.size());
    CHECK(seen > 100);
    papcoll::attach(world, {.checks = papcoll::check_level::agreed});
    shared_memory_suite::together(world, world.rank(), world.size());
    papcoll::attach(
        world, {.checks = papcoll::check_level::agreed, .node_memory = shared_memory_suite::little_memory});
    shared_memory_suite::together(world, world.rank(), world.size());
    std::vector<double> in(60, 1), out(60);
    std::size_t const n = world.rank() == 0 ? 50 : 60;
    CHECK_THROWS_AS(papcoll::all_reduce(world, in.data(), n, out.data(), std::plus<>(), shared_memory{}),
                    std::invalid_argument);
    expect_sums(world);
}

TEST_CASE("calls that wait for their turn while later ones are made") {
    mpi::communicator const world = mpi::communicator().split(0);
    for (auto const checks : {papcoll::check_level::local, papcoll::check_level::agreed}) {
        papcoll::attach(world, {.checks = checks});
        // More than there are areas, of rising lengths, so that ranks are at different ones.
        for (int round = 0; round < 10; ++round) {
            std::vector<std::vector<int>> in, out;
            for (std::size_t i = 0; i < std::size_t{most} + 10; ++i) {
                in.emplace_back(1 + i * i * (i % 5 == 4 ? 6 : 1), static_cast<int>(i));
                out.emplace_back(in.back().size());
            }
            std::vector<papcoll::request> pending;
            for (std::size_t i = 0; i < in.size(); ++i)
                pending.push_back(papcoll::iall_reduce(world, in[i].data(), in[i].size(), out[i].data(),
                                                       std::plus<>(), shared_memory{}));
            papcoll::wait_all(pending.begin(), pending.end());
            for (std::size_t i = 0; i < in.size(); ++i)
                CHECK(std::count(out[i].begin(), out[i].end(), static_cast<int>(i) * world.size()) ==
                      static_cast<std::ptrdiff_t>(out[i].size()));
        }
    }
}

TEST_CASE("requests on one communicator beside blocking calls on another") {
    mpi::communicator const world = mpi::communicator().split(0);
    auto const other = world.split(0, -world.rank());
    papcoll::attach(world);
    papcoll::attach(other);
    for (int i = 0; i < 200; ++i) {
        std::size_t const n = i % 7 == 0 ? some : few;
        std::vector<double> in(n, i), out(n);
        auto r = papcoll::iall_reduce(world, in.data(), n, out.data(), std::plus<>(), shared_memory{});
        if (world.rank() % 2 == 0)
            expect_sums(other);
        else if (i % 3 == 0)
            (void)r.test();
        if (world.rank() % 2 != 0) expect_sums(other);
        r.wait();
        CHECK(std::count(out.begin(), out.end(), i * world.size()) == static_cast<std::ptrdiff_t>(n));
    }
}
