// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/mpi/inplace.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "collective_suite.hpp"

/// reduce as every policy must do it; called by all ranks of `comm`. What else reduce promises: reduce_suite.
namespace reduce_calls {

struct one_call {
    int rank;
    int ranks;
    int root;
    std::size_t n;
    bool in_place = false;
    int variant = 0;
    std::vector<double> in = {};
    std::vector<double> out = {}; // with a guard at both ends

    [[nodiscard]] auto of(int by, std::size_t i) const -> double {
        return (by + 1) * 100.0 + variant + static_cast<double>((i * static_cast<std::size_t>(by + 3)) % 97);
    }
    void reset(int new_variant) {
        variant = new_variant;
        in.resize(n);
        for (std::size_t i = 0; i < n; ++i) in[i] = of(rank, i);
        out.assign(n + 2, -7);
        if (in_place) std::copy(in.begin(), in.end(), out.begin() + 1);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        if (in_place)
            papcoll::reduce(comm, boost::mpi::inplace(out.data() + 1), n, std::plus<>(), root, policy);
        else if (rank == root)
            papcoll::reduce(comm, in.data(), n, out.data() + 1, std::plus<>(), root, policy);
        else
            papcoll::reduce(comm, in.data(), n, std::plus<>(), root, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        if (in_place)
            return papcoll::ireduce(comm, boost::mpi::inplace(out.data() + 1), n, std::plus<>(), root,
                                    policy);
        return papcoll::ireduce(comm, in.data(), n, out.data() + 1, std::plus<>(), root, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_reduce<double>(comm, n, std::plus<>(), root, policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (in_place)
            plan.run(boost::mpi::inplace(out.data() + 1));
        else if (rank == root)
            plan.run(in.data(), out.data() + 1);
        else
            plan.run(in.data());
    }
    void check() const {
        CAPTURE(root);
        CAPTURE(n);
        CAPTURE(in_place);
        std::vector<double> expected(n + 2, -7);
        for (std::size_t i = 0; i < n && rank == root; ++i) {
            expected[i + 1] = 0;
            for (int r = 0; r < ranks; ++r) expected[i + 1] += of(r, i);
        }
        for (std::size_t i = 0; i < n && rank != root && in_place; ++i) expected[i + 1] = of(rank, i);
        CHECK(out == expected);
        bool untouched = true;
        for (std::size_t i = 0; i < n; ++i) untouched = untouched && in[i] == of(rank, i);
        CHECK(untouched);
    }
};

inline auto every_root(int rank, int ranks) -> std::vector<one_call> {
    std::vector<one_call> calls;
    for (int root = 0; root < ranks; ++root) calls.push_back({rank, ranks, root, 10, root % 2 == 1});
    for (int const root : {0, ranks / 2})
        for (std::size_t const n : {0u, 1u, 2u, 1000u}) calls.push_back({rank, ranks, root, n, root == 0});
    return calls;
}
inline auto some(int rank, int ranks) -> std::vector<one_call> {
    return {{rank, ranks, 0, 300},
            {rank, ranks, ranks - 1, 5, true},
            {rank, ranks, ranks / 2, 0},
            {rank, ranks, ranks / 2, 2000}};
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, every_root(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, one_call{rank, ranks, ranks / 2, 500}, policy);
    collective_suite::planned(comm, some(rank, ranks), policy);
}

} // namespace reduce_calls
