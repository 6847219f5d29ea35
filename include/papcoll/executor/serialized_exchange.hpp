// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/serialization.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Executes one rank's share of a schedule whose blocks are serialized values: their sizes are known to the
/// sender alone, so each message is its blocks' lengths and then their contents. What becomes of the contents
/// is the store's: serialized_combine_store or serialized_copy_store.
///
/// Messages go in step order, one content at a time in each direction; the lengths of the next ones come in
/// before. The next content is on its way while the one before is read and combined. What keeps
/// exchange_operation from a deadlock does it here, too; long contents wait for their receiver by the
/// library's own rendezvous. A rank that fails sends a length that says so, and all communication is
/// completed.
template <transport Transport, class Store>
class serialized_operation final : public operation {
public:
    /// `arguments` are the store's, behind the program and the rank.
    template <class... Arguments>
    serialized_operation(std::shared_ptr<context<Transport>> c,
                         std::shared_ptr<message_program const> program, int tag, Arguments&&... arguments)
        : m_context(std::move(c))
        , m_program(std::move(program))
        , m_flow(m_context->transport_layer(), tag)
        , m_store(*m_program, m_context->rank(), std::forward<Arguments>(arguments)...)
        , m_arriving(m_program->receives.messages.size())
        , m_leaving(m_program->sends.messages.size()) {}

    auto advance(bool block) -> bool override {
        bool progressed = work();
        // What could be begun has been: only a message that ends can bring anything new.
        if (m_flow.poll(block, [this](label const& what, auto arrival) { complete(what, arrival); })) {
            work();
            progressed = true;
        }
        if (m_flow.empty() && !m_finished) conclude();
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_store.failure(); }
    auto abandon() noexcept -> bool override { return m_flow.abandon(); }

private:
    using message = message_program::message;
    using length_list = std::vector<std::uint64_t>;

    struct label {
        enum class kind { lengths_sent, sent, lengths, contents } what;
        std::size_t index;
    };
    struct arriving {
        length_list lengths;
        bool measured = false;
        std::shared_ptr<std::vector<char>> data;
    };
    struct leaving {
        length_list lengths;
        std::vector<detail::content> contents;
        std::vector<std::span<std::byte const>> parts;
        int open = 0;
    };
    static constexpr std::uint64_t missing = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::size_t lengths_ahead = 8;

    static auto total(length_list const& lengths) -> std::size_t {
        std::uint64_t sum = 0;
        for (auto const n : lengths) sum += n == missing ? 0 : n;
        return static_cast<std::size_t>(sum);
    }

    auto work() -> bool {
        bool any = false;
        while (issue() || unpack_one()) any = true;
        return any;
    }
    auto issue() -> bool {
        bool const listening = post_lengths();
        bool const received = post_contents();
        bool const sent = issue_sends();
        return listening || received || sent;
    }
    auto post_lengths() -> bool {
        auto const& messages = m_program->receives.messages;
        bool any = false;
        for (; m_next_lengths < std::min(messages.size(), m_next_receive + lengths_ahead); ++m_next_lengths) {
            auto const& m = messages[m_next_lengths];
            auto& lengths = m_arriving[m_next_lengths].lengths;
            lengths.resize(static_cast<std::size_t>(m.use_count));
            m_flow.receive(channel::control, std::as_writable_bytes(std::span(lengths)), m.peer,
                           {label::kind::lengths, m_next_lengths});
            any = true;
        }
        return any;
    }
    auto post_contents() -> bool {
        bool any = false;
        while (!m_receiving && m_next_receive < m_next_lengths && m_arriving[m_next_receive].measured) {
            auto& a = m_arriving[m_next_receive];
            a.data = std::make_shared<std::vector<char>>(total(a.lengths));
            if (a.data->empty()) {
                m_unread.push_back(m_next_receive);
            } else {
                m_flow.receive(channel::data, std::as_writable_bytes(std::span(*a.data)),
                               m_program->receives.messages[m_next_receive].peer,
                               {label::kind::contents, m_next_receive});
                m_receiving = true;
            }
            ++m_next_receive;
            any = true;
        }
        return any;
    }
    auto issue_sends() -> bool {
        auto const& messages = m_program->sends.messages;
        bool any = false;
        for (; !m_sending && m_next_send < messages.size() &&
               m_store.may_leave(m_program->sends.uses_of(messages[m_next_send]));
             ++m_next_send) {
            send(messages[m_next_send], m_next_send);
            any = true;
        }
        return any;
    }
    void send(message const& m, std::size_t index) {
        auto& l = m_leaving[index];
        for (auto const& use : m_program->sends.uses_of(m)) {
            auto const& c = l.contents.emplace_back(m_store.leave(use));
            l.lengths.push_back(c.is_missing() ? missing : c.bytes().size());
            if (!c.bytes().empty()) l.parts.push_back(std::as_bytes(c.bytes()));
        }
        m_flow.send(channel::control, std::as_bytes(std::span<std::uint64_t const>(l.lengths)), m.peer,
                    {label::kind::lengths_sent, index});
        l.open = 1;
        if (l.parts.empty()) return;
        m_flow.send(channel::data, const_message_parts(std::span<std::span<std::byte const> const>(l.parts)),
                    m.peer, {label::kind::sent, index});
        l.open = 2;
        m_sending = true;
    }
    void complete(label const& what, detail::arrival_of_message arrival) {
        // Lengths or contents that do not come as they must are of values that are missing.
        if (arrival != detail::arrival_of_message::whole) {
            auto& lengths = m_arriving[what.index].lengths;
            std::fill(lengths.begin(), lengths.end(), missing);
        }
        switch (what.what) {
        case label::kind::sent:
            m_sending = false;
            [[fallthrough]];
        case label::kind::lengths_sent:
            if (--m_leaving[what.index].open == 0) m_leaving[what.index] = {};
            break;
        case label::kind::lengths:
            m_arriving[what.index].measured = true;
            break;
        case label::kind::contents:
            m_receiving = false;
            m_unread.push_back(what.index);
            break;
        }
    }
    // Called when everything that the message held up is under way.
    auto unpack_one() -> bool {
        if (m_unread.empty()) return false;
        auto const index = m_unread.front();
        m_unread.pop_front();
        auto const& m = m_program->receives.messages[index];
        auto const a = std::exchange(m_arriving[index], {});
        std::size_t begin = 0;
        std::size_t i = 0;
        for (auto const& use : m_program->receives.uses_of(m)) {
            auto const length = a.lengths[i++];
            if (length == missing) {
                m_store.arrived(use, m.peer, detail::content());
                continue;
            }
            m_store.arrived(use, m.peer, detail::content(a.data, begin, static_cast<std::size_t>(length)));
            begin += static_cast<std::size_t>(length);
        }
        return true;
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
    std::vector<arriving> m_arriving;
    std::vector<leaving> m_leaving;
    std::deque<std::size_t> m_unread; // contents that are in
    std::size_t m_next_lengths = 0;
    std::size_t m_next_receive = 0;
    std::size_t m_next_send = 0;
    bool m_receiving = false;
    bool m_sending = false;
    bool m_finished = false;
};

} // namespace papcoll::inline v0
