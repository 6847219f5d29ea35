// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/program_text.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Which ranks share memory, as their awaits tell, and which instruction each post is.
class node_groups {
public:
    using index = program::index;

    explicit node_groups(std::span<program const> programs)
        : m_group(programs.size())
        , m_posts(programs.size())
        , m_members(programs.size()) {
        std::iota(m_group.begin(), m_group.end(), std::size_t(0));
        for (std::size_t rank = 0; rank < programs.size(); ++rank)
            for (index i = 0; i < programs[rank].size(); ++i) {
                auto const& instruction = programs[rank].instructions[i];
                if (instruction.what == program::action::post) m_posts[rank].push_back(i);
                if (instruction.what == program::action::await)
                    m_group[first_of(rank)] = first_of(static_cast<std::size_t>(instruction.peer));
            }
        for (std::size_t rank = 0; rank < programs.size(); ++rank)
            m_members[m_group[rank] = first_of(rank)].push_back(rank);
    }

    /// Equal for ranks that share memory: one of them.
    [[nodiscard]] auto group(std::size_t rank) const -> std::size_t { return m_group[rank]; }
    [[nodiscard]] auto members(std::size_t rank) const -> std::vector<std::size_t> const& {
        return m_members[m_group[rank]];
    }
    /// The instructions that are posts, in their order.
    [[nodiscard]] auto posts(std::size_t rank) const -> std::vector<index> const& { return m_posts[rank]; }

    /// What is wrong with the awaits of one program.
    [[nodiscard]] auto check(std::span<program const> programs, std::size_t rank) const
        -> std::optional<std::string> {
        auto const& p = programs[rank];
        std::size_t await = 0;
        for (index i = 0; i < p.size(); ++i) {
            if (p.instructions[i].what != program::action::await) continue;
            auto const peer = static_cast<std::size_t>(p.instructions[i].peer);
            if (p.posts[await++] > m_posts[peer].size())
                return text_of(p, static_cast<int>(rank), i) + " waits for post " +
                       std::to_string(p.posts[await - 1]) + " of " + std::to_string(m_posts[peer].size());
            if (p.node != programs[peer].node || p.node_key != programs[peer].node_key)
                return text_of(p, static_cast<int>(rank), i) +
                       " is for a rank whose program shares memory otherwise";
        }
        return {};
    }

private:
    auto first_of(std::size_t rank) -> std::size_t {
        while (m_group[rank] != rank) rank = m_group[rank] = m_group[m_group[rank]];
        return rank;
    }

    std::vector<std::size_t> m_group;
    std::vector<std::vector<index>> m_posts;
    std::vector<std::vector<std::size_t>> m_members;
};

/// Whether what the ranks of a node do to its memory is ordered by posts and awaits wherever two touch the
/// same, one of them to write. Is told of instructions as they are executed, in any order that is possible.
class node_order {
public:
    using index = program::index;
    using verdict = std::optional<std::string>;

    node_order(std::span<program const> programs, node_groups const& groups)
        : m_programs(programs)
        , m_groups(groups)
        , m_ranks(programs.size())
        , m_stretches(programs.size()) {
        for (std::size_t rank = 0; rank < programs.size(); ++rank)
            if (programs[rank].node > 0) prepare(rank);
    }

    /// Instruction i of this rank is executed now; what is wrong with that.
    [[nodiscard]] auto execute(std::size_t rank, index i) -> verdict {
        auto const& p = m_programs[rank];
        if (p.node == 0) return {};
        learn(rank, i);
        if (p.is_sign(i)) return {};
        auto const what = p.instructions[i].what;
        auto const regions = p.regions_of(i);
        auto const n = program::operands(what);
        for (std::size_t r = 0; r < regions.size(); ++r) {
            bool const reads = n > 1 ? r % n != 0 : what == program::action::send;
            if (regions[r].where() != memory::node || regions[r].size() == 0) continue;
            if (auto violation = touch(rank, i, regions[r], reads)) return violation;
        }
        return {};
    }

private:
    static constexpr index never = std::numeric_limits<index>::max();

    struct rank_order {
        std::vector<index> awaited;      // by await, in their order
        std::vector<std::size_t> awaits; // how many come before each instruction
        /// Of each instruction: the first post that waits for it.
        std::vector<index> seen_by;
        /// Of each instruction: how many posts of each member come before it.
        std::vector<std::vector<index>> known;
    };
    struct access {
        std::size_t rank;
        index instruction;
    };
    struct stretch {
        std::size_t end;
        std::optional<access> writer = {};
        std::vector<access> readers = {};
    };
    using stretch_map = std::map<std::size_t, stretch>;

    void prepare(std::size_t rank) {
        auto const& p = m_programs[rank];
        auto& mine = m_ranks[rank];
        mine.seen_by.assign(p.size(), never);
        mine.known.resize(p.size());
        index post = static_cast<index>(m_groups.posts(rank).size());
        std::size_t awaits = 0;
        for (index i = 0; i < p.size(); ++i) {
            mine.awaits.push_back(awaits);
            awaits += p.instructions[i].what == program::action::await ? 1 : 0;
        }
        for (index i = p.size(); i-- > 0;) {
            if (p.instructions[i].what == program::action::post) mine.seen_by[i] = post--;
            for (auto const w : p.waits_of(i)) mine.seen_by[w] = std::min(mine.seen_by[w], mine.seen_by[i]);
        }
        auto& map = m_stretches[m_groups.group(rank)];
        if (map.empty()) map.emplace(0, stretch{p.node});
    }
    void learn(std::size_t rank, index i) {
        auto const& p = m_programs[rank];
        auto& mine = m_ranks[rank];
        auto& known = mine.known[i];
        known.assign(m_groups.members(rank).size(), 0);
        auto const merge = [&](std::vector<index> const& from) {
            for (std::size_t m = 0; m < from.size(); ++m) known[m] = std::max(known[m], from[m]);
        };
        for (auto const w : p.waits_of(i)) merge(mine.known[w]);
        if (p.instructions[i].what != program::action::await) return;
        auto const peer = static_cast<std::size_t>(p.instructions[i].peer);
        auto const number = p.posts[mine.awaits[i]];
        merge(m_ranks[peer].known[m_groups.posts(peer)[number - 1]]);
        auto& of_peer = known[position(peer)];
        of_peer = std::max(of_peer, number);
    }
    [[nodiscard]] auto position(std::size_t rank) const -> std::size_t {
        auto const& members = m_groups.members(rank);
        return static_cast<std::size_t>(std::lower_bound(members.begin(), members.end(), rank) -
                                        members.begin());
    }
    [[nodiscard]] auto comes_before(access const& earlier, std::size_t rank, index i) const -> bool {
        if (earlier.rank == rank) return true; // access_order sees to it
        return m_ranks[earlier.rank].seen_by[earlier.instruction] <=
               m_ranks[rank].known[i][position(earlier.rank)];
    }
    [[nodiscard]] auto touch(std::size_t rank, index i, region const& r, bool reads) -> verdict {
        auto& map = m_stretches[m_groups.group(rank)];
        auto const last = cut_at(map, r.end());
        for (auto s = cut_at(map, r.offset()); s != last; ++s) {
            auto& found = s->second;
            if (found.writer && !comes_before(*found.writer, rank, i))
                return unordered(*found.writer, rank, i, r);
            if (reads) {
                found.readers.push_back({rank, i});
                continue;
            }
            for (auto const& reader : found.readers)
                if (!comes_before(reader, rank, i)) return unordered(reader, rank, i, r);
            found.readers.clear();
            found.writer = access{rank, i};
        }
        return {};
    }
    static auto cut_at(stretch_map& map, std::size_t at) -> stretch_map::iterator {
        auto const next = map.lower_bound(at);
        if (next != map.end() && next->first == at) return next;
        auto& before = std::prev(next)->second;
        if (before.end <= at) return next;
        auto behind = before;
        before.end = at;
        return map.emplace_hint(next, at, std::move(behind));
    }
    [[nodiscard]] auto unordered(access const& earlier, std::size_t rank, index i, region const& r) const
        -> verdict {
        return text_of(m_programs[rank], static_cast<int>(rank), i) + " and " +
               text_of(m_programs[earlier.rank], static_cast<int>(earlier.rank), earlier.instruction) +
               " both use " + text_of(r) + ", and no post and await orders them";
    }

    std::span<program const> m_programs;
    node_groups const& m_groups;
    std::vector<rank_order> m_ranks;
    std::vector<stretch_map> m_stretches; // by group
};

} // namespace papcoll::inline v0::detail
