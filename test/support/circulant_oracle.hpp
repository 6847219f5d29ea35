// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

/// Paper 3, Algorithms 1 to 5 in all their slowness, with two repairs: Algorithm 4 starts with the rank's own
/// base block in B (as printed it fails from p = 5 on), and Algorithm 3, which leaves cases open, is replaced
/// by looking at every rank of the range. Good for p < 330, where it was seen to give right schedules.
class circulant_oracle {
public:
    using blocks = std::vector<int>;

    explicit circulant_oracle(int ranks)
        : m_ranks(ranks) {
        std::vector<int> halves{ranks};
        while (halves.back() > 1) halves.push_back((halves.back() + 1) / 2);
        m_skips.assign(halves.rbegin(), halves.rend());
        for (int r = 0; r < ranks; ++r) {
            m_base.push_back(algorithm_2(r));
            m_receives.push_back(algorithm_4(r, algorithm_2(r)));
        }
    }

    [[nodiscard]] auto skips() const -> std::vector<int> const& { return m_skips; }
    [[nodiscard]] auto base_block(int rank) const -> int { return m_base[index(rank)]; }
    [[nodiscard]] auto receives(int rank) const -> blocks const& { return m_receives[index(rank)]; }
    /// Algorithm 5
    [[nodiscard]] auto sends(int rank) const -> blocks {
        blocks result;
        for (int i = 0; i < rounds(); ++i)
            result.push_back(receives((rank + skip(i)) % m_ranks)[static_cast<std::size_t>(i)]);
        return result;
    }

private:
    using block_set = std::uint64_t;

    [[nodiscard]] static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    [[nodiscard]] static auto single(int block) -> block_set { return block_set{1} << block; }
    [[nodiscard]] static auto largest(block_set set) -> int {
        int block = -1;
        for (; set != 0; set >>= 1) ++block;
        return block;
    }
    [[nodiscard]] auto rounds() const -> int { return static_cast<int>(m_skips.size()) - 1; }
    [[nodiscard]] auto skip(int k) const -> int { return m_skips[index(k)]; }

    [[nodiscard]] auto algorithm_2(int r) const -> int {
        int k = rounds();
        if (r == 0) return k; // the root has none
        while (r != skip(k)) {
            --k;
            if (skip(k) < r) r -= skip(k);
        }
        return k;
    }
    // The base blocks of ranks a … b modulo p, the root left out.
    [[nodiscard]] auto range_blocks(int a, int b) const -> block_set {
        block_set set = 0;
        for (int i = a; i <= b; ++i) {
            int const rank = (i % m_ranks + m_ranks) % m_ranks;
            if (rank != 0) set |= single(algorithm_2(rank));
        }
        return set;
    }
    [[nodiscard]] auto algorithm_4(int r, int base) const -> blocks {
        blocks result;
        block_set taken = single(base);
        for (int i = 0; i < rounds(); ++i) {
            if (skip(i) <= r && r < skip(i + 1)) {
                result.push_back(base);
                continue;
            }
            int const block = previous_block(r, i, taken);
            taken |= single(block);
            result.push_back(block - rounds());
        }
        return result;
    }
    [[nodiscard]] auto previous_block(int r, int i, block_set taken) const -> int {
        if (i == rounds() - 1) return largest((single(rounds()) - 1) & ~taken);
        if (i == 0) return algorithm_2((r - 1 + m_ranks) % m_ranks);
        auto found = range_blocks(r - skip(i + 1) + 1, r - skip(i)) & ~taken;
        if (found == 0) {
            int const reach = std::accumulate(m_skips.begin(), m_skips.begin() + i + 1, 0);
            found = range_blocks(r - reach, r - skip(i + 1)) & ~taken;
        }
        return largest(found);
    }

    int m_ranks;
    std::vector<int> m_skips;
    std::vector<int> m_base;
    std::vector<blocks> m_receives;
};
