// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>

namespace papcoll::inline v0 {

/// Guesses when a computation that is repeated in iterations will end, from what its rank observes. A
/// predictor is a value, knows one rank, reads no clock and sends nothing. Times are of one clock of any
/// origin; for `P p`, `P const c`, `ticks t`, `double f`:
///
///  1. `p.begin(t)`: a computation begins at t. One that has begun and not ended is forgotten.
///  2. `p.progress(t, f)`: at t the fraction f of it is done.
///  3. `p.end(t)`: it ends at t.
///  4. `c.predict()`, an optional<ticks>: when the computation that has begun ends; nullopt while nothing
///     is known about it. After its end, the end itself.
///
/// All observations are taken at any time, and none throws. What cannot be is ignored: progress and ends
/// without a beginning or before it, progress after the end, fractions outside (0, 1] and not-a-numbers, and
/// reports that are older, or tell of less progress, than one that was taken already; times more than 2^61 ns
/// from the clock's origin and computations longer than longest_computation, too. A prediction is not before
/// the last report. Where predict() throws, arrivals() of this rank throws the same, and the others find
/// themselves all together once its monitor has ended. Predictions may differ between machines by rounding:
/// ranks must exchange them, not recompute those of others.
///
///     struct an_hour { // a minimal model
///         std::optional<papcoll::ticks> expected;
///         void begin(papcoll::ticks t) { expected = t + std::chrono::hours{1}; }
///         void progress(papcoll::ticks, double) {}
///         void end(papcoll::ticks t) { if (expected) expected = t; }
///         auto predict() const -> std::optional<papcoll::ticks> { return expected; }
///     };
template <class P>
concept arrival_predictor = std::copyable<P> && requires(P& p, P const& c, ticks t, double f) {
    p.begin(t);
    p.progress(t, f);
    p.end(t);
    { c.predict() } -> std::same_as<std::optional<ticks>>;
};

/// No computation is taken to be longer than this, 2^60 ns (36 years).
inline constexpr ticks longest_computation{std::int64_t{1} << 60};

namespace detail {

/// The observations of one computation that make sense; what all predictors have in common.
class observed_computation {
public:
    struct report {
        ticks elapsed{0};
        double fraction = 0.0;
    };

    void begin(ticks t) { *this = observed_computation(t); }
    void progress(ticks t, double fraction) {
        // Written so that not-a-numbers fail.
        if (!running() || !valid(t) || !(fraction > 0.0 && fraction <= 1.0)) return;
        if (t - *m_begin < m_last.elapsed || fraction < m_last.fraction) return;
        m_last = {t - *m_begin, fraction};
    }
    /// How long the computation took, if this is its end.
    auto end(ticks t) -> std::optional<ticks> {
        if (!running() || !valid(t)) return std::nullopt;
        m_duration = t - *m_begin;
        return m_duration;
    }

    observed_computation() = default;

    [[nodiscard]] auto last() const -> report const& { return m_last; }
    /// The end: as observed, else after `expected`, but not before the last report.
    [[nodiscard]] auto predict(std::optional<ticks> expected) const -> std::optional<ticks> {
        if (!m_begin) return std::nullopt;
        if (m_duration) return *m_begin + *m_duration;
        if (!expected) return std::nullopt;
        return *m_begin + std::max(*expected, m_last.elapsed);
    }

private:
    explicit observed_computation(ticks begin)
        : m_begin(in_range(begin) ? std::optional(begin) : std::nullopt) {}

    // So that sums of times cannot overflow.
    static auto in_range(ticks t) -> bool {
        constexpr ticks limit{std::int64_t{1} << 61};
        return -limit <= t && t <= limit;
    }
    [[nodiscard]] auto running() const -> bool { return m_begin && !m_duration; }
    [[nodiscard]] auto valid(ticks t) const -> bool {
        return in_range(t) && t >= *m_begin && t - *m_begin <= longest_computation;
    }

    std::optional<ticks> m_begin;
    std::optional<ticks> m_duration;
    report m_last;
};

} // namespace detail

} // namespace papcoll::inline v0
