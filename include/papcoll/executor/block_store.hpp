// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/operators/combine.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// The user's memory in a reduction.
template <class T>
struct reduction_buffers {
    /// All blocks at their offsets.
    T const* in = nullptr;
    /// For the owned blocks: the block at offset o goes to out + (o - out_begins). Equal to `in`, or
    /// overlapping it where the blocks move down, or apart from it; unused where nothing is owned.
    T* out = nullptr;
    std::size_t out_begins = 0;
};

namespace detail {

/// What one rank holds of each block while a reduction is under way, and the order in which things happen to
/// it.
///
/// A block begins as the user's data. It is given away when it is sent; what arrives next is stored, later
/// arrivals are combined, the operand of the lower rank on the left. Arrivals that are early wait for their
/// turn.
template <class T, class Op>
class block_store {
public:
    using buffer = typename buffer_pool<T>::pointer;
    using block_use = message_program::block_use;

    /// Where a block is; without a holder it is the user's memory.
    struct place {
        T const* data = nullptr;
        buffer holder;
    };

    block_store(message_program const& program, reduction_buffers<T> const& buffers, Op op, int rank)
        : m_program(program)
        , m_buffers(buffers)
        , m_moves_down(buffers.in == buffers.out && buffers.out_begins != 0)
        , m_op(std::move(op))
        , m_rank(rank)
        , m_blocks(program.blocks.size()) {
        for (std::size_t b = 0; b < m_blocks.size() && buffers.in != nullptr; ++b)
            m_blocks[b].at.data = buffers.in + program.blocks[b].offset;
    }

    [[nodiscard]] auto failure() const -> std::exception_ptr const& { return m_failure; }
    /// From now on nothing is combined. The first failure counts.
    void fail(std::exception_ptr const& why) {
        if (!m_failure) m_failure = why;
    }
    /// Everything that comes before this use has happened.
    [[nodiscard]] auto is_next(block_use const& use) const -> bool {
        return state(use.block).turn == use.turn;
    }
    [[nodiscard]] auto where(int block) const -> place const& {
        auto const& at = state(block).at;
        if (at.data == nullptr)
            throw std::logic_error(
                "papcoll: the schedule sends a block that was given away; verify_reduction tells why");
        return at;
    }
    /// The block is sent; from the user's memory until left_user_memory.
    void give_away(int block, bool from_user_memory) {
        auto& b = state(block);
        if (from_user_memory) ++b.leaving_user_memory;
        b.at = {};
        ++b.turn;
        take_waiting(block);
    }
    void left_user_memory(int block) { --state(block).leaving_user_memory; }
    /// Whether the block's place in `in` is neither read nor needed any more.
    [[nodiscard]] auto user_memory_is_free(int block) const -> bool {
        auto const& b = state(block);
        return b.at.data != m_buffers.in + m_program.offset(block) && b.leaving_user_memory == 0;
    }
    /// A block from another rank has arrived in a buffer.
    void arrived(block_use const& use, int from, T* data, buffer holder) {
        waiting w{use, from, data, std::move(holder)};
        if (!is_next(use)) {
            m_waiting.push_back(std::move(w));
            return;
        }
        take(std::move(w));
        take_waiting(use.block);
    }
    [[nodiscard]] auto nothing_waits() const -> bool { return m_waiting.empty(); }
    /// Puts the owned blocks where the user wants them; nothing is under way any more. In ascending order, so
    /// that blocks that move down do not meet one that is still to move.
    void deliver() {
        if (m_failure) return m_blocks.clear();
        for (std::size_t i = 0; i < m_blocks.size(); ++i) {
            int const block = static_cast<int>(i);
            if (!m_program.owned[i] || m_program.size(block) == 0) continue;
            T* const target = target_of(block);
            auto const* const data = m_blocks[i].at.data;
            if (data != nullptr && data != target) std::copy_n(data, m_program.size(block), target);
        }
        m_blocks.clear();
    }

private:
    struct block_state {
        place at; // no data: given away
        int turn = 0;
        int leaving_user_memory = 0;
    };
    struct waiting {
        block_use use;
        int from;
        T* data;
        buffer holder;
    };

    [[nodiscard]] auto state(int block) -> block_state& { return m_blocks[static_cast<std::size_t>(block)]; }
    [[nodiscard]] auto state(int block) const -> block_state const& {
        return m_blocks[static_cast<std::size_t>(block)];
    }
    [[nodiscard]] auto target_of(int block) const -> T* {
        return m_buffers.out + (m_program.offset(block) - m_buffers.out_begins);
    }

    void take_waiting(int block) {
        while (!m_waiting.empty()) {
            auto const next = std::find_if(m_waiting.begin(), m_waiting.end(), [&](waiting const& w) {
                return w.use.block == block && is_next(w.use);
            });
            if (next == m_waiting.end()) return;
            waiting w = std::move(*next);
            m_waiting.erase(next);
            take(std::move(w));
        }
    }
    // The result goes to the user's memory where it belongs there and no send reads from it, else it stays
    // where it arrived.
    void take(waiting w) {
        auto& b = state(w.use.block);
        ++b.turn;
        T const* const held = b.at.data;
        if (held == nullptr || m_failure) {
            b.at = {w.data, std::move(w.holder)};
            return;
        }
        bool const to_user = m_program.is_owned(w.use.block) && !m_moves_down && b.leaving_user_memory == 0;
        T* const result = to_user ? target_of(w.use.block) : w.data;
        bool const from_below = w.from < m_rank;
        try {
            detail::combine(from_below ? w.data : held, from_below ? held : w.data, result,
                            m_program.size(w.use.block), m_op);
        } catch (...) {
            m_failure = std::current_exception();
        }
        b.at = {result, to_user ? nullptr : std::move(w.holder)};
    }

    message_program const& m_program;
    reduction_buffers<T> m_buffers;
    bool m_moves_down; // targets overlap blocks that may still be needed
    Op m_op;
    int m_rank;
    std::vector<block_state> m_blocks;
    std::vector<waiting> m_waiting;
    std::exception_ptr m_failure;
};

} // namespace detail

} // namespace papcoll::inline v0
