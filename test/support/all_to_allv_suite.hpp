// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/all_to_allv.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/policy/all_to_all.hpp>

#include <boost/mpi/inplace.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "collective_suite.hpp"

/// What all_to_allv promises on any communicator; called by all ranks of `comm`.
namespace all_to_allv_suite {

/// How many elements go from one rank to another.
using size_function = std::size_t (*)(std::size_t from, std::size_t to);

inline auto none(std::size_t, std::size_t) -> std::size_t { return 0; }
inline auto alike(std::size_t, std::size_t) -> std::size_t { return 40; }
inline auto uneven(std::size_t from, std::size_t to) -> std::size_t {
    return (from + 2 * to) % 4 == 1 ? 0 : (from * 7 + to * 3) % 23;
}
inline auto to_one(std::size_t, std::size_t to) -> std::size_t { return to == 0 ? 700 : 0; }
inline auto from_one(std::size_t from, std::size_t) -> std::size_t { return from == 0 ? 900 : 0; }
inline auto symmetric(std::size_t from, std::size_t to) -> std::size_t { return from * to % 5 * 30; }
inline auto long_some(std::size_t from, std::size_t to) -> std::size_t {
    return (from + to) % 3 == 1 ? 30'000 : from + 1;
}
inline auto long_symmetric(std::size_t from, std::size_t to) -> std::size_t {
    return (from + to) % 3 == 1 ? 25'000 : 2;
}

struct one_call {
    int rank;
    int ranks;
    size_function size;
    std::size_t gap = 0; ///< between the parts, which then lie backwards
    bool in_place = false;
    int variant = 0;
    std::vector<double> in = {};
    std::vector<double> out = {}; // with a guard at both ends

    [[nodiscard]] auto p() const -> std::size_t { return static_cast<std::size_t>(ranks); }
    [[nodiscard]] auto me() const -> std::size_t { return static_cast<std::size_t>(rank); }
    [[nodiscard]] auto leaving() const -> std::vector<std::size_t> {
        std::vector<std::size_t> v;
        for (std::size_t r = 0; r < p(); ++r) v.push_back(size(me(), r));
        return v;
    }
    [[nodiscard]] auto arriving() const -> std::vector<std::size_t> {
        std::vector<std::size_t> v;
        for (std::size_t r = 0; r < p(); ++r) v.push_back(size(r, me()));
        return v;
    }
    [[nodiscard]] auto begins(std::vector<std::size_t> const& sizes) const -> std::vector<std::size_t> {
        std::vector<std::size_t> result(sizes.size());
        std::size_t next = gap;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            auto const r = gap == 0 ? k : sizes.size() - 1 - k;
            result[r] = next;
            next += sizes[r] + gap;
        }
        return result;
    }
    /// Memory with parts of these sizes, of which part r has of(r, i), and guards around it.
    template <class Of>
    [[nodiscard]] auto filled(std::vector<std::size_t> const& sizes, Of of) const -> std::vector<double> {
        auto const at = begins(sizes);
        std::size_t end = 0;
        for (std::size_t r = 0; r < p(); ++r) end = std::max(end, at[r] + sizes[r]);
        std::vector<double> v(end + 2, -7);
        for (std::size_t r = 0; r < p(); ++r)
            for (std::size_t i = 0; i < sizes[r]; ++i) v[1 + at[r] + i] = of(r, i);
        return v;
    }
    [[nodiscard]] auto value(std::size_t from, std::size_t to, std::size_t i) const -> double {
        return static_cast<double>(from * 100'000'000 + to * 1'000'000 + i) + variant * 1e5;
    }
    [[nodiscard]] auto given() const -> std::vector<double> {
        return filled(leaving(), [&](std::size_t r, std::size_t i) { return value(me(), r, i); });
    }
    [[nodiscard]] auto expected() const -> std::vector<double> {
        return filled(arriving(), [&](std::size_t r, std::size_t i) { return value(r, me(), i); });
    }
    void reset(int new_variant) {
        variant = new_variant;
        in = given();
        out = in_place ? in : filled(arriving(), [](std::size_t, std::size_t) { return -9; });
    }
    template <class Function, class Comm, class Policy>
    auto call(Function const& function, Comm& comm, Policy const& policy) {
        auto const values = boost::mpi::inplace(out.data() + 1);
        auto const to = leaving(), from = arriving();
        if (in_place && gap == 0) return function(comm, values, to, policy);
        if (in_place) return function(comm, values, to, begins(to), policy);
        if (gap == 0) return function(comm, in.data() + 1, to, out.data() + 1, from, policy);
        return function(comm, in.data() + 1, to, begins(to), out.data() + 1, from, begins(from), policy);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        call(papcoll::all_to_allv, comm, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        return call(papcoll::iall_to_allv, comm, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_all_to_allv<double>(comm, leaving(), begins(leaving()), arriving(),
                                                 begins(arriving()), policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (in_place)
            plan.run(boost::mpi::inplace(out.data() + 1));
        else
            plan.run(in.data() + 1, out.data() + 1);
    }
    void check() const {
        CAPTURE(gap);
        CAPTURE(in_place);
        CHECK(out == expected());
        CHECK(in == given());
    }
};

inline auto calls(int rank, int ranks) -> std::vector<one_call> {
    std::vector<one_call> result;
    for (auto const size : {none, alike, uneven, to_one, from_one, symmetric})
        for (std::size_t const gap : {0u, 2u}) {
            result.push_back({rank, ranks, size, gap});
            if (size == alike || size == symmetric) result.push_back({rank, ranks, size, gap, true});
        }
    return result;
}
inline auto some(int rank, int ranks) -> std::vector<one_call> {
    return {{rank, ranks, uneven},
            {rank, ranks, none},
            {rank, ranks, symmetric, 1, true},
            {rank, ranks, from_one, 3},
            {rank, ranks, to_one}};
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, calls(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, one_call{rank, ranks, uneven}, policy);
    collective_suite::planned(comm, some(rank, ranks), policy);
    collective_suite::one_by_one(comm,
                                 std::vector<one_call>{{rank, ranks, long_some},
                                                       {rank, ranks, long_symmetric, 1},
                                                       {rank, ranks, long_symmetric, 0, true}},
                                 policy);
}

template <class Comm, class Policy>
void forms(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    std::vector<int> leaving, arriving, in, expected, out(99);
    for (int r = 0; r < ranks; ++r) {
        leaving.push_back(r % 3);
        arriving.push_back(rank % 3);
        in.insert(in.end(), static_cast<std::size_t>(r % 3), 100 * rank + r);
        expected.insert(expected.end(), static_cast<std::size_t>(rank % 3), 100 * r + rank);
    }
    papcoll::all_to_allv(comm, in, leaving, out, arriving, policy);
    CHECK(out == expected);
    out.assign(1, 0);
    papcoll::iall_to_allv(comm, in.data(), leaving, out, arriving, policy).wait();
    CHECK(out == expected);
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm, class Policy>
void bad_arguments(Comm& comm, int rank, int ranks, Policy const& good) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<double> in(4 * p), out(4 * p + 4);
    std::vector<int> const sizes(p, 4), few(p - 1, 4), together(p, 0);
    auto negative = sizes, other = sizes;
    negative.back() = -3;
    other[static_cast<std::size_t>(rank)] = 3;
    using list = std::vector<int>;
    auto const call = [&](double const* from, list const& to, double* where, list const& arriving) {
        return
            [&, from, to, where, arriving] { papcoll::all_to_allv(comm, from, to, where, arriving, good); };
    };
    collective_suite::one_by_one(comm, some(rank, ranks), good);
    says("sizes must not be negative, but have -3", call(in.data(), negative, out.data(), sizes));
    says("sizes must not be negative, but have -3", call(in.data(), sizes, out.data(), negative));
    says("sizes must have one entry per rank", call(in.data(), few, out.data(), sizes));
    says("sizes must have one entry per rank", call(in.data(), sizes, out.data(), few));
    says("sizes must say twice what a rank gives to itself, but say 3 and 4",
         call(in.data(), other, out.data(), sizes));
    says("in must not be null", call(nullptr, sizes, out.data(), sizes));
    says("out must not be null", call(in.data(), sizes, nullptr, sizes));
    says("in and out overlap", call(out.data() + 3, sizes, out.data(), sizes));
    says("in must have as many elements as the sizes say",
         [&] { papcoll::all_to_allv(comm, out, sizes, in.data(), sizes, good); });
    if (ranks > 1)
        says("displacements must keep the parts of the ranks apart", [&] {
            papcoll::all_to_allv(comm, in.data(), sizes, together, out.data(), sizes, together, good);
        });
    says("bruck is for parts of equal sizes", [&] {
        papcoll::all_to_allv(comm, in.data(), sizes, out.data(), sizes, papcoll::all_to_all_bruck{});
    });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    std::vector<double> in(4 * static_cast<std::size_t>(ranks)), out(in.size());
    std::vector<int> const sizes(static_cast<std::size_t>(ranks), 4);
    bool const last = rank == ranks - 1;
    using collective_suite::says;
    if (ranks > 1)
        says("policy", [&] {
            papcoll::all_to_allv(comm, in.data(), sizes, out.data(), sizes,
                                 papcoll::all_to_all_linear_sync{.window = last ? 5 : 4});
        });
    says("in must not be null", [&] {
        papcoll::all_to_allv(comm, last ? nullptr : in.data(), sizes, out.data(), sizes,
                             papcoll::all_to_all_pairwise{});
    });
    collective_suite::one_by_one(comm, some(rank, ranks), papcoll::all_to_all_pairwise{});
}

} // namespace all_to_allv_suite
