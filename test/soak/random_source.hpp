// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace soak {

/// The finaliser of SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014).
[[nodiscard]] constexpr auto scrambled(std::uint64_t x) -> std::uint64_t {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
/// One number made of several; their order counts.
template <std::integral... Numbers>
[[nodiscard]] constexpr auto mixed(Numbers... numbers) -> std::uint64_t {
    std::uint64_t result = 0;
    ((result = scrambled(result + 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(numbers))), ...);
    return result;
}

/// SplitMix64: the same numbers with every compiler and library, and cheap to seed.
class random_source {
public:
    explicit random_source(std::uint64_t seed)
        : m_state(seed) {}

    auto next() -> std::uint64_t { return scrambled(m_state += 0x9e3779b97f4a7c15u); }
    /// In [0, n).
    auto below(std::size_t n) -> std::size_t { return static_cast<std::size_t>(next() % n); }
    /// In [least, most].
    template <std::integral I>
    auto between(I least, I most) -> I {
        auto const count = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
        return static_cast<I>(static_cast<std::uint64_t>(least) + next() % count);
    }
    auto percent(int probability) -> bool { return between(0, 99) < probability; }
    template <class Container>
    auto one_of(Container const& choices) -> auto const& {
        return choices[below(choices.size())];
    }
    /// Between 1 and `most`, small numbers more often: uniform in the number of digits.
    auto magnitude(std::size_t most) -> std::size_t {
        std::size_t bound = 1;
        while (bound < most && percent(80)) bound *= 4;
        return 1 + below(bound < most ? bound : most);
    }

private:
    std::uint64_t m_state;
};

} // namespace soak
