// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/cost_model.hpp>
#include <papcoll/analysis/detail/schedule_graph.hpp>
#include <papcoll/analysis/detail/simulation.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/background.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace papcoll::inline v0 {

/// One block on its way. The blocks of one message have the same times.
struct timed_transfer {
    transfer what;
    ticks begin;
    ticks end;
};

/// What was received by `what` being combined with what its receiver holds.
struct timed_combination {
    transfer what;
    ticks begin;
    ticks end;
};

/// All that happens in a simulated schedule, on the clock of the arrivals.
struct schedule_timeline {
    std::vector<ticks> arrivals = {}; ///< per rank
    std::vector<ticks> exits = {};    ///< per rank
    /// Both in the order in which they begin. Empty blocks and combinations that cost nothing are left out.
    std::vector<timed_transfer> transfers = {};
    std::vector<timed_combination> combinations = {};
};

namespace detail {

struct no_recorder {
    void message(transfer const&, ticks, ticks) {}
    void combination(transfer const&, ticks, ticks) {}
};

struct timeline_recorder {
    schedule_timeline& out;
    void message(transfer const& t, ticks begin, ticks end) { out.transfers.push_back({t, begin, end}); }
    void combination(transfer const& t, ticks begin, ticks end) {
        out.combinations.push_back({t, begin, end});
    }
};

template <class Recorder>
auto simulate(std::span<transfer const> schedule, problem const& p, cost_model const& model,
              block_sizes const& bytes, schedule_kind kind, participation part, Recorder recorder)
    -> std::vector<ticks> {
    check(p);
    check(model);
    if (!bytes.fits(p.blocks))
        throw std::invalid_argument("papcoll: block_bytes must be one size, or one for each of " +
                                    std::to_string(p.blocks) + " blocks");
    schedule_graph const graph(schedule, p, kind, bytes, part == participation::background);
    return simulation<Recorder>(graph, p, model, bytes, part, recorder).run();
}

/// Such schedulers are made for ranks that take part before they arrive.
template <scheduler S>
inline constexpr auto participation_of =
    background_scheduler<S> ? participation::background : participation::from_arrival;

} // namespace detail

/// Predicts when each rank leaves a collective that follows `schedule`: exit times on the clock of
/// p.arrivals.
///
/// The model is the one-ported, full-duplex α–β–γ model with overlap:
///
///  1. A rank does nothing before it arrives; with participation::background only what needs its own data
///     waits for that.
///  2. Transfers of equal (step, from, to) are one message, which takes model.transfer_time(all its bytes).
///     Meanwhile its sender sends nothing else and its receiver receives nothing else; but a rank may send,
///     receive and combine at the same time.
///  3. Each rank sends its messages in step order and receives its messages in step order, equal steps by
///     the rank of the peer. A message begins as soon as both ends are free for it and its sender has its
///     blocks: what was received in smaller steps has been combined. This is how the executors run a schedule
///     with admission and windows of one.
///  4. In a reduction a received block is combined with what the rank holds of it, which takes
///     model.compute_time(its bytes); a rank combines one block at a time, in the order in which they come. A
///     block that the rank has given away is only stored, without cost, once that send has begun. In a
///     dissemination nothing is combined.
///  5. Blocks of zero bytes are not sent, as in the executors.
///  6. A rank leaves when it has arrived and all that it sends, receives and combines is done.
///
/// `schedule` is the global view, in any order; it need not be right in the sense of verify_reduction, nor
/// one-ported within a step. `block_bytes` is one size for all blocks or a range of p.blocks sizes. Times
/// must fit into ticks; equal arguments give equal results, and arrivals moved by a constant move the exits
/// by it. A rank that comes later makes nobody leave earlier, if no block comes back to who gave it away.
///
/// Throws std::invalid_argument if the problem or the model is malformed, or when the schedule cannot
/// proceed, naming the transfer: it is there twice or goes from a rank to itself, its ranks or block do not
/// exist, its sender does not hold the block then, or a rank sends and receives a block in one step.
///
/// For T transfers in M messages: O(T log T) time, where M log P dominates if the schedule is sorted by
/// (step, from, to, block); O(T + P + N) memory.
[[nodiscard]] inline auto simulate(std::span<transfer const> schedule, problem const& p,
                                   cost_model const& model, block_sizes const& block_bytes,
                                   schedule_kind kind = schedule_kind::reduction,
                                   participation part = participation::from_arrival) -> std::vector<ticks> {
    return detail::simulate(schedule, p, model, block_bytes, kind, part, detail::no_recorder{});
}

/// The same for all of what a scheduler generates, of its own kind; in the background if it has pre_steps,
/// see background_scheduler.
template <scheduler S>
[[nodiscard]] auto simulate(S const& s, problem const& p, cost_model const& model,
                            block_sizes const& block_bytes) -> std::vector<ticks> {
    return simulate(transfers(s, p), p, model, block_bytes, S::kind, detail::participation_of<S>);
}

/// As simulate, but returns when each transfer and each combination began and ended, too.
[[nodiscard]] inline auto simulate_timeline(std::span<transfer const> schedule, problem const& p,
                                            cost_model const& model, block_sizes const& block_bytes,
                                            schedule_kind kind = schedule_kind::reduction,
                                            participation part = participation::from_arrival)
    -> schedule_timeline {
    schedule_timeline timeline;
    timeline.exits =
        detail::simulate(schedule, p, model, block_bytes, kind, part, detail::timeline_recorder{timeline});
    for (int rank = 0; rank < p.ranks; ++rank) timeline.arrivals.push_back(p.arrival(rank));
    return timeline;
}

template <scheduler S>
[[nodiscard]] auto simulate_timeline(S const& s, problem const& p, cost_model const& model,
                                     block_sizes const& block_bytes) -> schedule_timeline {
    return simulate_timeline(transfers(s, p), p, model, block_bytes, S::kind, detail::participation_of<S>);
}

} // namespace papcoll::inline v0
