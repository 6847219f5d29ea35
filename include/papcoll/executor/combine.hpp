// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/block_store.hpp>
#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/exchange.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/stretches.hpp>
#include <papcoll/operators/operators.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The messages of a reduction: blocks leave from where they are, what arrives goes to buffers and is
/// combined in the order of the schedule, the operand of the lower rank on the left, so results repeat to the
/// bit. A block that comes back after it was sent is stored, not combined; it lives in a buffer of its own,
/// so nothing is written where a send may still be reading.
template <transportable T, reduction_operator<T> Op>
class combine_store {
public:
    using message = message_program::message;
    using use_list = std::span<message_program::block_use const>;
    using buffer = typename buffer_pool<T>::pointer;

    struct outgoing {
        stretch_list<std::byte const> list;
        boost::container::small_vector<buffer, 1> holders;
        boost::container::small_vector<int, 1> user_blocks;
        std::vector<std::byte> staging;
    };
    struct incoming {
        buffer holder;
        std::vector<std::byte> staging;
    };

    combine_store(message_program const& program, int rank, reduction_buffers<T> const& buffers, Op op)
        : m_program(program)
        , m_blocks(program, buffers, std::move(op), rank) {}

    [[nodiscard]] auto failure() const -> std::exception_ptr const& { return m_blocks.failure(); }
    void fail(std::exception_ptr const& why) { m_blocks.fail(why); }
    [[nodiscard]] auto settled() const -> bool { return m_blocks.nothing_waits(); }
    void deliver() { m_blocks.deliver(); }
    [[nodiscard]] auto blocks() const -> block_store<T, Op> const& { return m_blocks; }

    [[nodiscard]] auto may_leave(use_list uses) const -> bool {
        return std::all_of(uses.begin(), uses.end(), [&](auto const& use) { return m_blocks.is_next(use); });
    }
    auto leave(message const& m, use_list uses, outgoing& o) -> const_message_parts {
        if constexpr (!wire_format<T>::is_bytes) pack(m, uses, o);
        for (auto const& use : uses) {
            if constexpr (wire_format<T>::is_bytes) lend(use.block, o);
            bool const from_user = !o.user_blocks.empty() && o.user_blocks.back() == use.block;
            m_blocks.give_away(use.block, from_user);
        }
        if constexpr (wire_format<T>::is_bytes) {
            if (!o.list.better_packed()) return o.list.parts();
            o.staging.resize(o.list.bytes());
            o.list.gather(o.staging.data());
        }
        return std::span<std::byte const>(o.staging); // packed with its slack: both ends count the same bytes
    }
    void left(outgoing& o) {
        for (int const block : o.user_blocks) m_blocks.left_user_memory(block);
    }
    auto make_room(message const& m, use_list, incoming& i) -> message_parts {
        i.holder = m_pool.acquire(m.elements);
        if constexpr (wire_format<T>::is_bytes) {
            return std::as_writable_bytes(std::span(i.holder->data(), m.elements));
        } else {
            i.staging.resize(wire_format<T>::bytes(m.elements));
            return std::span<std::byte>(i.staging);
        }
    }
    void arrived(message const& m, use_list uses, incoming const& i) {
        T* data = i.holder->data();
        [[maybe_unused]] std::size_t read = 0;
        for (auto const& use : uses) {
            auto const size = m_program.size(use.block);
            if constexpr (!wire_format<T>::is_bytes) {
                if (!failure())
                    read += wire_format<T>::unpack(std::span<std::byte const>(i.staging).subspan(read), data,
                                                   size);
            }
            m_blocks.arrived(use, m.peer, data, i.holder);
            data += size;
        }
    }

private:
    /// A block that is sent from where it is.
    void lend(int block, outgoing& o) {
        auto const& at = m_blocks.where(block);
        o.list.add(std::as_bytes(std::span(at.data, m_program.size(block))));
        if (!at.holder)
            o.user_blocks.push_back(block);
        else if (o.holders.empty() || o.holders.back() != at.holder)
            o.holders.push_back(at.holder);
    }
    void pack(message const& m, use_list uses, outgoing& o) {
        o.staging.resize(wire_format<T>::bytes(m.elements));
        if (failure()) return; // an empty message leaves in its place
        std::size_t used = 0;
        for (auto const& use : uses)
            used += wire_format<T>::pack(m_blocks.where(use.block).data, m_program.size(use.block),
                                         std::span(o.staging).subspan(used));
    }

    message_program const& m_program;
    buffer_pool<T> m_pool;
    block_store<T, Op> m_blocks;
};

} // namespace detail

/// Executes one rank's share of a reduction, see exchange_operation. Its arguments behind the tag:
/// `reduction_buffers<T>`, `Op`.
template <transport Transport, transportable T, reduction_operator<T> Op>
using combine_operation = exchange_operation<Transport, detail::combine_store<T, Op>>;

} // namespace papcoll::inline v0
