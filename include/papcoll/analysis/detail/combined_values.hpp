// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Values by numbers: first the contributions of the ranks, then what combinations make of them. Equal values
/// have one number.
class combined_values {
public:
    using value = std::uint32_t;

    /// `alike`: values are equal if they have the same bits. Elsewhere they are if they come from the same
    /// operands in the same order and brackets.
    combined_values(std::size_t ranks, bool alike)
        : m_ranks(ranks)
        , m_words((ranks + 63) / 64)
        , m_alike(alike)
        , m_sets(ranks * m_words)
        , m_nodes(ranks) {
        for (std::size_t r = 0; r < ranks; ++r) {
            m_sets[r * m_words + r / 64] |= std::uint64_t(1) << r % 64;
            m_nodes[r] = {static_cast<int>(r), static_cast<int>(r), true};
        }
    }

    /// What came out of an instruction. Different machine code, or the same over memory that lies otherwise,
    /// may make other bits of operands with the same bits (NaNs, fused multiplication and addition).
    using origin = std::uint64_t;
    /// Of a combination in the same bits wherever its operands lie.
    static constexpr origin anywhere = 0;
    /// Of one in memory of papcoll's, which lies alike on all ranks.
    [[nodiscard]] auto from(region const& target, region const& left, region const& right) -> origin {
        auto const lie = std::tuple(target.offset(), left.offset(), right.offset(), target.size());
        return 2 * m_places.try_emplace(lie, m_places.size() + 1).first->second;
    }
    /// Of any other one.
    [[nodiscard]] auto from_here() -> origin { return 2 * ++m_instances + 1; }

    [[nodiscard]] auto combine(value left, value right, origin where) -> value {
        key const how(left, right, m_alike ? where : anywhere);
        auto const [found, is_new] = m_known.try_emplace(how, static_cast<value>(m_nodes.size()));
        if (!is_new) return found->second;
        auto const &a = m_nodes[left], &b = m_nodes[right];
        m_nodes.push_back({a.first, b.last, a.in_order && b.in_order && a.last < b.first});
        auto const begin = m_sets.size();
        m_sets.resize(begin + m_words);
        for (std::size_t w = 0; w < m_words; ++w)
            m_sets[begin + w] = m_sets[left * m_words + w] | m_sets[right * m_words + w];
        return found->second;
    }
    /// A rank whose contribution is in both.
    [[nodiscard]] auto common(value a, value b) const -> std::optional<int> {
        for (std::size_t w = 0; w < m_words; ++w)
            if (auto const both = m_sets[a * m_words + w] & m_sets[b * m_words + w]; both != 0)
                return static_cast<int>(w * 64) + std::countr_zero(both);
        return {};
    }
    /// A rank up to `last` whose contribution is not in it.
    [[nodiscard]] auto missing(value v, int last) const -> std::optional<int> {
        for (int r = 0; r <= last; ++r)
            if (!has(v, r)) return r;
        return {};
    }
    /// A rank above `last` whose contribution is in it.
    [[nodiscard]] auto beyond(value v, int last) const -> std::optional<int> {
        for (int r = last + 1; r < static_cast<int>(m_ranks); ++r)
            if (has(v, r)) return r;
        return {};
    }
    [[nodiscard]] auto in_rank_order(value v) const -> bool { return m_nodes[v].in_order; }
    [[nodiscard]] auto first(value v) const -> int { return m_nodes[v].first; }
    [[nodiscard]] auto last(value v) const -> int { return m_nodes[v].last; }
    /// Whether it is the contribution of one rank.
    [[nodiscard]] auto is_single(value v) const -> bool { return v < m_ranks; }

private:
    [[nodiscard]] auto has(value v, int rank) const -> bool {
        auto const r = static_cast<std::size_t>(rank);
        return (m_sets[v * m_words + r / 64] >> r % 64 & 1) != 0;
    }

    struct node {
        int first, last; ///< ranks in it, as they are combined
        bool in_order;
    };
    using key = std::tuple<value, value, origin>;
    struct hash {
        auto operator()(key const& k) const -> std::size_t {
            auto const [left, right, where] = k;
            auto const mixed = (std::uint64_t(left) << 32 | right) ^ where * 0xbf58476d1ce4e5b9;
            return static_cast<std::size_t>((mixed ^ mixed >> 29) * 0x9e3779b97f4a7c15);
        }
    };

    std::size_t m_ranks;
    std::size_t m_words;
    bool m_alike;
    std::vector<std::uint64_t> m_sets; // of ranks, m_words for each value
    std::vector<node> m_nodes;
    std::unordered_map<key, value, hash> m_known;
    std::map<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>, origin> m_places;
    origin m_instances = 0;
};

} // namespace papcoll::inline v0::detail
