// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/bitset/state_bitset.hpp>

#include <cstddef>

/// Operations on rows of `lanes` lanes, aligned as bit_matrix aligns them. All cost O(lanes).
namespace papcoll::inline v0::rows {

/// What first_set returns when no bit is set.
inline constexpr auto none = static_cast<std::size_t>(-1);

/// to = from
template <state_bitset Bits>
void copy(bitset_word* to, bitset_word const* from, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes * Bits::lane_words; i += Bits::lane_words)
        Bits::store(to + i, Bits::load(from + i));
}

/// to = a | b
template <state_bitset Bits>
void unite(bitset_word* to, bitset_word const* a, bitset_word const* b, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes * Bits::lane_words; i += Bits::lane_words)
        Bits::store(to + i, Bits::load(a + i) | Bits::load(b + i));
}

/// to = a & b
template <state_bitset Bits>
void intersect(bitset_word* to, bitset_word const* a, bitset_word const* b, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes * Bits::lane_words; i += Bits::lane_words)
        Bits::store(to + i, Bits::load(a + i) & Bits::load(b + i));
}

/// to = a & ~b
template <state_bitset Bits>
void subtract(bitset_word* to, bitset_word const* a, bitset_word const* b, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes * Bits::lane_words; i += Bits::lane_words)
        Bits::store(to + i, Bits::load(a + i) & ~Bits::load(b + i));
}

template <state_bitset Bits>
[[nodiscard]] auto any(bitset_word const* row, std::size_t lanes) -> bool {
    for (std::size_t i = 0; i < lanes * Bits::lane_words; i += Bits::lane_words)
        if (Bits::any(Bits::load(row + i))) return true;
    return false;
}

/// The lowest bit set in a row whose lane number i is lane_at(i); none if there is no such bit.
template <state_bitset Bits, class LaneAt>
[[nodiscard]] auto first_set(std::size_t lanes, LaneAt lane_at) -> std::size_t {
    for (std::size_t i = 0; i < lanes; ++i)
        if (auto const lane = lane_at(i); Bits::any(lane)) return i * lane_bits<Bits> + Bits::first(lane);
    return none;
}

/// The lowest bit set in a row; none if there is no such bit.
template <state_bitset Bits>
[[nodiscard]] auto first_set(bitset_word const* row, std::size_t lanes) -> std::size_t {
    return rows::first_set<Bits>(lanes,
                                 [row](std::size_t i) { return Bits::load(row + i * Bits::lane_words); });
}

} // namespace papcoll::inline v0::rows
