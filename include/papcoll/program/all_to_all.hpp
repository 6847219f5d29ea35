// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/block_exchange.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <bit>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The memory of an all-to-all: a block for each rank, and room for one from each. In place the blocks that
/// leave are copied first, since others arrive where they are.
class exchanged_blocks {
public:
    exchanged_blocks(program_builder& builder, int rank, std::span<block_range const> leaving,
                     std::span<block_range const> arriving)
        : m_ranks(static_cast<int>(leaving.size()))
        , m_rank(rank) {
        for (auto const& block : leaving) m_leaving.emplace_back(memory::in, block.offset, block.size);
        for (auto const& block : arriving) m_arriving.emplace_back(memory::out, block.offset, block.size);
        if (builder.in_place())
            set_aside(builder);
        else
            builder.copy(from(rank), to(rank));
    }

    [[nodiscard]] auto ranks() const -> int { return m_ranks; }
    [[nodiscard]] auto to(int rank) const -> region { return m_leaving[index(rank)]; }
    [[nodiscard]] auto from(int rank) const -> region { return m_arriving[index(rank)]; }
    [[nodiscard]] auto above(int distance) const -> int { return (m_rank + distance) % m_ranks; }
    [[nodiscard]] auto below(int distance) const -> int { return (m_rank - distance + m_ranks) % m_ranks; }

private:
    static auto index(int rank) -> std::size_t { return static_cast<std::size_t>(rank); }
    void set_aside(program_builder& builder) {
        std::vector<region> pairs;
        for (int r = 0; r < m_ranks; ++r) {
            auto& block = m_leaving[index(r)];
            if (m_ranks == 1 || block.size() == 0) continue;
            auto const copied = builder.scratch(block.size());
            pairs.push_back(copied);
            pairs.push_back(block);
            block = copied;
        }
        if (!pairs.empty()) builder.copy(pairs);
    }

    int m_ranks;
    int m_rank;
    std::vector<region> m_leaving, m_arriving;
};

/// Each block goes to its rank itself: to the rank at distance 1 above and from the one at distance 1 below,
/// then those at distance 2, and so on. Empty blocks do not travel.
inline void write_direct_exchange(program_builder& to, block_exchange const& how,
                                  exchanged_blocks const& blocks) {
    to.use({.receives = how.window, .sends = how.window, .admission = false});
    bool const in_steps = how.way == block_exchange::route::in_steps;
    std::vector<program::index> before, now;
    auto const begins = [&] {
        for (auto const earlier : before) to.after(earlier);
    };
    for (int distance = 1; distance < blocks.ranks(); ++distance) {
        auto const arriving = blocks.from(blocks.below(distance));
        auto const leaving = blocks.to(blocks.above(distance));
        now.clear();
        if (arriving.size() > 0) {
            begins();
            now.push_back(to.receive(blocks.below(distance), arriving));
        }
        if (leaving.size() > 0) {
            begins();
            now.push_back(to.send(blocks.above(distance), leaving));
        }
        if (in_steps && !now.empty()) before.swap(now);
    }
}

/// In round k every rank sends to the rank 2^k above it all blocks that still have to go a distance with bit
/// k set.
///
/// A block that has to go the distance i in all makes one hop for each bit of i. It has the same place on
/// every rank r on its way, that of the block from rank r − i, which is where it must end. Every other hop
/// goes to a second buffer instead, so that a round does not receive what it sends, the last one always to
/// the user's memory; the first one leaves from the user's memory. So no block is copied or rotated. Taken
/// from the farthest on, blocks that are neighbours in one buffer are neighbours in the other, too, so that a
/// round names few regions.
inline void write_relayed_exchange(program_builder& to, std::size_t n, exchanged_blocks const& blocks) {
    int const ranks = blocks.ranks();
    auto const between = to.scratch(ranks > 3 ? n * static_cast<std::size_t>(ranks) : 0);
    // Of a block with the distance i before a round: by how many hops are left.
    auto const place = [&](int i, int round) {
        if (std::popcount(static_cast<unsigned>(i) >> static_cast<unsigned>(round)) % 2 == 0)
            return blocks.from(blocks.below(i));
        return between.part(static_cast<std::size_t>(ranks - 1 - i) * n, n);
    };
    std::vector<region> leaving, arriving;
    for (int round = 0; (1 << round) < ranks; ++round) {
        int const hop = 1 << round;
        leaving.clear();
        arriving.clear();
        for (int i = ranks - 1; i >= hop; --i) {
            if ((i & hop) == 0) continue;
            bool const first_hop = (i & (hop - 1)) == 0;
            leaving.push_back(first_hop ? blocks.to(blocks.above(i)) : place(i, round));
            arriving.push_back(place(i, round + 1));
        }
        to.send(blocks.above(hop), leaving);
        to.receive(blocks.below(hop), arriving);
    }
}

} // namespace detail

/// An all-to-all: leaving[r] goes to rank r, arriving[r] comes from it, of as many elements as that rank has
/// for this one. By way of others go blocks of equal size alone.
///
/// No deadlock: the messages of one distance, or of one round, wait for those of smaller ones alone.
inline void write_all_to_all(program_builder& to, block_exchange const& how, int rank,
                             std::span<block_range const> leaving, std::span<block_range const> arriving) {
    detail::exchanged_blocks const blocks(to, rank, leaving, arriving);
    if (how.way != block_exchange::route::relayed)
        detail::write_direct_exchange(to, how, blocks);
    else if (leaving[0].size > 0)
        detail::write_relayed_exchange(to, leaving[0].size, blocks);
}

} // namespace papcoll::inline v0
