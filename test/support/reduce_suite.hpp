// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/core.hpp>

#include <boost/mpi/inplace.hpp>
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "random_reduction.hpp"

/// What reduce promises on any communicator; called by all ranks of `comm`.
namespace reduce_suite {

struct pair_of {
    std::int32_t low;
    std::int64_t high;
};

/// Stateful and commutative: componentwise sum modulo its member.
struct modular_sum {
    std::int64_t modulus;
    auto operator()(pair_of const& a, pair_of const& b) const -> pair_of {
        return {static_cast<std::int32_t>((a.low + b.low) % modulus), (a.high + b.high) % modulus};
    }
};

/// All to the root, one rank after the other from the last to the first, relative to the root: combines in
/// rank order when the root is 0.
struct chain {
    static constexpr auto kind = papcoll::schedule_kind::reduction;
    static constexpr bool keeps_rank_order = true;
    [[nodiscard]] auto for_rank(papcoll::problem const& p, int rank) const -> papcoll::rank_schedule {
        papcoll::rank_schedule share;
        int const position = (rank - p.root + p.ranks) % p.ranks;
        for (int b = 0; b < p.blocks; ++b) {
            auto const step = [&](int sender) { return papcoll::step_type(p.ranks - 1 - sender) + b; };
            if (position + 1 < p.ranks)
                share.receives.push_back({step(position + 1), (rank + 1) % p.ranks, b});
            if (position > 0) share.sends.push_back({step(position), (rank + p.ranks - 1) % p.ranks, b});
        }
        return share;
    }
};

inline auto value(int rank, std::size_t i) -> double {
    return static_cast<double>((rank + 1) * 3 + static_cast<int>(i % 101));
}
inline auto sum(int ranks, std::size_t i) -> double {
    double total = 0;
    for (int r = 0; r < ranks; ++r) total += value(r, i);
    return total;
}
inline auto values(int rank, std::size_t n) -> std::vector<double> {
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = value(rank, i);
    return v;
}
inline auto sums(int ranks, std::size_t n) -> std::vector<double> {
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = sum(ranks, i);
    return v;
}

template <class Comm, class Policy>
void check_sum(Comm& comm, int rank, int ranks, std::size_t n, int root, Policy const& policy) {
    auto const in = values(rank, n);
    auto const before = in;
    std::vector<double> out(n, -1.0);
    if (rank == root)
        papcoll::reduce(comm, in.data(), n, out.data(), std::plus<>(), root, policy);
    else
        papcoll::reduce(comm, in.data(), n, std::plus<>(), root, policy);
    CHECK(in == before);
    CHECK(out == (rank == root ? sums(ranks, n) : std::vector<double>(n, -1.0)));
}

template <class Comm>
void roots_and_sizes(Comm& comm, int rank, int ranks) {
    for (int const root : {0, ranks - 1, ranks / 2})
        for (std::size_t const n : {0u, 1u, 2u, 13u, 1000u, 30011u})
            for (int const segments : {1, 3, 8, 40}) {
                CAPTURE(root);
                CAPTURE(n);
                CAPTURE(segments);
                check_sum(comm, rank, ranks, n, root, papcoll::clairvoyant{.segments = segments});
            }
    check_sum(comm, rank, ranks, 70000, 0, papcoll::clairvoyant{});
}

template <class Comm>
void delays(Comm& comm, int rank, int ranks) {
    using namespace std::chrono_literals;
    for (int const late : {0, ranks - 1, ranks / 2})
        for (bool const truly_late : {true, false}) { // a wrong prediction costs time, never correctness
            std::vector<papcoll::ticks> arrivals(static_cast<std::size_t>(ranks), papcoll::ticks(-50));
            arrivals[static_cast<std::size_t>(late)] = 4ms;
            if ((rank == late) == truly_late) std::this_thread::sleep_for(4ms);
            check_sum(comm, rank, ranks, 40000, ranks / 2,
                      papcoll::clairvoyant{.arrivals = arrivals, .round = 200us, .segments = 12});
        }
}

template <class Comm>
void forms(Comm& comm, int rank, int ranks) {
    papcoll::clairvoyant const policy{.segments = 3};
    int const root = ranks - 1;
    double single = value(rank, 0);
    double out = -1;
    if (rank == root)
        papcoll::reduce(comm, single, out, std::plus<double>(), root, policy);
    else
        papcoll::reduce(comm, single, std::plus<double>(), root, policy);
    CHECK(out == (rank == root ? sum(ranks, 0) : -1));
    papcoll::reduce(comm, boost::mpi::inplace(single), std::plus<>(), root, policy);
    CHECK(single == (rank == root ? sum(ranks, 0) : value(rank, 0)));

    auto in = values(rank, 50);
    std::vector<double> result;
    if (rank == root)
        papcoll::reduce(comm, in, result, std::plus<>(), root, policy);
    else
        papcoll::reduce(comm, in, std::plus<>(), root, policy);
    CHECK(result == (rank == root ? sums(ranks, 50) : std::vector<double>()));
    papcoll::reduce(comm, boost::mpi::inplace(in.data()), in.size(), std::plus<>(), root, policy);
    CHECK(in == (rank == root ? sums(ranks, 50) : values(rank, 50)));
}

template <class Comm, class Policy>
void operators(Comm& comm, int rank, int ranks, Policy const& policy) {
    std::size_t const n = 333;
    std::vector<pair_of> in(n), out(n);
    for (std::size_t i = 0; i < n; ++i) in[i] = {rank + 1, rank * static_cast<std::int64_t>(i)};
    papcoll::reduce(comm, in.data(), n, out.data(), papcoll::commutative(modular_sum{97}), 0, policy);
    for (std::size_t i = 0; i < n && rank == 0; ++i) {
        CHECK(out[i].low == ranks * (ranks + 1) / 2 % 97);
        CHECK(out[i].high == static_cast<std::int64_t>(i) * (ranks * (ranks - 1) / 2) % 97);
    }
    int calls = 0; // each operation works on a copy, lambdas may refer to what lives longer
    std::vector<int> numbers(n, rank), largest(n);
    auto const op = papcoll::commutative([&calls](int a, int b) {
        ++calls;
        return a > b ? a : b;
    });
    papcoll::reduce(comm, numbers.data(), n, largest.data(), op, 0, policy);
    if (rank == 0) CHECK(largest == std::vector<int>(n, ranks - 1));
    if (rank == 0 && ranks > 1) CHECK(calls > 0);
}

template <class Comm>
void throwing_operator(Comm& comm, int rank, int ranks) {
    std::vector<double> in(2000, 1.0), out(2000);
    auto const op = papcoll::commutative([rank](double a, double b) {
        if (rank == 0) throw std::runtime_error("overflow");
        return a + b;
    });
    auto const call = [&] {
        papcoll::reduce(comm, in.data(), in.size(), out.data(), op, 0, papcoll::clairvoyant{.segments = 5});
    };
    if (rank == 0 && ranks > 1)
        CHECK_THROWS_WITH_AS(call(), "overflow", std::runtime_error);
    else
        call();
    check_sum(comm, rank, ranks, 100, 0, papcoll::clairvoyant{}); // nothing is left behind
}

template <class Comm>
void own_schedulers(Comm& comm, int rank, int ranks) {
    check_sum(comm, rank, ranks, 5000, 0, chain{});
    check_sum(comm, rank, ranks, 5000, ranks / 2, papcoll::scheduled<chain>{.algorithm = {}, .segments = 9});
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        int const root = static_cast<int>(seed) % ranks;
        check_sum(comm, rank, ranks, 40 + 1000 * (seed % 3), root,
                  papcoll::scheduled<random_reduction>{.algorithm = {seed},
                                                       .segments = 1 + static_cast<int>(seed % 7)});
    }
    // Affine maps do not commute: the chain to rank 0 combines in rank order.
    using map = std::array<std::int64_t, 2>; // x -> a·x + b
    auto const after = [](map const& f, map const& g) {
        return map{f[0] * g[0] % 1009, (f[0] * g[1] + f[1]) % 1009};
    };
    std::vector<map> in(17), out(17);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = {rank + 2, rank * 5 + static_cast<std::int64_t>(i)};
    papcoll::reduce(comm, in.data(), in.size(), out.data(), after, 0,
                    papcoll::scheduled<chain>{.algorithm = {}, .segments = 4});
    for (std::size_t i = 0; i < in.size() && rank == 0; ++i) {
        map expected = {2, static_cast<std::int64_t>(i)};
        for (int r = 1; r < ranks; ++r)
            expected = after(expected, map{r + 2, r * 5 + static_cast<std::int64_t>(i)});
        CHECK(out[i] == expected);
    }
}

template <class Comm>
void requests(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    std::size_t const n = 3000;
    std::array<std::vector<double>, 4> in, out;
    std::vector<papcoll::request> pending;
    for (std::size_t k = 0; k < in.size(); ++k) {
        in[k] = values(rank + static_cast<int>(k), n);
        out[k].assign(n, -1);
        pending.push_back(papcoll::ireduce(comm, in[k].data(), n, out[k].data(), std::plus<>(),
                                           static_cast<int>(k) % ranks, papcoll::clairvoyant{.segments = 4}));
    }
    // In opposite orders on odd and even ranks: all progress together.
    for (std::size_t k = 0; k < pending.size(); ++k)
        pending[rank % 2 == 0 ? k : pending.size() - 1 - k].wait();
    for (std::size_t k = 0; k < in.size(); ++k) {
        if (rank != static_cast<int>(k) % ranks) continue;
        for (std::size_t i = 0; i < n; i += 97) {
            double expected = 0;
            for (int r = 0; r < ranks; ++r) expected += value(r + static_cast<int>(k), i);
            CHECK(out[k][i] == expected);
        }
    }
    auto r = papcoll::ireduce(comm, in[0].data(), n, out[0].data(), std::plus<>(), 0, papcoll::clairvoyant{});
    auto moved = std::move(r);
    CHECK(r.test()); // NOLINT(bugprone-use-after-move): a moved-from request is one of nothing
    while (!moved.test()) std::this_thread::yield();
    moved.wait();
    { // the destructor waits
        auto const unused =
            papcoll::ireduce(comm, in[1].data(), n, out[1].data(), std::plus<>(), 0, papcoll::clairvoyant{});
    }
    if (rank == 0) CHECK(out[1][0] == out[1][101]);
}

template <class Comm>
void plans(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    std::size_t const n = 777;
    int const root = ranks / 2;
    auto plan =
        papcoll::plan_reduce<double>(comm, n, std::plus<>(), root, papcoll::clairvoyant{.segments = 6});
    for (int repetition = 0; repetition < 3; ++repetition) {
        auto in = values(rank + repetition, n);
        std::vector<double> out(n, -1);
        if (rank == root)
            plan.run(in.data(), out.data());
        else
            plan.run(in.data());
        if (rank == root)
            for (std::size_t i = 0; i < n; i += 7) {
                double expected = 0;
                for (int r = 0; r < ranks; ++r) expected += value(r + repetition, i);
                CHECK(out[i] == expected);
            }
        plan.run(boost::mpi::inplace(in.data()));
        if (rank == root) CHECK(in == out);
    }
}

/// Bad arguments that a rank can see alone, given on all ranks.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    std::vector<double> in(10, 1), out(10);
    auto const call = [&](double const* from, double* to, int root, auto const& policy) {
        papcoll::reduce(comm, from, in.size(), to, std::plus<>(), root, policy);
    };
    papcoll::clairvoyant const good{};
    auto const says = [](auto const& f, std::string const& word) {
        try {
            f();
        } catch (std::invalid_argument const& e) {
            CAPTURE(e.what());
            CHECK(std::string(e.what()).find(word) != std::string::npos);
            return true;
        }
        return false;
    };
    CHECK(says([&] { call(in.data(), out.data(), -1, good); }, "root"));
    CHECK(says([&] { call(in.data(), out.data(), ranks, good); }, "root"));
    CHECK(says([&] { call(nullptr, out.data(), 0, good); }, "in must not be null"));
    CHECK(says(
        [&] {
            call(in.data(), out.data(), 0, papcoll::clairvoyant{.arrivals = std::vector<papcoll::ticks>()});
        },
        "arrivals"));
    std::vector<papcoll::ticks> const too_many(static_cast<std::size_t>(ranks) + 1);
    CHECK(says([&] { call(in.data(), out.data(), 0, papcoll::clairvoyant{.arrivals = too_many}); },
               "arrivals"));
    CHECK(says([&] { call(in.data(), out.data(), 0, papcoll::clairvoyant{.round = papcoll::ticks(0)}); },
               "round"));
    CHECK(says([&] { call(in.data(), out.data(), 0, papcoll::clairvoyant{.round = papcoll::ticks(-5)}); },
               "round"));
    CHECK(says([&] { call(in.data(), out.data(), 0, papcoll::clairvoyant{.segments = 0}); }, "segments"));
    if (ranks == 1) { // the root alone can see these
        CHECK(says([&] { call(in.data(), nullptr, 0, good); }, "out"));
        CHECK(says([&] { call(in.data(), in.data(), 0, good); }, "inplace"));
        CHECK(says([&] { papcoll::reduce(comm, in.data(), 8, in.data() + 3, std::plus<>(), 0, good); },
                   "overlap"));
    }
    CHECK(says(
        [&] {
            papcoll::reduce(comm, in.data(), static_cast<std::size_t>(-1), out.data(), std::plus<>(), 0,
                            good);
        },
        "n must be"));
    CHECK(says([&] { (void)papcoll::plan_reduce<double>(comm, 5, std::plus<>(), ranks, good); }, "root"));
    check_sum(comm, rank, ranks, 100, 0, good); // nothing was sent
}

/// With agreed checks a disagreement or one rank's mistake throws the same on all ranks.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = rank == 0 ? papcoll::check_level::agreed
                                                                      : papcoll::check_level::local});
    std::vector<double> in(100, 1), out(100);
    auto const says = [&](std::string const& word, bool odd, std::size_t n, int root, auto const& policy) {
        std::string text;
        try {
            papcoll::reduce(comm, odd && rank == ranks - 1 ? nullptr : in.data(), n, out.data(),
                            std::plus<>(), root, policy);
        } catch (std::invalid_argument const& e) {
            text = e.what();
        }
        CAPTURE(text);
        CHECK(text.find(word) != std::string::npos);
    };
    papcoll::clairvoyant const good{.segments = 3};
    bool const last = rank == ranks - 1;
    if (ranks > 1) {
        says("count: from 50 to 60", false, last ? 60 : 50, 0, good);
        says("root: from 0 to 1", false, 50, last ? 1 : 0, good);
        says("policy", false, 50, 0, papcoll::clairvoyant{.segments = last ? 4 : 3});
        std::vector<papcoll::ticks> arrivals(static_cast<std::size_t>(ranks));
        says("policy", false, 50, 0, papcoll::scheduled<chain>{.algorithm = {}, .segments = last ? 4 : 3});
        CHECK_THROWS_AS((void)papcoll::plan_reduce<double>(comm, last ? 60u : 50u, std::plus<>(), 0, good),
                        std::invalid_argument);
        CHECK_THROWS_AS((void)papcoll::plan_reduce<double>(comm, 50, std::plus<>(), last ? -1 : 0, good),
                        std::invalid_argument);
        arrivals[0] = papcoll::ticks(last ? 1 : 0);
        says("policy", false, 50, 0, papcoll::clairvoyant{.arrivals = arrivals});
    }
    says("in must not be null", true, 50, 0, good);
    says("(rank " + std::to_string(ranks - 1) + ")", true, 50, 0, good);
    check_sum(comm, rank, ranks, 100, 0, good);
}

template <class Comm>
void all(Comm& comm, int rank, int ranks) {
    roots_and_sizes(comm, rank, ranks);
    delays(comm, rank, ranks);
    forms(comm, rank, ranks);
    operators(comm, rank, ranks, papcoll::clairvoyant{.segments = 4});
    throwing_operator(comm, rank, ranks);
    own_schedulers(comm, rank, ranks);
    requests(comm, rank, ranks);
    plans(comm, rank, ranks);
    bad_arguments(comm, rank, ranks);
    agreed_checks(comm, rank, ranks);
}

} // namespace reduce_suite
