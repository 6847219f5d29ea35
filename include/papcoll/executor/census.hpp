// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/staging.hpp>
#include <papcoll/operators/combine.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/schedule/census_round.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Executes a census: every rank combines partial results of all the others with its own contribution, in
/// rounds of one message sent and one received. The order of combination differs from rank to rank.
template <transport Transport, transportable T, reduction_operator<T> Op>
class census_operation final : public operation {
public:
    /// n elements each; `in` may equal `out`.
    census_operation(std::shared_ptr<context<Transport>> c,
                     std::shared_ptr<std::vector<census_round> const> rounds, int tag, T const* in, T* out,
                     std::size_t n, Op op)
        : m_context(std::move(c))
        , m_rounds(std::move(rounds))
        , m_flow(m_context->transport_layer(), tag)
        , m_in(in)
        , m_out(out)
        , m_count(n)
        , m_op(std::move(op))
        , m_partial(n)
        , m_sent(n)
        , m_received(n) {}

    auto advance(bool block) -> bool override {
        bool progressed = false;
        while (!m_finished) {
            if (m_flow.empty()) {
                next_round();
                progressed = true;
            } else if (m_flow.poll(block,
                                   [this](int peer, auto arrival) { m_failure.check(arrival, peer); })) {
                progressed = true;
            } else {
                break;
            }
        }
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_failure.get(); }
    void fail(std::exception_ptr const& why) override { m_failure.note(why); }
    auto abandon() noexcept -> bool override { return m_flow.abandon(); }

private:
    void next_round() {
        if (m_round > 0) take_received();
        if (m_count == 0 || m_round == m_rounds->size()) {
            conclude();
            return;
        }
        auto const& round = (*m_rounds)[m_round++];
        m_flow.receive(channel::data, detail::bytes_to_receive(m_received.data(), m_count, m_receive_staging),
                       round.from, round.from);
        auto const* const own = outgoing(round); // may fail
        auto const bytes = detail::bytes_to_send(own, m_count, m_send_staging);
        if (m_failure)
            m_flow.send_nothing(channel::data, bytes, round.to, round.to);
        else
            m_flow.send(channel::data, bytes, round.to, round.to);
    }
    auto outgoing(census_round const& round) -> T const* {
        if (!m_has_partial) return m_in;
        if (!round.own) {
            std::copy_n(m_partial.data(), m_count, m_sent.data());
        } else {
            combine(m_in, m_partial.data(), m_sent.data());
        }
        return m_sent.data();
    }
    void take_received() {
        if (m_failure) return;
        detail::received(m_received.data(), m_count, m_receive_staging);
        if (m_has_partial)
            combine(m_partial.data(), m_received.data(), m_partial.data());
        else
            std::copy_n(m_received.data(), m_count, m_partial.data());
        m_has_partial = true;
    }
    void conclude() {
        if (m_has_partial)
            combine(m_in, m_partial.data(), m_out);
        else if (m_in != m_out)
            std::copy_n(m_in, m_count, m_out);
        m_finished = true;
    }
    void combine(T const* left, T const* right, T* result) {
        m_failure.attempt([&] { detail::combine(left, right, result, m_count, m_op); });
    }

    std::shared_ptr<context<Transport>> m_context;
    std::shared_ptr<std::vector<census_round> const> m_rounds;
    detail::message_flow<Transport, int> m_flow;
    T const* m_in;
    T* m_out;
    std::size_t m_count;
    Op m_op;
    detail::element_buffer<T> m_partial, m_sent, m_received;
    std::vector<std::byte> m_send_staging, m_receive_staging;
    std::size_t m_round = 0;
    bool m_has_partial = false;
    bool m_finished = false;
    detail::first_failure m_failure;
};

} // namespace papcoll::inline v0
