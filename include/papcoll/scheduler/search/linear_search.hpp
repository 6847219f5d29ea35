// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/search/search.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// The search as the corrected pseudocode has it: for every block, look through the processes of the round.
/// The readable reference for the faster ones; one search costs O(blocks · processes of the round).
class linear_search {
public:
    linear_search(int ranks, int blocks)
        : m_blocks(blocks)
        , m_cells(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(blocks), cell::held)
        , m_held(static_cast<std::size_t>(ranks), blocks)
        , m_sent(static_cast<std::size_t>(ranks), 0) {}

    void join(int /*position*/) {}

    void begin_round(std::span<int const> active) {
        for (auto* const received : m_received) *received = cell::held;
        m_received.clear();
        m_active.assign(active.begin(), active.end());
        for (int const position : active) m_sent[static_cast<std::size_t>(position)] = 0;
    }

    [[nodiscard]] auto receive(int receiver, bool sink) -> search_match {
        for (int block = 0; block < m_blocks; ++block) {
            if (!sink && at(receiver, block) != cell::held) continue;
            for (int const peer : m_active)
                if (peer != receiver && m_sent[static_cast<std::size_t>(peer)] == 0 &&
                    at(peer, block) == cell::held)
                    return move(peer, receiver, block);
        }
        return {};
    }

    [[nodiscard]] auto empty(int position) const -> bool {
        return m_held[static_cast<std::size_t>(position)] == 0;
    }

    /// Size of the cells in bytes.
    [[nodiscard]] auto memory_bytes() const -> std::size_t { return m_cells.size() * sizeof(cell); }

private:
    enum class cell : unsigned char {
        held,
        sent,
        received /**< in this round: not to be sent before the next */
    };

    auto at(int position, int block) -> cell& {
        return m_cells[static_cast<std::size_t>(position) * static_cast<std::size_t>(m_blocks) +
                       static_cast<std::size_t>(block)];
    }

    auto move(int peer, int receiver, int block) -> search_match {
        m_sent[static_cast<std::size_t>(peer)] = 1;
        at(peer, block) = cell::sent;
        --m_held[static_cast<std::size_t>(peer)];
        if (at(receiver, block) == cell::sent) ++m_held[static_cast<std::size_t>(receiver)];
        at(receiver, block) = cell::received;
        m_received.push_back(&at(receiver, block));
        return {peer, block};
    }

    int m_blocks;
    std::vector<cell> m_cells; ///< process-major
    std::vector<int> m_held;   ///< per process, the number of blocks it holds
    std::vector<unsigned char> m_sent;
    std::vector<int> m_active;
    std::vector<cell*> m_received;
};

static_assert(clairvoyant_search<linear_search>);

} // namespace papcoll::inline v0
