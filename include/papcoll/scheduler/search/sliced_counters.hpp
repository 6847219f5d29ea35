// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/bitset/bit_matrix.hpp>
#include <papcoll/scheduler/bitset/rows.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>
#include <papcoll/scheduler/bitset/state_bitset.hpp>
#include <papcoll/scheduler/bitset/word_bitset.hpp>
#include <papcoll/scheduler/search/search.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// The fastest search: per block a counter of the processes that hold it and may still send, bit-sliced
/// (plane k has bit k of all counters), so that one lane operation updates the counters of all its blocks. A
/// block is eligible for p when its count exceeds p's own share: at least 1, or at least 2 if p itself is
/// counted.
///
/// The counters say which block; a block-major matrix of holders, ANDed with who may send, says which
/// process. A match costs O(blocks / w · log ranks + ranks / 64) for w-bit lanes; a round O(blocks / w · log
/// ranks) in addition, however many processes it has. Memory: 2 bits per (process, block) cell and 4 ·
/// log2(ranks) per block.
template <state_bitset Bits = simd_bitset<>>
class sliced_counters {
public:
    sliced_counters(int ranks, int blocks)
        : m_planes(std::max<std::size_t>(2, std::bit_width(static_cast<unsigned>(ranks))))
        , m_columns(static_cast<std::size_t>(ranks), static_cast<std::size_t>(blocks))
        , m_holders(static_cast<std::size_t>(blocks), static_cast<std::size_t>(ranks))
        , m_total(m_planes, static_cast<std::size_t>(blocks))
        , m_ready_count(m_planes, static_cast<std::size_t>(blocks))
        , m_eligible(2, static_cast<std::size_t>(blocks))
        , m_active(m_holders.row_words(), 0)
        , m_ready(m_holders.row_words(), 0)
        , m_held(static_cast<std::size_t>(ranks), blocks) {
        for (std::size_t i = 0; i < m_held.size(); ++i) m_columns.fill(i);
        for (std::size_t i = 0; i < static_cast<std::size_t>(blocks); ++i) m_holders.fill(i);
    }

    void join(int position) {
        auto const p = static_cast<std::size_t>(position);
        m_active[word(p)] |= mask(p);
        for (std::size_t i = 0; i < m_columns.row_words(); i += Bits::lane_words) {
            auto carry = Bits::load(m_columns.row(p) + i);
            for (std::size_t k = 0; k < m_planes; ++k) {
                auto* const plane = m_total.row(k) + i;
                auto const old = Bits::load(plane);
                Bits::store(plane, old ^ carry);
                carry = old & carry;
            }
        }
    }

    void begin_round(std::span<int const> active) {
        for (auto const& at : m_received) {
            m_columns.set(at.position, at.block);
            m_holders.set(at.block, at.position);
        }
        m_received.clear();
        std::copy(m_active.begin(), m_active.end(), m_ready.begin());
        m_head = static_cast<std::size_t>(active.front());
        m_first_word = 0;
        for (std::size_t i = 0; i < m_columns.row_words(); i += Bits::lane_words) {
            auto several = Bits::zero();
            for (std::size_t k = m_planes; k-- > 0;) {
                auto const plane = Bits::load(m_total.row(k) + i);
                Bits::store(m_ready_count.row(k) + i, plane);
                if (k == 0) store_eligible(i, several, plane);
                several = several | plane;
            }
        }
    }

    [[nodiscard]] auto receive(int receiver, bool sink) -> search_match {
        auto const p = static_cast<std::size_t>(receiver);
        auto const block = first_block(p, sink);
        if (block == rows::none) return {};
        auto const peer = first_holder(block, p);
        move(peer, p, block);
        return {static_cast<int>(peer), static_cast<int>(block)};
    }

    [[nodiscard]] auto empty(int position) const -> bool {
        return m_held[static_cast<std::size_t>(position)] == 0;
    }

    /// Size of the cells and counters in bytes.
    [[nodiscard]] auto memory_bytes() const -> std::size_t {
        return m_columns.memory_bytes() + m_holders.memory_bytes() + m_total.memory_bytes() +
               m_ready_count.memory_bytes() + m_eligible.memory_bytes();
    }

private:
    struct cell {
        std::size_t position;
        std::size_t block;
    };

    static auto word(std::size_t i) -> std::size_t { return i / bitset_word_bits; }
    static auto mask(std::size_t i) -> bitset_word { return bitset_word{1} << (i % bitset_word_bits); }

    /// Rows of m_eligible: blocks with at least one holder that may send, and with at least two.
    void store_eligible(std::size_t offset, typename Bits::lane const& several,
                        typename Bits::lane const& lowest) {
        Bits::store(m_eligible.row(0) + offset, several | lowest);
        Bits::store(m_eligible.row(1) + offset, several);
    }

    [[nodiscard]] auto first_block(std::size_t p, bool sink) const -> std::size_t {
        auto const* const own = m_columns.row(p);
        auto const* const some = m_eligible.row(0);
        auto const* const several = m_eligible.row(1);
        if (sink)
            return rows::first_set<Bits>(m_columns.lanes(), [=](std::size_t i) {
                auto const at = i * Bits::lane_words;
                return Bits::load(several + at) | (Bits::load(some + at) & ~Bits::load(own + at));
            });
        auto const* const enough = (m_ready[word(p)] & mask(p)) != 0 ? several : some;
        return rows::first_set<Bits>(m_columns.lanes(), [=](std::size_t i) {
            auto const at = i * Bits::lane_words;
            return Bits::load(own + at) & Bits::load(enough + at);
        });
    }

    /// Who may send, in the word number `turn` of the cyclic order from the head: the head's word comes
    /// twice, first with the positions from the head on, at last with those before it.
    [[nodiscard]] auto ready_word(std::size_t turn, std::size_t& index) const -> bitset_word {
        auto const words = m_ready.size();
        index = word(m_head) + turn;
        if (index >= words) index -= words;
        auto const from_head = ~bitset_word{0} << (m_head % bitset_word_bits);
        auto ready = m_ready[index];
        if (turn == 0) ready &= from_head;
        if (turn == words) ready &= ~from_head;
        return ready;
    }

    /// The first process in the order of availability that holds the block, may send, and is not `p`; there
    /// is one.
    [[nodiscard]] auto first_holder(std::size_t block, std::size_t p) -> std::size_t {
        auto const* const holders = m_holders.row(block);
        std::size_t index = 0;
        while (ready_word(m_first_word, index) == 0) ++m_first_word;
        for (auto turn = m_first_word;; ++turn) {
            auto found = ready_word(turn, index) & holders[index];
            if (index == word(p)) found &= ~mask(p);
            if (found != 0)
                return index * bitset_word_bits + static_cast<std::size_t>(std::countr_zero(found));
        }
    }

    void move(std::size_t peer, std::size_t receiver, std::size_t block) {
        bool const held = m_columns.test(receiver, block);
        bool const counted = held && (m_ready[word(receiver)] & mask(receiver)) != 0;
        disable(peer, counted ? block : rows::none);
        m_ready[word(peer)] &= ~mask(peer);
        m_columns.clear(peer, block);
        m_holders.clear(block, peer);
        m_columns.clear(receiver, block);
        m_holders.clear(block, receiver);
        m_received.push_back({receiver, block});
        if (held) {
            lose_holder(block);
        } else if (m_held[receiver]++ == 0) {
            m_active[word(receiver)] |= mask(receiver);
        }
        if (--m_held[peer] == 0) m_active[word(peer)] &= ~mask(peer);
    }

    /// Takes the column of `peer` from the counters, and one more from the counter of the block `twice`, if
    /// any: two less is a borrow into plane 1.
    void disable(std::size_t peer, std::size_t twice) {
        auto const* const column = m_columns.row(peer);
        for (std::size_t i = 0, first = 0; i < m_columns.row_words();
             i += Bits::lane_words, first += lane_bits<Bits>) {
            auto const doubled = twice - first < lane_bits<Bits> ? Bits::bit(twice - first) : Bits::zero();
            auto* plane = m_ready_count.row(0) + i;
            auto const lowest = Bits::load(plane);
            auto const minus = Bits::load(column + i) & ~doubled;
            auto const new_lowest = lowest ^ minus;
            Bits::store(plane, new_lowest);
            auto borrow = (minus & ~lowest) | doubled;
            auto several = Bits::zero();
            for (std::size_t k = 1; k < m_planes; ++k) {
                plane = m_ready_count.row(k) + i;
                auto const old = Bits::load(plane);
                auto const fresh = old ^ borrow;
                Bits::store(plane, fresh);
                borrow = borrow & ~old;
                several = several | fresh;
            }
            store_eligible(i, several, new_lowest);
        }
    }

    /// One process less holds the block at the next round's start.
    void lose_holder(std::size_t block) {
        auto borrow = mask(block);
        for (std::size_t k = 0; borrow != 0; ++k) {
            auto& plane = m_total.row(k)[word(block)];
            plane ^= borrow;
            borrow &= plane;
        }
    }

    std::size_t m_planes;
    bit_matrix<Bits> m_columns;        ///< per process the blocks it holds and may send
    bit_matrix<word_bitset> m_holders; ///< the same per block
    bit_matrix<Bits> m_total;          ///< counters at the round's start, by planes
    bit_matrix<Bits> m_ready_count;    ///< counters now
    bit_matrix<Bits> m_eligible;
    std::vector<bitset_word> m_active; ///< processes that joined and hold something
    std::vector<bitset_word> m_ready;  ///< those that have not sent in this round
    std::vector<int> m_held;           ///< per process, the number of blocks it holds
    std::size_t m_head = 0;
    std::size_t m_first_word = 0; ///< words before this one, in cyclic order, have nobody who may send
    std::vector<cell> m_received; ///< in this round: held again from the next on
};

} // namespace papcoll::inline v0
