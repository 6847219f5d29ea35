// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>

namespace papcoll::inline v0::detail {

/// P = 2^k + e ranks, 0 ≤ e < 2^k, as 2^k groups of neighbours in rank order: the first 2e ranks form pairs,
/// each other one is a group.
class folded_ranks {
public:
    explicit folded_ranks(int ranks)
        : m_groups(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))))
        , m_pairs(ranks - m_groups) {}

    [[nodiscard]] auto groups() const -> int { return m_groups; }
    [[nodiscard]] auto group_of(int rank) const -> int {
        return rank < 2 * m_pairs ? rank / 2 : rank - m_pairs;
    }
    [[nodiscard]] auto is_pair(int group) const -> bool { return group < m_pairs; }
    [[nodiscard]] auto first_of(int group) const -> int {
        return is_pair(group) ? 2 * group : group + m_pairs;
    }

private:
    int m_groups;
    int m_pairs;
};

} // namespace papcoll::inline v0::detail
