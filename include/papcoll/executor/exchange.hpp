// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/message_program.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Executes one rank's share of a schedule: the messages, their order and their admission. What they carry
/// and what becomes of it is the store's: combine_store for reductions, copy_store for disseminations.
///
/// Sends leave in step order, each as soon as everything that its blocks wait for has happened and, with
/// admission, the receiver has admitted it and the head of the send before has arrived. Receives are posted
/// and admitted in step order, a bounded window ahead.
///
/// A rank that fails (its operator throws, or something that it received is not what it expects) completes
/// its communication: from then on it sends empty messages, by which those who depend on it fail, too.
///
/// No deadlock: dependencies increase strictly in step, messages of a pair of ranks stay in order, and the
/// windows for sends and receives are independent and at least one, so the pending transfer of the globally
/// smallest step can always proceed.
template <transport Transport, class Store>
class exchange_operation final : public operation {
public:
    /// `arguments` are the store's, behind the program and the rank.
    template <class... Arguments>
    exchange_operation(std::shared_ptr<context<Transport>> c, std::shared_ptr<message_program const> program,
                       int tag, Arguments&&... arguments)
        : m_context(std::move(c))
        , m_program(std::move(program))
        , m_flow(m_context->transport_layer(), tag)
        , m_store(*m_program, m_context->rank(), std::forward<Arguments>(arguments)...)
        , m_arriving(m_program->receives.messages.size())
        , m_leaving(m_program->sends.messages.size())
        , m_admitted(admits() ? m_program->sends.messages.size() : 0) {}

    auto advance(bool block) -> bool override {
        bool const complete_data = !awaits_data(); // before issue: it may come at any time
        bool progressed = issue();
        auto const ended = [this](label const& what, detail::arrival_of_message arrival) {
            complete(what, arrival);
        };
        // What could be begun has been: only a message that ends can bring anything new.
        if (m_flow.poll(block, ended)) {
            issue();
            progressed = true;
        }
        if (m_flow.empty() && complete_data && !m_finished) conclude();
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_store.failure(); }
    void fail(std::exception_ptr const& why) override { m_store.fail(why); }
    auto abandon() noexcept -> bool override { return m_flow.abandon(); }

private:
    using message = message_program::message;

    struct label {
        enum class kind { send, head, rest, told, admission, head_is_there } what;
        std::size_t index;
    };
    struct leaving {
        typename Store::outgoing data;
        int pieces = 0;
    };
    struct arriving {
        typename Store::incoming data;
        int pieces = 0;
    };

    /// Whether this rank's own data is still to come.
    [[nodiscard]] auto awaits_data() const -> bool {
        if constexpr (requires { m_store.awaits_data(); }) return m_store.awaits_data();
        return false;
    }
    [[nodiscard]] auto admits() const -> bool { return m_program->windows.admission; }
    [[nodiscard]] auto admits(message const& m) const -> bool {
        return admits() && m.elements > m_program->windows.unadmitted_elements;
    }
    [[nodiscard]] auto window(message const& m, int admitted) const -> int {
        return admits() && !admits(m) ? m_program->windows.unadmitted : admitted;
    }
    /// A transport may have fewer under way than the program says.
    [[nodiscard]] auto send_window(message const& m) const -> int {
        int const wanted = window(m, m_program->windows.sends);
        if constexpr (requires { Transport::most_sends; }) return std::min(wanted, Transport::most_sends);
        return wanted;
    }
    /// Where the head of a message ends. Both ends find the same place.
    [[nodiscard]] auto head_of(message const& m, std::size_t bytes) const -> std::size_t {
        return admits(m) ? bytes - std::min(m_program->windows.tail_bytes, bytes / 8 * 3) : bytes;
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
        for (; m_next_receive < messages.size() &&
               m_open_receives < window(messages[m_next_receive], m_program->windows.receives);
             ++m_next_receive) {
            receive(messages[m_next_receive], m_next_receive);
            any = true;
        }
        return any;
    }
    void receive(message const& m, std::size_t index) {
        auto& a = m_arriving[index];
        auto const room = m_store.make_room(m, m_program->receives.uses_of(m), a.data);
        auto const head = head_of(m, room.bytes());
        a.pieces = head < room.bytes() ? 2 : 1;
        if (a.pieces == 1) {
            m_flow.receive(channel::data, room, m.peer, {label::kind::head, index});
        } else {
            m_flow.receive(channel::data, room.slice(0, head, m_list), m.peer, {label::kind::head, index});
            m_flow.receive(channel::data, room.slice(head, room.bytes() - head, m_list), m.peer,
                           {label::kind::rest, index});
        }
        if (admits(m)) m_flow.send(channel::control, {}, m.peer, {label::kind::told, 0});
        ++m_open_receives;
    }
    // Admissions of one receiver come in the order of the messages to it.
    auto post_admissions() -> bool {
        auto const& messages = m_program->sends.messages;
        bool any = false;
        for (; admits() && m_listening < std::min(messages.size(), m_next_send + 4); ++m_listening) {
            if (!admits(messages[m_listening])) continue;
            m_flow.receive(channel::control, {}, messages[m_listening].peer,
                           {label::kind::admission, m_listening});
            any = true;
        }
        return any;
    }
    auto issue_sends() -> bool {
        auto const& messages = m_program->sends.messages;
        bool any = false;
        while (m_next_send < messages.size() && m_open_sends < send_window(messages[m_next_send]) &&
               (!admits(messages[m_next_send]) || m_admitted[m_next_send]) &&
               m_store.may_leave(m_program->sends.uses_of(messages[m_next_send]))) {
            send(messages[m_next_send], m_next_send);
            ++m_next_send;
            any = true;
        }
        return any;
    }
    void send(message const& m, std::size_t index) {
        auto& l = m_leaving[index];
        auto const parts = m_store.leave(m, m_program->sends.uses_of(m), l.data);
        auto const head = head_of(m, parts.bytes());
        l.pieces = head < parts.bytes() ? 2 : 1;
        send_piece(l.pieces == 1 ? parts : parts.slice(0, head, m_const_list), m.peer, index);
        if (l.pieces == 2) send_piece(parts.slice(head, parts.bytes() - head, m_const_list), m.peer, index);
        if (admits(m)) m_flow.receive(channel::control, {}, m.peer, {label::kind::head_is_there, index}, 1);
        ++m_open_sends;
    }

    void send_piece(const_message_parts const& piece, int peer, std::size_t index) {
        label const what{label::kind::send, index};
        if (m_store.failure())
            m_flow.send_nothing(channel::data, piece, peer, what);
        else
            m_flow.send(channel::data, piece, peer, what);
    }

    void complete(label const& what, detail::arrival_of_message arrival) {
        bool const is_receive = what.what == label::kind::head || what.what == label::kind::rest;
        if (is_receive && arrival != detail::arrival_of_message::whole)
            m_store.fail(detail::failure_of(arrival, m_program->receives.messages[what.index].peer));
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
        m_store.left(l.data);
        l.data = {};
        if (!admits(m_program->sends.messages[index])) --m_open_sends;
    }
    void head_arrived(std::size_t index) {
        --m_open_receives;
        auto const& m = m_program->receives.messages[index];
        if (admits(m)) m_flow.send(channel::control, {}, m.peer, {label::kind::told, 0}, 1);
    }
    // The rest may be complete before the head: MPI libraries treat short messages differently.
    void piece_arrived(std::size_t index) {
        if (--m_arriving[index].pieces > 0) return;
        auto const& m = m_program->receives.messages[index];
        m_store.arrived(m, m_program->receives.uses_of(m), std::move(m_arriving[index].data));
        m_arriving[index].data = {};
    }

    // Nothing is under way and nothing could be begun: the operation is over, or the schedule was wrong.
    void conclude() {
        if (m_next_send < m_program->sends.messages.size() ||
            m_next_receive < m_program->receives.messages.size() || !m_store.settled())
            throw std::logic_error("papcoll: the schedule cannot proceed; verify_reduction or "
                                   "verify_dissemination tells why");
        m_store.deliver();
        m_finished = true;
    }

    std::shared_ptr<context<Transport>> m_context;
    std::shared_ptr<message_program const> m_program;
    detail::message_flow<Transport, label> m_flow;
    Store m_store;
    boost::container::small_vector<arriving, 4> m_arriving;
    boost::container::small_vector<leaving, 4> m_leaving;
    std::vector<bool> m_admitted; // per send, with admission
    std::vector<std::span<std::byte>> m_list;
    std::vector<std::span<std::byte const>> m_const_list;
    std::size_t m_next_receive = 0;
    std::size_t m_next_send = 0;
    std::size_t m_listening = 0; // the next send whose admission is not listened for
    int m_open_receives = 0;
    int m_open_sends = 0;
    bool m_finished = false;
};

} // namespace papcoll::inline v0
