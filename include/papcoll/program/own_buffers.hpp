// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// Collectives among the ranks of one node whose buffers are in the memory of the node, call after call: what
/// a rank gives others take, or combine, from where it is, and where all have the same result there is one of
/// it, which all of them read. Operands are combined in the order of the ranks.
///
/// The programs copy from `in` to the node and from the node to `out` as others do. Where both are the same
/// memory nothing is moved. They end when nobody uses this rank's input any more, so that it may be written
/// again; and nobody writes to the result before all ranks have begun the next call.
class own_buffers {
public:
    /// So many ranks, of which this is one. `stretch`: elements between the inputs of two ranks; behind those
    /// of all is what they share, of `shared` elements.
    own_buffers(program_builder& to, int ranks, int rank, std::size_t stretch, std::size_t shared)
        : m_to(to)
        , m_ranks(ranks)
        , m_rank(rank)
        , m_stretch(stretch)
        , m_all(stretch * index(ranks) + shared) {}

    /// Elements of the memory of the node.
    [[nodiscard]] auto size() const -> std::size_t { return m_all; }

    /// Where rank r has n elements that it gives.
    [[nodiscard]] auto input(int r, std::size_t n) const -> region {
        return {memory::node, index(r) * m_stretch, n};
    }
    /// n elements of what all share, from `offset` on.
    [[nodiscard]] auto shared(std::size_t offset, std::size_t n) const -> region {
        return {memory::node, index(m_ranks) * m_stretch + offset, n};
    }

    /// Each rank combines a share of `in` into what all have as `out`, in pieces of this size.
    void all_reduce(region const& in, region const& out, std::size_t piece) {
        auto const n = in.size();
        auto const share = share_of(n, m_rank);
        m_to.copy(input(m_rank, n), in);
        post();
        combine_inputs(share, shared(share.offset, share.size), piece);
        post();
        for_others([&](int r) {
            auto const theirs = share_of(n, r);
            await(r, 2, shared(theirs.offset, theirs.size), input(m_rank, n));
        });
        m_to.copy(out, shared(0, n));
        m_posted += 2;
    }
    /// What all ranks have in parts[r] of their `in` is combined into `out` of rank r, in pieces of this
    /// size.
    void reduce_scatter(region const& in, std::span<block_range const> parts, region const& out,
                        std::size_t piece) {
        m_to.copy(input(m_rank, in.size()), in);
        post();
        combine_inputs(parts[index(m_rank)], out, piece);
        post();
        for_others([&](int r) { await(r, 2, input(m_rank, in.size())); });
        m_posted += 2;
    }
    /// The part of each rank goes to parts[r] of what all have as `out`.
    void all_gather(region const& part, std::span<block_range const> parts, region const& out) {
        auto const place = [&](int r) { return shared(parts[index(r)].offset, parts[index(r)].size); };
        post();
        for_others([&](int r) { await(r, 1, place(m_rank)); });
        m_to.copy(place(m_rank), part);
        post();
        for_others([&](int r) { await(r, 2, place(r)); });
        m_to.copy(out, shared(0, out.size()));
        m_posted += 2;
    }
    /// parts[r] of `in` goes to rank r, which has it in parts[this rank] of its `out`.
    void all_to_all(region const& in, std::span<block_range const> parts, region const& out) {
        auto const part_of = [&](region const& all, int r) {
            return all.part(parts[index(r)].offset, parts[index(r)].size);
        };
        m_to.copy(input(m_rank, in.size()), in);
        post();
        m_to.copy(part_of(out, m_rank), part_of(in, m_rank));
        for_others([&](int r) {
            auto const source = part_of(input(r, in.size()), m_rank);
            await(r, 1, source);
            m_to.copy(part_of(out, r), source);
        });
        post();
        for_others([&](int r) { await(r, 2, input(m_rank, in.size())); });
        m_posted += 2;
    }

private:
    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    [[nodiscard]] auto share_of(std::size_t n, int r) const -> block_range {
        block_partition const shares{n, m_ranks};
        return {shares.offset(r), shares.size(r)};
    }
    /// All that this rank has done is done.
    void post() { m_to.post(region(memory::node, 0, m_all)); }
    template <class... Regions>
    void await(int r, program::index post, Regions const&... about) {
        std::vector const all{about...};
        m_to.await(r, m_posted + post, all);
    }
    /// The next ranks first, so that not all look at the same one.
    template <class F>
    void for_others(F f) const {
        for (int i = 1; i < m_ranks; ++i) f((m_rank + i) % m_ranks);
    }
    /// target ← this range of input 0 ⊕ that of input 1 ⊕ …. The target is written when all inputs are there.
    void combine_inputs(block_range const& range, region const& target, std::size_t piece) {
        auto const partial = m_to.scratch(m_ranks > 2 ? std::min(piece, range.size) : 0);
        block_partition const pieces{range.size, static_cast<int>((range.size + piece - 1) / piece)};
        for (int k = 0; k < pieces.blocks; ++k) {
            auto const n = pieces.size(k);
            auto const operand = [&](int r) {
                auto const there = input(r, range.offset + range.size).part(range.offset, range.size);
                if (k == 0 && r != m_rank) await(r, 1, there);
                return there.part(pieces.offset(k), n);
            };
            auto held = operand(0);
            for (int r = 1; r < m_ranks; ++r) {
                auto const next = operand(r);
                auto const result = r + 1 < m_ranks ? partial.part(0, n) : target.part(pieces.offset(k), n);
                m_to.combine(result, held, next);
                held = result;
            }
        }
    }

    program_builder& m_to;
    int m_ranks;
    int m_rank;
    std::size_t m_stretch;
    std::size_t m_all;
    program::index m_posted = 0; // by each rank, in the collectives before
};

} // namespace papcoll::inline v0
