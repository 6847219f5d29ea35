// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace papcoll::inline v0 {

/// What is known of the offset between two clocks: at local time t the other one shows t + x with x in
/// [least, most].
struct offset_bounds {
    /// The offset is not less.
    ticks least{0};
    /// The offset is not greater.
    ticks most{0};

    /// The best guess at the offset.
    [[nodiscard]] auto middle() const -> ticks { return least + (most - least) / 2; }
    /// How far the middle can be from the truth.
    [[nodiscard]] auto error() const -> ticks { return (most - least + ticks{1}) / 2; }
};

/// Follows the offset of a drifting clock from measured bounds. Between measurements the bounds move with the
/// drift and widen with what is not known of it; a measurement cuts them. Two measurements that are Δ apart
/// bound the drift to [(least₂ − most₁) / Δ, (most₂ − least₁) / Δ], so it is known better the longer one
/// waits.
///
/// As long as measurements are true, drift stays below `max_drift` and changes by less than `wander` in the
/// time between two references, the bounds are true, too. Measurements that contradict what was known (a
/// clock was set, or drifts otherwise than assumed) replace it. A value; trivially copyable, so that ranks
/// can send it.
class offset_track {
public:
    /// Quartz is within 100 ppm of the truth, so two of them are within 200 of each other.
    static constexpr double max_drift = 200e-6;
    /// By how much a drift may change with temperature and age.
    static constexpr double wander = 0.2e-6;

    offset_track() = default;
    /// The same clock at both ends.
    [[nodiscard]] static auto identity() -> offset_track {
        offset_track track;
        track.m_known = true;
        track.m_least_drift = track.m_most_drift = 0.0;
        return track;
    }

    /// False before the first measurement: at() is then ±2^61 ns.
    [[nodiscard]] auto known() const -> bool { return m_known; }

    /// The bounds at a local time, after or before the last measurement.
    [[nodiscard]] auto at(ticks local) const -> offset_bounds {
        if (!m_known) return {-ticks{unknown}, ticks{unknown}};
        auto const age = static_cast<double>((local - m_last.at).count());
        auto const a = age * m_least_drift, b = age * m_most_drift; // ordered only where age is not negative
        return {m_last.offset.least + ticks{static_cast<std::int64_t>(std::floor(std::min(a, b)))},
                m_last.offset.most + ticks{static_cast<std::int64_t>(std::ceil(std::max(a, b)))}};
    }
    /// Of the other clock against the local one, the middle of what it can be.
    [[nodiscard]] auto drift() const -> double { return (m_least_drift + m_most_drift) / 2; }
    /// The drift is not less.
    [[nodiscard]] auto least_drift() const -> double { return m_least_drift; }
    /// The drift is not greater.
    [[nodiscard]] auto most_drift() const -> double { return m_most_drift; }
    /// How far drift() can be from the truth.
    [[nodiscard]] auto drift_error() const -> double { return (m_most_drift - m_least_drift) / 2; }

    /// At local time `local` the offset is within `measured`. Measurements come in the order of their times.
    void observe(ticks local, offset_bounds measured) {
        auto const expected = at(local);
        offset_bounds const both{std::max(expected.least, measured.least),
                                 std::min(expected.most, measured.most)};
        if (!m_known || both.most < both.least) {
            *this = offset_track();
            m_known = true;
            m_last = m_reference = {local, measured};
            return;
        }
        m_last = {local, both};
        narrow_drift();
        if (local - m_reference.at > reference_age) m_reference = m_last;
    }

    /// The drift is within [least, most], but for its wander. What contradicts that is forgotten.
    void observe_drift(double least, double most) {
        least = std::clamp(least - wander, -max_drift, max_drift);
        most = std::clamp(most + wander, -max_drift, max_drift);
        if (std::max(least, m_least_drift) <= std::min(most, m_most_drift)) {
            least = std::max(least, m_least_drift);
            most = std::min(most, m_most_drift);
        }
        m_least_drift = least;
        m_most_drift = most;
    }

private:
    struct sample {
        ticks at{0};
        offset_bounds offset;
    };

    static constexpr std::int64_t unknown = std::int64_t{1} << 61;
    // Drift is measured over at most this; what was learnt before stays until it is contradicted.
    static constexpr ticks reference_age = std::chrono::minutes(5);

    void narrow_drift() {
        auto const age = static_cast<double>((m_last.at - m_reference.at).count());
        if (age <= 0) return;
        auto const rise = [&](ticks from, ticks to) {
            return static_cast<double>((to - from).count()) / age;
        };
        auto const least = rise(m_reference.offset.most, m_last.offset.least) - wander;
        auto const most = rise(m_reference.offset.least, m_last.offset.most) + wander;
        if (most - least >= m_most_drift - m_least_drift) return;
        m_least_drift = std::clamp(least, -max_drift, max_drift);
        m_most_drift = std::clamp(most, -max_drift, max_drift);
    }

    bool m_known = false;
    sample m_last, m_reference;
    double m_least_drift = -max_drift;
    double m_most_drift = max_drift;
};

} // namespace papcoll::inline v0
