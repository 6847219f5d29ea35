// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// What an arrival_source stands for: by itself, times that are there. Where they come later, as those of a
/// monitor do, an operation under way looks for them, and whoever needs them at once waits.
class arrival_answer {
public:
    explicit arrival_answer(std::vector<ticks> times)
        : m_times(std::move(times)) {}
    arrival_answer(arrival_answer const&) = delete;
    auto operator=(arrival_answer const&) -> arrival_answer& = delete;
    virtual ~arrival_answer() = default;

    /// How many ranks it is about.
    [[nodiscard]] virtual auto ranks() const -> std::size_t { return m_times.size(); }
    /// Whether it is known; waits for nothing.
    [[nodiscard]] virtual auto is_known() const -> bool { return true; }
    /// Does what can be done to learn it, without blocking; throws when it cannot be learnt.
    virtual void look() {}
    /// An operation that began before the rank has its data looks for it.
    virtual void stay_in_background() {}
    /// This rank has its data now.
    virtual void arrive() {}
    /// One time per rank; nullopt: all together. Waits until it is known; unless it stays in the background,
    /// this rank's computation ends here.
    [[nodiscard]] virtual auto times() -> std::optional<std::span<ticks const>> { return m_times; }
    /// The same of an answer that is known, of which this is no use: no computation ends.
    [[nodiscard]] virtual auto known_times() const -> std::optional<std::span<ticks const>> {
        return m_times;
    }

protected:
    arrival_answer() = default;

private:
    std::vector<ticks> m_times;
};

} // namespace detail

/// When the ranks arrive, as a policy is told: nothing known (all together), or a vector of one time per
/// rank, on one clock of any origin, the same on all ranks to the bit. A cheap value: copies share the
/// vector.
///
/// What an arrival_monitor gives may be known later: the operations that `open_all_gather` and the like begin
/// wait for it in the background, all other calls, given() and times() where they need it.
class arrival_source {
public:
    /// All together.
    arrival_source() = default;
    arrival_source(std::vector<ticks> times)
        : m_answer(std::make_shared<detail::arrival_answer>(std::move(times))) {}
    arrival_source(std::span<ticks const> times)
        : arrival_source(std::vector<ticks>(times.begin(), times.end())) {}
    arrival_source(std::initializer_list<ticks> times)
        : arrival_source(std::vector<ticks>(times)) {}
    /// For monitors: arrivals that come later.
    explicit arrival_source(std::shared_ptr<detail::arrival_answer> answer)
        : m_answer(std::move(answer)) {}

    /// Whether the arrivals, or that there are none, are known already; waits for nothing.
    [[nodiscard]] auto known() const -> bool { return m_answer == nullptr || m_answer->is_known(); }
    /// Whether times were given, even if an empty vector of them.
    [[nodiscard]] auto given() const -> bool { return m_answer != nullptr && m_answer->times().has_value(); }
    /// When each rank arrives, one entry per rank; empty: all together.
    [[nodiscard]] auto times() const -> std::span<ticks const> {
        if (m_answer == nullptr) return {};
        return m_answer->times().value_or(std::span<ticks const>());
    }
    /// What is behind it; null: all together.
    [[nodiscard]] auto answer() const -> std::shared_ptr<detail::arrival_answer> const& { return m_answer; }

    /// Waits for nothing and ends no computation: arrivals that are not known yet are equal to themselves
    /// alone.
    friend auto operator==(arrival_source const& a, arrival_source const& b) -> bool {
        return a.m_answer == b.m_answer || a.says_the_same(b);
    }

private:
    // Out of the way of calls that are known.
    [[nodiscard, gnu::noinline]] auto says_the_same(arrival_source const& other) const -> bool {
        if (!known() || !other.known()) return false;
        auto const mine = known_times(), its = other.known_times();
        return mine.has_value() == its.has_value() && (!mine || std::ranges::equal(*mine, *its));
    }
    [[nodiscard]] auto known_times() const -> std::optional<std::span<ticks const>> {
        if (m_answer == nullptr) return std::nullopt;
        return m_answer->known_times();
    }

    std::shared_ptr<detail::arrival_answer> m_answer;
};

} // namespace papcoll::inline v0
