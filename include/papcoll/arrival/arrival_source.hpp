// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// When the ranks arrive, as a policy is told: nothing known (all together), or a vector of one time per
/// rank, on one clock of any origin, the same on all ranks to the bit. A cheap value: copies share the
/// vector.
class arrival_source {
public:
    /// All together.
    arrival_source() = default;
    arrival_source(std::vector<ticks> times)
        : m_times(std::make_shared<std::vector<ticks> const>(std::move(times))) {}
    arrival_source(std::span<ticks const> times)
        : arrival_source(std::vector<ticks>(times.begin(), times.end())) {}
    arrival_source(std::initializer_list<ticks> times)
        : arrival_source(std::vector<ticks>(times)) {}

    /// Whether times were given, even if an empty vector of them.
    [[nodiscard]] auto given() const -> bool { return m_times != nullptr; }
    /// When each rank arrives, one entry per rank; empty: all together.
    [[nodiscard]] auto times() const -> std::span<ticks const> {
        return m_times ? std::span<ticks const>(*m_times) : std::span<ticks const>();
    }

    friend auto operator==(arrival_source const& a, arrival_source const& b) -> bool {
        return a.m_times == b.m_times || (a.given() && b.given() && *a.m_times == *b.m_times);
    }

private:
    std::shared_ptr<std::vector<ticks> const> m_times;
};

} // namespace papcoll::inline v0
