// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/agreement.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/context/steady_now.hpp>
#include <papcoll/monitor/offset_track.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/transport/transport.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
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
class clock_exchange {
public:
    clock_exchange(Transport& t, local_clock const& now)
        : m_transport(t)
        , m_now(now) {}

    /// Improves `track`, which maps to the clock of rank 0.
    void run(offset_track& track, int pings) {
        int const rank = m_transport.rank();
        if (rank == 0) track = offset_track::identity();
        for (int distance = 1; distance < m_transport.size(); distance *= 2) {
            if (rank >= distance && rank < 2 * distance) ask(rank - distance, track, pings);
            if (rank < distance && distance < m_transport.size() - rank)
                answer(rank + distance, track, pings);
        }
    }

private:
    // A question that leaves at t0 and is answered by the peer's time p at t1 says: p − t1 ≤ offset ≤ p − t0,
    // but for the drift in between. The bounds of all questions together are as narrow as the fastest way
    // there and the fastest way back, at most the shortest round trip.
    void ask(int peer, offset_track& track, int pings) {
        offset_track to_peer;
        for (int i = 0; i < pings; ++i) {
            auto const asked = m_now();
            std::int64_t theirs = 0;
            send(peer, asked.count());
            receive(peer, theirs);
            auto const answered = m_now();
            auto const drifted = static_cast<double>((answered - asked).count()) * offset_track::max_drift;
            to_peer.observe(answered, {ticks{theirs} - answered,
                                       ticks{theirs} - asked + ticks{std::llround(std::ceil(drifted))}});
        }
        offset_track from_peer;
        receive(peer, from_peer);
        auto const now = m_now();
        auto const offset = to_peer.at(now);
        track.observe(now, {offset.least + from_peer.at(now + offset.least).least,
                            offset.most + from_peer.at(now + offset.most).most});
    }
    void answer(int peer, offset_track const& track, int pings) {
        for (int i = 0; i < pings; ++i) {
            std::int64_t asked = 0;
            receive(peer, asked);
            send(peer, std::int64_t{m_now().count()});
        }
        send(peer, track);
    }

    template <class T>
    void send(int peer, T const& value) {
        m_messages.add(
            m_transport.isend(channel::control, std::as_bytes(std::span(&value, 1)), peer, clock_tag));
        wait();
    }
    template <class T>
    void receive(int peer, T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        m_messages.add(m_transport.irecv(channel::control, std::as_writable_bytes(std::span(&value, 1)), peer,
                                         clock_tag));
        wait();
    }
    void wait() {
        bool const block = !m_transport.concurrent();
        while (!m_messages.poll(m_transport, block)) m_transport.idle();
    }

    Transport& m_transport;
    local_clock const& m_now;
    message_set<Transport> m_messages;
};

/// Waits until messages may be posted.
template <transport Transport>
void wait_until_ready(Transport& t) {
    while (!t.ready()) t.idle();
}

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
    /// communicator's control channel, no messages of its own may be under way there. Throws
    /// std::invalid_argument for pings below 1.
    template <communicator Comm>
    void synchronise(Comm&& comm, int pings = 20) {
        detail::require(pings >= 1, "pings must be at least 1", pings);
        auto& transport = transport_of(comm);
        detail::wait_until_ready(transport);
        detail::clock_exchange<std::remove_cvref_t<decltype(transport)>>(transport, m_local)
            .run(m_track, pings);
    }
    /// At local time `local` the clock of rank 0 is ahead by `measured`; from messages that travel anyway.
    void observe(ticks local, offset_bounds measured) { m_track.observe(local, measured); }

    [[nodiscard]] auto local_now() const -> ticks { return m_local(); }
    [[nodiscard]] auto now() const -> ticks { return to_global(m_local()); }
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
    [[nodiscard]] auto track() const -> offset_track const& { return m_track; }

private:
    local_clock m_local;
    offset_track m_track;
};

} // namespace papcoll::inline v0
