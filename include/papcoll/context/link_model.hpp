// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace papcoll::inline v0 {

/// What one message costs between two ranks that do nothing else: latency + bytes × per_byte.
/// Agreed by all ranks of a communicator when papcoll attaches to it.
struct link_model {
    /// The time of a message without bytes.
    ticks latency{0};
    double per_byte = 0.0; ///< nanoseconds
    /// What each further message costs a rank that sends or receives several at once, in nanoseconds; 0: it
    /// is not known.
    double per_message = 0.0;
    /// How long messages of 64 KiB and of 256 KiB took, as it was measured; 0: it is not known.
    ticks of_64_kib{0}, of_256_kib{0};

    /// How long a message of so many bytes takes.
    [[nodiscard]] auto transfer_time(std::size_t bytes) const -> ticks {
        return latency + detail::whole_ticks(per_byte * static_cast<double>(bytes));
    }
    /// The same for plans by the clock, for which too short a time is worse than too long a one: by what was
    /// measured, where it is known. Libraries and networks take longer for messages of some lengths than
    /// latency and rate say.
    [[nodiscard]] auto planned_time(std::size_t bytes) const -> ticks {
        constexpr double near = 1 << 16;
        constexpr double far = 1 << 18;
        if (of_256_kib <= of_64_kib || of_64_kib <= ticks{0}) return transfer_time(bytes);
        auto const n = static_cast<double>(bytes);
        auto const between = static_cast<double>((of_256_kib - of_64_kib).count()) / (far - near);
        auto const before = static_cast<double>((of_64_kib - latency).count()) / near;
        auto const measured = n <= near ? latency + detail::whole_ticks(before * n)
                                        : of_64_kib + detail::whole_ticks(between * (n - near));
        return std::max(measured, latency + detail::whole_ticks(between * n));
    }
};

namespace detail {

/// The power of two that is nearest in ratio to a positive number: within a factor of √2.
[[nodiscard]] inline auto nearest_power_of_two(double value) -> double {
    int exponent = 0;
    double const fraction = std::frexp(value, &exponent); // in [1/2, 1)
    return std::ldexp(1.0, fraction * fraction < 0.5 ? exponent - 1 : exponent);
}

} // namespace detail

/// A measured link on a grid, so that small differences between measurements do not change what is chosen by
/// it: latency and time per byte are each the nearest power of two in nanoseconds, 0 stays 0.
///
/// Measurements within 29 % below and 41 % above a point of the grid become that point; with steps of √2 it
/// would be 15 % and 18 %, which the noise of a busy machine exceeds. What the grid costs is little: the
/// ratio of the two is off by 2 at most, a number of blocks √(c β/α) by √2, and the time that blocks and
/// rounds add to that of the bytes, c₁ n + c₂/n, by 6 %. A measurement just between two points still falls to
/// either.
[[nodiscard]] inline auto quantised(link_model const& measured) -> link_model {
    auto result = measured;
    if (measured.latency > ticks{0}) {
        auto const latency = detail::nearest_power_of_two(static_cast<double>(measured.latency.count()));
        result.latency = ticks(static_cast<std::int64_t>(std::min(latency, 0x1p62)));
    }
    if (measured.per_byte > 0 && std::isfinite(measured.per_byte))
        result.per_byte = detail::nearest_power_of_two(measured.per_byte);
    if (measured.per_message > 0 && std::isfinite(measured.per_message))
        result.per_message = detail::nearest_power_of_two(measured.per_message);
    return result;
}

/// What is implausible about a link that was measured between two ranks; empty: nothing. It should be
/// reported: choices that are made by such a link are bad ones.
[[nodiscard]] inline auto implausibility_of(link_model const& measured) -> std::string {
    auto const says = [](std::string const& what) {
        return "the measured link is implausible: " + what +
               "; was the machine busy? Say what the link is by attach_options";
    };
    constexpr ticks longest_latency = std::chrono::seconds(2);
    constexpr double longest_per_byte = 10'000;
    if (measured.latency <= ticks{0} || measured.latency > longest_latency)
        return says("a latency of " + std::to_string(measured.latency.count()) + " ns");
    if (!(measured.per_byte > 0) || measured.per_byte > longest_per_byte)
        return says(std::to_string(measured.per_byte) + " ns per byte");
    return {};
}
/// The same of what was measured among ranks on these nodes, whose numbers are equal where they share one.
/// On a single node there is no link: how long messages take there is a matter of who has the processors.
[[nodiscard]] inline auto implausibility_of(link_model const& measured, std::span<int const> nodes)
    -> std::string {
    bool const has_links = std::ranges::adjacent_find(nodes, std::not_equal_to<>()) != nodes.end();
    return has_links ? implausibility_of(measured) : std::string();
}

} // namespace papcoll::inline v0
