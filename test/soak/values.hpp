// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "random_source.hpp"
#include "support/padded.hpp"

namespace soak {

struct triple {
    std::int32_t a, b, c;
    friend auto operator==(triple const&, triple const&) -> bool = default;
};
static_assert(sizeof(triple) == 12);

/// A 2×2 matrix modulo 2^32, by rows.
struct matrix {
    std::array<std::uint32_t, 4> cells;
    friend auto operator==(matrix const&, matrix const&) -> bool = default;
};

using counts = std::map<std::string, int>;

/// The elements from `first` on that `key` stands for: the same for equal keys. Of integers so small that
/// sums over all ranks are exact in every type.
template <class T>
[[nodiscard]] auto contents(std::uint64_t key, std::size_t n, std::size_t first = 0) -> std::vector<T>;

/// For reports of what is wrong.
template <class T>
[[nodiscard]] auto text_of(T const& value) -> std::string {
    using std::to_string;
    if constexpr (std::is_arithmetic_v<T>) {
        return to_string(value);
    } else if constexpr (std::same_as<T, triple>) {
        return '(' + to_string(value.a) + ' ' + to_string(value.b) + ' ' + to_string(value.c) + ')';
    } else if constexpr (std::same_as<T, padded>) {
        return '(' + to_string(value.count) + ' ' + to_string(value.weight) + ')';
    } else if constexpr (std::same_as<T, matrix>) {
        std::string cells;
        for (auto const c : value.cells) cells += (cells.empty() ? "(" : " ") + to_string(c);
        return cells + ')';
    } else if constexpr (std::same_as<T, std::string>) {
        bool const is_long = value.size() > 60;
        return '"' + value.substr(0, 60) + (is_long ? "\" and more, in all " : "\" of ") +
               to_string(value.size()) + " characters";
    } else {
        std::string words;
        for (auto const& [word, n] : value)
            words += (words.empty() ? "{" : ", ") + word + ": " + to_string(n);
        return words.empty() ? "{}" : words + '}';
    }
}

/// Another value.
template <class T>
[[nodiscard]] auto spoilt(T const& value) -> T {
    for (std::uint64_t key = 0;; ++key)
        if (auto const other = contents<T>(key, 1); !(other[0] == value)) return other[0];
}

} // namespace soak
