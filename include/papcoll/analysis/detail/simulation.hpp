// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/cost_model.hpp>
#include <papcoll/analysis/detail/schedule_graph.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Runs a schedule in the model, event by event. A message begins when nothing of `waiting` is left: its
/// sender's port, its receiver's port, and every block that its sender does not have ready.
///
/// It always comes to an end: of the messages not begun, the first in (step, from, to) waits for earlier ones
/// alone.
template <class Recorder>
class simulation {
public:
    simulation(schedule_graph const& graph, problem const& p, cost_model const& model,
               block_sizes const& bytes, participation part, Recorder& recorder)
        : m_graph(graph)
        , m_model(model)
        , m_bytes(bytes)
        , m_recorder(recorder)
        , m_waiting(graph.messages().size(), 2)
        , m_missing(graph.transfers().size(), 2)
        , m_next_job(graph.transfers().size(), none)
        , m_processors(static_cast<std::size_t>(p.ranks)) {
        for (int i = 0; i < static_cast<int>(graph.transfers().size()); ++i) {
            if (!graph.use_of(graph.sending(i)).first) ++m_waiting[at(graph.message_of(i))];
            if (graph.use_of(graph.receiving(i)).first) --m_missing[at(i)];
        }
        for (int rank = 0; rank < p.ranks; ++rank) m_exits.push_back(p.arrival(rank));
        ticks const first = *std::min_element(m_exits.begin(), m_exits.end());
        for (int rank = 0; rank < p.ranks; ++rank) {
            bool const waits = part == participation::from_arrival;
            m_events.push({waits ? p.arrival(rank) : first, event::kind::presence, rank});
            if (!graph.initial_uses(rank).empty())
                m_events.push({p.arrival(rank), event::kind::arrival, rank});
        }
    }

    [[nodiscard]] auto run() -> std::vector<ticks> {
        while (!m_events.empty()) {
            auto const e = m_events.top();
            m_events.pop();
            m_now = e.time;
            switch (e.what) {
            case event::kind::message:
                end_message(m_graph.messages()[at(e.id)]);
                break;
            case event::kind::combination:
                end_combination(e.id);
                break;
            case event::kind::presence:
                release(m_graph.first_send(e.id));
                release(m_graph.first_receive(e.id));
                break;
            case event::kind::arrival:
                for (int const use : m_graph.initial_uses(e.id)) begin(use);
                break;
            }
        }
        return std::move(m_exits);
    }

private:
    static constexpr int none = schedule_graph::none;
    static constexpr auto at(int i) -> std::size_t { return schedule_graph::index(i); }
    using message = schedule_graph::message;

    struct event {
        enum class kind { message, combination, presence, arrival };
        ticks time;
        kind what;
        int id; ///< of the message or the rank
        friend auto operator>(event const& a, event const& b) -> bool {
            return std::tie(a.time, a.what, a.id) > std::tie(b.time, b.what, b.id);
        }
    };
    /// Combinations of one rank that are under way or wait, by transfer.
    struct processor {
        int first = none;
        int last = none;
    };

    void release(int m) {
        if (m != none && --m_waiting[at(m)] == 0) begin_message(m);
    }

    void begin_message(int number) {
        auto const& m = m_graph.messages()[at(number)];
        std::size_t bytes = 0;
        for (int i = m.first; i < m.first + m.count; ++i) bytes += m_bytes[m_graph.transfers()[at(i)].block];
        auto const end = m_now + m_model.transfer_time(bytes);
        m_events.push({end, event::kind::message, number});
        for (int i = m.first; i < m.first + m.count; ++i) {
            m_recorder.message(m_graph.transfers()[at(i)], m_now, end);
            begin(m_graph.use_of(m_graph.sending(i)).next);
        }
    }
    void end_message(message const& m) {
        stay(m.from);
        stay(m.to);
        for (int i = m.first; i < m.first + m.count; ++i) begin(m_graph.receiving(i));
        release(m.next_send);
        release(m.next_receive);
    }
    void stay(int rank) { m_exits[at(rank)] = std::max(m_exits[at(rank)], m_now); }

    /// One thing less that a use waits for. After it come those of the same block that had to wait for it
    /// alone. A send waits until all is combined; a receive may follow another one into the queue.
    void begin(int use) {
        while (use != none) {
            int const i = schedule_graph::transfer_of(use);
            if (schedule_graph::is_send(use)) return release(m_graph.message_of(i));
            if (--m_missing[at(i)] > 0) return;
            bool const queued = !take(i);
            use = m_graph.use_of(use).next;
            if (queued && use != none && schedule_graph::is_send(use)) return;
        }
    }
    /// Takes a received block in; false when the processor has to combine it.
    auto take(int i) -> bool {
        if (!m_graph.use_of(m_graph.receiving(i)).combines) return true;
        auto const& t = m_graph.transfers()[at(i)];
        if (m_model.compute_time(m_bytes[t.block]) == ticks{0}) return true;
        auto& jobs = m_processors[at(t.to)];
        bool const idle = jobs.first == none;
        (idle ? jobs.first : m_next_job[at(jobs.last)]) = i;
        jobs.last = i;
        if (idle) begin_combination(i);
        return false;
    }
    void begin_combination(int i) {
        auto const& t = m_graph.transfers()[at(i)];
        auto const end = m_now + m_model.compute_time(m_bytes[t.block]);
        m_recorder.combination(t, m_now, end);
        m_events.push({end, event::kind::combination, t.to});
    }
    void end_combination(int rank) {
        stay(rank);
        auto& jobs = m_processors[at(rank)];
        int const done = jobs.first;
        jobs.first = m_next_job[at(done)];
        if (jobs.first != none) begin_combination(jobs.first);
        int const next = m_graph.use_of(m_graph.receiving(done)).next;
        if (next != none && schedule_graph::is_send(next)) begin(next);
    }

    schedule_graph const& m_graph;
    cost_model m_model;
    block_sizes m_bytes;
    Recorder& m_recorder;
    std::vector<int> m_waiting;           // per message
    std::vector<unsigned char> m_missing; // per transfer: its message, and the uses of the block before
    std::vector<int> m_next_job;          // per transfer: the combination after it on the same rank
    std::vector<processor> m_processors;
    std::vector<ticks> m_exits;
    std::priority_queue<event, std::vector<event>, std::greater<>> m_events;
    ticks m_now{0};
};

} // namespace papcoll::inline v0::detail
