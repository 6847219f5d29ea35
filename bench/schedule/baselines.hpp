// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <boost/heap/pairing_heap.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

/// What the library's searches are compared with: the corrected pseudocode of paper 1 as it stands (priority
/// queue, states in bytes), with a linear search for the peer or with one pairing heap per segment. They are
/// kept as plain as the paper describes them, share no code with the library, and give the same schedules.
namespace bench {

enum class idle_rounds { played, skipped };

/// What a schedule takes of heaps: paper 1, Lemma 1.
struct heap_operations {
    std::uint64_t inserts = 0;
    std::uint64_t erases = 0;
};

/// States of the cells and the linear search.
class plain_cells {
public:
    plain_cells(int ranks, int blocks)
        : m_blocks(blocks)
        , m_states(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(blocks), held)
        , m_sent(static_cast<std::size_t>(ranks), 0) {}

    void begin_round(std::vector<std::pair<std::int64_t, int>> const& group, papcoll::step_type /*step*/,
                     std::int64_t /*round*/) {
        for (auto* const cell : m_received) *cell = held;
        m_received.clear();
        for (auto const& [time, rank] : group) m_sent[static_cast<std::size_t>(rank)] = 0;
    }

    [[nodiscard]] auto search(std::vector<std::pair<std::int64_t, int>> const& group, int to, bool sink)
        -> std::pair<int, int> {
        for (int block = 0; block < m_blocks; ++block) {
            if (!sink && state(to, block) != held) continue;
            for (auto const& [time, from] : group)
                if (from != to && m_sent[static_cast<std::size_t>(from)] == 0 && state(from, block) == held)
                    return {from, block};
        }
        return {-1, -1};
    }

    void move(int from, int to, int block) {
        m_sent[static_cast<std::size_t>(from)] = 1;
        state(from, block) = sent;
        state(to, block) = received;
        m_received.push_back(&state(to, block));
    }

    [[nodiscard]] auto operations() const -> heap_operations { return {}; }

    [[nodiscard]] auto holds_something(int rank) -> bool {
        for (int block = 0; block < m_blocks; ++block)
            if (state(rank, block) != sent) return true;
        return false;
    }

protected:
    static constexpr unsigned char held = 1;
    static constexpr unsigned char sent = 0;
    static constexpr unsigned char received = 2;

    auto state(int rank, int block) -> unsigned char& {
        return m_states[static_cast<std::size_t>(rank) * static_cast<std::size_t>(m_blocks) +
                        static_cast<std::size_t>(block)];
    }

    int m_blocks;
    std::vector<unsigned char> m_states;
    std::vector<unsigned char> m_sent;
    std::vector<unsigned char*> m_received;
};

/// One pairing heap per segment of the processes that may send it. Whoever sends leaves the heaps of all its
/// segments until the next round. The key, availability minus rounds passed, does not change while a process
/// is active.
class heap_cells : plain_cells {
public:
    heap_cells(int ranks, int blocks)
        : plain_cells(ranks, blocks)
        , m_heaps(static_cast<std::size_t>(blocks))
        , m_handles(m_states.size())
        , m_keys(static_cast<std::size_t>(ranks)) {
        std::fill(m_sent.begin(), m_sent.end(), static_cast<unsigned char>(1));
    }

    void begin_round(std::vector<std::pair<std::int64_t, int>> const& group, papcoll::step_type step,
                     std::int64_t round) {
        for (auto const& [to, block] : m_moved) {
            state(to, block) = held;
            if (m_sent[static_cast<std::size_t>(to)] == 0) insert(to, block);
        }
        m_moved.clear();
        for (auto const& [time, rank] : group) {
            auto const r = static_cast<std::size_t>(rank);
            if (m_sent[r] == 0) continue;
            m_sent[r] = 0;
            m_keys[r] = {time - step * round, rank};
            for (int block = 0; block < m_blocks; ++block)
                if (state(rank, block) == held) insert(rank, block);
        }
    }

    [[nodiscard]] auto search(std::vector<std::pair<std::int64_t, int>> const& /*group*/, int to, bool sink)
        -> std::pair<int, int> {
        for (int block = 0; block < m_blocks; ++block) {
            if (!sink && state(to, block) != held) continue;
            auto const from = first_other(m_heaps[static_cast<std::size_t>(block)], to, block);
            if (from >= 0) return {from, block};
        }
        return {-1, -1};
    }

    void move(int from, int to, int block) {
        for (int other = 0; other < m_blocks; ++other)
            if (state(from, other) == held) erase(from, other);
        if (state(to, block) == held && m_sent[static_cast<std::size_t>(to)] == 0) erase(to, block);
        m_sent[static_cast<std::size_t>(from)] = 1;
        state(from, block) = sent;
        state(to, block) = received;
        m_moved.emplace_back(to, block);
    }

    using plain_cells::holds_something;

    [[nodiscard]] auto operations() const -> heap_operations { return m_operations; }

private:
    using key = std::pair<std::int64_t, int>;
    using heap = boost::heap::pairing_heap<key, boost::heap::compare<std::greater<key>>>;

    auto handle(int rank, int block) -> heap::handle_type& {
        return m_handles[static_cast<std::size_t>(rank) * static_cast<std::size_t>(m_blocks) +
                         static_cast<std::size_t>(block)];
    }
    void insert(int rank, int block) {
        ++m_operations.inserts;
        handle(rank, block) =
            m_heaps[static_cast<std::size_t>(block)].push(m_keys[static_cast<std::size_t>(rank)]);
    }
    void erase(int rank, int block) {
        ++m_operations.erases;
        m_heaps[static_cast<std::size_t>(block)].erase(handle(rank, block));
    }

    /// The receiver itself must not be found: it is taken out for a moment when it is on top.
    auto first_other(heap& candidates, int to, int block) -> int {
        if (candidates.empty()) return -1;
        if (candidates.top().second != to) return candidates.top().second;
        if (candidates.size() == 1) return -1;
        ++m_operations.erases;
        candidates.pop();
        auto const found = candidates.top().second;
        insert(to, block);
        return found;
    }

    std::vector<heap> m_heaps;
    std::vector<heap::handle_type> m_handles;
    std::vector<key> m_keys;
    std::vector<std::pair<int, int>> m_moved;
    heap_operations m_operations;
};

/// Listing 2 of paper 1 with the errata applied. Calls sink(transfer) for every transfer.
template <class Cells, class Sink>
auto play(papcoll::problem const& p, papcoll::ticks round, idle_rounds idle, Sink&& sink) -> heap_operations {
    using entry = std::pair<std::int64_t, int>; // availability, rank
    auto const d = round.count();
    std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
    auto const first = std::min_element(p.arrivals.begin(), p.arrivals.end())->count();
    for (int r = 0; r < p.ranks; ++r) queue.emplace(p.arrival(r).count() - first, r);
    Cells cells(p.ranks, p.blocks);
    std::vector<entry> group;
    for (papcoll::step_type step = 0; queue.size() > 1; ++step) {
        group.clear();
        auto const end = queue.top().first + d;
        for (; !queue.empty() && queue.top().first < end; queue.pop()) group.push_back(queue.top());
        if (idle == idle_rounds::skipped && group.size() == 1) {
            auto const rounds = (queue.top().first - group.front().first) / d;
            queue.emplace(group.front().first + rounds * d, group.front().second);
            step += rounds - 1;
            continue;
        }
        cells.begin_round(group, step, d);
        auto const root =
            std::find_if(group.begin(), group.end(), [&](entry e) { return e.second == p.root; });
        auto const sink_rank = root != group.end() ? p.root : group.front().second;
        auto const receive = [&](int to) {
            auto const [from, block] = cells.search(group, to, to == sink_rank);
            if (from < 0) return;
            cells.move(from, to, block);
            sink(papcoll::transfer{step, from, to, block});
        };
        receive(sink_rank);
        for (auto const& [time, to] : group)
            if (to != sink_rank) receive(to);
        for (auto const& [time, rank] : group)
            if (rank == p.root || cells.holds_something(rank)) queue.emplace(time + d, rank);
    }
    return cells.operations();
}

} // namespace bench
