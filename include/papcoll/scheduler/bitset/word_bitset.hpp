// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/bitset/state_bitset.hpp>

#include <bit>
#include <cstddef>

namespace papcoll::inline v0 {

/// The portable state_bitset: one 64-bit word at a time.
struct word_bitset {
    using lane = bitset_word;
    static constexpr std::size_t lane_words = 1;

    [[nodiscard]] static auto load(bitset_word const* from) -> lane { return *from; }
    static void store(bitset_word* to, lane a) { *to = a; }
    [[nodiscard]] static auto zero() -> lane { return 0; }
    [[nodiscard]] static auto bit(std::size_t i) -> lane { return bitset_word{1} << i; }
    [[nodiscard]] static auto any(lane a) -> bool { return a != 0; }
    [[nodiscard]] static auto first(lane a) -> std::size_t {
        return static_cast<std::size_t>(std::countr_zero(a));
    }
};

static_assert(state_bitset<word_bitset>);

} // namespace papcoll::inline v0
