// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace soak {

/// What is known of the types and operators without including them.
struct reduction_traits {
    std::string_view name;
    bool commutative;
    bool serialized;
};
inline constexpr std::array<reduction_traits, 12> reduction_table{{
    {"int, sum", true, false},
    {"double, sum", true, false},
    {"char, bitwise or", true, false},
    {"int, maximum", true, false},
    {"double, minimum", true, false},
    {"int, sum modulo a number", true, false},
    {"12 bytes, sum", true, false},
    {"padded, sum", true, false},
    {"matrix, product", false, false},
    {"string, concatenation", false, true},
    {"map, sum", true, true},
    {"double, sum in any order", true, false},
}};

// Which of them each collective is compiled with, some in one and some in another, for the compiler's sake.
inline constexpr std::array<std::size_t, 9> reduce_cases{0, 1, 4, 5, 7, 8, 9, 10, 11};
inline constexpr std::array<std::size_t, 9> all_reduce_cases{1, 2, 3, 6, 7, 8, 9, 10, 11};
inline constexpr std::array<std::size_t, 6> reduce_scatter_cases{0, 1, 6, 7, 8, 11};
inline constexpr std::array<std::size_t, 3> reduce_scatter_block_cases{1, 3, 8};
inline constexpr std::array<std::size_t, 4> scan_cases{0, 7, 8, 9};
inline constexpr std::array<std::size_t, 4> exscan_cases{1, 6, 8, 10};

struct element_traits {
    std::string_view name;
    bool serialized;
};
inline constexpr std::array<element_traits, 7> element_table{{
    {"char", false},
    {"int", false},
    {"double", false},
    {"12 bytes", false},
    {"padded", false},
    {"string", true},
    {"map", true},
}};
inline constexpr std::array<std::size_t, 6> broadcast_elements{0, 2, 3, 4, 5, 6};
inline constexpr std::array<std::size_t, 6> all_gather_elements{1, 2, 3, 4, 5, 6};
inline constexpr std::array<std::size_t, 4> gather_elements{0, 2, 3, 4};
inline constexpr std::array<std::size_t, 4> all_gatherv_elements{0, 1, 2, 4};
inline constexpr std::array<std::size_t, 4> all_to_all_elements{0, 2, 3, 4};
inline constexpr std::array<std::size_t, 4> scatter_elements{1, 2, 4, 5};
inline constexpr std::array<std::size_t, 3> scatterv_elements{0, 2, 4};
inline constexpr std::array<std::size_t, 3> gatherv_elements{1, 3, 4};
inline constexpr std::array<std::size_t, 3> all_to_allv_elements{0, 2, 4};
inline constexpr std::array<std::size_t, 1> barrier_elements{0};

} // namespace soak
