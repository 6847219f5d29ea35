// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/scatter.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/knomial_tree.hpp>
#include <papcoll/policy/linear.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "collective_suite.hpp"

/// What scatter promises on any communicator; called by all ranks of `comm`.
namespace scatter_suite {

struct one_call {
    int rank;
    int ranks;
    std::size_t n;
    int root;
    bool in_place = false;
    int variant = 0;
    std::vector<double> in = {};  // with a guard at both ends
    std::vector<double> out = {}; // likewise

    [[nodiscard]] auto is_root() const -> bool { return rank == root; }
    [[nodiscard]] auto stays() const -> bool { return in_place && is_root(); }
    [[nodiscard]] auto part(int of) const -> std::vector<double> {
        std::vector<double> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = of * 1e6 + variant * 1e5 + static_cast<double>(i);
        return v;
    }
    [[nodiscard]] static auto guarded(std::vector<double> v) -> std::vector<double> {
        v.insert(v.begin(), -7);
        v.push_back(-7);
        return v;
    }
    [[nodiscard]] auto all() const -> std::vector<double> {
        std::vector<double> v;
        for (int r = 0; r < ranks; ++r)
            for (double const x : part(r)) v.push_back(x);
        return guarded(std::move(v));
    }
    void reset(int new_variant) {
        variant = new_variant;
        in = all();
        out = guarded(std::vector<double>(n, -9));
    }
    template <class Function, class Comm, class Policy>
    auto call(Function const& function, Comm& comm, Policy const& policy) {
        if (stays()) return function(comm, boost::mpi::inplace(in.data() + 1), n, root, policy);
        if (is_root()) return function(comm, in.data() + 1, out.data() + 1, n, root, policy);
        return function(comm, out.data() + 1, n, root, policy);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        call(papcoll::scatter, comm, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        return call(papcoll::iscatter, comm, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_scatter<double>(comm, n, root, policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (stays())
            plan.run(boost::mpi::inplace(in.data() + 1));
        else if (is_root())
            plan.run(in.data() + 1, out.data() + 1);
        else
            plan.run(out.data() + 1);
    }
    void check() const {
        CAPTURE(n);
        CAPTURE(root);
        CAPTURE(in_place);
        CHECK(out == guarded(stays() ? std::vector<double>(n, -9) : part(rank)));
        CHECK(in == all());
    }
};

inline auto calls(int rank, int ranks) -> std::vector<one_call> {
    std::vector<one_call> result;
    for (int const root : {0, ranks / 2, ranks - 1})
        for (bool const in_place : {false, true})
            for (std::size_t const n : {0u, 1u, 100u, 1500u})
                result.push_back({rank, ranks, n, root, in_place});
    return result;
}
inline auto some(int rank, int ranks) -> std::vector<one_call> {
    return {{rank, ranks, 30, 0},
            {rank, ranks, 0, ranks - 1},
            {rank, ranks, 700, ranks / 2, true},
            {rank, ranks, 1, ranks - 1}};
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, calls(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, one_call{rank, ranks, 200, ranks / 3}, policy);
    collective_suite::planned(comm, some(rank, ranks), policy);
}

/// Each rank is the root once.
template <class Comm, class Policy>
void every_root(Comm& comm, int rank, int ranks, Policy const& policy) {
    std::vector<one_call> calls;
    for (int root = 0; root < ranks; ++root)
        for (std::size_t const n : {0u, 1u, 333u}) calls.push_back({rank, ranks, n, root, n == 1});
    collective_suite::one_by_one(comm, calls, policy);
}

template <class Comm, class Policy>
void on_links(Comm& comm, int rank, int ranks, Policy const& policy) {
    for (auto const& link : collective_suite::some_links()) {
        papcoll::attach(comm, papcoll::attach_options{.link = link});
        std::vector<one_call> calls;
        for (int const root : {0, ranks / 2})
            for (std::size_t const n : {3u, 2'001u, 30'000u}) calls.push_back({rank, ranks, n, root});
        collective_suite::one_by_one(comm, calls, policy);
    }
}

template <class Comm, class Policy>
void forms(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    int const root = ranks - 1;
    bool const is_root = rank == root;
    std::vector<int> all, twice;
    for (int r = 0; r < ranks; ++r) {
        all.push_back(r * r + 1);
        twice.insert(twice.end(), 2, r * r + 1);
    }
    int const mine = rank * rank + 1;
    int one = 0, other = 0, third = 0;
    int const* const from = all.data();
    if (is_root) {
        papcoll::scatter(comm, all, one, root, policy);
        papcoll::scatter(comm, from, other, root, policy);
        papcoll::iscatter(comm, all, &third, 1, root, policy).wait();
    } else {
        papcoll::scatter(comm, one, root, policy);
        papcoll::scatter(comm, std::vector<int>(), other, root, policy); // it counts at the root alone
        papcoll::iscatter(comm, third, root, policy).wait();
    }
    CHECK(one == mine);
    CHECK(other == mine);
    CHECK(third == mine);
    std::vector<int> longer(twice); // what is behind the last part stays
    longer.push_back(-1);
    std::vector<int> two(2);
    papcoll::scatter(comm, longer, two.data(), 2, root, policy);
    CHECK(two == std::vector<int>(2, mine));
    std::vector<int> resized(99);
    papcoll::scatter(comm, twice, resized, 2, root, policy);
    CHECK(resized == std::vector<int>(2, mine));
    papcoll::scatter(comm, is_root ? from : nullptr, resized, 1, root, policy);
    CHECK(resized == std::vector<int>(1, mine));
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm, class Policy>
void bad_arguments(Comm& comm, int rank, int ranks, Policy const& good) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    std::vector<double> in(4 * static_cast<std::size_t>(ranks)), out(8);
    auto const call = [&](double const* from, double* to, std::size_t n, int root) {
        return [&comm, &good, from, to, n, root] { papcoll::scatter(comm, from, to, n, root, good); };
    };
    collective_suite::one_by_one(comm, some(rank, ranks), good);
    says("in must not be null", call(nullptr, out.data(), 4, rank));
    says("out must not be null", call(in.data(), nullptr, 4, rank));
    says("in and out overlap", call(in.data(), in.data() + 3, 4, rank));
    says("n must be", call(in.data(), out.data(), std::size_t(1) << 61, rank));
    says("root must be a rank", call(in.data(), out.data(), 4, ranks));
    says("root must be a rank", call(in.data(), out.data(), 4, -1));
    says("in must have n elements for each rank (" + std::to_string(5 * ranks) + ")",
         [&] { papcoll::scatter(comm, in, out.data(), 5, rank, good); });
    for (int const n : {0, 4}) // also where integers could be meant as one element each
        says("the root passes `in`", [&] { papcoll::scatter(comm, out.data(), n, rank, good); });
    if (ranks > 1)
        says("inplace(values) is for the root",
             [&] { papcoll::scatter(comm, boost::mpi::inplace(in.data()), 4, (rank + 1) % ranks, good); });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::linear const good;
    std::vector<double> in(9 * static_cast<std::size_t>(ranks)), out(9);
    bool const last = rank == ranks - 1;
    auto const says = [&](std::string const& words, double* to, std::size_t n, int root) {
        collective_suite::says(words, [&] { papcoll::scatter(comm, in.data(), to, n, root, good); });
    };
    if (ranks > 1) {
        says("ranks disagree on the count", out.data(), last ? 8 : 9, 0);
        says("ranks disagree on the root: from 0 to 1", out.data(), 9, last ? 1 : 0);
        collective_suite::says("policy", [&] {
            if (last)
                papcoll::scatter(comm, in.data(), out.data(), 9, 0, good);
            else
                papcoll::scatter(comm, in.data(), out.data(), 9, 0, papcoll::knomial_tree{});
        });
        collective_suite::says("operation", [&] {
            if (last)
                papcoll::broadcast(comm, in.data(), in.size(), 0, papcoll::circulant{});
            else
                papcoll::scatter(comm, in.data(), out.data(), 9, 0, good);
        });
    }
    says("out must not be null", last ? nullptr : out.data(), 9, 0);
    says("root must be a rank", out.data(), 9, last ? -1 : 0);
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

} // namespace scatter_suite
