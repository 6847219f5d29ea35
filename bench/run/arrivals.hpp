// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/patterns.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace bench {

using papcoll::ticks;

/// What one rank computes before it calls, the same as all others know it.
struct computation {
    ticks first_half{0};
    ticks second_half{0};

    [[nodiscard]] auto all() const -> ticks { return first_half + second_half; }
};

/// How the computations of a case vary.
struct variation {
    bool anew = false;     ///< other delays in each repetition
    int delayed_ranks = 0; ///< so many, drawn anew, keep their delay; 0: all
    ticks computation{0};  ///< of a rank without delay
    double noise = 0;      ///< standard deviation of each half
};

/// One pattern of arrivals under which all policies are measured.
class arrival_case {
public:
    std::string pattern;
    double factor = 0; ///< of the base time
    ticks magnitude{0};

    /// Without delays.
    static auto balanced(int ranks) -> arrival_case {
        arrival_case made;
        made.pattern = "no_delay";
        made.m_fixed.assign(static_cast<std::size_t>(ranks), ticks{0});
        return made;
    }
    static auto of_file(std::vector<ticks> arrivals) -> arrival_case {
        auto const [first, last] = std::minmax_element(arrivals.begin(), arrivals.end());
        arrival_case made;
        made.pattern = "file";
        made.magnitude = *last - *first;
        for (auto const arrival : arrivals) made.m_fixed.push_back(arrival - *first);
        return made;
    }
    static auto of_shape(papcoll::arrival_shape shape, double factor, ticks magnitude, int ranks,
                         std::uint64_t seed) -> arrival_case {
        arrival_case made;
        made.pattern = std::string(to_string(shape));
        made.factor = factor;
        made.magnitude = magnitude;
        made.m_shape = shape;
        made.m_fixed = papcoll::arrival_pattern(shape, ranks, magnitude, seed);
        return made;
    }

    /// Equal states of `random` give equal ones on all ranks.
    [[nodiscard]] auto draw(variation const& v, std::mt19937_64& random) const -> std::vector<computation> {
        auto delays = m_fixed;
        if (v.anew && pattern != "file")
            delays = papcoll::arrival_pattern(m_shape, static_cast<int>(delays.size()), magnitude, random());
        if (v.delayed_ranks > 0) spare_some(delays, v.delayed_ranks, random);
        std::normal_distribution<> noise(1, v.noise > 0 ? v.noise : 1);
        auto const vary = [&](ticks half) {
            if (!(v.noise > 0)) return half;
            return ticks{
                std::llround(static_cast<double>(half.count()) * std::clamp(noise(random), 0.1, 1.9))};
        };
        std::vector<computation> all;
        for (auto const delay : delays) {
            auto const whole = v.computation + delay;
            auto const first = vary(whole / 2);
            all.push_back({first, vary(whole - whole / 2)});
        }
        return all;
    }

private:
    static void spare_some(std::vector<ticks>& delays, int delayed, std::mt19937_64& random) {
        std::vector<std::size_t> order(delays.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        for (auto i = static_cast<std::size_t>(delayed); i < order.size(); ++i) delays[order[i]] = ticks{0};
    }

    papcoll::arrival_shape m_shape = papcoll::arrival_shape::no_delay;
    std::vector<ticks> m_fixed;
};

[[nodiscard]] inline auto times_of(std::vector<computation> const& work) -> std::vector<ticks> {
    std::vector<ticks> times;
    for (auto const& each : work) times.push_back(each.all());
    return times;
}

/// What a policy is told where it is not the monitor that tells: "true", "blind" (nothing), "reversed",
/// "random" (the true ones in another order), "constant".
[[nodiscard]] inline auto told(std::string const& source, std::vector<ticks> times, std::mt19937_64& random)
    -> std::vector<ticks> {
    auto const [least, most] = std::minmax_element(times.begin(), times.end());
    auto const sum = *least + *most;
    if (source == "blind") return {};
    if (source == "reversed")
        for (auto& t : times) t = sum - t;
    else if (source == "random")
        std::shuffle(times.begin(), times.end(), random);
    else if (source == "constant")
        times.assign(times.size(), *least);
    return times;
}

} // namespace bench
