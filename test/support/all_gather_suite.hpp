// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <vector>

#include "collective_suite.hpp"

/// What all_gather promises on any communicator; called by all ranks of `comm`.
namespace all_gather_suite {

struct one_call {
    int rank;
    int ranks;
    std::size_t n;
    bool in_place = false;
    int variant = 0;
    std::vector<double> in = {};
    std::vector<double> out = {}; // with a guard at both ends

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
        out = in_place ? with(rank, rank + 1) : with(0, 0);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        if (in_place)
            papcoll::all_gather(comm, boost::mpi::inplace(out.data() + 1), n, policy);
        else
            papcoll::all_gather(comm, in.data(), n, out.data() + 1, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        if (in_place) return papcoll::iall_gather(comm, boost::mpi::inplace(out.data() + 1), n, policy);
        return papcoll::iall_gather(comm, in.data(), n, out.data() + 1, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_all_gather<double>(comm, n, policy);
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
        CHECK(out == with(0, ranks));
        bool untouched = true;
        for (std::size_t i = 0; i < n; ++i) untouched = untouched && in[i] == of(rank, i);
        CHECK(untouched);
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

template <class Comm, class Policy>
void forms(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<int> expected(p), twice(2 * p);
    for (int r = 0; r < ranks; ++r) {
        expected[static_cast<std::size_t>(r)] = r * r;
        twice[static_cast<std::size_t>(2 * r)] = twice[static_cast<std::size_t>(2 * r + 1)] = r * r;
    }
    std::vector<int> out(p), resized(99);
    papcoll::all_gather(comm, rank * rank, out.data(), policy);
    CHECK(out == expected);
    papcoll::all_gather(comm, rank * rank, resized, policy);
    CHECK(resized == expected);
    std::vector<int> const two(2, rank * rank);
    papcoll::iall_gather(comm, two.data(), 2, resized, policy).wait();
    CHECK(resized == twice);
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    papcoll::circulant const good{};
    std::vector<double> in(4), out(4 * static_cast<std::size_t>(ranks) + 4);
    auto const call = [&](double const* from, std::size_t n, double* to, papcoll::circulant const& policy) {
        return [&comm, from, n, to, policy] { papcoll::all_gather(comm, from, n, to, policy); };
    };
    collective_suite::one_by_one(comm, some(rank, ranks), good);
    says("in must not be null", call(nullptr, 4, out.data(), good));
    says("out must not be null", call(in.data(), 4, nullptr, good));
    says("in and out overlap", call(out.data() + 3, 4, out.data(), good));
    says("in and out overlap", call(out.data(), 4, out.data(), good));
    says("n must be", call(in.data(), std::size_t(1) << 61, out.data(), good));
    says("out must not be null",
         [&] { papcoll::all_gather(comm, boost::mpi::inplace(static_cast<double*>(nullptr)), 4, good); });
    says("block_bytes", call(in.data(), 4, out.data(), {.block_bytes = 0}));
    says("block_bytes",
         [&] { (void)papcoll::plan_all_gather<int>(comm, 5, papcoll::circulant{.block_bytes = 0}); });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::circulant const good{.block_bytes = 64};
    std::vector<double> in(9), out(9 * static_cast<std::size_t>(ranks));
    bool const last = rank == ranks - 1;
    auto const says = [&](std::string const& words, double const* from, std::size_t n,
                          papcoll::circulant const& policy) {
        collective_suite::says(words, [&] { papcoll::all_gather(comm, from, n, out.data(), policy); });
    };
    if (ranks > 1) {
        says("ranks disagree on the count", in.data(), last ? 8 : 9, good);
        says("policy", in.data(), 9, {.block_bytes = last ? 65 : 64});
        collective_suite::says("operation", [&] {
            if (last)
                papcoll::broadcast(comm, out.data(), out.size(), 0, good);
            else
                papcoll::all_gather(comm, in.data(), 9, out.data(), good);
        });
    }
    says("in must not be null", last ? nullptr : in.data(), 9, good);
    says("block_bytes", in.data(), 9, {.block_bytes = last ? 0 : 64});
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

} // namespace all_gather_suite
