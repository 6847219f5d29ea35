// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/sort_by_time.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/background.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// The cost in ticks of the parts of an arrival-aware all-reduce of n blocks; see
/// arrival_all_reduce_scheduler.
class all_reduce_costs {
public:
    all_reduce_costs(problem const& p, ticks transfer_time, ticks latency)
        : m_skips(p.ranks)
        , m_blocks(p.blocks)
        // Rounded up, so that cutting never seems to gain time.
        , m_block_time(transfer_time.count() / p.blocks + (transfer_time.count() % p.blocks != 0 ? 1 : 0))
        , m_latency(latency.count()) {
        require(transfer_time.count() > 0, "transfer_time must be positive", transfer_time.count());
        require(latency.count() >= 0, "latency must not be negative", latency.count());
        auto const most = (std::int64_t{1} << 60) / (p.ranks + std::int64_t{p.blocks} + 64);
        require(m_block_time <= most && m_latency <= most,
                "transfer_time and latency must not exceed 2^60 ns / (P + N + 64) per block and message",
                std::max(m_block_time, m_latency));
    }

    /// Reduce-scatter and all-gather without regard to arrivals: q steps each, twice.
    [[nodiscard]] auto blind() const -> std::int64_t {
        auto const owners = std::min<std::int64_t>(m_blocks, m_skips.ranks());
        auto const largest = (m_blocks + owners - 1) / owners;
        std::int64_t units = 0;
        for (int k = 0; k < m_skips.rounds(); ++k) units += std::min(owners, m_skips[k + 1] - m_skips[k]);
        return 2 * (m_skips.rounds() * m_latency + units * largest * m_block_time);
    }
    /// `members` ranks reduce to the first `delegates` of them, block b to b mod delegates: the broadcasts
    /// from these run backwards. Unless they are the holders themselves they then hand on what they have.
    [[nodiscard]] auto wave(std::int64_t members, std::int64_t delegates, bool hand_on) const
        -> std::int64_t {
        auto moved = members == 1 ? 0 : m_blocks - delegates;
        for (int t = 0; t < rounds(members); ++t) moved += std::min(delegates, std::int64_t{1} << t);
        if (hand_on) moved += share_of(delegates);
        return moved * m_block_time + wave_steps(members, delegates, hand_on) * m_latency;
    }
    [[nodiscard]] auto wave_steps(std::int64_t members, std::int64_t delegates, bool hand_on) const
        -> std::int64_t {
        return reduction_steps(members, delegates) + (hand_on ? share_of(delegates) : 0);
    }
    /// The steps before the delegates hand on.
    [[nodiscard]] auto reduction_steps(std::int64_t members, std::int64_t delegates) const -> std::int64_t {
        return members == 1 ? 0 : share_of(delegates) - 1 + rounds(members);
    }
    /// The exchange with the last rank: n + q steps of one block.
    [[nodiscard]] auto exchange() const -> std::int64_t {
        return (m_blocks + m_skips.rounds()) * (m_latency + m_block_time);
    }

private:
    [[nodiscard]] auto share_of(std::int64_t delegates) const -> std::int64_t {
        return (m_blocks + delegates - 1) / delegates;
    }
    static auto rounds(std::int64_t members) -> int {
        return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(members - 1)));
    }

    circulant_skips m_skips;
    std::int64_t m_blocks;
    std::int64_t m_block_time, m_latency;
};

/// Which ranks take part when. The ranks are in the order of arrival (ties by rank); the first q of them are
/// the holders of the partial results, the last one comes into the exchange, the others join in waves.
class all_reduce_plan {
public:
    struct wave {
        std::size_t first, last; ///< in the order of arrivals; the first wave begins with the holders
        int delegates;           ///< of its ranks, the first ones
        step_type first_step;
        step_type hand_on_step; ///< for all waves but the first
    };

    all_reduce_plan(problem const& p, ticks transfer_time, ticks latency)
        : m_costs(p, transfer_time, latency)
        , m_order(static_cast<std::size_t>(p.ranks))
        , m_holders(std::min(circulant_skips(p.ranks).rounds(), p.blocks)) {
        auto const first = first_arrival(p);
        std::iota(m_order.begin(), m_order.end(), 0);
        sort_by_time(m_order, p.arrivals);
        for (int const rank : m_order) m_arrivals.push_back((p.arrival(rank) - first).count());
        if (p.ranks > 1) decide();
    }

    /// Whether the arrivals are used; if not, the rest means nothing.
    [[nodiscard]] auto aware() const -> bool { return m_aware; }
    [[nodiscard]] auto order() const -> std::span<int const> { return m_order; }
    [[nodiscard]] auto holders() const -> int { return m_holders; }
    [[nodiscard]] auto waves() const -> std::span<wave const> { return m_waves; }
    /// The first step of the exchange.
    [[nodiscard]] auto exchange_step() const -> step_type { return m_exchange_step; }
    /// When all is over, since the first arrival and in this model.
    [[nodiscard]] auto end() const -> ticks { return ticks{m_end}; }

private:
    // All that have arrived when the wave before is over, or at the next arrival, but not the last rank.
    [[nodiscard]] auto wave_end(std::size_t held, std::size_t first, std::int64_t now) const -> std::size_t {
        auto last = std::max(first + 1, first == 0 ? held : 0);
        auto const start = std::max(now, m_arrivals[last - 1]);
        while (last + 1 < m_order.size() && m_arrivals[last] <= start) ++last;
        return last;
    }
    [[nodiscard]] auto delegates(std::size_t first, std::size_t last) const -> int {
        return static_cast<int>(std::min(last - first, static_cast<std::size_t>(m_holders)));
    }
    static auto size(std::size_t first, std::size_t last) -> std::int64_t {
        return static_cast<std::int64_t>(last - first);
    }
    // Calls visit(first, last) for each wave and returns when the exchange can begin.
    template <class Visit>
    auto play(std::size_t held, Visit const& visit) const -> std::int64_t {
        std::int64_t now = 0;
        for (std::size_t first = 0; first + 1 < m_order.size();) {
            auto const last = wave_end(held, first, now);
            now = std::max(now, m_arrivals[last - 1]) +
                  m_costs.wave(size(first, last), delegates(first, last), first != 0);
            visit(first, last);
            first = last;
        }
        return std::max(now, m_arrivals.back());
    }
    // The first wave waits for the holders, or for more: of all ranks but the last, i/32 are tried.
    void decide() {
        constexpr std::size_t choices = 32;
        m_end = m_arrivals.back() + m_costs.blind();
        std::size_t best = 0;
        auto const most = m_order.size() - 1;
        for (std::size_t i = 0; i <= choices; ++i) {
            auto const held = std::max(static_cast<std::size_t>(m_holders), most * i / choices);
            auto const end = play(held, [](std::size_t, std::size_t) {}) + m_costs.exchange();
            if (end >= m_end) continue;
            m_end = end;
            best = held;
        }
        m_aware = best != 0;
        if (!m_aware) return;
        (void)play(best, [&](std::size_t first, std::size_t last) {
            auto const ranks = size(first, last);
            int const to = delegates(first, last);
            m_waves.push_back(
                {first, last, to, m_exchange_step, m_exchange_step + m_costs.reduction_steps(ranks, to)});
            m_exchange_step += m_costs.wave_steps(ranks, to, first != 0);
        });
    }

    all_reduce_costs m_costs;
    std::vector<int> m_order;
    int m_holders;
    std::vector<std::int64_t> m_arrivals;
    bool m_aware = false;
    std::vector<wave> m_waves;
    step_type m_exchange_step = 0;
    std::int64_t m_end = 0;
};

} // namespace papcoll::inline v0::detail
