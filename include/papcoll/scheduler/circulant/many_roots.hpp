// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/rounds.hpp>
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>
#include <papcoll/scheduler/circulant/table.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// One rank's part in several broadcasts at once, whose rounds end together.
///
/// For root j rank r is rank r − j; all roots are in the same round of the phase, so a step has one peer per
/// direction. With n_j blocks a root takes part in the last n_j − 1 + q rounds only. Paper 3, Algorithm 9.
class circulant_many_roots {
public:
    /// The skips and the blocks must outlive this.
    circulant_many_roots(circulant_skips const& skips, problem const& p, owned_blocks const& blocks, int rank)
        : m_skips(skips)
        , m_rank(rank) {
        for (int block = 0; block < p.blocks; ++block) {
            auto const of_owner = blocks.of(p.owner(block));
            if (of_owner.front() == block) m_roots.push_back({p.owner(block), of_owner, {}, {}});
        }
        // A table takes p searches; for one root a rank makes two or a few more.
        if (m_roots.size() > static_cast<std::size_t>(skips.ranks()) / 2)
            read_table();
        else
            search();
    }

    [[nodiscard]] auto share() const -> rank_schedule {
        auto const waiting = longest_first();
        auto share = with_room();
        std::vector<root const*> active; // by first block
        auto next = waiting.begin();
        auto const most = waiting.front()->size();
        for (circulant_rounds round(most, m_skips.rounds()); !round.over(); round.next()) {
            auto const old = static_cast<std::ptrdiff_t>(active.size());
            for (; next != waiting.end() && most - (*next)->size() <= round.step(); ++next)
                active.push_back(*next);
            // Those that begin in one step are equally long and so in this order already.
            std::inplace_merge(active.begin(), active.begin() + old, active.end(),
                               [](root const* a, root const* b) { return a->blocks[0] < b->blocks[0]; });
            add_step(share, active, round);
        }
        return share;
    }

private:
    struct root {
        int rank;
        std::span<int const> blocks;
        circulant_blocks sends, receives;

        [[nodiscard]] auto size() const -> step_type { return static_cast<step_type>(blocks.size()); }
    };

    [[nodiscard]] auto relative_to(root const& r) const -> int {
        return m_rank >= r.rank ? m_rank - r.rank : m_rank - r.rank + m_skips.ranks();
    }
    void search() {
        for (auto& r : m_roots) {
            r.sends = send_blocks(m_skips, relative_to(r));
            r.receives = receive_blocks(m_skips, relative_to(r));
        }
    }
    void read_table() {
        circulant_table const table(m_skips);
        for (int k = 0; k < m_skips.rounds(); ++k) {
            for (auto& r : m_roots) {
                r.sends.set(k, table.sends(relative_to(r), k));
                r.receives.set(k, table.receives(relative_to(r), k));
            }
        }
    }
    [[nodiscard]] auto longest_first() const -> std::vector<root const*> {
        std::vector<root const*> roots;
        roots.reserve(m_roots.size());
        for (auto const& r : m_roots) roots.push_back(&r);
        std::stable_sort(roots.begin(), roots.end(),
                         [](root const* a, root const* b) { return a->size() > b->size(); });
        return roots;
    }
    // As many receives as there are blocks of others; about as many sends.
    [[nodiscard]] auto with_room() const -> rank_schedule {
        std::size_t blocks = 0;
        for (auto const& r : m_roots) blocks += r.blocks.size();
        rank_schedule share;
        share.receives.reserve(blocks);
        share.sends.reserve(blocks);
        return share;
    }
    void add_step(rank_schedule& share, std::span<root const* const> active,
                  circulant_rounds const& round) const {
        int const k = round.in_phase();
        int const target = m_skips.target(m_rank, k);
        int const source = m_skips.source(m_rank, k);
        auto const first_send = share.sends.size();
        auto const first_receive = share.receives.size();
        auto const add = [&](std::vector<rank_transfer>& list, root const& r, int peer, int entry) {
            auto const block = round.block(r.size(), entry);
            if (block >= 0) list.push_back({round.step(), peer, r.blocks[static_cast<std::size_t>(block)]});
        };
        for (auto const* r : active) {
            if (r->rank != target) add(share.sends, *r, target, r->sends[k]);
            if (r->rank != m_rank) add(share.receives, *r, source, r->receives[k]);
        }
        sort_from(share.sends, first_send);
        sort_from(share.receives, first_receive);
    }
    // Sorted already where every owner's blocks are neighbours.
    static void sort_from(std::vector<rank_transfer>& list, std::size_t first) {
        auto const begin = list.begin() + static_cast<std::ptrdiff_t>(first);
        auto const before = [](rank_transfer const& a, rank_transfer const& b) { return a.block < b.block; };
        if (!std::is_sorted(begin, list.end(), before)) std::sort(begin, list.end(), before);
    }

    circulant_skips const& m_skips;
    int m_rank;
    std::vector<root> m_roots; // by first block
};

} // namespace papcoll::inline v0::detail
