// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/bitset/state_bitset.hpp>

#include <xsimd/xsimd.hpp>

#include <array>
#include <bit>
#include <cstddef>

namespace papcoll::inline v0 {

/// The state_bitset of one instruction set, by default the widest that the translation unit is compiled for.
///
/// The architecture is part of the type, and so of every symbol built on it: name the default only as a
/// default template argument, never inside a function that is no template.
template <class Arch = xsimd::default_arch>
struct simd_bitset {
    using lane = xsimd::batch<bitset_word, Arch>;
    static constexpr std::size_t lane_words = lane::size;

    [[nodiscard]] static auto load(bitset_word const* from) -> lane { return lane::load_aligned(from); }
    static void store(bitset_word* to, lane const& a) { a.store_aligned(to); }
    [[nodiscard]] static auto zero() -> lane { return lane(bitset_word{0}); }
    [[nodiscard]] static auto bit(std::size_t i) -> lane {
        auto const word = lane::load_unaligned(&one_word[lane_words - 1 - i / bitset_word_bits]);
        return word & lane(bitset_word{1} << (i % bitset_word_bits));
    }
    [[nodiscard]] static auto any(lane const& a) -> bool { return xsimd::any(a != zero()); }
    [[nodiscard]] static auto first(lane const& a) -> std::size_t {
        alignas(lane) std::array<bitset_word, lane_words> words;
        store(words.data(), a);
        std::size_t word = 0;
        while (words[word] == 0) ++word;
        return word * bitset_word_bits + static_cast<std::size_t>(std::countr_zero(words[word]));
    }

private:
    /// Seen through a window of lane_words words that ends at or after the middle, exactly one word is all
    /// ones.
    static constexpr auto one_word = [] {
        std::array<bitset_word, 2 * lane_words - 1> words{};
        words[lane_words - 1] = ~bitset_word{0};
        return words;
    }();
};

} // namespace papcoll::inline v0
