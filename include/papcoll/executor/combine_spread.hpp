// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/block_store.hpp>
#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/combine.hpp>
#include <papcoll/executor/exchange.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/spread_program.hpp>
#include <papcoll/executor/stretches.hpp>
#include <papcoll/operators/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The messages of a reduction whose results spread while other blocks are still reduced (compile_spread).
/// Operands are combine_store's. A result is sent on from where its owner completed it or from where it
/// arrived: at its place in `out`, or, reducing in place, in a buffer as long as what this rank gave of the
/// block still is, or leaves from, there.
template <transportable T, reduction_operator<T> Op>
class spread_store {
    using operand_store = combine_store<T, Op>;

public:
    using message = message_program::message;
    using use_list = std::span<message_program::block_use const>;
    using buffer = typename buffer_pool<T>::pointer;

    using outgoing = typename operand_store::outgoing;
    struct incoming : operand_store::incoming {
        stretch_list<std::byte> list;
    };

    /// `buffers.out` has room for all blocks, from out_begins = 0 on.
    spread_store(message_program const& program, int rank, reduction_buffers<T> const& buffers, Op op)
        : m_program(program)
        , m_in_place(buffers.in == buffers.out)
        , m_out(buffers.out)
        , m_operands(program, rank, buffers, std::move(op))
        , m_blocks(program.blocks.size()) {
        for (auto const* side : {&program.sends, &program.receives})
            for (auto const& use : side->uses) {
                auto& turns = m_blocks[index(use.block)].turns;
                turns = std::max(turns, use.turn + 1);
            }
    }

    [[nodiscard]] auto failure() const -> std::exception_ptr const& { return m_operands.failure(); }
    void fail(std::exception_ptr const& why) { m_operands.fail(why); }
    [[nodiscard]] auto settled() const -> bool { return m_operands.settled(); }
    void deliver() {
        m_operands.deliver();
        for (std::size_t b = 0; b < m_blocks.size(); ++b)
            if (m_blocks[b].holder)
                std::copy_n(m_blocks[b].result, m_program.blocks[b].size, target(static_cast<int>(b)));
    }

    [[nodiscard]] auto may_leave(use_list uses) const -> bool {
        if (!moves_result(uses)) return m_operands.may_leave(uses);
        return std::all_of(uses.begin(), uses.end(), [&](auto const& use) { return is_there(use.block); });
    }
    auto leave(message const& m, use_list uses, outgoing& o) -> const_message_parts {
        if (!moves_result(uses)) return m_operands.leave(m, uses, o);
        if constexpr (wire_format<T>::is_bytes) {
            for (auto const& use : uses) o.list.add(std::as_bytes(result(use.block)));
            return o.list.parts();
        } else {
            o.staging.resize(wire_format<T>::bytes(m.elements));
            std::size_t used = 0;
            for (auto const& use : uses)
                if (!failure())
                    used += wire_format<T>::pack(result(use.block).data(), m_program.size(use.block),
                                                 std::span(o.staging).subspan(used));
            return std::span<std::byte const>(o.staging); // with its slack: both ends count the same bytes
        }
    }
    void left(outgoing& o) { m_operands.left(o); }
    auto make_room(message const& m, use_list uses, incoming& i) -> message_parts {
        if (!moves_result(uses)) return m_operands.make_room(m, uses, i);
        bool const free =
            std::all_of(uses.begin(), uses.end(), [&](auto const& use) { return is_free(use.block); });
        if (!free) i.holder = m_pool.acquire(m.elements);
        if constexpr (wire_format<T>::is_bytes) {
            if (i.holder) return std::as_writable_bytes(std::span(i.holder->data(), m.elements));
            for (auto const& use : uses)
                i.list.add(std::as_writable_bytes(std::span(target(use.block), m_program.size(use.block))));
            return i.list.parts();
        } else {
            i.staging.resize(wire_format<T>::bytes(m.elements));
            return std::span<std::byte>(i.staging);
        }
    }
    void arrived(message const& m, use_list uses, incoming i) {
        if (!moves_result(uses)) return m_operands.arrived(m, uses, std::move(i));
        T* held = i.holder ? i.holder->data() : nullptr;
        [[maybe_unused]] std::size_t read = 0;
        for (auto const& use : uses) {
            auto const size = m_program.size(use.block);
            T* const data = held != nullptr ? std::exchange(held, held + size) : target(use.block);
            if constexpr (!wire_format<T>::is_bytes) {
                if (!failure())
                    read += wire_format<T>::unpack(std::span<std::byte const>(i.staging).subspan(read), data,
                                                   size);
            }
            m_blocks[index(use.block)].result = data;
            m_blocks[index(use.block)].holder = i.holder;
        }
    }

private:
    struct block_state {
        int turns = 0;             // what happens to the block here before it is complete, or has gone
        T const* result = nullptr; // of another rank's block: where it has arrived
        buffer holder;             // unless that is where the user wants it
    };

    static auto index(int block) -> std::size_t { return static_cast<std::size_t>(block); }
    [[nodiscard]] auto target(int block) const -> T* { return m_out + m_program.offset(block); }
    [[nodiscard]] auto is_free(int block) const -> bool {
        return !m_in_place || m_operands.blocks().user_memory_is_free(block);
    }
    [[nodiscard]] auto is_there(int block) const -> bool {
        auto const& b = m_blocks[index(block)];
        return m_program.is_owned(block) ? m_operands.blocks().is_next({block, b.turns})
                                         : b.result != nullptr;
    }
    [[nodiscard]] auto result(int block) const -> std::span<T const> {
        auto const* const data =
            m_program.is_owned(block) ? m_operands.blocks().where(block).data : m_blocks[index(block)].result;
        return {data, m_program.size(block)};
    }

    message_program const& m_program;
    bool m_in_place;
    T* m_out;
    operand_store m_operands;
    buffer_pool<T> m_pool;
    std::vector<block_state> m_blocks;
};

} // namespace detail

/// Executes one rank's share of an all-reduce of two halves, see exchange_operation and compile_spread. Its
/// arguments behind the tag: `reduction_buffers<T>`, `Op`.
template <transport Transport, transportable T, reduction_operator<T> Op>
using spread_operation = exchange_operation<Transport, detail::spread_store<T, Op>>;

} // namespace papcoll::inline v0
