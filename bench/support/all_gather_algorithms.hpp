// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/simulate.hpp>
#include <papcoll/collective/all_gather.hpp>
#include <papcoll/collective/open_all_gather.hpp>
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/native.hpp>
#include <papcoll/policy/neighbor_exchange.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/sorted_linear.hpp>
#include <papcoll/scheduler/background_circulant.hpp>
#include <papcoll/scheduler/background_ring.hpp>
#include <papcoll/scheduler/gather_broadcast.hpp>
#include <papcoll/scheduler/neighbor_exchange.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "start_together.hpp"

namespace bench {

/// One all-gather among ranks that arrive at different times: this rank's part of it.
struct gather_task {
    MPI_Comm comm;
    std::vector<float> const& in;
    std::vector<float>& out;
    std::vector<ticks> const& arrivals;  ///< planned, of all ranks, from the start
    std::vector<ticks> const& predicted; ///< what the policies are told
    std::optional<ticks> block_time;     ///< likewise
    std::optional<int> segments;         ///< of background_circulant
    ticks start;
    int rank;

    void compute() const { wait_until(start + arrivals[static_cast<std::size_t>(rank)]); }
};

/// When this rank called and when it left.
struct call_times {
    ticks arrival, exit;
};

/// A regular algorithm: nothing happens before the call.
template <class Policy>
[[nodiscard]] auto call_blocking(gather_task const& t, Policy const& policy) -> call_times {
    t.compute();
    auto const arrival = now();
    papcoll::all_gather(t.comm, t.in.data(), t.in.size(), t.out.data(), policy);
    return {arrival, now()};
}
/// Begun before the computation.
template <class Policy>
[[nodiscard]] auto call_split(gather_task const& t, Policy const& policy) -> call_times {
    auto gathering = papcoll::open_all_gather(t.comm, t.out.data(), t.in.size(), policy);
    t.compute();
    auto const arrival = now();
    gathering.contribute(t.in.data());
    gathering.wait();
    return {arrival, now()};
}

struct gather_algorithm {
    std::string name;
    bool regular; ///< knows no arrivals and begins with the call
    std::function<call_times(gather_task const&)> run;
};

/// By the names of paper 4 where it has them. `open-…`: a regular schedule, begun before the computation.
[[nodiscard]] inline auto gather_algorithms() -> std::vector<gather_algorithm> {
    return {
        {"NEX", true, [](auto const& t) { return call_blocking(t, papcoll::neighbor_exchange{}); }},
        {"LNBC", true, [](auto const& t) { return call_blocking(t, papcoll::linear{}); }},
        {"RING", true, [](auto const& t) { return call_blocking(t, papcoll::ring{}); }},
        {"circulant", true, [](auto const& t) { return call_blocking(t, papcoll::circulant{}); }},
        {"native", true, [](auto const& t) { return call_blocking(t, papcoll::native{}); }},
        {"BSLB", false,
         [](auto const& t) { return call_split(t, papcoll::sorted_linear{.arrivals = t.predicted}); }},
        {"BDR", false,
         [](auto const& t) {
             return call_split(t,
                               papcoll::background_ring{.arrivals = t.predicted, .block_time = t.block_time});
         }},
        {"BCIRC", false,
         [](auto const& t) {
             return call_split(t, papcoll::background_circulant{.arrivals = t.predicted,
                                                                .block_time = t.block_time,
                                                                .segments = t.segments});
         }},
        {"open-RING", false, [](auto const& t) { return call_split(t, papcoll::ring{}); }},
        {"open-circulant", false, [](auto const& t) { return call_split(t, papcoll::circulant{}); }},
    };
}

/// The exits that the one-ported model gives for these arrivals; none for algorithms that it does not know.
[[nodiscard]] inline auto model_exits(std::string const& algorithm, std::vector<ticks> const& arrivals,
                                      std::size_t part_bytes, ticks block_time, int segments,
                                      papcoll::link_model const& link) -> std::vector<ticks> {
    int const ranks = static_cast<int>(arrivals.size());
    auto const exits = [&](auto const& scheduler, int pieces) {
        std::vector<int> owners;
        for (int b = 0; b < ranks * pieces; ++b) owners.push_back(b / pieces);
        papcoll::problem const p{
            .ranks = ranks, .blocks = ranks * pieces, .arrivals = arrivals, .owners = owners};
        return papcoll::simulate(scheduler, p, {link.latency, link.per_byte},
                                 part_bytes / static_cast<std::size_t>(pieces));
    };
    if (algorithm == "RING") return exits(papcoll::ring_scheduler{}, 1);
    if (algorithm == "NEX") return exits(papcoll::neighbor_exchange_scheduler{}, 1);
    if (algorithm == "BDR") return exits(papcoll::background_ring_scheduler{block_time}, 1);
    if (algorithm == "LNBC" || algorithm == "BSLB") {
        // Nobody waits for a later rank in the gather of either; BSLB receives before its root has arrived.
        papcoll::call_shape whole{.operation = papcoll::collective_kind::broadcast, .ranks = ranks};
        whole.count = part_bytes * arrivals.size();
        int const pieces =
            std::max(papcoll::detail::choose_circulant_blocks(whole, link, std::nullopt) / ranks, 1);
        std::vector<int> owners;
        for (int b = 0; b < ranks * pieces; ++b) owners.push_back(b / pieces);
        papcoll::problem const p{
            .ranks = ranks, .blocks = ranks * pieces, .arrivals = arrivals, .owners = owners};
        auto all = papcoll::transfers(papcoll::gather_broadcast_scheduler{}, p);
        std::sort(all.begin(), all.end());
        return papcoll::simulate(
            all, p, {link.latency, link.per_byte}, part_bytes / static_cast<std::size_t>(pieces),
            papcoll::schedule_kind::dissemination,
            algorithm == "BSLB" ? papcoll::participation::background : papcoll::participation::from_arrival);
    }
    if (algorithm == "BCIRC") {
        papcoll::call_shape shape{.operation = papcoll::collective_kind::all_gather, .ranks = ranks};
        shape.count = part_bytes * arrivals.size();
        papcoll::background_circulant policy{.arrivals = {}, .block_time = block_time};
        if (segments > 0) policy.segments = segments;
        int const pieces = policy.blocks(shape, link);
        auto const latency = std::min(link.latency, block_time);
        return exits(papcoll::background_circulant_scheduler{block_time, latency}, pieces);
    }
    return {};
}

} // namespace bench
