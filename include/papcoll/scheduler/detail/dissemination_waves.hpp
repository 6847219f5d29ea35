// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
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
        , m_piece(m_unit / most_blocks + (m_unit % most_blocks != 0 ? 1 : 0)) {
        require(t.block_time.count() > 0, "block_time must be positive", t.block_time.count());
        require(m_latency >= 0 && m_unit >= 0, "latency must be in [0, block_time]", m_latency);
        auto const most = (std::int64_t{1} << 61) / skips.ranks() / (skips.rounds() + 1);
        require(t.block_time.count() <= most, "block_time must not exceed 2^61 ns / (P (q + 1))",
                t.block_time.count());
    }

    /// n − 1 + q steps for roots with n blocks at most; in all of them together each root's blocks travel,
    /// and q − 1 more to fill and to drain the pipeline.
    [[nodiscard]] auto pipelined(std::int64_t roots, std::int64_t blocks, std::int64_t most) const
        -> std::int64_t {
        return (most - 1 + m_skips.rounds()) * m_latency +
               (blocks + roots * (m_skips.rounds() - 1)) * m_piece;
    }
    /// Round k brings a rank the units of s[k+1] − s[k] ranks, of which all roots may be part.
    [[nodiscard]] auto doubling(std::int64_t roots) const -> std::int64_t {
        std::int64_t units = 0;
        for (int k = 0; k < m_skips.rounds(); ++k) units += std::min(roots, m_skips[k + 1] - m_skips[k]);
        return m_skips.rounds() * m_latency + units * m_unit;
    }
    [[nodiscard]] auto rounds() const -> int { return m_skips.rounds(); }

private:
    circulant_skips m_skips;
    std::int64_t m_latency, m_unit, m_piece;
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
        std::stable_sort(m_order.begin(), m_order.end(),
                         [&](int a, int b) { return p.arrival(a) < p.arrival(b); });
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
    struct candidate {
        std::int64_t blocks = 0, most = 0, roots = 0;

        void add(std::int64_t count) {
            blocks += count;
            most = std::max(most, count);
            ++roots;
        }
    };
    [[nodiscard]] auto is_pipelined(candidate const& c) const -> bool {
        return m_costs.pipelined(c.roots, c.blocks, c.most) < m_costs.doubling(c.roots);
    }
    [[nodiscard]] auto cost(candidate const& c) const -> std::int64_t {
        return std::min(m_costs.pipelined(c.roots, c.blocks, c.most), m_costs.doubling(c.roots));
    }
    [[nodiscard]] auto cost_alone(std::size_t i) const -> std::int64_t {
        return cost({m_blocks[i], m_blocks[i], 1});
    }

    // With c_i what i costs alone, all that come after the first wave are over at the latest when they have
    // been served one by one: max over i of a_i + c_i + c_{i+1} + …, and the same from the end of the first
    // wave. A wave of several costs no more than its ranks one by one.
    [[nodiscard]] auto size_of_first_wave() const -> std::size_t {
        auto const count = m_order.size();
        std::vector<std::int64_t> queue(count + 1), work(count + 1);
        for (auto i = count; i-- > 0;) {
            work[i] = work[i + 1] + cost_alone(i);
            queue[i] = std::max(queue[i + 1], m_arrivals[i] + work[i]);
        }
        std::size_t best = 0;
        std::int64_t earliest = 0;
        candidate wave;
        for (std::size_t j = 1; j <= count; ++j) {
            wave.add(m_blocks[j - 1]);
            auto const end = std::max(m_arrivals[j - 1] + cost(wave) + work[j], queue[j]);
            if (best != 0 && end >= earliest) continue;
            best = j;
            earliest = end;
        }
        return best;
    }
    void divide() {
        auto const held = size_of_first_wave();
        step_type step = 0;
        for (std::size_t first = 0; first < m_order.size();) {
            auto const start = std::max(m_end, m_arrivals[first == 0 ? held - 1 : first]);
            candidate wave;
            auto last = first;
            for (; last < m_order.size() && (last < held || m_arrivals[last] <= start); ++last)
                wave.add(m_blocks[last]);
            m_waves.push_back({first, last, is_pipelined(wave), step});
            step += m_costs.rounds() + (m_waves.back().pipelined ? wave.most - 1 : 0);
            m_end = start + cost(wave);
            first = last;
        }
    }

    wave_costs m_costs;
    std::vector<int> m_order;
    std::vector<std::int64_t> m_arrivals, m_blocks;
    std::vector<dissemination_wave> m_waves;
    std::int64_t m_end = 0;
};

} // namespace papcoll::inline v0::detail
