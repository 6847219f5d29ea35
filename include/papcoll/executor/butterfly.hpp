// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/staging.hpp>
#include <papcoll/operators/combine.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/schedule/butterfly_round.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Executes a butterfly: in each round a rank exchanges its partial result with a peer, and both combine the
/// two in the same order, the lower rank's on the left, by the same machine code: all get the same bits.
/// Receives are posted one round ahead.
template <transport Transport, transportable T, reduction_operator<T> Op>
class butterfly_operation final : public operation {
public:
    /// n elements each; `in` may equal `out`.
    butterfly_operation(std::shared_ptr<context<Transport>> c,
                        std::shared_ptr<std::vector<butterfly_round> const> rounds, int tag, T const* in,
                        T* out, std::size_t n, Op op)
        : m_context(std::move(c))
        , m_rounds(std::move(rounds))
        , m_flow(m_context->transport_layer(), tag)
        , m_held(in)
        , m_out(out)
        , m_count(n)
        , m_op(std::move(op))
        , m_buffer(m_work_elements + 2 * n) {
        m_ahead[0].elements = m_buffer.data() + m_work_elements;
        m_ahead[1].elements = m_ahead[0].elements + n;
    }

    auto advance(bool block) -> bool override {
        bool progressed = false;
        auto const ended = [this](std::size_t message, auto how) { complete(message, how); };
        for (;;) {
            while (!m_finished && proceed()) progressed = true;
            if (m_finished || !m_flow.poll(block, ended)) return progressed;
            progressed = true;
        }
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_failure.get(); }
    void fail(std::exception_ptr const& why) override { m_failure.note(why); }
    auto abandon() noexcept -> bool override { return m_flow.abandon(); }

private:
    /// What a round receives; used in turn.
    struct arrival {
        T* elements = nullptr;
        std::vector<std::byte> staging;
        bool here = false;
        detail::arrival_of_message how = detail::arrival_of_message::whole;
    };
    static constexpr std::size_t sent = 2; // the label of a send; of a receive: which arrival it is

    /// Begins or ends a round, or the whole; false when that has to wait.
    auto proceed() -> bool {
        if (m_count == 0 || m_round == m_rounds->size()) {
            conclude();
            return true;
        }
        auto const& round = (*m_rounds)[m_round];
        if (!m_begun) {
            begin(round);
            return true;
        }
        if (m_sending || (round.receives() && !m_ahead[m_round % 2].here)) return false;
        if (round.receives()) take(round);
        ++m_round;
        m_begun = false;
        return true;
    }
    void begin(butterfly_round const& round) {
        while (m_posted < std::min(m_round + 2, m_rounds->size())) post_receive(m_posted++);
        m_sending = round.sends();
        if (m_sending) send(round.peer);
        m_begun = true;
    }
    void send(int peer) {
        auto const bytes = detail::bytes_to_send(m_held, m_count, m_send_staging);
        if (m_failure)
            m_flow.send_nothing(channel::data, bytes, peer, sent);
        else
            m_flow.send(channel::data, bytes, peer, sent);
    }
    void post_receive(std::size_t index) {
        auto const& round = (*m_rounds)[index];
        if (!round.receives()) return;
        auto& a = m_ahead[index % 2];
        m_flow.receive(channel::data, detail::bytes_to_receive(a.elements, m_count, a.staging), round.peer,
                       index % 2);
    }
    void complete(std::size_t message, detail::arrival_of_message how) {
        if (message == sent) {
            m_sending = false;
        } else {
            m_ahead[message].here = true;
            m_ahead[message].how = how;
        }
    }
    // Nothing is sent from `out` any more, so the result can go there.
    void take(butterfly_round const& round) {
        auto& a = m_ahead[m_round % 2];
        a.here = false;
        m_failure.check(a.how, round.peer);
        m_failure.attempt([&] { detail::received(a.elements, m_count, a.staging); });
        if (m_failure) return;
        bool const from_below = round.peer < m_context->rank();
        if (round.what == butterfly_round::work::learn)
            std::copy_n(a.elements, m_count, m_out);
        else
            combine(from_below ? a.elements : m_held, from_below ? m_held : a.elements);
        m_held = m_out;
    }
    void combine(T const* left, T const* right) {
        m_failure.attempt([&] { detail::combine_alike(left, right, m_out, m_count, m_op, m_buffer.data()); });
    }
    void conclude() {
        if (m_held != m_out) std::copy_n(m_held, m_count, m_out);
        m_finished = true;
    }

    std::shared_ptr<context<Transport>> m_context;
    std::shared_ptr<std::vector<butterfly_round> const> m_rounds;
    detail::message_flow<Transport, std::size_t> m_flow;
    T const* m_held; // the operand, later the partial result in `out`
    T* m_out;
    std::size_t m_count;
    Op m_op;
    std::size_t m_work_elements = std::min(m_count, detail::alike_elements<T>);
    detail::element_buffer<T> m_buffer; // for combine_alike, then for what two rounds receive
    arrival m_ahead[2];
    std::vector<std::byte> m_send_staging;
    std::size_t m_round = 0;
    std::size_t m_posted = 0; // the next round whose receive is not posted
    bool m_begun = false;
    bool m_sending = false;
    bool m_finished = false;
    detail::first_failure m_failure;
};

} // namespace papcoll::inline v0
