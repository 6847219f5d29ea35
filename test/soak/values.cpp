// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "values.hpp"

#include "random_source.hpp"

namespace soak {
namespace {

auto small_integer(std::uint64_t bits) -> int { return static_cast<int>(bits % 2001) - 1000; }

/// Most short, some of a few kilobytes.
auto text_from(std::uint64_t bits) -> std::string {
    std::string text(bits % 16 == 0 ? (bits >> 8) % 3000 : (bits >> 8) % 20, ' ');
    for (auto& c : text) {
        bits = scrambled(bits);
        c = static_cast<char>('a' + bits % 26);
    }
    return text;
}
auto words_from(std::uint64_t bits) -> counts {
    counts words;
    for (auto left = bits % 5; left > 0; --left) {
        bits = scrambled(bits);
        words["word " + std::to_string(bits % 30)] = small_integer(bits >> 40);
    }
    return words;
}

template <class T>
auto value_of(std::uint64_t bits) -> T {
    if constexpr (std::same_as<T, char>) {
        return static_cast<char>(bits);
    } else if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(small_integer(bits));
    } else if constexpr (std::same_as<T, triple>) {
        return {small_integer(bits), small_integer(bits >> 20), small_integer(bits >> 40)};
    } else if constexpr (std::same_as<T, padded>) {
        return {small_integer(bits), static_cast<double>(small_integer(bits >> 30))};
    } else if constexpr (std::same_as<T, matrix>) {
        auto const more = scrambled(bits);
        return {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32),
                 static_cast<std::uint32_t>(more), static_cast<std::uint32_t>(more >> 32)}};
    } else if constexpr (std::same_as<T, std::string>) {
        return text_from(bits);
    } else {
        return words_from(bits);
    }
}

} // namespace

template <class T>
auto contents(std::uint64_t key, std::size_t n, std::size_t first) -> std::vector<T> {
    std::vector<T> result;
    result.reserve(n);
    for (std::size_t i = first; i < first + n; ++i)
        result.push_back(value_of<T>(scrambled(key + 0x9e3779b97f4a7c15u * (i + 1))));
    return result;
}

// Here alone, so that they can be optimised where the calls are not.
template auto contents(std::uint64_t, std::size_t, std::size_t) -> std::vector<char>;
template auto contents(std::uint64_t, std::size_t, std::size_t) -> std::vector<int>;
template auto contents(std::uint64_t, std::size_t, std::size_t) -> std::vector<double>;
template auto contents(std::uint64_t, std::size_t, std::size_t) -> std::vector<triple>;
template auto contents(std::uint64_t, std::size_t, std::size_t) -> std::vector<padded>;
template auto contents(std::uint64_t, std::size_t, std::size_t) -> std::vector<matrix>;
template auto contents(std::uint64_t, std::size_t, std::size_t) -> std::vector<std::string>;
template auto contents(std::uint64_t, std::size_t, std::size_t) -> std::vector<counts>;

} // namespace soak
