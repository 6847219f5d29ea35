// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>
#include <papcoll/context/message_set.hpp>
#include <papcoll/context/steady_now.hpp>
#include <papcoll/monitor/offset_track.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/transport/transport.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0 {

/// A clock of one rank: monotonic, of any origin. Called by several threads at once if there are some.
using local_clock = std::function<ticks()>;

namespace detail {

/// On the control channel, beside the tags of operations.
inline constexpr int clock_tag = tag_count - 1;
static_assert(is_reserved_tag(clock_tag));

/// One rank's share of a synchronisation with rank 0 along a binomial tree: in round k the ranks below 2^k,
/// which know the time, answer the ranks 2^k above them.
template <transport Transport>
class clock_operation final : public operation {
public:
    /// Improves `track`, which maps to the clock of rank 0.
    clock_operation(Transport& t, local_clock const& now, offset_track& track, int pings)
        : m_transport(t)
        , m_now(now)
        , m_track(track)
        , m_pings(pings) {
        if (t.rank() == 0) m_track = offset_track::identity();
    }

    auto advance(bool block) -> bool override {
        bool progressed = false;
        while (!m_finished && m_messages.poll(m_transport, block)) {
            proceed();
            progressed = true;
        }
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    auto abandon() noexcept -> bool override { return m_messages.abandon(m_transport); }

private:
    // No message is under way.
    void proceed() {
        int const rank = m_transport.rank(), size = m_transport.size();
        if (m_distance >= size)
            m_finished = true;
        else if (rank >= m_distance && rank < 2 * m_distance)
            ask(rank - m_distance);
        else if (rank < m_distance && m_distance < size - rank)
            answer(rank + m_distance);
        else
            m_distance *= 2;
    }
    void next_round() {
        m_distance *= 2;
        m_step = 0;
    }

    // A question that leaves at t0 and is answered by the peer's time p at t1 says: p − t1 ≤ offset ≤ p − t0,
    // but for the drift in between. The bounds of all questions together are as narrow as the fastest way
    // there and the fastest way back, at most the shortest round trip.
    void ask(int peer) {
        if (m_step > 0 && m_step <= m_pings) learn();
        if (m_step < m_pings) {
            m_asked = m_now();
            m_question = m_asked.count();
            receive(peer, m_answer);
            send(peer, m_question);
        } else if (m_step == m_pings) {
            receive(peer, m_peers_track);
        } else {
            auto const now = m_now();
            auto const offset = m_to_peer.at(now);
            m_track.observe(now, {offset.least + m_peers_track.at(now + offset.least).least,
                                  offset.most + m_peers_track.at(now + offset.most).most});
            return next_round();
        }
        ++m_step;
    }
    void learn() {
        auto const answered = m_now();
        auto const drifted = static_cast<double>((answered - m_asked).count()) * offset_track::max_drift;
        m_to_peer.observe(answered, {ticks{m_answer} - answered,
                                     ticks{m_answer} - m_asked + ticks{std::llround(std::ceil(drifted))}});
    }
    void answer(int peer) {
        bool const asked = m_step % 2 != 0;
        if (m_step == 2 * m_pings + 1) return next_round();
        if (m_step == 2 * m_pings) {
            m_peers_track = m_track;
            send(peer, m_peers_track);
        } else if (asked) {
            m_answer = m_now().count();
            send(peer, m_answer);
        } else {
            receive(peer, m_question);
        }
        ++m_step;
    }

    template <class T>
    void send(int peer, T const& value) {
        m_messages.send(m_transport, channel::control, std::as_bytes(std::span(&value, 1)), peer, clock_tag);
    }
    template <class T>
    void receive(int peer, T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        m_messages.receive(m_transport, channel::control, std::as_writable_bytes(std::span(&value, 1)), peer,
                           clock_tag);
    }

    Transport& m_transport;
    local_clock const& m_now;
    offset_track& m_track;
    int m_pings;
    int m_distance = 1;
    int m_step = 0; // of the round
    ticks m_asked{0};
    std::int64_t m_question = 0;
    std::int64_t m_answer = 0;
    offset_track m_to_peer, m_peers_track;
    message_set<Transport> m_messages;
    bool m_finished = false;
};

} // namespace detail

/// Time that all ranks share: that of rank 0's clock, of which every rank keeps bounds. The clocks may have
/// any offsets, and drifts up to offset_track::max_drift.
///
/// Until the first synchronise() the time is the local one and the error 2^61 ns. synchronise() and observe()
/// must not run beside anything else; the rest may be called by several threads at once.
class synchronised_clock {
public:
    explicit synchronised_clock(local_clock local = steady_now)
        : m_local(std::move(local)) {}

    /// Collective over `comm`, always the same ranks: measures the offset to rank 0. Each call also improves
    /// what is known of the drift: call it again now and then, at first after some seconds. Between two ranks
    /// of a pair `pings` (the same on all ranks, at least 1) messages go to and fro.
    ///
    /// Cost: ⌈log2 P⌉ rounds of 2 `pings` + 1 small messages, all ranks waiting; error: half of the fastest
    /// way to the partner and back, summed along at most ⌈log2 P⌉ partners on the way to rank 0. Uses the
    /// communicator's control channel. papcoll's other operations progress meanwhile. Throws
    /// std::invalid_argument for pings below 1.
    template <communicator Comm>
    void synchronise(Comm&& comm, int pings = 20) {
        detail::require(pings >= 1, "pings must be at least 1", pings);
        auto& transport = detail::usable_transport(comm);
        using exchange = detail::clock_operation<std::remove_cvref_t<decltype(transport)>>;
        auto const op = std::make_shared<exchange>(transport, m_local, m_track, pings);
        detail::run_to_end(*detail::engine_in(transport), op, transport);
    }
    /// At local time `local` the clock of rank 0 is ahead by `measured`; from messages that travel anyway.
    void observe(ticks local, offset_bounds measured) { m_track.observe(local, measured); }

    /// The time of this rank's own clock.
    [[nodiscard]] auto local_now() const -> ticks { return m_local(); }
    /// The time on which all ranks agree.
    [[nodiscard]] auto now() const -> ticks { return to_global(m_local()); }
    /// A time of this rank's own clock as the time on which all agree.
    [[nodiscard]] auto to_global(ticks local) const -> ticks {
        return m_track.known() ? local + m_track.at(local).middle() : local;
    }
    /// The inverse of to_global, up to a nanosecond.
    [[nodiscard]] auto to_local(ticks global) const -> ticks {
        auto local = global;
        for (int i = 0; i < 4 && m_track.known(); ++i) local = global - m_track.at(local).middle();
        return local;
    }
    /// now() is not further than this from rank 0's clock.
    [[nodiscard]] auto error() const -> ticks { return m_track.at(m_local()).error(); }
    /// What is known of the offset to the common time.
    [[nodiscard]] auto track() const -> offset_track const& { return m_track; }

private:
    local_clock m_local;
    offset_track m_track;
};

} // namespace papcoll::inline v0
