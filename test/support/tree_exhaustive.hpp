// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

/// Forward in time and without any of the library's constructions: when does a reduction through this tree
/// end, and what is the least over all trees.
namespace tree_exhaustive {

using papcoll::problem;
using papcoll::ticks;

/// receiver[rank] for all but the root. A rank takes part from its arrival on; it receives one message at a
/// time, which travels `latency` longer while the next may come, the first to be ready first (exchanging two
/// neighbours shows that no order is better), and combines in that order.
class evaluator {
public:
    evaluator(problem const& p, ticks transfer_time, ticks compute_time, ticks latency = ticks{0})
        : m_problem(p)
        , m_transfer(transfer_time)
        , m_compute(compute_time)
        , m_latency(latency)
        , m_senders(static_cast<std::size_t>(p.ranks)) {}

    auto end(std::vector<int> const& receiver) -> ticks {
        for (auto& list : m_senders) list.clear();
        for (int rank = 0; rank < m_problem.ranks; ++rank)
            if (rank != m_problem.root)
                m_senders[static_cast<std::size_t>(receiver[static_cast<std::size_t>(rank)])].push_back(rank);
        return complete(m_problem.root);
    }

private:
    auto complete(int rank) -> ticks {
        std::vector<ticks> ready;
        for (int const sender : m_senders[static_cast<std::size_t>(rank)]) ready.push_back(complete(sender));
        std::sort(ready.begin(), ready.end());
        ticks link = m_problem.arrival(rank);
        ticks result = link;
        for (ticks const time : ready) {
            link = std::max(link, time) + m_transfer;
            result = std::max(result, link + m_latency) + m_compute;
        }
        return result;
    }

    problem m_problem;
    ticks m_transfer;
    ticks m_compute;
    ticks m_latency;
    std::vector<std::vector<int>> m_senders;
};

/// Calls visit(receiver) for every labelled tree, hung at the root: P^(P-2) Prüfer codes.
template <class Visit>
void for_each_tree(problem const& p, Visit visit) {
    auto const n = static_cast<std::size_t>(p.ranks);
    std::vector<int> receiver(n, p.root);
    if (n <= 2) return visit(std::as_const(receiver));
    // The root has the largest label, so it is never removed as a leaf, and each leaf's neighbour receives.
    auto const rank_of = [&](std::size_t label) {
        auto const root = static_cast<std::size_t>(p.root);
        return label + 1 == n ? root : label + (label >= root ? 1 : 0);
    };
    std::vector<std::size_t> code(n - 2, 0);
    std::vector<int> degree(n);
    auto const least_leaf = [&] {
        return static_cast<std::size_t>(std::find(degree.begin(), degree.end(), 1) - degree.begin());
    };
    for (std::size_t digit = 0; digit < code.size();) {
        std::fill(degree.begin(), degree.end(), 1);
        for (auto const label : code) ++degree[label];
        for (auto const label : code) {
            auto const leaf = least_leaf();
            receiver[rank_of(leaf)] = static_cast<int>(rank_of(label));
            degree[leaf] = 0;
            --degree[label];
        }
        receiver[rank_of(least_leaf())] = p.root;
        visit(std::as_const(receiver));
        for (digit = 0; digit < code.size() && ++code[digit] == n; ++digit) code[digit] = 0;
    }
}

inline auto least_end(problem const& p, ticks transfer_time, ticks compute_time, ticks latency = ticks{0})
    -> ticks {
    evaluator evaluate(p, transfer_time, compute_time, latency);
    ticks best = ticks::max();
    for_each_tree(p, [&](auto const& receiver) { best = std::min(best, evaluate.end(receiver)); });
    return best;
}

/// The least end over all schedules of at most `transfers` messages, trees or not: a rank may send what it
/// has whenever it likes, receive again and send that, too. Every order of messages is tried, each message as
/// early as the orders at its two ends allow.
class schedule_search {
public:
    schedule_search(problem const& p, ticks transfer_time, ticks compute_time)
        : m_problem(p)
        , m_transfer(transfer_time)
        , m_compute(compute_time)
        , m_ranks(static_cast<std::size_t>(p.ranks)) {
        for (int rank = 0; rank < p.ranks; ++rank) {
            auto const arrival = p.arrival(rank);
            m_ranks[static_cast<std::size_t>(rank)] = {true, arrival, arrival, arrival};
        }
    }

    auto least_end(int transfers) -> ticks {
        search(transfers, m_problem.ranks);
        return m_best;
    }

private:
    struct rank_state {
        bool holds;
        ticks ready; // when all it holds is combined
        ticks sender;
        ticks receiver;
    };

    void search(int transfers, int holders) {
        auto const root = static_cast<std::size_t>(m_problem.root);
        if (holders == 1 && m_ranks[root].holds) m_best = std::min(m_best, m_ranks[root].ready);
        if (transfers == 0 || transfers < holders - 1) return;
        for (std::size_t from = 0; from < m_ranks.size(); ++from)
            for (std::size_t to = 0; to < m_ranks.size(); ++to)
                if (from != to && m_ranks[from].holds) send(from, to, transfers, holders);
    }

    void send(std::size_t from, std::size_t to, int transfers, int holders) {
        auto const sender = m_ranks[from];
        auto const receiver = m_ranks[to];
        ticks const end = std::max({sender.ready, sender.sender, receiver.receiver}) + m_transfer;
        m_ranks[from].holds = false;
        m_ranks[from].sender = end;
        m_ranks[to].holds = true;
        m_ranks[to].receiver = end;
        m_ranks[to].ready = receiver.holds ? std::max(receiver.ready, end) + m_compute : end;
        if (end < m_best) search(transfers - 1, holders - (receiver.holds ? 1 : 0));
        m_ranks[from] = sender;
        m_ranks[to] = receiver;
    }

    problem m_problem;
    ticks m_transfer;
    ticks m_compute;
    std::vector<rank_state> m_ranks;
    ticks m_best = ticks::max();
};

/// The least time in which so many machines, all available at once, reduce to one of them by trees when at
/// most `limit` transfers are under way at any instant. Transfers are tried in every order of their begins,
/// each as early as its ends, the transfer before it and the limit allow: of equally long ones an earlier
/// begin never hurts, so one of these orders is the best. The machine with the result is whichever comes out
/// last.
class limited_search {
public:
    limited_search(int machines, int limit, ticks transfer_time, ticks compute_time)
        : m_limit(static_cast<std::size_t>(limit))
        , m_transfer(transfer_time)
        , m_compute(compute_time)
        , m_machines(static_cast<std::size_t>(machines)) {}

    auto least_end() -> ticks {
        search();
        return m_best;
    }

private:
    struct machine {
        bool holds = true;
        ticks ready{0}; // all it has is combined
        ticks port{0};
        friend auto operator==(machine const&, machine const&) -> bool = default;
    };

    void search() {
        if (m_begins.size() + 1 == m_machines.size()) {
            for (auto const& m : m_machines)
                if (m.holds) m_best = std::min(m_best, m.ready);
            return;
        }
        for (std::size_t from = 0; from < m_machines.size(); ++from)
            for (std::size_t to = 0; to < m_machines.size(); ++to)
                if (from != to && m_machines[from].holds && m_machines[to].holds && is_first(from, to))
                    send(from, to);
    }
    /// Of machines in the same state one stands for all.
    [[nodiscard]] auto is_first(std::size_t from, std::size_t to) const -> bool {
        for (std::size_t i = 0; i < from; ++i)
            if (i != to && m_machines[i] == m_machines[from]) return false;
        for (std::size_t i = 0; i < to; ++i)
            if (i != from && m_machines[i] == m_machines[to]) return false;
        return true;
    }
    void send(std::size_t from, std::size_t to) {
        auto const sender = m_machines[from], receiver = m_machines[to];
        ticks begin = std::max(sender.ready, receiver.port);
        if (!m_begins.empty()) begin = std::max(begin, m_begins.back());
        if (m_begins.size() >= m_limit)
            begin = std::max(begin, m_begins[m_begins.size() - m_limit] + m_transfer);
        ticks const end = begin + m_transfer;
        if (std::max(receiver.ready, end) + m_compute < m_best) {
            m_begins.push_back(begin);
            m_machines[from].holds = false;
            m_machines[to] = {true, std::max(receiver.ready, end) + m_compute, end};
            search();
            m_machines[from] = sender;
            m_machines[to] = receiver;
            m_begins.pop_back();
        }
    }

    std::size_t m_limit;
    ticks m_transfer;
    ticks m_compute;
    std::vector<machine> m_machines;
    std::vector<ticks> m_begins;
    ticks m_best = ticks::max();
};

} // namespace tree_exhaustive
