// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace papcoll::inline v0 {

/// Prefixes: each rank gets the combination of the operands of all ranks up to itself (inclusive, a scan), or
/// of those before it (exclusive, an exscan, in which rank 0 gets nothing). Operands are combined in the
/// order of the ranks.
enum class prefix_kind { inclusive, exclusive };

namespace detail {

/// The rounds of one rank: in each it sends what it has to a rank above it, and puts what comes from as far
/// below it in front of what it has.
class prefix_rounds {
public:
    prefix_rounds(program_builder& to, int ranks, int rank, std::size_t n)
        : m_to(to)
        , m_ranks(ranks)
        , m_rank(rank)
        , m_in(memory::in, 0, n)
        , m_out(memory::out, 0, n)
        , m_arriving{to.scratch(ranks > 2 ? n : 0), to.scratch(ranks > 3 ? n : 0)} {}

    /// Round k reaches 2^k ranks down: ⌈log2 P⌉ rounds of one message, and as many combinations.
    void inclusive() {
        auto held = m_in;
        if (m_arriving[0].size() == 0) m_arriving[0] = m_to.scratch(m_in.size());
        for (int skip = 1; skip < m_ranks; skip *= 2) {
            send(skip, held);
            if (m_rank < skip) continue;
            auto const below = receive(skip);
            m_to.combine(m_out, below, held);
            held = m_out;
        }
        if (m_rank == 0) m_to.copy(m_out, m_in);
    }
    /// The first round gives each rank the operand of the one below it. In the second, which reaches two
    /// ranks down, a rank sends this and its own together, so that there are three then; from there on they
    /// double: the rounds reach 1, 2, 3, 6, 12, … ranks down. ⌈log2(P − 1) + log2(4/3)⌉ rounds.
    void exclusive() {
        auto const held = m_to.in_place() ? m_to.scratch(m_in.size()) : m_out;
        send(1, m_in);
        if (m_rank >= 1) m_to.receive(m_rank - 1, held);
        if (m_rank + 2 < m_ranks) send(2, m_rank == 0 ? m_in : with_own(held));
        if (m_rank >= 2) m_to.combine(held, receive(2), held);
        for (int skip = 3; skip + 1 < m_ranks; skip *= 2) {
            if (m_rank >= 1) send(skip, held);
            if (m_rank > skip) m_to.combine(held, receive(skip), held);
        }
        if (m_rank >= 1) m_to.copy(m_out, held);
    }

    /// How many rounds exclusive() has: ⌈log2(P − 1) + log2(4/3)⌉.
    static auto of_exclusive(int ranks) -> int {
        int rounds = ranks > 1 ? 1 : 0;
        for (int reached = 1; reached + 1 < ranks; ++rounds) reached = rounds == 1 ? 3 : 2 * reached;
        return rounds;
    }

private:
    void send(int skip, region const& what) {
        if (m_rank + skip < m_ranks) m_to.send(m_rank + skip, what);
    }
    /// Two rounds have memory of their own, so that the next message may come while this one is combined.
    auto receive(int skip) -> region {
        auto const& place = m_arriving[m_received++ % 2];
        auto const where = place.size() > 0 ? place : m_arriving[0];
        m_to.receive(m_rank - skip, where);
        return where;
    }
    auto with_own(region const& held) -> region {
        auto const both = m_to.scratch(m_in.size());
        m_to.combine(both, held, m_in);
        return both;
    }

    program_builder& m_to;
    int m_ranks;
    int m_rank;
    region m_in, m_out;
    std::array<region, 2> m_arriving;
    std::size_t m_received = 0;
};

} // namespace detail

/// Prefixes of n elements in the fewest rounds known: a scan by recursive doubling (Hillis and Steele), an
/// exscan by the rounds of Träff, Optimized exclusive scans (123-doubling), 2025. Every message has all n
/// elements.
inline void write_prefix_doubling(program_builder& to, prefix_kind kind, int ranks, int rank, std::size_t n) {
    if (n == 0 || (ranks == 1 && kind == prefix_kind::exclusive)) return;
    detail::prefix_rounds rounds(to, ranks, rank, n);
    if (kind == prefix_kind::inclusive)
        rounds.inclusive();
    else
        rounds.exclusive();
}

/// Prefixes of n elements that go from rank to rank, in blocks, each as soon as it is there: blocks + P − 2
/// rounds of one block, the least volume, and one combination of each element per rank.
inline void write_prefix_chain(program_builder& to, prefix_kind kind, int ranks, int rank, std::size_t n,
                               int blocks) {
    bool const includes = kind == prefix_kind::inclusive;
    bool const is_last = rank + 1 == ranks;
    block_partition const cut{n, blocks};
    auto const slots = static_cast<std::size_t>(std::clamp(blocks, 1, 4)); // blocks that may be under way
    auto const each = cut.largest();
    bool const keeps = to.in_place() || includes; // what comes cannot go where the result goes
    auto const arriving = to.scratch(rank > 0 && keeps ? slots * each : 0);
    auto const leaving = to.scratch(rank > 0 && !is_last && !includes ? slots * each : 0);
    for (int b = 0; b < blocks; ++b) {
        auto const size = cut.size(b);
        auto const slot = static_cast<std::size_t>(b) % slots * each;
        region const own(memory::in, cut.offset(b), size), result(memory::out, cut.offset(b), size);
        if (size == 0) continue;
        if (rank == 0) {
            if (includes) to.copy(result, own);
            if (!is_last) to.send(1, own);
            continue;
        }
        auto const before = keeps ? arriving.part(slot, size) : result;
        to.receive(rank - 1, before);
        auto const up_to_here = includes ? result : leaving.part(is_last ? 0 : slot, is_last ? 0 : size);
        if (up_to_here.size() > 0) to.combine(up_to_here, before, own);
        if (!is_last) to.send(rank + 1, up_to_here);
        if (!includes) to.copy(result, before);
    }
}

} // namespace papcoll::inline v0
