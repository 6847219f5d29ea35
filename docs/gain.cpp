// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Draws docs/gain.svg: the programs of three policies, simulated on eight hosts of which one is late.
#include <papcoll/analysis.hpp>
#include <papcoll/core.hpp>

#include <array>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int ranks = 8;
constexpr std::size_t count = 1 << 20; // floats
constexpr double per_byte = 83.7;      // nanoseconds: 100 Mbit/s, of which TCP leaves 95.6
constexpr papcoll::ticks latency = 60us;

template <class Policy>
auto exits_of(Policy const& policy, std::vector<papcoll::ticks> const& arrivals)
    -> std::vector<papcoll::ticks> {
    std::vector<papcoll::program> programs;
    for (int rank = 0; rank < ranks; ++rank)
        programs.push_back(policy.plan({.operation = papcoll::collective_kind::all_reduce,
                                        .ranks = ranks,
                                        .rank = rank,
                                        .count = count,
                                        .element_bytes = sizeof(float),
                                        .commutative = true},
                                       {latency, per_byte}));
    papcoll::cost_model const costs{
        .latency = latency, .per_byte = per_byte, .compute = {}, .compute_per_byte = 0.1};
    return papcoll::simulate(programs, arrivals, costs, sizeof(float));
}

} // namespace

int main() {
    std::vector<papcoll::ticks> arrivals(ranks, 0ms);
    arrivals.back() = 700ms;
    std::array const exits{exits_of(papcoll::binomial_tree{}, arrivals),
                           exits_of(papcoll::circulant{}, arrivals),
                           exits_of(papcoll::arrival_all_reduce{.arrivals = arrivals}, arrivals)};
    std::array const names{"a tree", "circulant: best without knowledge",
                           "arrival_all_reduce: knows who is late"};
    std::vector<papcoll::timeline_group> groups;
    for (std::size_t i = 0; i < names.size(); ++i) groups.push_back({names[i], arrivals, exits[i]});
    std::cout << papcoll::draw_timeline(
        groups, "all-reduce of 4 MiB on 8 hosts, 100 Mbit/s, rank 7 comes 700 ms late");
}
