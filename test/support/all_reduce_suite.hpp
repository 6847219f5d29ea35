// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>

#include <boost/mpi/inplace.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "collective_suite.hpp"

/// What all_reduce promises on any communicator; called by all ranks of `comm`.
namespace all_reduce_suite {

/// Links on which circulant all-reduces take each of their ways: latency counts, or bytes do.
inline constexpr papcoll::link_model slow_to_begin{std::chrono::milliseconds(1), 1e-3};
inline constexpr papcoll::link_model slow_to_move{papcoll::ticks(1), 100.0};

/// T floating: the bits of circulant's reduce-scatter or gather. T integral: of a census, too.
template <class T>
struct one_call {
    int rank;
    int ranks;
    std::size_t n;
    bool in_place = false;
    int variant = 0;
    std::vector<T> in = {};
    std::vector<T> out = {}; // with a guard at both ends

    [[nodiscard]] auto of(int by, std::size_t i) const -> T {
        return static_cast<T>((by + 1) * 100 + variant +
                              static_cast<int>((i * static_cast<std::size_t>(by + 3)) % 97));
    }
    void reset(int new_variant) {
        variant = new_variant;
        in.resize(n);
        for (std::size_t i = 0; i < n; ++i) in[i] = of(rank, i);
        out.assign(n + 2, T(7));
        if (in_place) std::copy(in.begin(), in.end(), out.begin() + 1);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        if (in_place)
            papcoll::all_reduce(comm, boost::mpi::inplace(out.data() + 1), n, std::plus<>(), policy);
        else
            papcoll::all_reduce(comm, in.data(), n, out.data() + 1, std::plus<>(), policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        if (in_place)
            return papcoll::iall_reduce(comm, boost::mpi::inplace(out.data() + 1), n, std::plus<>(), policy);
        return papcoll::iall_reduce(comm, in.data(), n, out.data() + 1, std::plus<>(), policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_all_reduce<T>(comm, n, std::plus<>(), policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (in_place)
            plan.run(boost::mpi::inplace(out.data() + 1));
        else
            plan.run(in.data(), out.data() + 1);
    }
    void check() const {
        CAPTURE(n);
        CAPTURE(in_place);
        std::vector<T> expected(n + 2, T(7));
        for (std::size_t i = 0; i < n; ++i) {
            expected[i + 1] = 0;
            for (int r = 0; r < ranks; ++r) expected[i + 1] += of(r, i);
        }
        CHECK(out == expected);
        bool untouched = true;
        for (std::size_t i = 0; i < n; ++i) untouched = untouched && in[i] == of(rank, i);
        CHECK(untouched);
    }
};

template <class T>
auto calls(int rank, int ranks) -> std::vector<one_call<T>> {
    std::vector<one_call<T>> result;
    for (bool const in_place : {false, true})
        for (std::size_t const n : {0u, 1u, 2u, 9u, 100u, 3000u})
            result.push_back({rank, ranks, n, in_place});
    return result;
}
template <class T>
auto some(int rank, int ranks) -> std::vector<one_call<T>> {
    return {{rank, ranks, 30}, {rank, ranks, 0}, {rank, ranks, 2500, true}, {rank, ranks, 1}};
}

/// On both links.
template <class T, class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    for (auto const& link : {slow_to_begin, slow_to_move}) {
        papcoll::attach(comm, papcoll::attach_options{.link = link});
        collective_suite::one_by_one(comm, calls<T>(rank, ranks), policy);
        collective_suite::in_flight(comm, rank, some<T>(rank, ranks), policy);
    }
    collective_suite::late_ranks(comm, rank, ranks, one_call<T>{rank, ranks, 900}, policy);
    collective_suite::planned(comm, some<T>(rank, ranks), policy);
}

/// Sums of random floats, as the ranks' bytes tell: all_gather brings them together.
template <class Comm, class Policy>
void same_bits(Comm& comm, int rank, int ranks, Policy const& policy) {
    for (auto const& link : {slow_to_begin, slow_to_move}) {
        papcoll::attach(comm, papcoll::attach_options{.link = link});
        for (std::size_t const n : {1u, 5u, 257u}) {
            std::mt19937 random(static_cast<unsigned>(rank) * 1000u + static_cast<unsigned>(n));
            std::uniform_real_distribution<float> values(-1e6F, 1e6F);
            std::vector<float> in(n), out(n);
            for (auto& x : in) x = values(random) * (random() % 3 == 0 ? 1e-5F : 1.0F);
            papcoll::all_reduce(comm, in, out, std::plus<>(), policy);
            std::vector<float> all;
            papcoll::all_gather(comm, out.data(), n, all, papcoll::circulant{});
            for (int r = 0; r < ranks; ++r)
                CHECK(std::memcmp(all.data() + static_cast<std::size_t>(r) * n, out.data(),
                                  n * sizeof(float)) == 0);
            papcoll::all_gather(comm, in.data(), n, all, papcoll::circulant{});
            double sum = 0, size = 0; // of the last element
            for (int r = 0; r < ranks; ++r) {
                double const x = static_cast<double>(all[static_cast<std::size_t>(r) * n + n - 1]);
                sum += x;
                size += std::abs(x);
            }
            CHECK(std::abs(sum - static_cast<double>(out[n - 1])) <= 1e-5 * size);
        }
    }
}

template <class Comm, class Policy>
void forms(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    int const sum = ranks * (ranks + 1) / 2;
    CHECK(papcoll::all_reduce(comm, rank + 1, std::plus<>(), policy) == sum);
    int out = 0;
    papcoll::all_reduce(comm, rank + 1, out, std::plus<>(), policy);
    CHECK(out == sum);
    int value = rank + 1;
    papcoll::all_reduce(comm, boost::mpi::inplace(value), std::plus<>(), policy);
    CHECK(value == sum);
    std::vector<int> const in(20, rank + 1);
    std::vector<int> result;
    papcoll::all_reduce(comm, in, result, std::plus<>(), policy);
    CHECK(result == std::vector<int>(20, sum));
    CHECK(papcoll::all_reduce(comm, in, std::plus<>(), policy) == result);
    result.clear();
    papcoll::iall_reduce(comm, in, result, std::plus<>(), policy).wait();
    CHECK(result == std::vector<int>(20, sum));
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    papcoll::circulant const good{};
    std::vector<double> in(10), out(10);
    auto const call = [&](double const* from, std::size_t n, double* to, papcoll::circulant const& policy) {
        return
            [&comm, from, n, to, policy] { papcoll::all_reduce(comm, from, n, to, std::plus<>(), policy); };
    };
    collective_suite::one_by_one(comm, some<double>(rank, ranks), good);
    says("in must not be null", call(nullptr, 4, out.data(), good));
    says("out must not be null", call(in.data(), 4, nullptr, good));
    says("in and out overlap", call(in.data(), 10, in.data(), good));
    says("in and out overlap", call(in.data(), 6, in.data() + 4, good));
    says("n must be", call(in.data(), std::size_t(1) << 61, out.data(), good));
    says("block_bytes", call(in.data(), 4, out.data(), {.block_bytes = 0}));
    collective_suite::one_by_one(comm, some<double>(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::circulant const good{.block_bytes = 64};
    std::vector<double> in(60), out(60);
    bool const last = rank == ranks - 1;
    auto const says = [&](std::string const& words, double const* from, std::size_t n,
                          papcoll::circulant const& policy) {
        collective_suite::says(
            words, [&] { papcoll::all_reduce(comm, from, n, out.data(), std::plus<>(), policy); });
    };
    if (ranks > 1) {
        says("count: from 50 to 60", in.data(), last ? 60 : 50, good);
        says("policy", in.data(), 50, {.block_bytes = last ? 65 : 64});
    }
    if (ranks > 1)
        collective_suite::says("disagree on the operator", [&] {
            auto const sum = [](double a, double b) { return a + b; }; // nothing says that it commutes
            if (last)
                papcoll::all_reduce(comm, in.data(), 50, out.data(), sum);
            else
                papcoll::all_reduce(comm, in.data(), 50, out.data(), std::plus<>());
        });
    says("in must not be null", last ? nullptr : in.data(), 50, good);
    says("block_bytes", in.data(), 50, {.block_bytes = last ? 0 : 64});
    collective_suite::one_by_one(comm, some<double>(rank, ranks), good);
}

} // namespace all_reduce_suite
