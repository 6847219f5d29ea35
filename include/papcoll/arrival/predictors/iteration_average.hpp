// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/predictor.hpp>
#include <papcoll/schedule/problem.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// A mean of durations: `add(d)` takes one in [0, longest_computation], `value()` is an optional<ticks>,
/// nullopt before the first.
template <class A>
concept duration_average = std::copyable<A> && requires(A& a, A const& c, ticks d) {
    a.add(d);
    { c.value() } -> std::same_as<std::optional<ticks>>;
};

/// Expects a computation to take as long as those before it, in the mean of `Average`. Needs no reports of
/// progress; they only keep it from predicting a time that has passed. Knows nothing in the first iteration.
template <duration_average Average>
class iteration_average {
public:
    iteration_average() = default;
    explicit iteration_average(Average average)
        : m_average(std::move(average)) {}

    void begin(ticks t) { m_computation.begin(t); }
    void progress(ticks t, double fraction) { m_computation.progress(t, fraction); }
    void end(ticks t) {
        if (auto const duration = m_computation.end(t)) m_average.add(*duration);
    }
    [[nodiscard]] auto predict() const -> std::optional<ticks> {
        return m_computation.predict(m_average.value());
    }

private:
    Average m_average;
    detail::observed_computation m_computation;
};

/// The last duration alone. Follows every change at once, and every outlier.
class last_duration {
public:
    void add(ticks duration) { m_last = duration; }
    [[nodiscard]] auto value() const -> std::optional<ticks> { return m_last; }

private:
    std::optional<ticks> m_last;
};

/// The mean of the last `window` durations, or of all while they are fewer. An outlier of size x moves it by
/// x / window for as many iterations; a drift of δ per iteration is followed (window + 1) / 2 · δ behind.
/// O(window) memory and time. Throws std::invalid_argument for a window less than 1.
class moving_duration {
public:
    explicit moving_duration(int window = 8)
        : m_window(static_cast<std::size_t>(window)) {
        detail::require(window >= 1, "window must be at least 1", window);
    }

    void add(ticks duration) {
        if (m_durations.size() < m_window)
            m_durations.push_back(duration);
        else
            m_durations[m_next] = duration;
        m_next = (m_next + 1) % m_window;
    }
    /// Rounded towards zero.
    [[nodiscard]] auto value() const -> std::optional<ticks> {
        if (m_durations.empty()) return std::nullopt;
        auto const count = static_cast<ticks::rep>(m_durations.size());
        // Σ d / count without overflow; the rests are less than count² in all.
        ticks quotients{0}, rests{0};
        for (auto const duration : m_durations) {
            quotients += duration / count;
            rests += duration % count;
        }
        return quotients + rests / count;
    }

private:
    std::size_t m_window;
    std::size_t m_next = 0;
    std::vector<ticks> m_durations;
};

/// m ← w d + (1 − w) m, beginning with the first duration: older ones count less and less. An outlier of size
/// x moves it by w x, and (1 − w)^k of that is left k iterations later; a drift of δ per iteration is
/// followed δ / w behind. Throws std::invalid_argument for a weight outside (0, 1].
class exponential_duration {
public:
    explicit exponential_duration(double weight = 0.25)
        : m_weight(weight) {
        if (!(weight > 0.0 && weight <= 1.0))
            throw std::invalid_argument("papcoll: weight must be in (0, 1], but it is " +
                                        std::to_string(weight));
    }

    void add(ticks duration) {
        auto const d = static_cast<double>(duration.count());
        m_mean = m_mean ? *m_mean + m_weight * (d - *m_mean) : d;
    }
    [[nodiscard]] auto value() const -> std::optional<ticks> {
        if (!m_mean) return std::nullopt;
        return ticks{static_cast<std::int64_t>(std::llround(*m_mean))};
    }

private:
    double m_weight;
    std::optional<double> m_mean;
};

/// The next iteration takes as long as the last one.
using last_value = iteration_average<last_duration>;
/// The next iteration takes as long as the last few did on average.
using moving_average = iteration_average<moving_duration>;
/// The next iteration takes as long as those before did on average, the later the heavier.
using exponential_average = iteration_average<exponential_duration>;

} // namespace papcoll::inline v0
