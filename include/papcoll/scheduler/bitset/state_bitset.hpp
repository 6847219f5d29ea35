// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

/// State bitsets are rows of 64-bit words; bit i of a row is bit i % 64 of its word i / 64.
using bitset_word = std::uint64_t;

/// How many bits a word has.
inline constexpr std::size_t bitset_word_bits = 64;

/// How rows of bits are processed: `B::lane_words` words at a time, held in a value of type `B::lane`.
/// For lanes `a` and `b`, an index `i` below the lane's number of bits, and a word pointer `p` that is
/// aligned to the size of a lane:
///
///  1. `B::lane` is copyable and `B::lane_words` is a constant, a power of two.
///  2. `B::load(p)` reads a lane and `B::store(p, a)` writes it.
///  3. `B::zero()` has no bit set and `B::bit(i)` bit i only: `a | B::bit(i)` sets and `a & ~B::bit(i)`
///  clears it.
///  4. `a | b`, `a & b`, `a ^ b` and `~a` work bit by bit.
///  5. `B::any(a)` says whether a bit is set, and then `B::first(a)` is the index of the lowest one.
///
/// Two types with different code for one operation must be different types (a template over the instruction
/// set, say): what is built on a bitset is a template over it, so translation units compiled for different
/// processors share no function. All members are static: a bitset is a policy, storage is bit_matrix.
///
///     struct bytewise { // a minimal model is word_bitset
///         using lane = papcoll::bitset_word;
///         static constexpr std::size_t lane_words = 1;
///         static auto load(papcoll::bitset_word const* p) -> lane { return *p; }
///         ...
///     };
template <class B>
concept state_bitset = requires(typename B::lane const a, typename B::lane const b, bitset_word const* in,
                                bitset_word* out, std::size_t i) {
    requires std::copyable<typename B::lane>;
    requires(B::lane_words > 0 && (B::lane_words & (B::lane_words - 1)) == 0);
    { B::load(in) } -> std::same_as<typename B::lane>;
    { B::store(out, a) } -> std::same_as<void>;
    { B::zero() } -> std::same_as<typename B::lane>;
    { B::bit(i) } -> std::same_as<typename B::lane>;
    { a | b } -> std::convertible_to<typename B::lane>;
    { a& b } -> std::convertible_to<typename B::lane>;
    { a ^ b } -> std::convertible_to<typename B::lane>;
    { ~a } -> std::convertible_to<typename B::lane>;
    { B::any(a) } -> std::same_as<bool>;
    { B::first(a) } -> std::same_as<std::size_t>;
};

/// How many bits one step of a search looks at.
template <state_bitset Bits>
inline constexpr std::size_t lane_bits = Bits::lane_words* bitset_word_bits;

} // namespace papcoll::inline v0
