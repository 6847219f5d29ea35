// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/problem.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// Elements of what a rank contributes to a collective, and where they lie.
struct contributed_part {
    /// In place of a rank: the combination of the contributions of all ranks, element by element.
    static constexpr int all_ranks = -1;
    /// In place of a rank: the same of the ranks up to this one.
    [[nodiscard]] static constexpr auto ranks_up_to(int rank) -> int { return -2 - rank; }

    /// Where it lies at the end.
    region where;
    int rank = 0;
    /// Whether several ranks stand in place of one.
    [[nodiscard]] auto is_combination() const -> bool { return rank < 0; }
    /// Of a combination: the last of the ranks that are in it, of so many.
    [[nodiscard]] auto last_rank(int ranks) const -> int { return rank == all_ranks ? ranks - 1 : -2 - rank; }
    /// Their numbers begin with this one. In a reduction operands of one number are combined.
    std::size_t first = 0;
};

/// What one rank has at the beginning of a collective, and what it has at the end.
struct rank_promise {
    /// How many elements of the user's memory the rank has.
    std::size_t in = 0, out = 0;
    /// Whether `in` is in `out`.
    bool in_place = false;
    /// What the rank contributes: there at the beginning, or put there later by the user.
    std::vector<contributed_part> given = {};
    /// Whether the data of this rank comes later, as in `open_...` calls.
    bool late = false;
    /// What is in `out` at the end. Nothing else of it is written,
    std::vector<contributed_part> results = {};
    /// but for these regions, whose contents are unspecified then.
    std::vector<region> unspecified = {};
};

/// What a collective promises; one entry per rank.
struct promise {
    /// What is promised to each rank.
    std::vector<rank_promise> ranks;
    /// Contributions are combined in the order of the ranks.
    bool in_rank_order = false;
    /// What all ranks combine has the same bits on all of them.
    bool alike = false;
    /// No rank ends before all have begun.
    bool synchronises = false;
};

/// Makes the promise of a collective. Ranks are not in place, contribute at the beginning, and operators are
/// exactly associative and commutative unless it is told otherwise first:
///
///     verify(programs, promise_of(ranks).in_place(root).reduce(root, n));
///
/// Throws std::invalid_argument for roots that are no ranks, and unless there is one part for each rank.
class promise_of {
public:
    explicit promise_of(int ranks)
        : m_promise{std::vector<rank_promise>(static_cast<std::size_t>(ranks))} {}

    /// Where the result of this rank goes are its operands, or its part.
    auto in_place(int rank, bool is = true) -> promise_of& {
        at(rank).in_place = is;
        return *this;
    }
    /// This rank contributes later: where its result goes, if it has one.
    auto late(int rank, bool is = true) -> promise_of& {
        at(rank).late = is;
        return *this;
    }
    /// The operator does not commute.
    auto in_rank_order(bool is = true) -> promise_of& {
        m_promise.in_rank_order = is;
        return *this;
    }
    /// The operator is not exactly associative, and all ranks get the result.
    auto alike(bool is = true) -> promise_of& {
        m_promise.alike = is;
        return *this;
    }

    /// n elements of the root.
    [[nodiscard]] auto broadcast(int root, std::size_t n) const -> promise {
        check_rank(root);
        return make([&](int rank, rank_promise& p) {
            p.out = n;
            p.results.push_back({region(memory::out, 0, n), root, 0});
            if (rank == root) p.given = p.results;
        });
    }
    /// n elements of each rank.
    [[nodiscard]] auto reduce(int root, std::size_t n) const -> promise {
        check_rank(root);
        return make([&](int rank, rank_promise& p) {
            give_operands(rank, n, p);
            if (rank == root) combined(0, n, 0, p);
        });
    }
    /// n elements of each rank are combined everywhere.
    [[nodiscard]] auto all_reduce(std::size_t n) const -> promise {
        return make([&](int rank, rank_promise& p) {
            give_operands(rank, n, p);
            combined(0, n, 0, p);
        });
    }
    /// The elements that lie in parts[r] belong to rank r.
    [[nodiscard]] auto reduce_scatter(std::span<block_range const> parts) const -> promise {
        check_parts(parts);
        return make([&](int rank, rank_promise& p) {
            auto const n = end_of(parts);
            auto const& mine = parts[index(rank)];
            give_operands(rank, n, p);
            combined(0, mine.size, mine.offset, p);
            if (!p.in_place) return;
            p.out = n;
            p.unspecified.push_back(region(memory::out, mine.size, n - mine.size));
        });
    }
    /// The part of rank r goes to parts[r] of the root.
    [[nodiscard]] auto gather(int root, std::span<block_range const> parts) const -> promise {
        check_rank(root);
        check_parts(parts);
        return make([&](int rank, rank_promise& p) { gathered(rank, rank == root, parts, p); });
    }
    /// The part of rank r goes to places[k][r] of rank k, or to places[0][r] of all.
    [[nodiscard]] auto all_gather(std::span<std::vector<block_range> const> places) const -> promise {
        if (places.size() != 1) check_parts(places);
        for (auto const& parts : places) check_parts(parts);
        return make([&](int rank, rank_promise& p) {
            gathered(rank, true, places[places.size() == 1 ? 0 : index(rank)], p);
        });
    }
    [[nodiscard]] auto all_gather(std::vector<block_range> const& parts) const -> promise {
        return all_gather(std::span(&parts, 1));
    }
    /// parts[r] of the root goes to rank r; in place the root's own stays there.
    [[nodiscard]] auto scatter(int root, std::span<block_range const> parts) const -> promise {
        check_rank(root);
        check_parts(parts);
        return make([&](int rank, rank_promise& p) {
            auto const& mine = parts[index(rank)];
            p.out = mine.size;
            if (rank == root) give_operands(rank, end_of(parts), p);
            if (rank == root && p.in_place) p.out = p.in;
            auto const place = rank == root && p.in_place ? mine.offset : 0;
            p.results.push_back({region(memory::out, place, mine.size), root, mine.offset});
        });
    }
    /// Rank r gets the combination of the n elements of all ranks up to itself.
    [[nodiscard]] auto scan(std::size_t n) const -> promise {
        return make([&](int rank, rank_promise& p) {
            give_operands(rank, n, p);
            prefix(rank, n, p);
        });
    }
    /// The same of all ranks before it; rank 0 gets nothing.
    [[nodiscard]] auto exscan(std::size_t n) const -> promise {
        return make([&](int rank, rank_promise& p) {
            give_operands(rank, n, p);
            p.out = n;
            if (rank > 0) prefix(rank - 1, n, p);
        });
    }
    /// No data; no rank ends before all have begun.
    [[nodiscard]] auto barrier() const -> promise {
        auto result = m_promise;
        result.synchronises = true;
        return result;
    }
    /// leaving[s][r] of rank s goes to arriving[r][s] of rank r.
    [[nodiscard]] auto all_to_all(std::span<std::vector<block_range> const> leaving,
                                  std::span<std::vector<block_range> const> arriving) const -> promise {
        for (auto const& all : {leaving, arriving}) {
            check_parts(all);
            for (auto const& parts : all) check_parts(parts);
        }
        return make([&](int rank, rank_promise& p) {
            give_operands(rank, end_of(leaving[index(rank)]), p);
            p.out = end_of(arriving[index(rank)]);
            for (std::size_t s = 0; s < arriving[index(rank)].size(); ++s) {
                auto const& to = arriving[index(rank)][s];
                p.results.push_back({region(memory::out, to.offset, to.size), static_cast<int>(s),
                                     leaving[s][index(rank)].offset});
            }
        });
    }
    /// n elements from each rank to each.
    [[nodiscard]] auto all_to_all(std::size_t n) const -> promise {
        auto const ranks = m_promise.ranks.size();
        return make([&](int rank, rank_promise& p) {
            give_operands(rank, n * ranks, p);
            p.out = n * ranks;
            for (std::size_t r = 0; r < ranks; ++r)
                p.results.push_back({region(memory::out, n * r, n), static_cast<int>(r), n * index(rank)});
        });
    }

private:
    static auto index(int rank) -> std::size_t { return static_cast<std::size_t>(rank); }
    auto at(int rank) -> rank_promise& {
        check_rank(rank);
        return m_promise.ranks[index(rank)];
    }
    void check_rank(int rank) const {
        detail::require(rank >= 0 && index(rank) < m_promise.ranks.size(),
                        "rank must be one of those promised to", rank);
    }
    template <class Parts>
    void check_parts(Parts const& parts) const {
        detail::require(parts.size() == m_promise.ranks.size(), "there must be one part for each rank",
                        static_cast<long long>(parts.size()));
    }
    static auto end_of(std::span<block_range const> parts) -> std::size_t {
        std::size_t end = 0;
        for (auto const& part : parts)
            if (part.size > 0 && part.offset + part.size > end) end = part.offset + part.size;
        return end;
    }

    template <class F>
    [[nodiscard]] auto make(F fill) const -> promise {
        auto result = m_promise;
        for (std::size_t r = 0; r < result.ranks.size(); ++r) fill(static_cast<int>(r), result.ranks[r]);
        return result;
    }
    /// Operands in place are where the result goes.
    static void give_operands(int rank, std::size_t n, rank_promise& p) {
        p.in = n;
        p.given.push_back({region(p.in_place ? memory::out : memory::in, 0, n), rank, 0});
    }
    static void combined(std::size_t at, std::size_t n, std::size_t first, rank_promise& p) {
        p.out = n;
        p.results.push_back({region(memory::out, at, n), contributed_part::all_ranks, first});
    }
    static void prefix(int last, std::size_t n, rank_promise& p) {
        p.out = n;
        p.results.push_back({region(memory::out, 0, n), contributed_part::ranks_up_to(last), 0});
    }
    static void gathered(int rank, bool gets, std::span<block_range const> parts, rank_promise& p) {
        auto const& mine = parts[index(rank)];
        bool const at_target = gets && (p.in_place || p.late);
        p.given.push_back(
            {at_target ? region(memory::out, mine.offset, mine.size) : region(memory::in, 0, mine.size), rank,
             0});
        if (!at_target) p.in = mine.size;
        if (!gets) return;
        p.out = end_of(parts);
        for (std::size_t r = 0; r < parts.size(); ++r)
            p.results.push_back(
                {region(memory::out, parts[r].offset, parts[r].size), static_cast<int>(r), 0});
    }

    promise m_promise;
};

} // namespace papcoll::inline v0
