// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/executor/block_store.hpp>
#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/operators/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Executes one rank's share of a reduction schedule.
///
/// Sends leave in step order, each as soon as everything that happens to its blocks before has happened and,
/// with admission, the receiver has admitted it and the head of the send before has arrived. Receives are
/// posted and admitted in step order, a bounded window ahead. What arrives is combined in the order of the
/// schedule, the operand of the lower rank on the left, so results repeat to the bit. A block that comes back
/// after it was sent is stored, not combined; it lives in a buffer of its own, so nothing is written where a
/// send may still be reading.
///
/// No deadlock: dependencies increase strictly in step, messages of a pair of ranks stay in order, and the
/// windows for sends and receives are independent and at least one, so the pending transfer of the globally
/// smallest step can always proceed.
template <transport Transport, transportable T, reduction_operator<T> Op>
class combine_operation final : public operation {
public:
    /// `in` and `out` have the elements of the program's partition; `out` is used for owned blocks alone and
    /// may equal `in`.
    combine_operation(std::shared_ptr<context<Transport>> c, std::shared_ptr<message_program const> program,
                      T const* in, T* out, Op op, int tag)
        : m_context(std::move(c))
        , m_program(std::move(program))
        , m_flow(m_context->transport_layer(), tag)
        , m_pool(m_program->longest_receive())
        , m_blocks(*m_program, in, out, std::move(op), m_context->rank())
        , m_arriving(m_program->receives.messages.size())
        , m_leaving(m_program->sends.messages.size()) {
        m_admitted.resize(m_program->sends.messages.size(), !admits());
    }

    auto advance(bool block) -> bool override {
        bool progressed = issue();
        auto const ended = [this](label const& what) { complete(what); };
        if (m_flow.poll(block && !progressed, ended)) {
            issue();
            progressed = true;
        }
        if (m_flow.empty() && !m_finished) conclude();
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_blocks.failure(); }
    auto abandon() noexcept -> bool override { return m_flow.abandon(); }

private:
    using buffer = typename detail::buffer_pool<T>::pointer;
    using side = message_program::side;
    using message = message_program::message;

    struct label {
        enum class kind { send, head, rest, told, admission, head_is_there } what;
        std::size_t index;
    };
    struct leaving {
        buffer holder;
        std::vector<std::byte> staging;
        int user_block = -1;
        int pieces = 0;
    };
    struct arriving {
        buffer holder;
        std::vector<std::byte> staging;
        int pieces = 0;
    };

    [[nodiscard]] auto size(int block) const -> std::size_t { return m_program->partition.size(block); }
    [[nodiscard]] static auto uses(side const& s, message const& m)
        -> std::span<message_program::block_use const> {
        return std::span(s.uses).subspan(static_cast<std::size_t>(m.first_use),
                                         static_cast<std::size_t>(m.use_count));
    }

    [[nodiscard]] auto admits() const -> bool { return m_program->windows.admission; }
    /// Where the head of a message ends.
    [[nodiscard]] auto head_of(std::size_t bytes) const -> std::size_t {
        std::size_t const tail = m_program->windows.tail_bytes;
        return admits() && wire_format<T>::is_bytes && bytes >= 2 * tail ? bytes - tail : bytes;
    }

    auto issue() -> bool {
        bool const received = post_receives();
        bool const listening = post_admissions();
        bool const sent = issue_sends();
        return received || listening || sent;
    }

    auto post_receives() -> bool {
        auto const& messages = m_program->receives.messages;
        bool any = false;
        for (; m_next_receive < messages.size() && m_open_receives < m_program->windows.receives;
             ++m_next_receive) {
            auto const& m = messages[m_next_receive];
            auto const room = make_room(m, m_arriving[m_next_receive]);
            auto const head = head_of(room.size());
            m_arriving[m_next_receive].pieces = head < room.size() ? 2 : 1;
            m_flow.receive(channel::data, room.first(head), m.peer, {label::kind::head, m_next_receive});
            if (head < room.size())
                m_flow.receive(channel::data, room.subspan(head), m.peer,
                               {label::kind::rest, m_next_receive});
            if (admits()) m_flow.send(channel::control, {}, m.peer, {label::kind::told, 0});
            ++m_open_receives;
            any = true;
        }
        return any;
    }
    auto make_room(message const& m, arriving& a) -> std::span<std::byte> {
        a.holder = m_pool.acquire();
        if constexpr (wire_format<T>::is_bytes) {
            return std::as_writable_bytes(std::span(a.holder->data(), m.elements));
        } else {
            a.staging.resize(wire_format<T>::bytes(m.elements));
            return a.staging;
        }
    }
    // Admissions of one receiver come in the order of the messages to it.
    auto post_admissions() -> bool {
        auto const& messages = m_program->sends.messages;
        bool any = false;
        for (; admits() && m_listening < std::min(messages.size(), m_next_send + 4);
             ++m_listening, any = true)
            m_flow.receive(channel::control, {}, messages[m_listening].peer,
                           {label::kind::admission, m_listening});
        return any;
    }
    auto issue_sends() -> bool {
        auto const& messages = m_program->sends.messages;
        bool any = false;
        while (m_next_send < messages.size() && m_open_sends < m_program->windows.sends &&
               may_leave(m_next_send)) {
            send(messages[m_next_send], m_next_send);
            ++m_next_send;
            any = true;
        }
        return any;
    }
    [[nodiscard]] auto may_leave(std::size_t index) -> bool {
        if (!m_admitted[index]) return false;
        auto const list = uses(m_program->sends, m_program->sends.messages[index]);
        return std::all_of(list.begin(), list.end(), [&](auto const& use) { return m_blocks.is_next(use); });
    }

    void send(message const& m, std::size_t index) {
        auto const list = uses(m_program->sends, m);
        auto& l = m_leaving[index];
        bool const as_it_is = wire_format<T>::is_bytes && list.size() == 1;
        auto const bytes = as_it_is ? lend(list[0].block, l, m.elements) : stage(list, l, m.elements);
        auto const head = head_of(bytes.size());
        l.pieces = head < bytes.size() ? 2 : 1;
        m_flow.send(channel::data, bytes.first(head), m.peer, {label::kind::send, index});
        if (head < bytes.size())
            m_flow.send(channel::data, bytes.subspan(head), m.peer, {label::kind::send, index});
        if (admits()) m_flow.receive(channel::control, {}, m.peer, {label::kind::head_is_there, index}, 1);
        ++m_open_sends;
        for (auto const& use : list) m_blocks.give_away(use.block, use.block == l.user_block);
    }
    /// A block that is sent from where it is.
    auto lend(int block, leaving& l, std::size_t elements) -> std::span<std::byte const> {
        auto const& at = m_blocks.where(block);
        l.holder = at.holder;
        if (!at.holder) l.user_block = block;
        return std::as_bytes(std::span(at.data, elements));
    }
    auto stage(std::span<message_program::block_use const> list, leaving& l, std::size_t elements)
        -> std::span<std::byte const> {
        l.staging.resize(wire_format<T>::bytes(elements));
        std::size_t used = 0;
        for (auto const& use : list) {
            T const* const data = m_blocks.where(use.block).data;
            if constexpr (wire_format<T>::is_bytes) {
                std::memcpy(l.staging.data() + used, data, size(use.block) * sizeof(T));
                used += size(use.block) * sizeof(T);
            } else {
                used += wire_format<T>::pack(data, size(use.block), std::span(l.staging).subspan(used));
            }
        }
        // Packed data goes with its slack, so that both ends count the same bytes.
        return l.staging;
    }

    void complete(label const& what) {
        switch (what.what) {
        case label::kind::told:
            break;
        case label::kind::admission:
            m_admitted[what.index] = true;
            break;
        case label::kind::head_is_there:
            --m_open_sends;
            break;
        case label::kind::send:
            left(what.index);
            break;
        case label::kind::head:
            head_arrived(what.index);
            piece_arrived(what.index);
            break;
        case label::kind::rest:
            piece_arrived(what.index);
            break;
        }
    }
    void left(std::size_t index) {
        auto& l = m_leaving[index];
        if (--l.pieces > 0) return;
        if (l.user_block >= 0) m_blocks.left_user_memory(l.user_block);
        l = {};
        if (!admits()) --m_open_sends;
    }
    void head_arrived(std::size_t index) {
        auto const& m = m_program->receives.messages[index];
        --m_open_receives;
        if (admits()) m_flow.send(channel::control, {}, m.peer, {label::kind::told, 0}, 1);
    }
    // The rest may be complete before the head: MPI libraries treat short messages differently.
    void piece_arrived(std::size_t index) {
        if (--m_arriving[index].pieces == 0) arrived(index);
    }
    void arrived(std::size_t index) {
        auto const& m = m_program->receives.messages[index];
        auto a = std::exchange(m_arriving[index], {});
        T* data = a.holder->data();
        [[maybe_unused]] std::size_t read = 0;
        for (auto const& use : uses(m_program->receives, m)) {
            if constexpr (!wire_format<T>::is_bytes)
                read += wire_format<T>::unpack(std::span(a.staging).subspan(read), data, size(use.block));
            m_blocks.arrived(use, m.peer, data, a.holder);
            data += size(use.block);
        }
    }

    // Nothing is under way and nothing could be begun: the operation is over, or the schedule was wrong.
    void conclude() {
        if (m_next_send < m_program->sends.messages.size() ||
            m_next_receive < m_program->receives.messages.size() || !m_blocks.nothing_waits())
            throw std::logic_error("papcoll: the schedule cannot proceed; verify_reduction tells why");
        m_blocks.deliver();
        m_finished = true;
    }

    std::shared_ptr<context<Transport>> m_context;
    std::shared_ptr<message_program const> m_program;
    detail::message_flow<Transport, label> m_flow;
    detail::buffer_pool<T> m_pool;
    detail::block_store<T, Op> m_blocks;
    std::vector<arriving> m_arriving;
    std::vector<leaving> m_leaving;
    std::vector<bool> m_admitted; // per send
    std::size_t m_next_receive = 0;
    std::size_t m_next_send = 0;
    std::size_t m_listening = 0; // the next send whose admission is not listened for
    int m_open_receives = 0;
    int m_open_sends = 0;
    bool m_finished = false;
};

} // namespace papcoll::inline v0
