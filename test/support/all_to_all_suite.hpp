// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/all_to_all.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/policy/all_to_all.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "collective_suite.hpp"

/// What all_to_all promises on any communicator; called by all ranks of `comm`.
namespace all_to_all_suite {

struct one_call {
    int rank;
    int ranks;
    std::size_t n;
    bool in_place = false;
    int variant = 0;
    std::vector<double> in = {};
    std::vector<double> out = {}; // with a guard at both ends

    [[nodiscard]] auto of(int from, int to, std::size_t i) const -> double {
        return from * 1e8 + to * 1e6 + variant * 1e5 + static_cast<double>(i);
    }
    /// What this rank has for all ranks.
    [[nodiscard]] auto leaving() const -> std::vector<double> {
        std::vector<double> v;
        for (int r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < n; ++i) v.push_back(of(rank, r, i));
        return v;
    }
    [[nodiscard]] static auto guarded(std::vector<double> v) -> std::vector<double> {
        v.insert(v.begin(), -7);
        v.push_back(-7);
        return v;
    }
    [[nodiscard]] auto expected() const -> std::vector<double> {
        std::vector<double> v;
        for (int r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < n; ++i) v.push_back(of(r, rank, i));
        return guarded(std::move(v));
    }
    void reset(int new_variant) {
        variant = new_variant;
        in = leaving();
        out = guarded(in_place ? in : std::vector<double>(in.size(), -9));
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        if (in_place)
            papcoll::all_to_all(comm, boost::mpi::inplace(out.data() + 1), n, policy);
        else
            papcoll::all_to_all(comm, in.data(), n, out.data() + 1, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        if (in_place) return papcoll::iall_to_all(comm, boost::mpi::inplace(out.data() + 1), n, policy);
        return papcoll::iall_to_all(comm, in.data(), n, out.data() + 1, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_all_to_all<double>(comm, n, policy);
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
        CHECK(out == expected());
        CHECK(in == leaving());
    }
};

inline auto calls(int rank, int ranks) -> std::vector<one_call> {
    std::vector<one_call> result;
    for (bool const in_place : {false, true})
        for (std::size_t const n : {0u, 1u, 3u, 100u, 1500u}) result.push_back({rank, ranks, n, in_place});
    return result;
}
inline auto some(int rank, int ranks) -> std::vector<one_call> {
    return {{rank, ranks, 30}, {rank, ranks, 0}, {rank, ranks, 700, true}, {rank, ranks, 1}};
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, calls(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, one_call{rank, ranks, 200}, policy);
    collective_suite::planned(comm, some(rank, ranks), policy);
}

/// f(policy) for all of papcoll's.
template <class F>
void for_each_policy(F const& f) {
    f(papcoll::all_to_all_linear{});
    f(papcoll::all_to_all_pairwise{});
    f(papcoll::all_to_all_bruck{});
    f(papcoll::all_to_all_linear_sync{});
    f(papcoll::all_to_all_linear_sync{.window = 1});
    f(papcoll::all_to_all_linear_sync{.window = 2});
    f(papcoll::all_to_all_linear_sync{.window = 1000});
}

template <class Comm, class Policy>
void forms(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    std::vector<int> in, expected, twice, expected_twice;
    for (int r = 0; r < ranks; ++r) {
        in.push_back(100 * rank + r);
        expected.push_back(100 * r + rank);
        for (int i = 0; i < 2; ++i) {
            twice.push_back(in.back());
            expected_twice.push_back(expected.back());
        }
    }
    std::vector<int> out(in.size()), resized(99);
    papcoll::all_to_all(comm, in.data(), out.data(), policy);
    CHECK(out == expected);
    papcoll::all_to_all(comm, in, resized, policy);
    CHECK(resized == expected);
    papcoll::iall_to_all(comm, twice, 2, resized, policy).wait();
    CHECK(resized == expected_twice);
    papcoll::iall_to_all(comm, in.data(), out.data(), policy).wait();
    papcoll::all_to_all(comm, boost::mpi::inplace(in.data()), 1, policy);
    CHECK(in == out);
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    papcoll::all_to_all_linear_sync const good{};
    std::vector<double> in(4 * static_cast<std::size_t>(ranks)), out(in.size() + 4);
    auto const call = [&](double const* from, std::size_t n, double* to, int window) {
        return [&comm, from, n, to, window] {
            papcoll::all_to_all(comm, from, n, to, papcoll::all_to_all_linear_sync{.window = window});
        };
    };
    collective_suite::one_by_one(comm, some(rank, ranks), good);
    says("in must not be null", call(nullptr, 4, out.data(), 4));
    says("out must not be null", call(in.data(), 4, nullptr, 4));
    says("in and out overlap", call(out.data() + 3, 4, out.data(), 4));
    says("in and out overlap", call(out.data(), 4, out.data(), 4));
    says("n must be", call(in.data(), std::size_t(1) << 61, out.data(), 4));
    says("window must be at least 1, but is 0", call(in.data(), 4, out.data(), 0));
    says("window must be at least 1, but is -3", call(in.data(), 4, out.data(), -3));
    says("out must not be null",
         [&] { papcoll::all_to_all(comm, boost::mpi::inplace(static_cast<double*>(nullptr)), 4, good); });
    says("in must have n elements for each rank (" + std::to_string(3 * ranks) + ")",
         [&] { papcoll::all_to_all(comm, in, 3, out, good); });
    says("window",
         [&] { (void)papcoll::plan_all_to_all<int>(comm, 5, papcoll::all_to_all_linear_sync{.window = 0}); });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    std::vector<double> in(9 * static_cast<std::size_t>(ranks)), out(in.size());
    bool const last = rank == ranks - 1;
    auto const says = [&](std::string const& words, double const* from, std::size_t n, int window) {
        collective_suite::says(words, [&] {
            papcoll::all_to_all(comm, from, n, out.data(), papcoll::all_to_all_linear_sync{.window = window});
        });
    };
    if (ranks > 1) {
        says("ranks disagree on the count", in.data(), last ? 8 : 9, 4);
        says("policy", in.data(), 9, last ? 5 : 4);
        collective_suite::says("policy", [&] {
            if (last)
                papcoll::all_to_all(comm, in.data(), 9, out.data(), papcoll::all_to_all_bruck{});
            else
                papcoll::all_to_all(comm, in.data(), 9, out.data(), papcoll::all_to_all_pairwise{});
        });
    }
    says("in must not be null", last ? nullptr : in.data(), 9, 4);
    says("window", in.data(), 9, last ? 0 : 4);
    collective_suite::one_by_one(comm, some(rank, ranks), papcoll::all_to_all_linear{});
}

} // namespace all_to_all_suite
