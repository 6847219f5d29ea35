// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

/// What all benchmarks say about repeated measurements.
namespace bench {

/// The k-th of n sorted values for the rounded-down k = q (n − 1): of an even number the lower median.
[[nodiscard]] inline auto quantile(std::vector<double> values, double q) -> double {
    auto const k = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + k, values.end());
    return values[static_cast<std::size_t>(k)];
}
[[nodiscard]] inline auto median(std::vector<double> values) -> double {
    return quantile(std::move(values), 0.5);
}
[[nodiscard]] inline auto mean(std::vector<double> const& values) -> double {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
/// Of positive values.
[[nodiscard]] inline auto geometric_mean(std::vector<double> const& values) -> double {
    double logarithms = 0;
    for (auto const value : values) logarithms += std::log(value);
    return std::exp(logarithms / static_cast<double>(values.size()));
}

struct interval {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();

    /// Half the width as a part of the middle; infinite where nothing is known.
    [[nodiscard]] auto relative_width() const -> double {
        if (high == std::numeric_limits<double>::infinity()) return high;
        return high > 0 ? (high - low) / (high + low) : 0;
    }
};

/// Of n sorted values the k-th least and the k-th largest enclose the median of the distribution that they
/// are drawn from, whatever it is, with at least this confidence; 0: so few values enclose nothing.
[[nodiscard]] inline auto enclosing_rank(std::size_t n, double confidence) -> std::size_t {
    double probability = std::pow(0.5, static_cast<double>(n)); // that exactly k values are below the median
    double below = 0;
    std::size_t k = 0;
    if (n > 1000) { // where the powers underflow the binomial distribution is normal
        double const z = confidence > 0.96 ? 2.2414 : 1.96;
        return static_cast<std::size_t>((static_cast<double>(n) - z * std::sqrt(static_cast<double>(n))) / 2);
    }
    for (; k < n / 2; ++k) {
        below += probability;
        if (2 * below > 1 - confidence) return k;
        probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
    return k;
}

/// An interval that holds the median with 95 % confidence, or with more.
[[nodiscard]] inline auto median_interval(std::vector<double> values, double confidence = 0.95) -> interval {
    auto const k = enclosing_rank(values.size(), confidence);
    if (k == 0) return {};
    std::sort(values.begin(), values.end());
    return {values[k - 1], values[values.size() - k]};
}

/// Of values that belong together, measured one after the other: theirs one by one.
[[nodiscard]] inline auto ratios(std::vector<double> const& left, std::vector<double> const& right)
    -> std::vector<double> {
    std::vector<double> all;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) all.push_back(left[i] / right[i]);
    return all;
}
/// Of two medians that were measured apart: each is in its interval with 97.5 %, so both are with 95 %.
[[nodiscard]] inline auto ratio_interval(std::vector<double> const& left, std::vector<double> const& right)
    -> interval {
    auto const above = median_interval(left, 0.975), below = median_interval(right, 0.975);
    if (!(below.low > 0)) return {};
    return {above.low / below.high, above.high / below.low};
}

/// All that is told of a sample.
struct statistics {
    std::size_t n = 0;
    double median = 0, min = 0, max = 0, mean = 0, deviation = 0, p10 = 0, p90 = 0;
    interval confidence = {};
};

/// Of at least one value.
[[nodiscard]] inline auto statistics_of(std::vector<double> const& values) -> statistics {
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    statistics s{
        values.size(),         median(values),         *least, *most, mean(values), 0, quantile(values, 0.1),
        quantile(values, 0.9), median_interval(values)};
    for (auto const v : values)
        s.deviation += (v - s.mean) * (v - s.mean) / static_cast<double>(values.size());
    s.deviation = std::sqrt(s.deviation);
    return s;
}

} // namespace bench
