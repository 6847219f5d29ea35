// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/predictor.hpp>
#include <papcoll/schedule/problem.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace papcoll::inline v0 {

/// Assumes that the rest goes on at the mean speed so far: when a fraction f is done after a time e, the
/// computation takes e / f. Knows nothing before the first report of an iteration, and uses the last one.
///
/// With halves that vary independently by a relative standard deviation σ, a report at 1/2 predicts the whole
/// with a mean error of about 0.56 σ of its time (the noise floor: the second half is unknown, the first is
/// counted twice). Source: paper 4, Listing 1, lines 6 and 7; paper 1, section 6.
class linear_extrapolation {
public:
    void begin(ticks t) { m_computation.begin(t); }
    void progress(ticks t, double fraction) { m_computation.progress(t, fraction); }
    void end(ticks t) { m_computation.end(t); }
    [[nodiscard]] auto predict() const -> std::optional<ticks> {
        return m_computation.predict(extrapolated(m_computation.last()));
    }

private:
    static auto extrapolated(detail::observed_computation::report const& last) -> std::optional<ticks> {
        if (last.fraction == 0.0) return std::nullopt; // no report yet
        auto const total = static_cast<double>(last.elapsed.count()) / last.fraction;
        if (total >= static_cast<double>(longest_computation.count())) return longest_computation;
        return ticks{static_cast<std::int64_t>(std::llround(total))};
    }

    detail::observed_computation m_computation;
};

} // namespace papcoll::inline v0
