// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/all_gather.hpp>
#include <papcoll/collective/barrier.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/policy/dissemination.hpp>
#include <papcoll/policy/linear.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "collective_suite.hpp"

/// What barrier promises on any communicator whose ranks are on one machine; called by all ranks of `comm`.
namespace barrier_suite {

inline auto now() -> std::int64_t { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// One rank comes late, and no rank may leave before it has come.
template <class Comm, class Wait>
void waits_for_all(Comm& comm, int rank, int ranks, Wait const& wait) {
    for (int const late : {0, ranks / 2, ranks - 1}) {
        if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(3));
        auto const came = now();
        wait();
        auto const left = now();
        std::vector<std::int64_t> all(static_cast<std::size_t>(ranks));
        papcoll::all_gather(comm, came, all.data(), papcoll::linear{});
        for (auto const other : all) CHECK(left >= other);
    }
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    waits_for_all(comm, rank, ranks, [&] { papcoll::barrier(comm, policy); });
    waits_for_all(comm, rank, ranks, [&] {
        auto pending = papcoll::ibarrier(comm, policy);
        while (!pending.test()) std::this_thread::yield();
    });
    auto plan = papcoll::plan_barrier(comm, policy);
    waits_for_all(comm, rank, ranks, [&] { plan.run(); });
    waits_for_all(comm, rank, ranks, [&] { plan.start().wait(); });
    for (int i = 0; i < 100; ++i) papcoll::barrier(comm, policy);
    auto first = papcoll::ibarrier(comm, policy);
    auto second = papcoll::ibarrier(comm, policy);
    second.wait();
    first.wait();
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    for (int const radix : {1, 0, -3})
        collective_suite::says("radix must be at least 2, but it is " + std::to_string(radix),
                               [&] { papcoll::barrier(comm, papcoll::dissemination{.radix = radix}); });
    promises(comm, rank, ranks, papcoll::dissemination{});
}
/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    bool const last = rank == ranks - 1;
    if (ranks > 1)
        collective_suite::says(
            "policy", [&] { papcoll::barrier(comm, papcoll::dissemination{.radix = last ? 3 : 2}); });
    collective_suite::says("radix",
                           [&] { papcoll::barrier(comm, papcoll::dissemination{.radix = last ? 1 : 2}); });
    promises(comm, rank, ranks, papcoll::dissemination{});
}

} // namespace barrier_suite
