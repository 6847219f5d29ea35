// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/cost_model.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Who waits for whom in the programs of all ranks. Instructions are numbered rank by rank, in the order of
/// each program. A message is one thing with two ends: it goes by the number of its send, which takes over
/// what its receive waits for.
class program_graph {
public:
    using number = std::uint32_t;
    static constexpr number none = static_cast<number>(-1);

    struct node {
        ticks time{0}; ///< what it takes
        std::int32_t rank;
        program::action what;
        bool at_once = false; ///< a computation that waits for nothing
        /// Of a message, at its send: its receive.
        number receive = none;
        /// Of a send the next message that its rank sends, of a receive the next that its rank receives.
        number next = none;
        /// What it still waits for. Of a message also its sender and its receiver, until they are free.
        number waits = 0;
        number first_follower;
    };

    program_graph(cost_model const& model, std::size_t element_bytes)
        : m_model(model)
        , m_element_bytes(element_bytes) {}

    /// The program of the next rank.
    void add(program const& p) {
        if (p.instructions.size() >= none / 2 - m_nodes.size() ||
            p.waits.size() >= none / 2 - m_followers.size())
            throw std::length_error("papcoll: too many instructions to simulate");
        if (p.native) throw std::invalid_argument("papcoll: native calls cannot be simulated");
        int const rank = ranks();
        auto const first = static_cast<number>(m_nodes.size());
        m_ranks.push_back({.first = first, .first_await = m_awaits.size()});
        number last_send = none, last_receive = none;
        for (program::index i = 0; i < p.size(); ++i) {
            add_node(p, i, rank);
            if (p.instructions[i].what == program::action::send)
                chain(m_ranks.back().first_send, last_send, first + i);
            if (p.instructions[i].what == program::action::receive)
                chain(m_ranks.back().first_receive, last_receive, first + i);
        }
        add_followers(p, first);
    }
    /// When all programs have been added: finds out which send belongs to which receive. Throws
    /// std::invalid_argument, naming the ranks, unless each has its counterpart of the same length.
    void join() {
        join_signs();
        sort(m_receives, [](half const& e) { return e.peer; });
        sort(m_receives, [](half const& e) { return e.rank; });
        sort(m_sends, [](half const& e) { return e.peer; });
        for (std::size_t i = 0; i < m_sends.size() || i < m_receives.size(); ++i) join(i);
        for (auto& follower : m_followers) follower = joined(follower);
        for (auto& rank : m_ranks) rank.first_receive = joined(rank.first_receive);
        for (auto const& r : m_receives) m_nodes[r.at].next = joined(m_nodes[r.at].next);
        m_sends = m_receives = {};
    }

    [[nodiscard]] auto ranks() const -> int { return static_cast<int>(m_ranks.size()); }
    [[nodiscard]] auto nodes() const -> std::vector<node> const& { return m_nodes; }
    [[nodiscard]] auto operator[](number i) const -> node const& { return m_nodes[i]; }
    /// Those that wait for this one; messages by their sends.
    [[nodiscard]] auto followers(number i) const -> std::span<number const> {
        auto const begin = m_nodes[i].first_follower;
        auto const end = i + 1 < m_nodes.size() ? m_nodes[i + 1].first_follower : m_followers.size();
        return std::span(m_followers).subspan(begin, end - begin);
    }
    [[nodiscard]] auto has_awaits() const -> bool { return !m_awaiting.empty(); }
    /// The awaits that wait for this post.
    [[nodiscard]] auto awaiting(number post) const -> std::span<number const> {
        auto const begin = std::lower_bound(m_awaited.begin(), m_awaited.end(), post);
        auto const end = std::upper_bound(begin, m_awaited.end(), post);
        return std::span(m_awaiting)
            .subspan(static_cast<std::size_t>(begin - m_awaited.begin()),
                     static_cast<std::size_t>(end - begin));
    }
    /// Of this rank: the messages that it sends and receives first.
    [[nodiscard]] auto first_send(int rank) const -> number { return of(rank).first_send; }
    [[nodiscard]] auto first_receive(int rank) const -> number { return of(rank).first_receive; }
    [[nodiscard]] auto first(int rank) const -> number { return of(rank).first; }
    /// One behind its last instruction.
    [[nodiscard]] auto end(int rank) const -> number {
        return rank + 1 < ranks() ? of(rank + 1).first : static_cast<number>(m_nodes.size());
    }
    /// Whether its own data comes later than the rank itself.
    [[nodiscard]] auto contributes(int rank) const -> bool { return of(rank).contributes; }

private:
    struct rank_part {
        number first;
        std::size_t first_await;
        number first_send = none;
        number first_receive = none;
        bool contributes = false;
        std::vector<number> posts = {};
    };
    struct open_await {
        number at;
        int peer;
        std::size_t post; // from 0
    };
    /// One end of a message.
    struct half {
        number at;
        int rank;
        int peer;
        std::size_t elements;
    };

    [[nodiscard]] auto of(int rank) const -> rank_part const& {
        return m_ranks[static_cast<std::size_t>(rank)];
    }
    void add_node(program const& p, program::index i, int rank) {
        auto const& from = p.instructions[i];
        auto const at = static_cast<number>(m_nodes.size());
        node n{.rank = rank, .what = from.what, .first_follower = 0};
        n.waits = static_cast<number>(p.waits_of(i).size());
        for (auto const earlier : p.waits_of(i))
            if (earlier >= i)
                throw std::invalid_argument("papcoll: instruction " + std::to_string(i) + " of rank " +
                                            std::to_string(rank) + " waits for instruction " +
                                            std::to_string(earlier) + ", which does not come before it");
        switch (from.what) {
        case program::action::send:
        case program::action::receive: {
            auto const elements = p.elements_of(i);
            n.time = m_model.transfer_time(elements * m_element_bytes);
            (from.what == program::action::send ? m_sends : m_receives)
                .push_back({at, rank, from.peer, elements});
            break;
        }
        case program::action::combine:
            for (std::size_t r = 0; r < p.regions_of(i).size(); r += 3)
                n.time += m_model.compute_time(p.regions_of(i)[r].size() * m_element_bytes);
            [[fallthrough]];
        case program::action::copy:
            n.at_once = n.waits == 0;
            n.waits += n.at_once ? 1 : 0;
            break;
        case program::action::post:
            m_ranks.back().posts.push_back(at);
            n.at_once = n.waits == 0;
            n.waits += n.at_once ? 1 : 0;
            break;
        case program::action::await:
            m_awaits.push_back({at, from.peer, p.posts[m_awaits.size() - m_ranks.back().first_await] - 1});
            n.at_once = n.waits == 0;
            n.waits += n.at_once ? 2 : 1;
            break;
        case program::action::contribution:
            ++n.waits;
            m_ranks.back().contributes = true;
            break;
        }
        m_nodes.push_back(n);
    }
    void join_signs() {
        std::vector<std::pair<number, number>> pairs; // post and await
        for (auto const& a : m_awaits) {
            if (a.peer < 0 || a.peer >= ranks() || a.post >= of(a.peer).posts.size())
                throw std::invalid_argument("papcoll: the programs cannot proceed: rank " +
                                            std::to_string(m_nodes[a.at].rank) + " awaits post " +
                                            std::to_string(a.post + 1) + " of rank " +
                                            std::to_string(a.peer) + ", which never comes");
            pairs.emplace_back(of(a.peer).posts[a.post], a.at);
        }
        std::sort(pairs.begin(), pairs.end());
        for (auto const& [post, await] : pairs) {
            m_awaited.push_back(post);
            m_awaiting.push_back(await);
        }
        m_awaits = {};
    }
    void chain(number& first, number& last, number i) {
        (last == none ? first : m_nodes[last].next) = i;
        last = i;
    }
    void add_followers(program const& p, number first) {
        auto const begin = static_cast<number>(m_followers.size());
        m_followers.resize(begin + p.waits.size());
        m_place.assign(p.instructions.size() + 1, 0);
        for (auto const earlier : p.waits) ++m_place[earlier + 1];
        for (std::size_t i = 0; i < p.instructions.size(); ++i) {
            m_place[i + 1] += m_place[i];
            m_nodes[first + i].first_follower = begin + m_place[i];
        }
        for (program::index i = 0; i < p.size(); ++i)
            for (auto const earlier : p.waits_of(i)) m_followers[begin + m_place[earlier]++] = first + i;
    }

    /// Keeps the order of those with the same key, a rank.
    template <class Key>
    void sort(std::vector<half>& list, Key key) const {
        std::vector<std::size_t> begin(m_ranks.size() + 1);
        for (auto const& e : list) {
            if (key(e) < 0 || key(e) >= ranks())
                throw std::invalid_argument(text(e) + ", which does not exist");
            ++begin[static_cast<std::size_t>(key(e)) + 1];
        }
        for (std::size_t r = 1; r < begin.size(); ++r) begin[r] += begin[r - 1];
        std::vector<half> sorted(list.size());
        for (auto const& e : list) sorted[begin[static_cast<std::size_t>(key(e))]++] = e;
        list = std::move(sorted);
    }
    [[nodiscard]] auto text(half const& e) const -> std::string {
        bool const sends = m_nodes[e.at].what == program::action::send;
        return "papcoll: the programs cannot proceed: rank " + std::to_string(e.rank) +
               (sends ? " sends " : " receives ") + std::to_string(e.elements) + " elements " +
               (sends ? "to rank " : "from rank ") + std::to_string(e.peer);
    }
    void join(std::size_t i) {
        auto const sent =
            i < m_sends.size() ? std::pair(m_sends[i].peer, m_sends[i].rank) : std::pair(ranks(), 0);
        auto const received =
            i < m_receives.size() ? std::pair(m_receives[i].rank, m_receives[i].peer) : std::pair(ranks(), 0);
        if (sent < received) throw std::invalid_argument(text(m_sends[i]) + ", which does not receive them");
        if (received < sent) throw std::invalid_argument(text(m_receives[i]) + ", which does not send them");
        auto const &s = m_sends[i], &r = m_receives[i];
        if (s.elements != r.elements)
            throw std::invalid_argument(text(s) + ", which expects " + std::to_string(r.elements));
        m_nodes[s.at].waits += m_nodes[r.at].waits + 2;
        m_nodes[s.at].receive = r.at;
        m_nodes[r.at].receive = s.at; // for joined()
    }
    [[nodiscard]] auto joined(number i) const -> number {
        return i != none && m_nodes[i].what == program::action::receive ? m_nodes[i].receive : i;
    }

    cost_model m_model;
    std::size_t m_element_bytes;
    std::vector<node> m_nodes;
    std::vector<number> m_followers;
    std::vector<rank_part> m_ranks;
    std::vector<half> m_sends, m_receives;     // until join()
    std::vector<open_await> m_awaits;          // until join()
    std::vector<number> m_awaited, m_awaiting; // in pairs, sorted
    std::vector<number> m_place;
};

} // namespace papcoll::inline v0::detail
