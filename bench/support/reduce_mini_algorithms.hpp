// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/reduce.hpp>
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/arrival_tree.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/greedy_tree.hpp>
#include <papcoll/policy/native.hpp>

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reduce_algorithms.hpp"

namespace bench {

/// One reduction, and what the policies that want to know are told of the arrivals.
struct reduction {
    MPI_Comm comm;
    int root;
    std::vector<float> const& in;
    std::vector<float>& out; ///< as large as `in` on all ranks
    papcoll::arrival_source arrivals;
    std::optional<int> segments; ///< of Clairvoyant
};

struct reduction_algorithm {
    std::string name;
    bool aware; ///< is told the arrivals
    std::function<void(reduction const&)> run;
};

template <class Policy>
void reduce_with(reduction const& r, Policy const& policy) {
    papcoll::reduce(r.comm, r.in.data(), r.in.size(), r.out.data(), std::plus<>(), r.root, policy);
}
template <class Policy>
void all_reduce_with(reduction const& r, Policy const& policy) {
    papcoll::all_reduce(r.comm, r.in.data(), r.in.size(), r.out.data(), std::plus<>(), policy);
}

/// The MPI library's own first.
[[nodiscard]] inline auto reductions() -> std::vector<reduction_algorithm> {
    std::vector<reduction_algorithm> all{
        {"MPI", false, [](auto const& r) { reduce_with(r, papcoll::native{}); }}};
    for (auto const& [name, function] : reference_reductions())
        all.push_back({name, false, [f = function](auto const& r) {
                           r.out = r.in;
                           f(reduction_group(r.comm, r.root), r.out);
                       }});
    all.push_back({"circulant", false, [](auto const& r) { reduce_with(r, papcoll::circulant{}); }});
    all.push_back({"greedy_tree", false, [](auto const& r) { reduce_with(r, papcoll::greedy_tree{}); }});
    all.push_back({"CLV", true, [](auto const& r) {
                       reduce_with(r, papcoll::clairvoyant{.arrivals = r.arrivals, .segments = r.segments});
                   }});
    all.push_back({"arrival_tree", true,
                   [](auto const& r) { reduce_with(r, papcoll::arrival_tree{.arrivals = r.arrivals}); }});
    return all;
}

[[nodiscard]] inline auto all_reductions() -> std::vector<reduction_algorithm> {
    return {{"MPI", false, [](auto const& r) { all_reduce_with(r, papcoll::native{}); }},
            {"circulant", false, [](auto const& r) { all_reduce_with(r, papcoll::circulant{}); }},
            {"aware", true,
             [](auto const& r) { all_reduce_with(r, papcoll::arrival_all_reduce{.arrivals = r.arrivals}); }}};
}

} // namespace bench
