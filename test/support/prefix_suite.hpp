// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/exscan.hpp>
#include <papcoll/collective/scan.hpp>
#include <papcoll/context/attach.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collective_suite.hpp"

/// What scan and exscan promise on any communicator; called by all ranks of `comm`.
namespace prefix_suite {

/// x → a·x + b in 32 bits, one behind the other: associative, and never commutative by chance.
struct compose {
    static auto of(std::uint64_t a, std::uint64_t b) -> std::uint64_t { return (b << 32U) | (a & mask); }
    auto operator()(std::uint64_t first, std::uint64_t second) const -> std::uint64_t {
        auto const a1 = first & mask, b1 = first >> 32U, a2 = second & mask, b2 = second >> 32U;
        return of(a1 * a2 & mask, (a2 * b1 + b2) & mask);
    }
    static constexpr std::uint64_t mask = 0xffffffff;
};

template <bool Includes>
struct one_call {
    int rank;
    int ranks;
    std::size_t n;
    bool in_place = false;
    int variant = 0;
    std::vector<std::uint64_t> in = {};
    std::vector<std::uint64_t> out = {}; // with a guard at both ends

    static constexpr auto function() -> auto const& {
        if constexpr (Includes)
            return papcoll::scan;
        else
            return papcoll::exscan;
    }
    [[nodiscard]] auto of(int by, std::size_t i) const -> std::uint64_t {
        auto const r = static_cast<std::uint64_t>(by + 1), v = static_cast<std::uint64_t>(variant);
        return compose::of(2 * r + 1 + v, 1000 * r + v + i);
    }
    [[nodiscard]] auto operands(int by) const -> std::vector<std::uint64_t> {
        std::vector<std::uint64_t> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = of(by, i);
        return v;
    }
    [[nodiscard]] static auto guarded(std::vector<std::uint64_t> v) -> std::vector<std::uint64_t> {
        v.insert(v.begin(), 7);
        v.push_back(7);
        return v;
    }
    [[nodiscard]] auto before() const -> std::vector<std::uint64_t> {
        return guarded(in_place ? operands(rank) : std::vector<std::uint64_t>(n, 9));
    }
    [[nodiscard]] auto expected() const -> std::vector<std::uint64_t> {
        int const end = Includes ? rank + 1 : rank;
        if (end == 0) return before();
        auto v = operands(0);
        for (int r = 1; r < end; ++r)
            for (std::size_t i = 0; i < n; ++i) v[i] = compose()(v[i], of(r, i));
        return guarded(std::move(v));
    }
    void reset(int new_variant) {
        variant = new_variant;
        in = operands(rank);
        out = before();
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        if (in_place)
            function()(comm, boost::mpi::inplace(out.data() + 1), n, compose(), policy);
        else
            function()(comm, in.data(), n, out.data() + 1, compose(), policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        auto const call = [&](auto const& f) {
            if (in_place) return f(comm, boost::mpi::inplace(out.data() + 1), n, compose(), policy);
            return f(comm, in.data(), n, out.data() + 1, compose(), policy);
        };
        if constexpr (Includes)
            return call(papcoll::iscan);
        else
            return call(papcoll::iexscan);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        if constexpr (Includes)
            return papcoll::plan_scan<std::uint64_t>(comm, n, compose(), policy);
        else
            return papcoll::plan_exscan<std::uint64_t>(comm, n, compose(), policy);
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
        CAPTURE(Includes);
        CHECK(out == expected());
        CHECK(in == operands(rank));
    }
};

template <bool Includes>
auto calls(int rank, int ranks) -> std::vector<one_call<Includes>> {
    std::vector<one_call<Includes>> result;
    for (bool const in_place : {false, true})
        for (std::size_t const n : {0u, 1u, 3u, 100u, 1500u}) result.push_back({rank, ranks, n, in_place});
    return result;
}
template <bool Includes>
auto some(int rank, int ranks) -> std::vector<one_call<Includes>> {
    return {{rank, ranks, 30}, {rank, ranks, 0}, {rank, ranks, 700, true}, {rank, ranks, 1}};
}

template <bool Includes, class Comm, class Policy>
void promises_of(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, calls<Includes>(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some<Includes>(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, one_call<Includes>{rank, ranks, 200}, policy);
    collective_suite::planned(comm, some<Includes>(rank, ranks), policy);
    for (bool const in_place : {false, true})
        collective_suite::one_by_one(comm, std::vector{one_call<Includes>{rank, ranks, 20'000, in_place}},
                                     policy);
}
template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    promises_of<true>(comm, rank, ranks, policy);
    promises_of<false>(comm, rank, ranks, policy);
}

template <class Comm, class Policy>
void on_links(Comm& comm, int rank, int ranks, Policy const& policy) {
    for (auto const& link : collective_suite::some_links()) {
        papcoll::attach(comm, papcoll::attach_options{.link = link});
        for (std::size_t const n : {3u, 2'001u, 30'000u}) {
            collective_suite::one_by_one(comm, std::vector{one_call<true>{rank, ranks, n}}, policy);
            collective_suite::one_by_one(comm, std::vector{one_call<false>{rank, ranks, n, true}}, policy);
        }
    }
}

template <class Comm, class Policy>
void forms(Comm& comm, int rank, int, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    int const up_to_here = rank * (rank + 1) / 2, before = rank * (rank - 1) / 2;
    auto const plus = std::plus<int>();
    CHECK(papcoll::scan(comm, rank, plus, policy) == up_to_here);
    CHECK(papcoll::exscan(comm, rank, plus, policy) == before);
    int value = -5;
    papcoll::scan(comm, rank, value, plus, policy);
    CHECK(value == up_to_here);
    papcoll::iexscan(comm, rank, value, plus, policy).wait();
    CHECK(value == (rank == 0 ? 0 : before)); // rank 0 keeps what it had
    value = rank;
    papcoll::scan(comm, boost::mpi::inplace(value), plus, policy);
    CHECK(value == up_to_here);
    std::vector<int> const in(3, rank);
    std::vector<int> out(99);
    papcoll::scan(comm, in, out, plus, policy);
    CHECK(out == std::vector<int>(3, up_to_here));
    CHECK(papcoll::scan(comm, in, plus, policy) == out);
    papcoll::iexscan(comm, in, out, plus, policy).wait();
    CHECK(out == std::vector<int>(3, rank == 0 ? 0 : before));
    CHECK(papcoll::exscan(comm, in, plus, policy) == out);
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm, class Policy>
void bad_arguments(Comm& comm, int rank, int ranks, Policy const& good) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    std::vector<std::uint64_t> in(4), out(8);
    auto const both = [&](std::string const& words, std::uint64_t const* from, std::uint64_t* to,
                          std::size_t n) {
        says(words, [&] { papcoll::scan(comm, from, n, to, compose(), good); });
        says(words, [&] { papcoll::exscan(comm, from, n, to, compose(), good); });
    };
    collective_suite::one_by_one(comm, some<true>(rank, ranks), good);
    both("in must not be null", nullptr, out.data(), 4);
    both("out must not be null", in.data(), nullptr, 4);
    both("in and out overlap", out.data() + 3, out.data(), 4);
    both("n must be", in.data(), out.data(), std::size_t(1) << 61);
    collective_suite::one_by_one(comm, some<false>(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm, class Policy>
void agreed_checks(Comm& comm, int rank, int ranks, Policy const& good) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    std::vector<std::uint64_t> in(9), out(9);
    bool const last = rank == ranks - 1;
    using collective_suite::says;
    if (ranks > 1) {
        says("ranks disagree on the count",
             [&] { papcoll::scan(comm, in.data(), last ? 8 : 9, out.data(), compose(), good); });
        says("operation", [&] {
            if (last)
                papcoll::scan(comm, in.data(), 9, out.data(), compose(), good);
            else
                papcoll::exscan(comm, in.data(), 9, out.data(), compose(), good);
        });
    }
    says("in must not be null",
         [&] { papcoll::exscan(comm, last ? nullptr : in.data(), 9, out.data(), compose(), good); });
    collective_suite::one_by_one(comm, some<true>(rank, ranks), good);
    collective_suite::one_by_one(comm, some<false>(rank, ranks), good);
}

} // namespace prefix_suite
