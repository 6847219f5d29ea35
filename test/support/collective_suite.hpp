// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/core.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

/// What every collective promises, whichever it is; called by all ranks of `comm`. A `Call` is one call of a
/// collective on one rank, with its buffers:
///
///     reset(variant)            fills the buffers anew, differently for each variant
///     run(comm, policy)         blocks
///     begin(comm, policy)       returns the request
///     prepare(comm, policy)     returns the plan, which run_plan(plan) runs
///     check()                   the buffers have what they must have, and nothing beside them was touched
namespace collective_suite {

template <class Call, class Comm, class Policy>
void one_by_one(Comm& comm, std::vector<Call> calls, Policy const& policy) {
    for (auto& call : calls) {
        call.reset(0);
        call.run(comm, policy);
        call.check();
    }
}

/// All at once, completed in different orders on the ranks.
template <class Call, class Comm, class Policy>
void in_flight(Comm& comm, int rank, std::vector<Call> calls, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    std::vector<papcoll::request> pending;
    for (std::size_t k = 0; k < calls.size(); ++k) {
        calls[k].reset(static_cast<int>(k));
        pending.push_back(calls[k].begin(comm, policy));
    }
    std::size_t const n = pending.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t const forward = (k + static_cast<std::size_t>(rank)) % n;
        pending[rank % 2 == 0 ? forward : n - 1 - forward].wait();
    }
    for (auto const& call : calls) call.check();
}

/// One rank comes late; the others poll meanwhile.
template <class Call, class Comm, class Policy>
void late_ranks(Comm& comm, int rank, int ranks, Call call, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    for (int const late : {0, ranks - 1, ranks / 2}) {
        call.reset(late);
        if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        auto pending = call.begin(comm, policy);
        while (!pending.test()) std::this_thread::yield();
        call.check();
    }
}

template <class Call, class Comm, class Policy>
void planned(Comm& comm, std::vector<Call> calls, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    for (auto& call : calls) {
        auto plan = call.prepare(comm, policy);
        for (int variant = 0; variant < 3; ++variant) {
            call.reset(variant);
            call.run_plan(plan);
            call.check();
        }
    }
}

/// What std::invalid_argument says that f throws.
template <class F>
[[nodiscard]] auto complaint_of(F const& f) -> std::string {
    try {
        f();
    } catch (std::invalid_argument const& e) {
        return e.what();
    }
    return "nothing was thrown";
}
template <class F>
void says(std::string const& words, F const& f) {
    auto const complaint = complaint_of(f);
    CAPTURE(words);
    CAPTURE(complaint);
    CHECK(complaint.find(words) != std::string::npos);
}

/// How much belongs to each rank: nothing, alike, less than one each, uneven with zeros, all to one rank.
[[nodiscard]] inline auto all_sizes(int ranks) -> std::vector<std::vector<std::size_t>> {
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<std::vector<std::size_t>> cases;
    for (std::size_t const alike : {0u, 1u, 40u}) cases.emplace_back(p, alike);
    std::vector<std::size_t> few(p), uneven(p), long_ones(p);
    for (std::size_t r = 0; r < p; ++r) {
        few[r] = r % 3 == 1 ? 1 : 0;
        uneven[r] = r % 4 == 2 ? 0 : r * 7919 % 23;
        long_ones[r] = r * 37 % 5 * 700;
    }
    cases.push_back(few);
    cases.push_back(uneven);
    cases.push_back(long_ones);
    for (std::size_t const rich : {std::size_t(0), p / 2, p - 1}) {
        std::vector<std::size_t> one(p);
        one[rich] = 1000;
        cases.push_back(one);
    }
    return cases;
}

/// Long parts among short ones: one, two, more and more, and half of them.
[[nodiscard]] inline auto long_sizes(int ranks) -> std::vector<std::vector<std::size_t>> {
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<std::size_t> one(p, 2), two(p), ramp(p), half(p);
    one[p / 2] = 30'001;
    two.front() = 12'000;
    two.back() = 9'000;
    for (std::size_t r = 0; r < p; ++r) {
        ramp[r] = r * 1'501;
        half[r] = r < p / 2 ? 7'000 : 1;
    }
    return {one, two, ramp, half};
}
/// Links on which long messages are cut and blocks are many, or neither.
[[nodiscard]] inline auto some_links() -> std::vector<papcoll::link_model> {
    return {{papcoll::ticks(1'000), 100.0}, {std::chrono::milliseconds(1), 1e-3}};
}

} // namespace collective_suite
