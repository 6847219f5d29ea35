// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/block_exchange.hpp>

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The memory of an all-to-all: a block of n elements for each rank, and room for one from each. In place the
/// blocks that leave are copied first, since others arrive where they are.
class exchanged_blocks {
public:
    exchanged_blocks(program_builder& builder, int ranks, int rank, std::size_t n)
        : m_ranks(ranks)
        , m_rank(rank)
        , m_size(n)
        , m_leaving(memory::in, 0, n * static_cast<std::size_t>(ranks)) {
        if (!builder.in_place()) {
            builder.copy(from(rank), to(rank));
        } else if (ranks > 1) {
            auto const copied = builder.scratch(m_leaving.size());
            builder.copy(copied, m_leaving);
            m_leaving = copied;
        }
    }

    [[nodiscard]] auto to(int rank) const -> region { return m_leaving.part(offset(rank), m_size); }
    [[nodiscard]] auto from(int rank) const -> region { return {memory::out, offset(rank), m_size}; }
    [[nodiscard]] auto above(int distance) const -> int { return (m_rank + distance) % m_ranks; }
    [[nodiscard]] auto below(int distance) const -> int { return (m_rank - distance + m_ranks) % m_ranks; }

private:
    [[nodiscard]] auto offset(int rank) const -> std::size_t {
        return static_cast<std::size_t>(rank) * m_size;
    }

    int m_ranks;
    int m_rank;
    std::size_t m_size;
    region m_leaving;
};

/// Each block goes to its rank itself: to the rank at distance 1 above and from the one at distance 1 below,
/// then those at distance 2, and so on.
inline void write_direct_exchange(program_builder& to, block_exchange const& how, int ranks,
                                  exchanged_blocks const& blocks) {
    to.use({.receives = how.window, .sends = how.window, .admission = false});
    bool const in_steps = how.way == block_exchange::route::in_steps;
    program::index sent = 0, received = 0;
    for (int distance = 1; distance < ranks; ++distance) {
        auto const wait_for_step_before = [&] {
            if (!in_steps || distance == 1) return;
            to.after(received);
            to.after(sent);
        };
        wait_for_step_before();
        int const below = blocks.below(distance), above = blocks.above(distance);
        auto const next = to.receive(below, blocks.from(below));
        wait_for_step_before();
        sent = to.send(above, blocks.to(above));
        received = next;
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
inline void write_relayed_exchange(program_builder& to, int ranks, std::size_t n,
                                   exchanged_blocks const& blocks) {
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

/// An all-to-all of blocks of n elements.
///
/// No deadlock: the messages of one distance, or of one round, wait for those of smaller ones alone.
inline void write_all_to_all(program_builder& to, block_exchange const& how, int ranks, int rank,
                             std::size_t n) {
    if (n == 0) return;
    detail::exchanged_blocks const blocks(to, ranks, rank, n);
    if (how.way == block_exchange::route::relayed)
        detail::write_relayed_exchange(to, ranks, n, blocks);
    else
        detail::write_direct_exchange(to, how, ranks, blocks);
}

} // namespace papcoll::inline v0
