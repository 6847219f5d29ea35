// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/cost_model.hpp>
#include <papcoll/analysis/detail/program_graph.hpp>
#include <papcoll/analysis/detail/schedule_programs.hpp>
#include <papcoll/analysis/detail/schedule_recorder.hpp>
#include <papcoll/analysis/detail/simulation.hpp>
#include <papcoll/analysis/timeline.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/background.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace papcoll::inline v0 {

/// How programs are simulated of which the messages are still to be cut, see program::uncut.
enum class message_form {
    in_pieces, ///< As they are executed, see in_pieces().
    whole      ///< As schedules have them.
};

namespace detail {

struct no_recorder {
    void message(timed_message const&) {}
    void combination(timed_instruction const&) {}
    void sign(timed_sign const&) {}
};

struct program_recorder {
    program_timeline& out;
    void message(timed_message const& m) { out.messages.push_back(m); }
    void combination(timed_instruction const& c) { out.combinations.push_back(c); }
    void sign(timed_sign const& s) { out.signs.push_back(s); }
};

template <class Recorder>
auto simulate(std::span<program const> programs, std::span<ticks const> arrivals, cost_model const& model,
              std::size_t element_bytes, message_form form, Recorder recorder) -> std::vector<ticks> {
    check(model);
    if (programs.empty() || (!arrivals.empty() && arrivals.size() != programs.size()))
        throw std::invalid_argument("papcoll: there must be a program for each rank, and no arrivals or one "
                                    "for each, but there are " +
                                    std::to_string(programs.size()) + " programs and " +
                                    std::to_string(arrivals.size()) + " arrivals");
    program_graph graph(model, element_bytes);
    for (auto const& p : programs)
        p.written_by || (p.uncut && form == message_form::in_pieces) ? graph.add(in_pieces(p)) : graph.add(p);
    graph.join();
    return simulation<Recorder>(graph, arrivals, recorder).run();
}

template <class MakeRecorder>
auto simulate(std::span<transfer const> schedule, problem const& p, cost_model const& model,
              block_sizes const& bytes, schedule_kind kind, participation part, MakeRecorder make)
    -> std::vector<ticks> {
    check(p);
    check(model);
    if (!bytes.fits(p.blocks))
        throw std::invalid_argument("papcoll: block_bytes must be one size, or one for each of " +
                                    std::to_string(p.blocks) + " blocks");
    schedule_programs programs(schedule, p, kind, bytes, part == participation::background);
    auto recorder = make(programs);
    program_graph graph(model, 1);
    for (int rank = 0; rank < p.ranks; ++rank) {
        auto const mine = programs.of(rank);
        graph.add(mine);
        recorder.add(mine);
    }
    graph.join();
    return simulation(graph, p.arrivals, recorder).run();
}

/// Such schedulers are made for ranks that take part before they arrive.
template <scheduler S>
inline constexpr auto participation_of =
    background_scheduler<S> ? participation::background : participation::from_arrival;

} // namespace detail

/// Predicts when each rank leaves a collective that is executed by these programs, one for each rank: exit
/// times on the clock of the arrivals; without arrivals all arrive at 0. An element has so many bytes.
///
/// The model is the one-ported, full-duplex α–β–γ model with overlap:
///
///  1. A rank does nothing before it arrives. With a contribution in its program it takes part from the first
///     arrival of all on, in the background, and contributes its data at its own arrival.
///  2. An instruction begins when all that it waits for has ended. Each rank sends one message at a time and
///     receives one at a time, both in the order of its program, and computes meanwhile. So a message begins
///     when it is the next one of both its ends and neither waits for anything else. It takes
///     model.transfer_time(its bytes); without elements that is the latency. Windows and admission, by which
///     executors come close to this, make no difference.
///  3. An await ends with its post.
///  4. A combination takes model.compute_time of each target. A rank makes one at a time, in the order in
///     which all that they need is there or waits to be combined before them, at equal times in the order of
///     the program; copies take no time.
///  5. A rank leaves when it has arrived and its program has ended.
///
/// Times must fit into ticks; equal arguments give equal results, and arrivals moved by a constant move the
/// exits by it. The programs need not be right in the sense of verify.
///
/// Throws std::invalid_argument if the model is malformed, for a native program, and when the programs cannot
/// proceed, naming the ranks.
///
/// O(n log P) time and O(n) memory for n instructions in all.
[[nodiscard]] inline auto simulate(std::span<program const> programs, std::span<ticks const> arrivals,
                                   cost_model const& model, std::size_t element_bytes,
                                   message_form form = message_form::in_pieces) -> std::vector<ticks> {
    return detail::simulate(programs, arrivals, model, element_bytes, form, detail::no_recorder{});
}

/// As simulate, of programs of elements of `element_bytes` and ranks of these arrivals, but returns when each
/// message and each combination began and ended, too. Throws as simulate does.
[[nodiscard]] inline auto simulate_timeline(std::span<program const> programs,
                                            std::span<ticks const> arrivals, cost_model const& model,
                                            std::size_t element_bytes,
                                            message_form form = message_form::in_pieces) -> program_timeline {
    program_timeline timeline;
    timeline.exits =
        detail::simulate(programs, arrivals, model, element_bytes, form, detail::program_recorder{timeline});
    timeline.arrivals.assign(arrivals.begin(), arrivals.end());
    timeline.arrivals.resize(programs.size(), ticks{0});
    return timeline;
}

/// Predicts when each rank leaves a collective that follows `schedule`: exit times on the clock of
/// p.arrivals. The schedule is lowered to programs, and these are simulated. For schedules this means:
///
///  1. Transfers of equal (step, from, to) are one message. Each rank sends and receives its messages in step
///     order, equal steps by the rank of the peer. A block can be sent when all that was received of it in
///     smaller steps has been combined.
///  2. In a reduction a received block is combined with what the rank holds of it, each block by itself. A
///     block that the rank has given away is only stored. In a dissemination nothing is combined.
///  3. Every block that arrives has memory of its own: nothing waits for memory to become free.
///  4. Blocks of zero bytes are not sent, as in the executor.
///  5. With participation::background a rank takes part from the first arrival of all on, and only what needs
///     its own data waits for its own arrival.
///
/// `schedule` is the global view, in any order; it need not be right in the sense of verify_reduction, nor
/// one-ported within a step. `block_bytes` is one size for all blocks or a range of p.blocks sizes. A rank
/// that comes later makes nobody leave earlier, unless in the background a block comes back to who gave it
/// away.
///
/// Throws std::invalid_argument if the problem or the model is malformed, or when the schedule cannot
/// proceed, naming the transfer: it is there twice or goes from a rank to itself, its ranks or block do not
/// exist, its sender does not hold the block then, or a rank sends and receives a block in one step of a
/// reduction.
///
/// For T transfers: O(T log T + P N) time, where T log P dominates if the schedule is sorted by (step, from,
/// to, block); O(T + P + N) memory.
[[nodiscard]] inline auto simulate(std::span<transfer const> schedule, problem const& p,
                                   cost_model const& model, block_sizes const& block_bytes,
                                   schedule_kind kind = schedule_kind::reduction,
                                   participation part = participation::from_arrival) -> std::vector<ticks> {
    return detail::simulate(schedule, p, model, block_bytes, kind, part,
                            [](auto const&) { return detail::no_schedule_recorder{}; });
}

/// The same for all of what a scheduler generates, of its own kind; in the background if it has pre_steps,
/// see background_scheduler.
template <scheduler S>
[[nodiscard]] auto simulate(S const& s, problem const& p, cost_model const& model,
                            block_sizes const& block_bytes) -> std::vector<ticks> {
    return simulate(transfers(s, p), p, model, block_bytes, S::kind, detail::participation_of<S>);
}

/// As simulate, but returns when each transfer and each combination began and ended, too. Throws as simulate
/// does.
[[nodiscard]] inline auto simulate_timeline(std::span<transfer const> schedule, problem const& p,
                                            cost_model const& model, block_sizes const& block_bytes,
                                            schedule_kind kind = schedule_kind::reduction,
                                            participation part = participation::from_arrival)
    -> schedule_timeline {
    schedule_timeline timeline;
    timeline.exits = detail::simulate(schedule, p, model, block_bytes, kind, part,
                                      [&](detail::schedule_programs const& programs) {
                                          return detail::schedule_recorder(programs, timeline);
                                      });
    for (int rank = 0; rank < p.ranks; ++rank) timeline.arrivals.push_back(p.arrival(rank));
    return timeline;
}

template <scheduler S>
[[nodiscard]] auto simulate_timeline(S const& s, problem const& p, cost_model const& model,
                                     block_sizes const& block_bytes) -> schedule_timeline {
    return simulate_timeline(transfers(s, p), p, model, block_bytes, S::kind, detail::participation_of<S>);
}

} // namespace papcoll::inline v0
