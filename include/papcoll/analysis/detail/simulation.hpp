// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/program_graph.hpp>
#include <papcoll/analysis/timeline.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Executes programs in the model, event by event. Everything begins when nothing is left of what it waits
/// for; of a message that includes both its ends.
template <class Recorder>
class simulation {
public:
    simulation(program_graph const& graph, std::span<ticks const> arrivals, Recorder& recorder)
        : m_graph(graph)
        , m_recorder(recorder)
        , m_next_job(graph.nodes().size(), none)
        , m_processors(static_cast<std::size_t>(graph.ranks()))
        , m_exits(arrivals.begin(), arrivals.end()) {
        m_waits.reserve(graph.nodes().size());
        for (auto const& n : graph.nodes()) m_waits.push_back(n.waits);
        m_exits.resize(m_processors.size(), ticks{0});
        if (graph.has_awaits()) m_posted.resize(graph.nodes().size());
        ticks const first = *std::min_element(m_exits.begin(), m_exits.end());
        for (int rank = 0; rank < graph.ranks(); ++rank) {
            auto const arrival = m_exits[at(rank)];
            m_events.push({graph.contributes(rank) ? first : arrival, event::kind::presence, id(rank)});
            if (graph.contributes(rank)) m_events.push({arrival, event::kind::arrival, id(rank)});
        }
    }

    [[nodiscard]] auto run() -> std::vector<ticks> {
        while (!m_events.empty()) {
            auto const e = m_events.top();
            m_events.pop();
            m_now = e.time;
            happen(e);
            for (std::size_t i = 0; i < m_news.size(); ++i) spread(m_news[i]);
            m_news.clear();
            std::sort(m_joining.begin(), m_joining.end());
            for (auto const i : m_joining) queue_combination(i);
            m_joining.clear();
        }
        require_all_done();
        return std::move(m_exits);
    }

private:
    using number = program_graph::number;
    using action = program::action;
    static constexpr number none = program_graph::none;
    static constexpr auto at(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    static constexpr auto id(int i) -> number { return static_cast<number>(i); }

    struct event {
        enum class kind : std::uint8_t { message, combination, presence, arrival };
        ticks time;
        kind what;
        number id; ///< of the instruction or the rank
        friend auto operator>(event const& a, event const& b) -> bool {
            return std::tie(a.time, a.what, a.id) > std::tie(b.time, b.what, b.id);
        }
    };
    /// Combinations of one rank that are under way or wait.
    struct processor {
        number first = none;
        number last = none;
    };
    /// What others may have waited for.
    struct piece_of_news {
        number about;
        bool queued; ///< it waits for the processor, others may wait behind it; or it has ended
    };

    void happen(event const& e) {
        switch (e.what) {
        case event::kind::message:
            end_message(e.id);
            break;
        case event::kind::combination:
            end_combination(e.id);
            break;
        case event::kind::presence:
            be_present(static_cast<int>(e.id));
            break;
        case event::kind::arrival:
            for (auto i = m_graph.first(static_cast<int>(e.id)); i < m_graph.end(static_cast<int>(e.id)); ++i)
                if (m_graph[i].what == action::contribution) release(i);
            break;
        }
    }
    void be_present(int rank) {
        release(m_graph.first_send(rank));
        release(m_graph.first_receive(rank));
        for (auto i = m_graph.first(rank); i < m_graph.end(rank); ++i)
            if (m_graph[i].at_once) release(i);
    }
    [[nodiscard]] auto takes_processor(number i) const -> bool {
        return m_graph[i].what == action::combine && m_graph[i].time > ticks{0};
    }
    void spread(piece_of_news news) {
        bool const both = !news.queued && !takes_processor(news.about);
        for (auto const follower : m_graph.followers(news.about))
            if (both || takes_processor(follower) == news.queued) release(follower);
        if (m_graph[news.about].what == action::post)
            for (auto const await : m_graph.awaiting(news.about)) {
                m_posted[await] = {news.about, m_now};
                release(await);
            }
    }
    void release(number i) {
        if (i == none || --m_waits[i] > 0) return;
        if (m_graph[i].what == action::send) return begin_message(i);
        if (m_graph[i].what == action::await) see(i);
        m_news.push_back({i, takes_processor(i)});
        if (takes_processor(i)) m_joining.push_back(i);
    }

    void begin_message(number send) {
        auto const& s = m_graph[send];
        auto const end = m_now + s.time;
        m_events.push({end, event::kind::message, send});
        auto const& r = m_graph[s.receive];
        m_recorder.message(
            {s.rank, r.rank, send - m_graph.first(s.rank), s.receive - m_graph.first(r.rank), m_now, end});
    }
    void end_message(number send) {
        auto const& s = m_graph[send];
        auto const& r = m_graph[s.receive];
        stay(s.rank);
        stay(r.rank);
        m_news.push_back({send, false});
        m_news.push_back({s.receive, false});
        release(s.next);
        release(r.next);
    }
    void queue_combination(number i) {
        auto& jobs = m_processors[at(m_graph[i].rank)];
        bool const idle = jobs.first == none;
        (idle ? jobs.first : m_next_job[jobs.last]) = i;
        jobs.last = i;
        if (idle) begin_combination(i);
    }
    void begin_combination(number i) {
        int const rank = m_graph[i].rank;
        auto const end = m_now + m_graph[i].time;
        m_events.push({end, event::kind::combination, i});
        m_recorder.combination({rank, i - m_graph.first(rank), m_now, end});
    }
    void end_combination(number i) {
        int const rank = m_graph[i].rank;
        stay(rank);
        auto& jobs = m_processors[at(rank)];
        jobs.first = m_next_job[i];
        if (jobs.first != none) begin_combination(jobs.first);
        m_news.push_back({i, false});
    }
    void see(number await) {
        auto const& [post, posted] = m_posted[await];
        int const from = m_graph[post].rank, to = m_graph[await].rank;
        stay(to);
        m_recorder.sign({from, to, post - m_graph.first(from), await - m_graph.first(to), posted, m_now});
    }
    void stay(int rank) { m_exits[at(rank)] = std::max(m_exits[at(rank)], m_now); }

    void require_all_done() const {
        for (int rank = 0; rank < m_graph.ranks(); ++rank)
            for (auto i = m_graph.first(rank); i < m_graph.end(rank); ++i)
                if (m_waits[i] > 0 && m_graph[i].what != action::receive)
                    throw std::invalid_argument("papcoll: the programs cannot proceed: instruction " +
                                                std::to_string(i - m_graph.first(rank)) + " of rank " +
                                                std::to_string(rank) + ", a " +
                                                std::string(to_string(m_graph[i].what)) + ", waits for ever");
    }

    program_graph const& m_graph;
    Recorder& m_recorder;
    std::vector<number> m_waits;
    std::vector<number> m_next_job; // the combination after it on the same rank
    std::vector<processor> m_processors;
    std::vector<ticks> m_exits;
    std::vector<std::pair<number, ticks>> m_posted; // of an await: the post, and when it was made
    std::priority_queue<event, std::vector<event>, std::greater<>> m_events;
    std::vector<piece_of_news> m_news;
    std::vector<number> m_joining; // combinations that begin to wait for their processor
    ticks m_now{0};
};

} // namespace papcoll::inline v0::detail
