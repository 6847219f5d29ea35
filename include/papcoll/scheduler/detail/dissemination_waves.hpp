// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/sort_by_time.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/background.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// What the cost of a wave depends on.
struct wave_size {
    std::int64_t roots = 0;
    std::int64_t blocks = 0; ///< of all roots
    std::int64_t most = 0;   ///< of one root

    void add(std::int64_t count) {
        ++roots;
        blocks += count;
        most = std::max(most, count);
    }
};

/// What a wave costs, in ticks; see background_circulant_scheduler for the formulas.
class wave_costs {
public:
    struct times {
        ticks block_time;
        ticks latency;
    };

    wave_costs(circulant_skips const& skips, int most_blocks, times const& t)
        : m_skips(skips)
        , m_latency(t.latency.count())
        , m_unit(t.block_time.count() - t.latency.count())
        // Rounded up, so that cutting never seems to gain time.
        , m_block_time(m_unit / most_blocks + (m_unit % most_blocks != 0 ? 1 : 0)) {
        require(t.block_time.count() > 0, "block_time must be positive", t.block_time.count());
        require(m_latency >= 0 && m_unit >= 0, "latency must be in [0, block_time]", m_latency);
        auto const most = (std::int64_t{1} << 61) / skips.ranks() / (skips.rounds() + 1);
        require(t.block_time.count() <= most, "block_time must not exceed 2^61 ns / (P (q + 1))",
                t.block_time.count());
    }

    /// n − 1 + q steps for roots with n blocks at most. Of each root 2^t ranks at most receive a block in
    /// step t < q, and all may afterwards. More roots never make it cheaper, and P roots are all alike: each
    /// step brings every rank as many blocks.
    [[nodiscard]] auto pipelined(wave_size const& wave) const -> std::int64_t {
        std::int64_t moved = wave.blocks - wave.roots;
        for (int t = 0; t < m_skips.rounds(); ++t) moved += std::min(wave.roots, std::int64_t{1} << t);
        moved = std::min(moved, wave.most * (m_skips.ranks() - 1));
        return (wave.most - 1 + m_skips.rounds()) * m_latency + moved * m_block_time;
    }
    /// Round k brings a rank the units of s[k+1] − s[k] ranks, of which all roots may be part.
    [[nodiscard]] auto doubling(wave_size const& wave) const -> std::int64_t {
        std::int64_t units = 0;
        for (int k = 0; k < m_skips.rounds(); ++k) units += std::min(wave.roots, m_skips[k + 1] - m_skips[k]);
        return m_skips.rounds() * m_latency + units * m_unit;
    }
    [[nodiscard]] auto best(wave_size const& wave) const -> std::int64_t {
        return std::min(pipelined(wave), doubling(wave));
    }
    [[nodiscard]] auto rounds() const -> int { return m_skips.rounds(); }

private:
    circulant_skips m_skips;
    std::int64_t m_latency, m_unit, m_block_time;
};

/// Ranks whose blocks are disseminated together, in steps of their own.
struct dissemination_wave {
    std::size_t first, last; ///< in the order of arrivals
    bool pipelined;
    step_type first_step;
};

/// Divides the ranks that have blocks into waves, in the order of their arrivals: O(P log P).
class dissemination_waves {
public:
    dissemination_waves(problem const& p, owned_blocks const& blocks, wave_costs::times const& t)
        : m_costs(circulant_skips(p.ranks), blocks.largest(), t) {
        auto const first = first_arrival(p);
        for (int rank = 0; rank < p.ranks; ++rank)
            if (blocks.count(rank) > 0) m_order.push_back(rank);
        sort_by_time(m_order, p.arrivals);
        for (int const rank : m_order) {
            m_arrivals.push_back((p.arrival(rank) - first).count());
            m_blocks.push_back(blocks.count(rank));
        }
        divide();
    }

    /// At least one, the last of which has the last arrival.
    [[nodiscard]] auto waves() const -> std::span<dissemination_wave const> { return m_waves; }
    [[nodiscard]] auto roots(dissemination_wave const& wave) const -> std::span<int const> {
        return std::span(m_order).subspan(wave.first, wave.last - wave.first);
    }
    /// When the last wave ends, since the first arrival and in the model of costs.
    [[nodiscard]] auto end() const -> ticks { return ticks{m_end}; }

private:
    /// A wave of the ranks `first` … `last` − 1, from start to end.
    struct timed_wave {
        std::size_t last;
        wave_size size;
        std::int64_t end;
    };
    // All that have arrived when the wave before is over, or at the next arrival; the first wave also waits
    // for all `held`.
    [[nodiscard]] auto next_wave(std::size_t first, std::size_t held, std::int64_t now) const -> timed_wave {
        auto const start = std::max(now, m_arrivals[first == 0 ? held - 1 : first]);
        timed_wave wave{first, {}, 0};
        for (auto& last = wave.last; last < m_order.size(); ++last) {
            if (last >= held && m_arrivals[last] > start) break;
            wave.size.add(m_blocks[last]);
        }
        wave.end = start + m_costs.best(wave.size);
        return wave;
    }
    [[nodiscard]] auto end_if_held(std::size_t held) const -> std::int64_t {
        std::int64_t now = 0;
        for (std::size_t first = 0; first < m_order.size();) {
            auto const wave = next_wave(first, held, now);
            first = wave.last;
            now = wave.end;
        }
        return now;
    }
    // One rank, or i/32 of all.
    [[nodiscard]] auto best_held() const -> std::size_t {
        constexpr std::size_t choices = 32;
        std::size_t best = 1;
        auto earliest = end_if_held(best);
        for (std::size_t i = 1; i <= choices; ++i) {
            auto const held = (m_order.size() * i + choices - 1) / choices;
            auto const end = end_if_held(held);
            if (end >= earliest) continue;
            best = held;
            earliest = end;
        }
        return best;
    }
    void divide() {
        auto const held = best_held();
        step_type step = 0;
        for (std::size_t first = 0; first < m_order.size();) {
            auto const wave = next_wave(first, held, m_end);
            bool const pipelined = m_costs.pipelined(wave.size) < m_costs.doubling(wave.size);
            m_waves.push_back({first, wave.last, pipelined, step});
            step += m_costs.rounds() + (pipelined ? wave.size.most - 1 : 0);
            m_end = wave.end;
            first = wave.last;
        }
    }

    wave_costs m_costs;
    std::vector<int> m_order;
    std::vector<std::int64_t> m_arrivals, m_blocks;
    std::vector<dissemination_wave> m_waves;
    std::int64_t m_end = 0;
};

} // namespace papcoll::inline v0::detail
