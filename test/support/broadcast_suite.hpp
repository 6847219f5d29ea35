// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective_suite.hpp"

/// What broadcast promises on any communicator; called by all ranks of `comm`.
namespace broadcast_suite {

struct one_call {
    int rank;
    int root;
    std::size_t n;
    int variant = 0;
    std::vector<double> values = {}; // with a guard at both ends

    [[nodiscard]] auto expected(int by) const -> std::vector<double> {
        std::vector<double> v(n + 2, -7);
        for (std::size_t i = 0; i < n; ++i) v[i + 1] = by * 1e6 + variant * 1e5 + static_cast<double>(i);
        return v;
    }
    void reset(int new_variant) {
        variant = new_variant;
        values = expected(rank);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        papcoll::broadcast(comm, values.data() + 1, n, root, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        return papcoll::ibroadcast(comm, values.data() + 1, n, root, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_broadcast<double>(comm, n, root, policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        plan.run(values.data() + 1);
    }
    void check() const {
        CAPTURE(root);
        CAPTURE(n);
        CHECK(values == expected(root));
    }
};

inline auto every_root(int rank, int ranks) -> std::vector<one_call> {
    std::vector<one_call> calls;
    for (int root = 0; root < ranks; ++root) calls.push_back({rank, root, 10});
    for (int const root : {0, ranks / 2})
        for (std::size_t const n : {0u, 1u, 2u, 1000u}) calls.push_back({rank, root, n});
    return calls;
}
inline auto some(int rank, int ranks) -> std::vector<one_call> {
    return {{rank, 0, 300}, {rank, ranks - 1, 5}, {rank, ranks / 2, 0}, {rank, ranks / 2, 2000}};
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, every_root(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, one_call{rank, ranks / 2, 500}, policy);
    collective_suite::planned(comm, some(rank, ranks), policy);
}

template <class Comm, class Policy>
void forms(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    int const root = ranks - 1;
    std::int32_t number = rank;
    papcoll::broadcast(comm, number, root, policy);
    CHECK(number == root);
    std::array<char, 3> text{'a', 'b', static_cast<char>('a' + rank)};
    papcoll::ibroadcast(comm, text, root, policy).wait();
    CHECK(text[2] == static_cast<char>('a' + root));
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    papcoll::circulant const good{.block_bytes = 64};
    std::vector<double> v(10);
    auto const call = [&](double* values, std::size_t n, int root, papcoll::circulant const& policy) {
        return [&comm, values, n, root, policy] { papcoll::broadcast(comm, values, n, root, policy); };
    };
    collective_suite::one_by_one(comm, some(rank, ranks), good);
    says("root must be a rank", call(v.data(), 10, -1, good));
    says("root must be a rank", call(v.data(), 10, ranks, good));
    says("values must not be null", call(nullptr, 10, 0, good));
    says("n must be", call(v.data(), std::size_t(1) << 61, 0, good));
    says("block_bytes must be at least 1", call(v.data(), 10, 0, {.block_bytes = 0}));
    says("root must be a rank", [&] { (void)papcoll::plan_broadcast<int>(comm, 5, ranks, good); });
    says("block_bytes must be at least 1",
         [&] { (void)papcoll::plan_broadcast<int>(comm, 5, 0, papcoll::circulant{.block_bytes = 0}); });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::circulant const good{.block_bytes = 64};
    std::vector<double> v(100);
    bool const last = rank == ranks - 1;
    auto const says = [&](std::string const& words, double* values, std::size_t n, int root,
                          papcoll::circulant const& policy) {
        collective_suite::says(words, [&] { papcoll::broadcast(comm, values, n, root, policy); });
    };
    if (ranks > 1) {
        says("count: from 50 to 60", v.data(), last ? 60 : 50, 0, good);
        says("root: from 0 to 1", v.data(), 50, last ? 1 : 0, good);
        says("policy", v.data(), 50, 0, {.block_bytes = last ? 65 : 64});
        collective_suite::says("element size", [&] {
            if (last)
                papcoll::broadcast(comm, v.data(), 50, 0, good);
            else
                papcoll::broadcast(comm, reinterpret_cast<char*>(v.data()), 50, 0, good);
        });
        collective_suite::says(
            "count", [&] { (void)papcoll::plan_broadcast<double>(comm, last ? 60u : 50u, 0, good); });
    }
    says("values must not be null", last ? nullptr : v.data(), 50, 0, good);
    says("root must be a rank", v.data(), 50, last ? ranks : 0, good);
    says("(rank " + std::to_string(ranks - 1) + ")", v.data(), 50, 0, {.block_bytes = last ? 0 : 64});
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

} // namespace broadcast_suite
