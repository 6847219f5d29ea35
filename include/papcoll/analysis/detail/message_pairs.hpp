// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/program_text.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Which send meets which receive: the k-th from one rank to another the k-th there.
class message_pairs {
public:
    using index = program::index;
    using verdict = std::optional<std::string>;

    explicit message_pairs(std::span<program const> programs)
        : m_programs(programs)
        , m_sends(programs.size())
        , m_receives(programs.size())
        , m_partners(programs.size()) {
        for (std::size_t rank = 0; rank < programs.size(); ++rank) {
            auto const& p = programs[rank];
            m_partners[rank].resize(p.instructions.size());
            for (index i = 0; i < p.size(); ++i)
                if (p.is_message(i))
                    (is_send(p, i) ? m_sends : m_receives)[rank].emplace_back(p.instructions[i].peer, i);
            std::sort(m_sends[rank].begin(), m_sends[rank].end());
            std::sort(m_receives[rank].begin(), m_receives[rank].end());
        }
    }

    /// Pairs them, and compares the two of each pair.
    [[nodiscard]] auto pair() -> verdict {
        for (std::size_t rank = 0; rank < m_programs.size(); ++rank) {
            if (auto violation = pair_sends(rank)) return violation;
            for (std::size_t k = 0; k < m_receives[rank].size(); ++k)
                if (auto violation = is_sent(rank, k)) return violation;
        }
        return {};
    }
    /// The instruction of the peer that meets message i of this rank.
    [[nodiscard]] auto partner(std::size_t rank, index i) const -> index { return m_partners[rank][i]; }

private:
    using list = std::vector<std::pair<int, index>>; // by peer, then in the order of the program

    static auto is_send(program const& p, index i) -> bool {
        return p.instructions[i].what == program::action::send;
    }
    static auto begin_of(list const& messages, int peer) -> std::size_t {
        auto const at = std::lower_bound(messages.begin(), messages.end(), std::pair(peer, index(0)));
        return static_cast<std::size_t>(at - messages.begin());
    }
    [[nodiscard]] auto text(std::size_t rank, index i) const -> std::string {
        return text_of(m_programs[rank], static_cast<int>(rank), i);
    }

    auto pair_sends(std::size_t rank) -> verdict {
        auto const& sends = m_sends[rank];
        std::size_t there = 0;
        for (std::size_t k = 0; k < sends.size(); ++k, ++there) {
            auto const [peer, i] = sends[k];
            auto const to = static_cast<std::size_t>(peer);
            if (k == 0 || sends[k - 1].first != peer)
                there = begin_of(m_receives[to], static_cast<int>(rank));
            if (there == m_receives[to].size() || m_receives[to][there].first != static_cast<int>(rank))
                return text(rank, i) + " sends a message that rank " + std::to_string(peer) +
                       " never receives";
            auto const other = m_receives[to][there].second;
            if (auto violation = differ(rank, i, to, other)) return violation;
            m_partners[rank][i] = other;
            m_partners[to][other] = i;
        }
        return {};
    }
    /// Of receives that no send was paired with.
    [[nodiscard]] auto is_sent(std::size_t rank, std::size_t k) const -> verdict {
        auto const& receives = m_receives[rank];
        auto const [peer, i] = receives[k];
        auto const& sends = m_sends[static_cast<std::size_t>(peer)];
        auto const position = k - begin_of(receives, peer);
        auto const there = begin_of(sends, static_cast<int>(rank)) + position;
        if (there < sends.size() && sends[there].first == static_cast<int>(rank)) return {};
        return text(rank, i) + " receives a message that rank " + std::to_string(peer) + " never sends";
    }
    [[nodiscard]] auto differ(std::size_t from, index send, std::size_t to, index receive) const -> verdict {
        auto const& a = m_programs[from];
        auto const& b = m_programs[to];
        auto const n = a.elements_of(send);
        auto const both = [&](std::string const& why) {
            return text(from, send) + " and " + text(to, receive) + " are one message, but " + why;
        };
        if (auto const m = b.elements_of(receive); n != m)
            return both("of " + std::to_string(n) + " elements there and of " + std::to_string(m) + " here");
        auto const &there = a.windows_of(send), &here = b.windows_of(receive);
        if (there.admits(n) != here.admits(n)) return both("only one of them waits for admission");
        if (there.admits(n) && there.tail_bytes != here.tail_bytes)
            return both("they cut off different tails: of " + std::to_string(there.tail_bytes) +
                        " bytes there and of " + std::to_string(here.tail_bytes) + " here");
        return {};
    }

    std::span<program const> m_programs;
    std::vector<list> m_sends, m_receives;      // per rank
    std::vector<std::vector<index>> m_partners; // per rank and instruction
};

} // namespace papcoll::inline v0::detail
