// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 8
// env.single: PAPCOLL_TEST_THREADS=single
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace mpi = boost::mpi;

namespace {

/// circulant, but it cannot plan on some ranks.
struct cannot_plan {
    bool here = false;

    static constexpr bool reorders_operands = true;
    static constexpr auto provides(papcoll::collective_kind operation) -> bool {
        return papcoll::circulant::provides(operation);
    }
    [[nodiscard]] auto name() const -> std::string_view { return "cannot_plan"; }
    void check(papcoll::call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> { return {}; }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const& link) const
        -> papcoll::program {
        if (here) throw std::domain_error("no plan");
        return papcoll::circulant{}.plan(shape, link);
    }
};
static_assert(papcoll::block_policy<cannot_plan>);

template <class F>
auto threw_for_length(F const& f) -> bool {
    try {
        f();
    } catch (std::length_error const&) {
        return true;
    } catch (papcoll::missing_value_error const&) {
        return true;
    }
    return false;
}

void expect_sum(mpi::communicator const& comm) {
    std::vector<int> const in(300, 1);
    std::vector<int> out(in.size());
    papcoll::all_reduce(comm, in, out, std::plus<>());
    CHECK(out == std::vector<int>(in.size(), comm.size()));
}

} // namespace

TEST_CASE("ranks that give different counts throw where the data does not fit") {
    mpi::communicator const world;
    if (world.size() == 1) return;
    papcoll::attach(world);
    for (std::size_t const others : {8u, 2u}) {
        std::vector<int> v(8, world.rank() == 0 ? 7 : 1);
        auto const call = [&] {
            papcoll::broadcast(world, v.data(), world.rank() == 0 ? 4 : others, 0, papcoll::binomial_tree{});
        };
        if (world.rank() == 0)
            call();
        else
            CHECK(threw_for_length(call)); // itself, or one before it on the way
        expect_sum(world);
    }
}

TEST_CASE("bad arguments of one rank leave its later calls in step with those of the others") {
    mpi::communicator const world;
    if (world.size() == 1) return;
    papcoll::attach(world);
    int const leaf = world.size() - 1; // nobody waits for it in a broadcast from rank 0
    for (int i = 0; i < 3; ++i) {
        int value = world.rank() == 0 ? i : -1;
        auto const call = [&] {
            papcoll::broadcast(world, world.rank() == leaf ? nullptr : &value, 1, 0,
                               papcoll::binomial_tree{});
        };
        if (world.rank() == leaf)
            CHECK_THROWS_AS(call(), std::invalid_argument);
        else
            call();
        value = world.rank() == 0 ? 100 + i : -1;
        papcoll::broadcast(world, value, 0, papcoll::binomial_tree{});
        CHECK(value == 100 + i);
        expect_sum(world);
    }
    // What was sent to the leaf and not received there is not mistaken for others when places come round.
    int const many = world.size() <= 3 ? papcoll::detail::closed_operations + 100 : 20;
    for (int i = 0; i < many; ++i) {
        int value = world.rank() == 0 ? i : -1;
        papcoll::broadcast(world, value, 0, papcoll::binomial_tree{});
        if (value != i) FAIL("operation " << i << " got the data of another");
    }
}

TEST_CASE("an operation that cannot be prepared does not keep those behind it") {
    mpi::communicator const world = mpi::communicator().split(0);
    for (auto const checks : {papcoll::check_level::local, papcoll::check_level::agreed}) {
        papcoll::attach(world, {.checks = checks});
        std::vector<int> const in(50, 1);
        std::vector<int> out(in.size()), other(in.size());
        auto const first = [&] {
            auto r = papcoll::iall_reduce(world, in.data(), in.size(), out.data(), std::plus<>(),
                                          cannot_plan{.here = true});
            auto behind = papcoll::iall_reduce(world, in.data(), in.size(), other.data(), std::plus<>());
            behind.wait();
            r.wait();
        };
        CHECK_THROWS_AS(first(), std::domain_error);
        expect_sum(world);
    }
}

TEST_CASE("an operator that throws on one rank is heard of wherever its result is missing") {
    mpi::communicator const world;
    papcoll::attach(world, {.link = papcoll::link_model{papcoll::ticks(1000), 100}}); // long rounds
    int const bad = world.size() / 2;
    auto const op = papcoll::commutative([&](double a, double b) {
        if (world.rank() == bad) throw std::domain_error("bad");
        return a + b;
    });
    std::size_t const n = 4000;
    std::vector<double> in(n, 1), out(n);
    auto const outcome = [&](auto const& call) {
        try {
            call();
        } catch (std::domain_error const&) {
            return 1;
        } catch (papcoll::missing_value_error const&) {
            return 2;
        }
        return 0;
    };
    // Cut at ranks: everybody needs what the bad one combines.
    int const all = outcome([&] { papcoll::all_reduce(world, in, out, op, papcoll::circulant{}); });
    if (all == 0) CHECK(out == std::vector<double>(n, world.size()));
    if (world.size() > 2) CHECK(all == (world.rank() == bad ? 1 : 2));
    int const known = outcome([&] {
        papcoll::all_reduce(world, in, out, op,
                            papcoll::arrival_all_reduce{.arrivals = std::vector<papcoll::ticks>(
                                                            static_cast<std::size_t>(world.size()))});
    });
    if (known == 0) CHECK(out == std::vector<double>(n, world.size()));
    if (world.size() > 2) CHECK(known == (world.rank() == bad ? 1 : 2));
    for (int const root : {0, world.size() - 1}) {
        int const tree = outcome([&] {
            papcoll::reduce(world, in.data(), n, out.data(), op, root,
                            papcoll::circulant{.block_bytes = 999});
        });
        if (world.size() > 2 && world.rank() == root) CHECK(tree != 0);
    }
    expect_sum(world);
}
