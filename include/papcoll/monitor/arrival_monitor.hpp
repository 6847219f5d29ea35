// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/arrival/predictor.hpp>
#include <papcoll/arrival/predictors/first_known.hpp>
#include <papcoll/arrival/predictors/iteration_average.hpp>
#include <papcoll/arrival/predictors/linear_extrapolation.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/monitor/detail/monitor_state.hpp>
#include <papcoll/monitor/monitor_options.hpp>
#include <papcoll/monitor/synchronised_clock.hpp>
#include <papcoll/transport/mpi.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <utility>

namespace papcoll::inline v0 {

/// What a monitor predicts by unless it is told otherwise: by the reports of progress as soon as there is
/// one, until then by the iterations before.
using default_predictor = first_known<linear_extrapolation, exponential_average>;

/// Learns from the running program when its ranks will arrive at their next collective operation, and makes
/// all of them agree on it: the first collective of each iteration can then use the time in which early ranks
/// wait for late ones.
///
///     papcoll::arrival_monitor monitor(comm);
///     for (…) {
///         monitor.computation_begin();
///         …                            // half of the work
///         monitor.progress(0.5);
///         …                            // the rest
///         monitor.computation_end();
///         papcoll::reduce(comm, in, out, op, root, papcoll::clairvoyant{.arrivals = monitor});
///     }
///
/// A split-phase collective begins before the computation, and uses what is predicted while it goes on:
///
///     auto open = papcoll::open_all_gather(comm, all, n, papcoll::background_ring{.arrivals = monitor});
///     monitor.computation_begin();
///     …
///     open.contribute(mine);             // ends the computation
///     open.wait();
///
/// **What must agree.** Only this: all ranks construct it together, and all call arrivals(), or make an
/// arrival_source of the monitor, equally often and in the same order among their collective calls, for
/// collectives of the same kinds. Whatever they report or do not report, they get the same answers.
///
/// **Epochs.** Once in each iteration every rank gives its prediction away: when a part `share_at` of the
/// computation is over, by a report or by the time that was expected for it, or at its end. If it has nothing
/// to predict by then it waits until it has, or until another rank waits in arrivals(), and then says that it
/// knows nothing. Ranks that are an iteration ahead wait there until this one has begun, too. When all have
/// given, rank 0 spreads the predictions, in its own time, for the first arrivals() that nobody can have
/// called before he gave. Collectives of the same iteration after that one find ranks all together:
/// arrivals() returns at once, with nothing given.
///
/// **Split-phase collectives** ask when they are begun and are answered in the background, at the latest when
/// all ranks have contributed. A rank that has contributed and still has no answer asks the others for what
/// they have, monitor_options::patience later.
///
/// **Reports.** All may be left out. Without computation_begin() a rank has nothing to predict,
/// and those that have may wait for it in arrivals(); another
/// computation_begin() starts anew. Without computation_end() the computation ends when arrivals() is
/// called. What a predictor cannot use (fractions outside (0, 1], reports without or before their beginning,
/// out of order) is ignored. What comes after the prediction was given helps those of later iterations only.
/// A rank of which nothing is known is taken to arrive with the last one of which something is; when nothing
/// is known of any, arrivals() gives nothing.
///
/// **Threads.** Calls must not overlap. A background thread moves the messages, on a communicator of its own,
/// and sleeps in between. A rank without it (see monitor_options) moves them in these calls and while it
/// waits for operations of papcoll; thread levels may differ. The others may have to wait in arrivals() until
/// a rank without a thread does one of these; so it must call computation_begin() in each iteration in which
/// others do, or not wait for others outside papcoll.
///
/// **Ending.** The destructor waits for nobody: a rank may leave at any time, by an exception, too. Then all
/// ranks find themselves all together from some arrivals() on, the same for all. Communicators are freed when
/// all ranks have left, at the latest by MPI_Finalize, which a monitor may outlive: it is closed then.
///
/// Source: paper 4, section 3 and Listing 1; paper 1, section 6. Cost per iteration: 2 (P − 1) small
/// messages, all from or to rank 0, and P (P − 1) numbers that it sends: it is for up to some thousand ranks.
template <transport Transport, arrival_predictor Predictor = default_predictor>
class basic_arrival_monitor {
    // Whether a monitor can be copied is asked by its constructor's constraint about itself, too.
    template <class Comm>
    static constexpr bool not_itself = !std::same_as<Comm, basic_arrival_monitor>;

public:
    /// Collective over `comm`, waits for all ranks while papcoll's operations progress: synchronises the
    /// clocks. Over MPI it works on a duplicate of `comm` of its own; another transport is used as it is, by
    /// one monitor at a time. Throws std::invalid_argument for invalid options, before any message.
    template <class Comm>
    requires not_itself<Comm> && communicator<Comm> && std::constructible_from<Transport, Comm>
    explicit basic_arrival_monitor(Comm const& comm, monitor_options options = {}, Predictor predictor = {})
        : m_state(make_state(comm, std::move(options), std::move(predictor))) {
        m_state->start(m_state);
        if constexpr (over_mpi) detail::mpi_leavers::instance().add(m_state);
    }
    basic_arrival_monitor(basic_arrival_monitor const&) = delete;
    auto operator=(basic_arrival_monitor const&) -> basic_arrival_monitor& = delete;
    ~basic_arrival_monitor() { detail::let_go(m_state); }

    /// This rank's computation begins.
    void computation_begin() { m_state->begin(); }
    /// The fraction of it that is done.
    void progress(double fraction) { m_state->progress(fraction); }
    /// It ends: this rank arrives.
    void computation_end() { m_state->end(); }

    /// When the ranks arrive at the collective that follows, in the time of rank 0's clock; the same on all
    /// ranks to the bit. Nothing is given where all are taken to come together. Waits until all ranks have
    /// given their predictions if this rank has; never for one with a thread while its computation has begun.
    /// Throws what the transport threw when messages failed, and what this rank's predictor threw.
    [[nodiscard]] auto arrivals() -> arrival_source { return m_state->take(); }
    /// The same question, for `.arrivals = monitor`; the answer comes later. The operations that open_gather,
    /// open_all_gather and open_all_gatherv begin wait for it in the background and leave the computation
    /// alone; contribute() ends it, if computation_end() did not. Elsewhere whoever needs the answer first,
    /// a collective, given() or times(), does as arrivals() does. A policy that is kept keeps this answer.
    operator arrival_source() { // NOLINT(google-explicit-constructor)
        return arrival_source(std::make_shared<detail::asked_arrivals<state>>(m_state, m_state->ask()));
    }

    /// When this rank is expected to arrive, in the time of rank 0's clock; nullopt: nothing is known. For
    /// observers: it need not be what the others were given.
    [[nodiscard]] auto predicted() const -> std::optional<ticks> { return m_state->predicted(); }
    /// A copy of the clock as it is now. Each exchange improves the monitor's own.
    [[nodiscard]] auto clock() const -> synchronised_clock { return m_state->clock(); }
    /// Collective: synchronises the clocks anew, more exactly than the exchanges do, which see delays of
    /// `poll`; by so many `pings` between two ranks.
    void synchronise(int pings = 20) { m_state->synchronise(pings); }
    /// Whether a thread of the monitor's own exchanges the predictions; without one, papcoll's calls do.
    [[nodiscard]] auto has_thread() const -> bool { return m_state->has_thread(); }
    /// Whether a rank has left: arrivals() gives nothing from now on, or soon.
    [[nodiscard]] auto is_closed() const -> bool { return m_state->is_closed(); }

private:
    using state = detail::monitor_state<Transport, Predictor>;
    static constexpr bool over_mpi = std::derived_from<Transport, mpi_transport>;

    template <class Comm>
    static auto make_state(Comm const& comm, monitor_options options, Predictor predictor)
        -> std::shared_ptr<state> {
        check(options);
        if constexpr (!transport<Comm>) detail::mpi_registry::instance().meet(comm);
        return std::make_shared<state>(Transport(comm), std::move(options), std::move(predictor));
    }

    std::shared_ptr<state> m_state;
};

/// Over MPI, from an MPI_Comm or a boost::mpi::communicator.
using arrival_monitor = basic_arrival_monitor<mpi_transport>;

} // namespace papcoll::inline v0
