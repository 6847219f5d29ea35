// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/cost_model.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace papcoll::inline v0::detail {

/// The programs of all ranks that follow a schedule, with an element for each byte. A rank has its blocks one
/// behind the other.
class schedule_programs {
public:
    /// With `data_later` a rank contributes what it has at the beginning.
    schedule_programs(std::span<transfer const> schedule, problem const& p, schedule_kind kind,
                      block_sizes const& bytes, bool data_later)
        : m_kind(kind)
        , m_data_later(data_later) {
        constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max() / 2);
        if (schedule.size() > most)
            throw std::length_error("papcoll: too many transfers to simulate: " +
                                    std::to_string(schedule.size()));
        m_transfers.reserve(schedule.size());
        for (auto const& t : schedule) {
            require_well_formed(t, p);
            if (bytes[t.block] > 0) m_transfers.push_back(t);
        }
        if (!std::is_sorted(m_transfers.begin(), m_transfers.end()))
            std::sort(m_transfers.begin(), m_transfers.end());
        auto const same = std::adjacent_find(m_transfers.begin(), m_transfers.end());
        if (same != m_transfers.end()) reject(*same, "is there twice");
        place_blocks(p, bytes);
        for (int b = 0; b < p.blocks; ++b) m_owners.push_back(p.owner(b));
        m_sent = by_rank(p.ranks, &transfer::from);
        m_received = by_rank(p.ranks, &transfer::to);
    }

    [[nodiscard]] auto transfers() const -> std::vector<transfer> const& { return m_transfers; }
    /// The transfers that the rank sends, and those that it receives, in their order.
    [[nodiscard]] auto sent(int rank) const -> std::span<std::size_t const> { return m_sent.of(rank); }
    [[nodiscard]] auto received(int rank) const -> std::span<std::size_t const> {
        return m_received.of(rank);
    }

    [[nodiscard]] auto bytes_of(std::size_t transfer) const -> std::size_t {
        return m_places.held[static_cast<std::size_t>(m_transfers[transfer].block)].size();
    }

    [[nodiscard]] auto of(int rank) -> program {
        for (std::size_t b = 0; b < m_owners.size(); ++b) m_places.owned[b] = m_owners[b] == rank;
        program_builder to;
        if (m_data_later) contribute(to);
        lower(to, m_kind, share_of(rank), rank, m_places, lowering::model);
        return to.finish();
    }

private:
    /// Numbers of transfers, those of rank 0 first.
    struct transfer_lists {
        std::vector<std::size_t> begin;
        std::vector<std::size_t> all;

        [[nodiscard]] auto of(int rank) const -> std::span<std::size_t const> {
            auto const r = static_cast<std::size_t>(rank);
            return std::span(all).subspan(begin[r], begin[r + 1] - begin[r]);
        }
    };

    [[noreturn]] static void reject(transfer const& t, std::string const& why) {
        throw std::invalid_argument("papcoll: the schedule cannot proceed: the transfer of block " +
                                    std::to_string(t.block) + " from rank " + std::to_string(t.from) +
                                    " to rank " + std::to_string(t.to) + " in step " +
                                    std::to_string(t.step) + " " + why);
    }
    static void require_well_formed(transfer const& t, problem const& p) {
        for (int const rank : {t.from, t.to})
            if (rank < 0 || rank >= p.ranks)
                reject(t, "names a rank that is not among the " + std::to_string(p.ranks));
        if (t.block < 0 || t.block >= p.blocks)
            reject(t, "names a block that is not among the " + std::to_string(p.blocks));
        if (t.from == t.to) reject(t, "goes from a rank to itself");
    }
    void place_blocks(problem const& p, block_sizes const& bytes) {
        for (int b = 0; b < p.blocks; ++b) {
            m_places.held.emplace_back(memory::in, m_bytes, bytes[b]);
            m_places.result.emplace_back(memory::out, m_bytes, bytes[b]);
            m_bytes += bytes[b];
        }
        m_places.owned.resize(m_places.held.size());
    }
    /// Every rank contributes, if only nothing: by this it takes part before it arrives.
    void contribute(program_builder& to) const {
        if (m_kind == schedule_kind::reduction) return to.contribution({memory::in, 0, m_bytes});
        to.contribution(region());
        for (std::size_t b = 0; b < m_owners.size(); ++b)
            if (m_places.owned[b]) to.contribution(m_places.held[b]);
    }
    [[nodiscard]] auto by_rank(int ranks, int transfer::*end) const -> transfer_lists {
        transfer_lists lists;
        lists.begin.assign(static_cast<std::size_t>(ranks) + 1, 0);
        lists.all.resize(m_transfers.size());
        for (auto const& t : m_transfers) ++lists.begin[static_cast<std::size_t>(t.*end) + 1];
        for (std::size_t r = 1; r < lists.begin.size(); ++r) lists.begin[r] += lists.begin[r - 1];
        auto at = lists.begin;
        for (std::size_t i = 0; i < m_transfers.size(); ++i)
            lists.all[at[static_cast<std::size_t>(m_transfers[i].*end)]++] = i;
        return lists;
    }
    [[nodiscard]] auto share_of(int rank) const -> rank_schedule {
        rank_schedule share;
        for (auto const i : sent(rank))
            share.sends.push_back({m_transfers[i].step, m_transfers[i].to, m_transfers[i].block});
        for (auto const i : received(rank))
            share.receives.push_back({m_transfers[i].step, m_transfers[i].from, m_transfers[i].block});
        return share;
    }

    schedule_kind m_kind;
    bool m_data_later;
    std::vector<transfer> m_transfers; // in the order (step, from, to, block)
    std::vector<int> m_owners;
    block_places m_places;
    std::size_t m_bytes = 0; // of all blocks
    transfer_lists m_sent, m_received;
};

} // namespace papcoll::inline v0::detail
