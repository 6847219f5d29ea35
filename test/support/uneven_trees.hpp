// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/tree/uneven.hpp>

#include <cstddef>
#include <random>
#include <vector>

/// Trees where ranks and links differ.
namespace uneven_trees {

/// Times from 1 to these, even over them.
inline auto random_costs(int ranks, int most_compute, int most_transfer, unsigned seed)
    -> papcoll::uneven_costs {
    std::mt19937 random(seed);
    auto const times = [&](std::size_t n, int most) {
        std::vector<papcoll::ticks> result;
        for (std::size_t i = 0; i < n; ++i)
            result.emplace_back(std::uniform_int_distribution<int>(1, most)(random));
        return result;
    };
    auto const p = static_cast<std::size_t>(ranks);
    return {times(p, most_compute), times(p * p, most_transfer)};
}

/// The least length of all trees, and of all orders in which ranks receive.
class exhaustive {
public:
    exhaustive(int ranks, int root, papcoll::uneven_costs const& costs)
        : m_ranks(ranks) {
        visit(papcoll::detail::uneven_growth(ranks, root, costs));
    }
    [[nodiscard]] auto least() const -> papcoll::ticks { return m_least; }

private:
    void visit(papcoll::detail::uneven_growth const& growth) {
        if (growth.finish() >= m_least) return;
        if (growth.ranks().size() == static_cast<std::size_t>(m_ranks)) {
            m_least = growth.finish();
            return;
        }
        for (int from = 0; from < m_ranks; ++from)
            for (int const to : growth.ranks()) {
                if (growth.has(from)) continue;
                auto next = growth;
                next.attach(from, to);
                visit(next);
            }
    }

    int m_ranks;
    papcoll::ticks m_least = papcoll::ticks::max();
};

[[nodiscard]] inline auto least_length(int ranks, int root, papcoll::uneven_costs const& costs)
    -> papcoll::ticks {
    return exhaustive(ranks, root, costs).least();
}

} // namespace uneven_trees
