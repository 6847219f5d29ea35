// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>
#include <papcoll/context/steady_now.hpp>
#include <papcoll/monitor/detail/clock_operation.hpp>
#include <papcoll/monitor/offset_track.hpp>
#include <papcoll/schedule/problem.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0 {

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
    /// With a `span` (the same on all ranks) one call also measures the drift: ten groups of `pings` are
    /// spread over that time, and the drifts of all straight lines through their bounds are what it can be.
    /// The time stays good for so much longer; half a second serves for ten seconds to come.
    ///
    /// Cost: ⌈log2 P⌉ rounds of 2 `pings` + 1 small messages, or ten times as many in a time of `span`, all
    /// ranks waiting; error: half of the fastest way to the partner and back, summed along at most ⌈log2 P⌉
    /// partners on the way to rank 0. Uses the communicator's control channel. papcoll's other operations
    /// progress meanwhile. Throws std::invalid_argument for pings below 1 and for a negative span.
    template <communicator Comm>
    void synchronise(Comm&& comm, int pings = 20, ticks span = ticks{0}) {
        detail::require(pings >= 1, "pings must be at least 1", pings);
        detail::require(span >= ticks{0}, "span must not be negative", span.count());
        auto& transport = detail::usable_transport(comm);
        using exchange = detail::clock_operation<std::remove_cvref_t<decltype(transport)>>;
        auto const op = std::make_shared<exchange>(transport, m_local, m_track,
                                                   detail::clock_questions{.pings = pings, .span = span});
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
