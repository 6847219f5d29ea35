// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/bitset/state_bitset.hpp>

#include <boost/align/aligned_allocator.hpp>
#include <boost/container/vector.hpp>

#include <algorithm>
#include <cstddef>

namespace papcoll::inline v0 {

/// Rows of bits in one allocation, each row starting at a lane: rows × ⌈bits / lane bits⌉ lanes, all zero at
/// first. Bits behind the last column stay zero unless they are written through `row`.
template <state_bitset Bits>
class bit_matrix {
public:
    bit_matrix(std::size_t rows, std::size_t bits)
        : m_lanes((bits + lane_bits<Bits> - 1) / lane_bits<Bits>)
        , m_bits(bits)
        , m_words(rows * row_words(), bitset_word{0}) {}

    /// The words of row r.
    [[nodiscard]] auto row(std::size_t r) -> bitset_word* { return m_words.data() + r * row_words(); }
    [[nodiscard]] auto row(std::size_t r) const -> bitset_word const* {
        return m_words.data() + r * row_words();
    }

    /// Lanes per row.
    [[nodiscard]] auto lanes() const -> std::size_t { return m_lanes; }
    /// Words per row, those of the padding included.
    [[nodiscard]] auto row_words() const -> std::size_t { return m_lanes * Bits::lane_words; }
    /// Size of the storage in bytes.
    [[nodiscard]] auto memory_bytes() const -> std::size_t { return m_words.size() * sizeof(bitset_word); }

    /// Bit i of row r.
    [[nodiscard]] auto test(std::size_t r, std::size_t i) const -> bool {
        return (row(r)[i / bitset_word_bits] >> (i % bitset_word_bits) & 1U) != 0;
    }
    /// Sets bit i of row r.
    void set(std::size_t r, std::size_t i) {
        row(r)[i / bitset_word_bits] |= bitset_word{1} << (i % bitset_word_bits);
    }
    /// Clears bit i of row r.
    void clear(std::size_t r, std::size_t i) {
        row(r)[i / bitset_word_bits] &= ~(bitset_word{1} << (i % bitset_word_bits));
    }
    /// Sets all bits of row r, but not its padding.
    void fill(std::size_t r) {
        auto const whole = m_bits / bitset_word_bits;
        std::fill_n(row(r), whole, ~bitset_word{0});
        if (auto const rest = m_bits % bitset_word_bits; rest != 0)
            row(r)[whole] = (bitset_word{1} << rest) - 1;
    }
    /// Clears all of row r.
    void reset(std::size_t r) { std::fill_n(row(r), row_words(), bitset_word{0}); }

private:
    /// A cache line: no row of at most 512 bits crosses one, and every lane known today is aligned.
    static constexpr std::size_t alignment =
        std::max<std::size_t>(64, Bits::lane_words * sizeof(bitset_word));

    std::size_t m_lanes;
    std::size_t m_bits;
    boost::container::vector<bitset_word, boost::alignment::aligned_allocator<bitset_word, alignment>>
        m_words;
};

} // namespace papcoll::inline v0
