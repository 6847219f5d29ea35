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
        , m_total(m_columns.lanes(), m_planes * lane_bits<Bits>)
        , m_ready_count(m_columns.lanes(), m_planes * lane_bits<Bits>)
        , m_eligible(2, static_cast<std::size_t>(blocks))
        , m_doubled(1, static_cast<std::size_t>(blocks))
        , m_choice(2, lane_bits<Bits>)
        , m_active(m_holders.row_words(), 0)
        , m_ready(m_holders.row_words(), 0)
        , m_turns(m_holders.row_words() + 2)
        , m_held(static_cast<std::size_t>(ranks), blocks) {
        m_choice.fill(1);
        for (std::size_t i = 0; i < m_held.size(); ++i) m_columns.fill(i);
        for (std::size_t i = 0; i < static_cast<std::size_t>(blocks); ++i) m_holders.fill(i);
    }

    void join(int position) {
        auto const p = static_cast<std::size_t>(position);
        m_active[word(p)] |= mask(p);
        for (std::size_t i = 0; i < m_columns.lanes(); ++i) {
            auto carry = Bits::load(m_columns.row(p) + i * Bits::lane_words);
            auto* plane = m_total.row(i);
            for (auto const* const end = plane + m_total.row_words(); plane != end;
                 plane += Bits::lane_words) {
                auto const old = Bits::load(plane);
                Bits::store(plane, old ^ carry);
                carry = old & carry;
            }
        }
    }

    void begin_round(std::span<int const> active) {
        for (auto const& at : m_received) {
            write_lane(at.position, at.block, true);
            m_holders.set(at.block, at.position);
        }
        m_received.clear();
        start_turns(static_cast<std::size_t>(active.front()));
        for (std::size_t i = 0; i < m_columns.lanes(); ++i) {
            auto const* const total = m_total.row(i);
            auto* const now = m_ready_count.row(i);
            auto const lowest = Bits::load(total);
            Bits::store(now, lowest);
            auto several = Bits::zero();
            for (std::size_t k = Bits::lane_words; k < m_total.row_words(); k += Bits::lane_words) {
                auto const plane = Bits::load(total + k);
                Bits::store(now + k, plane);
                several = several | plane;
            }
            store_eligible(i * Bits::lane_words, lowest, several);
        }
    }

    [[nodiscard]] auto receive(int receiver, bool sink) -> search_match {
        auto const p = static_cast<std::size_t>(receiver);
        bool const ready = is_ready(p);
        auto const block = sink ? first_block_of_sink(p) : first_block(p, ready);
        if (block == rows::none) return {};
        bool const held = !sink || m_columns.test(p, block);
        // The receiver must not find itself, and what it receives it must not send in this round.
        m_holders.clear(block, p);
        auto const peer = first_holder(block);
        write_lane(p, block, false);
        m_received.push_back({p, block});
        m_holders.clear(block, peer);
        disable(peer, block, held && ready);
        write_lane(peer, block, false);
        count(peer, p, block, held);
        return {static_cast<int>(peer), static_cast<int>(block)};
    }

    [[nodiscard]] auto empty(int position) const -> bool {
        return m_held[static_cast<std::size_t>(position)] == 0;
    }

    /// Size of the cells and counters in bytes.
    [[nodiscard]] auto memory_bytes() const -> std::size_t {
        return m_columns.memory_bytes() + m_holders.memory_bytes() + m_total.memory_bytes() +
               m_ready_count.memory_bytes() + m_eligible.memory_bytes() + m_doubled.memory_bytes() +
               m_choice.memory_bytes();
    }

private:
    struct cell {
        std::size_t position;
        std::size_t block;
    };

    struct turn {
        bitset_word ready;
        std::size_t word;
    };

    static auto word(std::size_t i) -> std::size_t { return i / bitset_word_bits; }
    static auto mask(std::size_t i) -> bitset_word { return bitset_word{1} << (i % bitset_word_bits); }

    /// One cell of m_columns. Columns are read by lanes, so they are written by lanes: a processor cannot
    /// forward a store to a wider load.
    void write_lane(std::size_t position, std::size_t block, bool value) {
        auto* const lane = m_columns.row(position) + block / lane_bits<Bits> * Bits::lane_words;
        auto const bit = Bits::bit(block % lane_bits<Bits>);
        Bits::store(lane, value ? Bits::load(lane) | bit : Bits::load(lane) & ~bit);
    }

    void store_eligible(std::size_t offset, typename Bits::lane const& lowest,
                        typename Bits::lane const& several) {
        Bits::store(m_eligible.row(0) + offset, several | lowest);
        Bits::store(m_eligible.row(1) + offset, several);
    }

    [[nodiscard]] auto first_block(std::size_t p, bool ready) const -> std::size_t {
        auto const* const own = m_columns.row(p);
        auto const* const enough = m_eligible.row(ready ? 1 : 0);
        for (std::size_t w = 0; w < m_columns.row_words(); w += Bits::lane_words)
            if (Bits::any(Bits::load(own + w) & Bits::load(enough + w))) return first_common(own, enough, w);
        return rows::none;
    }

    /// By words, although the lane is at hand: to take it apart costs more than to read the words again.
    [[nodiscard]] static auto first_common(bitset_word const* a, bitset_word const* b, std::size_t w)
        -> std::size_t {
        for (;; ++w)
            if (auto const common = a[w] & b[w]; common != 0)
                return w * bitset_word_bits + static_cast<std::size_t>(std::countr_zero(common));
    }

    /// The sink is the first receiver, so it is still counted among those who may send.
    [[nodiscard]] auto first_block_of_sink(std::size_t p) const -> std::size_t {
        auto const* const own = m_columns.row(p);
        auto const* const some = m_eligible.row(0);
        auto const* const several = m_eligible.row(1);
        return rows::first_set<Bits>(m_columns.lanes(), [=](std::size_t i) {
            auto const at = i * Bits::lane_words;
            return Bits::load(several + at) | (Bits::load(some + at) & ~Bits::load(own + at));
        });
    }

    /// Sets m_turns to the active processes in cyclic order of words from the head on. The head's word comes
    /// twice: first with the positions from the head on, at last with those before it.
    void start_turns(std::size_t head) {
        auto const words = m_active.size();
        for (std::size_t i = 0, w = word(head); i <= words; ++i, w = w + 1 == words ? 0 : w + 1)
            m_turns[i] = {m_active[w], w};
        m_turns[0].ready &= ~(mask(head) - 1);
        m_turns[words].ready &= mask(head) - 1;
        m_turns[words + 1] = {0, 0};
        m_turn = 0;
        std::copy(m_active.begin(), m_active.end(), m_ready.begin());
    }

    [[nodiscard]] auto is_ready(std::size_t p) const -> bool { return (m_ready[word(p)] & mask(p)) != 0; }

    /// The first process in the order of availability that holds the block and may send; there must be one.
    /// It may not send any more. Two words at a time: in which of them it is found is hard to predict.
    [[nodiscard]] auto first_holder(std::size_t block) -> std::size_t {
        auto const* const holders = m_holders.row(block);
        while (m_turns[m_turn].ready == 0) ++m_turn;
        for (auto* at = &m_turns[m_turn];; at += 2) {
            auto const in_first = at[0].ready & holders[at[0].word];
            auto const in_second = at[1].ready & holders[at[1].word];
            if ((in_first | in_second) == 0) continue;
            auto& where = at[in_first == 0 ? 1 : 0];
            auto const found = in_first == 0 ? in_second : in_first;
            where.ready &= ~(found & (0 - found));
            auto const peer =
                where.word * bitset_word_bits + static_cast<std::size_t>(std::countr_zero(found));
            m_ready[where.word] &= ~mask(peer);
            return peer;
        }
    }

    /// Takes the column of `peer` from the counters, and one more from the counter of `block` if the receiver
    /// was counted there: two less is a borrow into plane 1. No branch on `twice`, which is hard to predict;
    /// a single lane stays in registers.
    void disable(std::size_t peer, std::size_t block, bool twice) {
        auto const lanes = m_columns.lanes();
        auto const doubled = Bits::bit(block % lane_bits<Bits>) & Bits::load(m_choice.row(twice ? 1 : 0));
        if (lanes == 1) return take_column(peer, 0, doubled);
        auto* const all = m_doubled.row(0);
        auto* const lane = all + block / lane_bits<Bits> * Bits::lane_words;
        Bits::store(lane, doubled);
        for (std::size_t i = 0; i < lanes; ++i) take_column(peer, i, Bits::load(all + i * Bits::lane_words));
        Bits::store(lane, Bits::zero());
    }

    void take_column(std::size_t peer, std::size_t i, typename Bits::lane borrow) {
        auto const offset = i * Bits::lane_words;
        auto* const planes = m_ready_count.row(i);
        auto const minus = Bits::load(m_columns.row(peer) + offset) & ~borrow;
        auto const lowest = Bits::load(planes);
        Bits::store(planes, lowest ^ minus);
        borrow = borrow | (minus & ~lowest);
        auto several = Bits::zero();
        for (std::size_t k = Bits::lane_words, words = m_ready_count.row_words(); k < words;
             k += Bits::lane_words) {
            auto const old = Bits::load(planes + k);
            auto const fresh = old ^ borrow;
            Bits::store(planes + k, fresh);
            borrow = borrow & ~old;
            several = several | fresh;
        }
        store_eligible(offset, lowest ^ minus, several);
    }

    /// Numbers of blocks held and of holders, at the next round's start.
    void count(std::size_t peer, std::size_t receiver, std::size_t block, bool held) {
        if (held) {
            lose_holder(block);
        } else if (m_held[receiver]++ == 0) {
            m_active[word(receiver)] |= mask(receiver);
        }
        if (--m_held[peer] == 0) m_active[word(peer)] &= ~mask(peer);
    }

    void lose_holder(std::size_t block) {
        auto borrow = Bits::bit(block % lane_bits<Bits>);
        auto* plane = m_total.row(block / lane_bits<Bits>);
        for (std::size_t k = 0; k < m_planes;
             ++k, plane += Bits::lane_words) { // to the end: no guess where it stops
            auto const old = Bits::load(plane);
            Bits::store(plane, old ^ borrow);
            borrow = borrow & ~old;
        }
    }

    std::size_t m_planes;
    bit_matrix<Bits> m_columns;        ///< per process the blocks it holds and may send
    bit_matrix<word_bitset> m_holders; ///< the same per block
    bit_matrix<Bits> m_total;          ///< counters at the round's start: per lane of blocks, the planes
    bit_matrix<Bits> m_ready_count;    ///< counters now
    bit_matrix<Bits> m_eligible; ///< blocks with at least one holder who may send, and with at least two
    bit_matrix<Bits> m_doubled;  ///< zero but within disable
    bit_matrix<Bits> m_choice;   ///< a lane of zeros and a lane of ones
    std::vector<bitset_word> m_active; ///< processes that joined and hold something
    std::vector<bitset_word> m_ready;  ///< those of them who may send in this round
    std::vector<turn> m_turns;         ///< the same in the order of availability, see start_turns
    std::vector<int> m_held;           ///< per process, the number of blocks it holds
    std::size_t m_turn = 0;            ///< words of m_turns before this one are zero
    std::vector<cell> m_received;      ///< in this round: held again from the next on
};

} // namespace papcoll::inline v0
