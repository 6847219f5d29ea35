// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <concepts>

namespace papcoll::inline v0 {

/// A scheduler of any type, for the time of a call: a function that takes one is compiled once for all.
class scheduler_ref {
public:
    template <class S>
    requires(!std::same_as<S, scheduler_ref> && scheduler<S>)
        scheduler_ref(S const& s) // NOLINT(google-explicit-constructor): stands for the scheduler itself
        : m_kind(S::kind)
        , m_scheduler(&s)
        , m_for_rank([](void const* self, problem const& p, int rank) {
            return static_cast<S const*>(self)->for_rank(p, rank);
        }) {}

    [[nodiscard]] auto kind() const -> schedule_kind { return m_kind; }
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        return m_for_rank(m_scheduler, p, rank);
    }

private:
    schedule_kind m_kind;
    void const* m_scheduler;
    auto(*m_for_rank)(void const* self, problem const& p, int rank) -> rank_schedule;
};

} // namespace papcoll::inline v0
