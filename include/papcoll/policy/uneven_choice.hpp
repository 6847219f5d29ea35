// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/plan_size.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// Elements that pass the busiest link, summed over the rounds, when parts travel whole: in round k somebody
/// sends those of s[k+1] − s[k] ranks in a row.
[[nodiscard]] inline auto whole_part_volume(circulant_skips const& skips, std::span<std::size_t const> sizes)
    -> std::size_t {
    auto const p = sizes.size();
    std::vector<std::size_t> sums(2 * p + 1);
    for (std::size_t i = 0; i < 2 * p; ++i) sums[i + 1] = sums[i] + sizes[i % p];
    std::size_t volume = 0;
    for (int k = 0; k < skips.rounds(); ++k) {
        auto const width = static_cast<std::size_t>(skips[k + 1] - skips[k]);
        std::size_t most = 0;
        for (std::size_t r = 0; r < p; ++r) most = std::max(most, sums[r + width] - sums[r]);
        volume += most;
    }
    return volume;
}

/// Finds how parts of uneven sizes are gathered, or scattered, in the shortest time.
///
/// Whole, they take q rounds and W bytes on the busiest link (whole_part_volume), where even parts take m but
/// a single long one q·m. Cut into n blocks each they take n − 1 + q rounds: in the first q of them one block
/// of each comes in the order of the whole parts, W/n, and in each later one another block of all, m/n. That
/// is shortest at n = √((W − m)·β/α), or at as many blocks as there are messages anyway where that is more.
/// Parts that stay whole join in the last q rounds.
class uneven_choice {
public:
    uneven_choice(call_shape const& shape, link_model const& link)
        : m_skips(shape.ranks)
        , m_sizes(shape.sizes)
        , m_limit(half_limit(shape))
        , m_combines(shape.operation == collective_kind::reduce_scatter)
        , m_latency(static_cast<double>(link.latency.count()))
        , m_per_element(link.per_byte * static_cast<double>(shape.element_bytes))
        , m_message(static_cast<double>(longest_message(link)) / static_cast<double>(shape.element_bytes)) {}

    /// Tries which parts are cut: all of more than a half, an eighth, … of the longest, and all.
    [[nodiscard]] auto best() const -> part_cut {
        auto const longest = *std::max_element(m_sizes.begin(), m_sizes.end());
        part_cut best{1, longest};
        // A message of blocks has one of each rank, from as many places: that must pay.
        double least =
            time(m_skips.rounds(), static_cast<double>(whole_part_volume(m_skips, m_sizes))) / 17 * 16;
        std::size_t tried = 0; // parts that were cut
        for (auto whole = longest / 2; tried < m_sizes.size(); whole /= 4) {
            auto const parts = divided(whole);
            if (parts.count > tried) {
                int const n = blocks(parts, longest);
                if (double const t = time(n - 1 + m_skips.rounds(), volume(parts, n)); n > 1 && t < least) {
                    best = {n, whole};
                    least = t;
                }
            }
            tried = whole == 0 ? m_sizes.size() : parts.count;
        }
        return best;
    }

private:
    /// The parts that are cut, and W of them and of the others; in elements.
    struct division {
        std::size_t count = 0;
        double elements = 0;
        double volume = 0;
        double volume_of_others = 0;
    };

    [[nodiscard]] auto divided(std::size_t longest_whole) const -> division {
        division result;
        std::vector<std::size_t> cut(m_sizes.begin(), m_sizes.end());
        for (auto& size : cut) {
            if (size <= longest_whole) size = 0;
            if (size > 0) ++result.count;
            result.elements += static_cast<double>(size);
        }
        result.volume = static_cast<double>(whole_part_volume(m_skips, cut));
        for (std::size_t r = 0; r < cut.size(); ++r) cut[r] = m_sizes[r] - cut[r];
        result.volume_of_others = static_cast<double>(whole_part_volume(m_skips, cut));
        return result;
    }
    [[nodiscard]] auto blocks(division const& parts, std::size_t longest) const -> int {
        double const gain = (parts.volume - parts.elements) * m_per_element / std::max(m_latency, 1.0);
        double const n = std::sqrt(std::clamp(gain, 1.0, 1e12));
        // A round that is longer than a message is cut between the parts.
        double const messages =
            std::min(static_cast<double>(parts.count) * n, 1.1 * parts.elements / m_message);
        auto const most = std::min(longest, most_blocks_each(parts.count));
        return static_cast<int>(
            std::clamp<std::size_t>(static_cast<std::size_t>(std::max(n, messages)), 1, most));
    }
    /// A plan names each block when it comes and when it goes, and where they are combined three times more.
    /// It has two messages for each round, and a combination.
    [[nodiscard]] auto most_blocks_each(std::size_t parts) const -> std::size_t {
        auto const block = (m_combines ? 5 : 2) * (program_bytes::use + sizeof(program::index));
        auto const round = 2 * program_bytes::message + (m_combines ? program_bytes::combination : 0);
        auto const others =
            (m_sizes.size() - parts) * block + static_cast<std::size_t>(m_skips.rounds()) * round;
        return std::max<std::size_t>((m_limit - std::min(others, m_limit)) / (parts * block + round), 1);
    }
    [[nodiscard]] static auto volume(division const& parts, int n) -> double {
        return parts.elements + (parts.volume - parts.elements) / n + parts.volume_of_others;
    }
    [[nodiscard]] auto time(int rounds, double elements) const -> double {
        return std::max<double>(rounds, elements / m_message) * m_latency + elements * m_per_element;
    }

    circulant_skips m_skips;
    std::span<std::size_t const> m_sizes;
    std::size_t m_limit;
    bool m_combines;
    double m_latency;
    double m_per_element;
    double m_message; ///< the longest, in elements
};

} // namespace papcoll::inline v0::detail
