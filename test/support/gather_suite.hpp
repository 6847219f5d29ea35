// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/gather.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/policy/knomial_tree.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/sorted_linear.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "collective_suite.hpp"

/// What gather promises on any communicator; called by all ranks of `comm`.
namespace gather_suite {

struct one_call {
    int rank;
    int ranks;
    std::size_t n;
    int root;
    bool in_place = false;
    int variant = 0;
    std::vector<double> in = {};
    std::vector<double> out = {}; // with a guard at both ends

    [[nodiscard]] auto is_root() const -> bool { return rank == root; }
    [[nodiscard]] auto of(int by, std::size_t i) const -> double {
        return by * 1e6 + variant * 1e5 + static_cast<double>(i);
    }
    /// The output when the elements of the ranks from `first` to `last` are in.
    [[nodiscard]] auto with(int first, int last) const -> std::vector<double> {
        std::vector<double> v(n * static_cast<std::size_t>(ranks) + 2, -7);
        for (int r = first; r < last; ++r)
            for (std::size_t i = 0; i < n; ++i) v[1 + static_cast<std::size_t>(r) * n + i] = of(r, i);
        return v;
    }
    void reset(int new_variant) {
        variant = new_variant;
        in.resize(n);
        for (std::size_t i = 0; i < n; ++i) in[i] = of(rank, i);
        out = in_place && is_root() ? with(rank, rank + 1) : with(0, 0);
    }
    template <class Function, class Comm, class Policy>
    auto call(Function const& function, Comm& comm, Policy const& policy) {
        if (in_place && is_root())
            return function(comm, boost::mpi::inplace(out.data() + 1), n, root, policy);
        if (in_place) return function(comm, in.data(), n, root, policy);
        return function(comm, in.data(), n, out.data() + 1, root, policy);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        call(papcoll::gather, comm, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        return call(papcoll::igather, comm, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_gather<double>(comm, n, root, policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (in_place && is_root())
            plan.run(boost::mpi::inplace(out.data() + 1));
        else if (in_place)
            plan.run(in.data());
        else
            plan.run(in.data(), out.data() + 1);
    }
    void check() const {
        CAPTURE(n);
        CAPTURE(root);
        CAPTURE(in_place);
        CHECK(out == (is_root() ? with(0, ranks) : with(0, 0)));
        bool untouched = true;
        for (std::size_t i = 0; i < n; ++i) untouched = untouched && in[i] == of(rank, i);
        CHECK(untouched);
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
    auto const p = static_cast<std::size_t>(ranks);
    int const root = ranks - 1;
    std::vector<int> expected(p), out(p), resized(99);
    for (int r = 0; r < ranks; ++r) expected[static_cast<std::size_t>(r)] = r * r;
    papcoll::gather(comm, rank * rank, out.data(), root, policy);
    papcoll::gather(comm, rank * rank, resized, root, policy);
    if (rank == root) {
        CHECK(out == expected);
        CHECK(resized == expected);
        papcoll::gather(comm, rank * rank, out, root, policy);
    } else {
        CHECK(resized.size() == 99);
        papcoll::gather(comm, rank * rank, root, policy);
    }
    std::vector<int> const two(2, rank);
    papcoll::igather(comm, two.data(), 2, resized, root, policy).wait();
    if (rank == root) CHECK(resized.size() == 2 * p);
    if (rank == root) CHECK(resized.back() == root);
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    papcoll::sorted_linear const good{};
    std::vector<double> in(4), out(4 * static_cast<std::size_t>(ranks) + 4);
    auto const call = [&](double const* from, double* to, int root, papcoll::sorted_linear const& policy) {
        return [&comm, from, to, root, policy] { papcoll::gather(comm, from, 4, to, root, policy); };
    };
    collective_suite::one_by_one(comm, some(rank, ranks), good);
    says("in must not be null", call(nullptr, out.data(), rank, good));
    says("out must not be null", call(in.data(), nullptr, rank, good));
    says("in and out overlap", call(out.data() + 3, out.data(), rank, good));
    says("root must be a rank", call(in.data(), out.data(), ranks, good));
    says("root must be a rank", call(in.data(), out.data(), -1, good));
    says("first_bytes", call(in.data(), out.data(), rank, {.arrivals = {}, .first_bytes = 0}));
    std::vector<papcoll::ticks> const many(static_cast<std::size_t>(ranks) + 1);
    says("arrivals must have one entry per rank",
         call(in.data(), out.data(), rank, {.arrivals = many, .first_bytes = 8}));
    if (ranks > 1)
        says("inplace(values) is for the root",
             [&] { papcoll::gather(comm, boost::mpi::inplace(out.data()), 4, (rank + 1) % ranks, good); });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::sorted_linear const good{.arrivals = {}, .first_bytes = 16};
    std::vector<double> in(9), out(9 * static_cast<std::size_t>(ranks));
    bool const last = rank == ranks - 1;
    auto const says = [&](std::string const& words, double const* from, std::size_t n, int root,
                          papcoll::sorted_linear const& policy) {
        collective_suite::says(words, [&] { papcoll::gather(comm, from, n, out.data(), root, policy); });
    };
    if (ranks > 1) {
        says("ranks disagree on the count", in.data(), last ? 8 : 9, 0, good);
        says("ranks disagree on the root: from 0 to 1", in.data(), 9, last ? 1 : 0, good);
        says("policy", in.data(), 9, 0, {.arrivals = {}, .first_bytes = last ? 17u : 16u});
        collective_suite::says("operation", [&] {
            if (last)
                papcoll::broadcast(comm, out.data(), out.size(), 0, papcoll::circulant{});
            else
                papcoll::gather(comm, in.data(), 9, out.data(), 0, good);
        });
        collective_suite::says("inplace(values) is for the root", [&] {
            if (last)
                papcoll::gather(comm, boost::mpi::inplace(out.data()), 9, 0, good);
            else
                papcoll::gather(comm, in.data(), 9, out.data(), 0, good);
        });
    }
    says("in must not be null", last ? nullptr : in.data(), 9, 0, good);
    says("root must be a rank", in.data(), 9, last ? -1 : 0, good);
    says("first_bytes", in.data(), 9, 0, {.arrivals = {}, .first_bytes = last ? 0u : 16u});
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

} // namespace gather_suite
