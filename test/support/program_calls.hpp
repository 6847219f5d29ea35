// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/promise.hpp>
#include <papcoll/analysis/verify_program.hpp>
#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "short_scripts.hpp"

/// Calls of collectives as all ranks make them, and the programs that policies have for them.
namespace program_calls {

using papcoll::collective_kind;

inline constexpr papcoll::link_model fast{papcoll::ticks(1'000), 0.1};
inline constexpr papcoll::link_model slow{papcoll::ticks(20'000), 80.0};
/// Nothing is known of it.
inline constexpr papcoll::link_model unknown{};

/// One call on all ranks.
struct call {
    papcoll::call_shape shape; ///< of any rank; spans are set from the members below
    /// Which ranks call in place, or contribute later: none, all, or every second one.
    enum class which { none, all, odd } in_place = which::none, late = which::none;
    std::vector<std::size_t> sizes = {};
    /// Of an uneven all-to-all: elements from rank s to rank r are exchanged[s P + r].
    std::vector<std::size_t> exchanged = {};
    /// As many as the other way.
    bool symmetric = false;
    /// Rank r's parts are behind each other, with r elements between them.
    bool apart = false;
    std::vector<int> nodes = {};

    [[nodiscard]] static auto has(which w, int rank) -> bool {
        return w == which::all || (w == which::odd && rank % 2 == 1);
    }
    [[nodiscard]] auto is_in_place(int rank) const -> bool {
        bool const rooted = shape.operation == collective_kind::reduce ||
                            shape.operation == collective_kind::gather ||
                            shape.operation == collective_kind::scatter;
        return shape.operation != collective_kind::broadcast && shape.operation != collective_kind::barrier &&
               (!rooted || rank == shape.root) && (exchanged.empty() || symmetric) && has(in_place, rank);
    }
    [[nodiscard]] auto is_late(int rank) const -> bool {
        return ((shape.operation == collective_kind::gather && sizes.empty()) ||
                shape.operation == collective_kind::all_gather) &&
               has(late, rank);
    }
    [[nodiscard]] static auto displacements(int rank, std::vector<std::size_t> const& sizes)
        -> std::vector<std::size_t> {
        std::vector<std::size_t> result;
        std::size_t next = 0;
        for (auto const size : sizes) {
            result.push_back(next);
            next += size + static_cast<std::size_t>(rank);
        }
        return result;
    }
    /// Of an uneven all-to-all.
    [[nodiscard]] auto leaving(int rank) const -> std::vector<std::size_t> {
        auto const p = static_cast<std::ptrdiff_t>(shape.ranks);
        auto const begin = exchanged.begin() + rank * p;
        return {begin, begin + p};
    }
    [[nodiscard]] auto arriving(int rank) const -> std::vector<std::size_t> {
        std::vector<std::size_t> result;
        for (std::size_t i = static_cast<std::size_t>(rank); i < exchanged.size();
             i += static_cast<std::size_t>(shape.ranks))
            result.push_back(exchanged[i]);
        return result;
    }
    /// Calls f with the shape of each rank.
    template <class F>
    void each_shape(F f) const {
        for (int rank = 0; rank < shape.ranks; ++rank) {
            auto mine = shape;
            auto const list = exchanged.empty() ? sizes : arriving(rank);
            auto const begins = apart ? displacements(rank, list) : std::vector<std::size_t>();
            auto const leaving_list = exchanged.empty() ? std::vector<std::size_t>() : leaving(rank);
            auto const leaving_begins = displacements(apart ? rank : 0, leaving_list);
            mine.rank = rank;
            mine.sizes = list;
            mine.displacements = begins;
            mine.leaving_sizes = leaving_list;
            mine.leaving_displacements = leaving_begins;
            if (mine.is_uneven() && exchanged.empty() && rank != shape.root) { // all that it knows
                mine.sizes = mine.sizes.subspan(static_cast<std::size_t>(rank), 1);
                mine.displacements = {};
                mine.count = mine.sizes[0];
            }
            mine.nodes = nodes;
            mine.in_place = is_in_place(rank);
            mine.late = is_late(rank);
            f(mine);
        }
    }
    [[nodiscard]] auto text() const -> std::string {
        std::ostringstream out;
        out << to_string(shape.operation) << " of " << shape.count << " elements of " << shape.element_bytes
            << " bytes on " << shape.ranks << " ranks, root " << shape.root << ", in place "
            << static_cast<int>(in_place) << ", late " << static_cast<int>(late) << ", apart " << apart
            << ", exact " << shape.exact << ", commutative " << shape.commutative << ", sizes";
        for (auto const size : sizes) out << ' ' << size;
        for (auto const size : exchanged) out << ' ' << size;
        out << ", nodes";
        for (auto const node : nodes) out << ' ' << node;
        return out.str();
    }
};

/// What the call promises.
[[nodiscard]] inline auto promise_of_call(call const& c) -> papcoll::promise {
    auto const& s = c.shape;
    papcoll::promise_of make(s.ranks);
    bool const all_get = s.operation == collective_kind::all_reduce;
    make.in_rank_order(!s.commutative).alike(all_get && !s.exact);
    std::vector<std::vector<papcoll::block_range>> parts, leaving;
    c.each_shape([&](papcoll::call_shape const& mine) {
        make.in_place(mine.rank, mine.in_place).late(mine.rank, mine.late);
        parts.push_back(papcoll::rank_ranges(mine));
        if (mine.operation == collective_kind::all_to_all) leaving.push_back(papcoll::leaving_ranges(mine));
    });
    switch (s.operation) {
    case collective_kind::broadcast:
        return make.broadcast(s.root, s.count);
    case collective_kind::reduce:
        return make.reduce(s.root, s.count);
    case collective_kind::all_reduce:
        return make.all_reduce(s.count);
    case collective_kind::gather:
        return make.gather(s.root, parts[static_cast<std::size_t>(s.root)]);
    case collective_kind::all_gather:
        return make.all_gather(parts);
    case collective_kind::reduce_scatter:
        return make.reduce_scatter(parts.front());
    case collective_kind::scatter:
        return make.scatter(s.root, parts[static_cast<std::size_t>(s.root)]);
    case collective_kind::scan:
        return make.scan(s.count);
    case collective_kind::exscan:
        return make.exscan(s.count);
    case collective_kind::barrier:
        return make.barrier();
    case collective_kind::all_to_all:
        break;
    }
    return make.all_to_all(leaving, parts);
}

/// The programs of all ranks.
template <class Policy>
[[nodiscard]] auto programs_of(Policy const& policy, call const& c, papcoll::link_model const& link)
    -> std::vector<papcoll::program> {
    std::vector<papcoll::program> programs;
    programs.reserve(static_cast<std::size_t>(c.shape.ranks));
    c.each_shape([&](papcoll::call_shape const& mine) { programs.push_back(policy.plan(mine, link)); });
    return programs;
}

/// What is wrong with them, if anything is, and with which call.
template <class Policy>
[[nodiscard]] auto violation_of(Policy const& policy, call const& c, papcoll::link_model const& link)
    -> std::optional<std::string> {
    auto const programs = programs_of(policy, c, link);
    auto violation = papcoll::verify(programs, promise_of_call(c));
    if (!violation) violation = short_scripts::violation_of(programs);
    if (!violation) return {};
    return std::string(policy.name()) + ", " + c.text() + ", latency " +
           std::to_string(link.latency.count()) + ": " + *violation;
}

} // namespace program_calls
