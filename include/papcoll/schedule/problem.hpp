// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace papcoll::inline v0 {

/// All times are integers, so that every rank computes the same schedule to the bit.
using ticks = std::chrono::nanoseconds;

/// What a scheduler is asked for. The spans are not owned and must outlive the call.
///
/// Every member must be the same on all ranks, arrivals included: each rank computes its share of the
/// schedule alone.
struct problem {
    /// Number of ranks, at least 1.
    int ranks = 1;
    /// The rank that receives the result of a reduction, or has the data of a dissemination.
    int root = 0;
    /// Number of blocks (segments) the data is cut into, at least 1.
    int blocks = 1;
    /// When each rank arrives, on one clock of any origin; empty: all arrive together.
    std::span<ticks const> arrivals = {};
    /// For each block the rank that has it complete at the end of a reduction, or has it at the beginning
    /// of a dissemination; empty: the root owns all.
    std::span<int const> owners = {};

    /// When a rank arrives; 0 where no arrivals are given.
    [[nodiscard]] constexpr auto arrival(int rank) const -> ticks {
        return arrivals.empty() ? ticks{0} : arrivals[static_cast<std::size_t>(rank)];
    }
    /// Who owns a block: the root where no owners are given.
    [[nodiscard]] constexpr auto owner(int block) const -> int {
        return owners.empty() ? root : owners[static_cast<std::size_t>(block)];
    }
};

namespace detail {

/// To whole ticks, 13 days at most: sums of thousands do not overflow.
[[nodiscard]] inline auto whole_ticks(double nanoseconds) -> ticks {
    return ticks(static_cast<std::int64_t>(std::llround(nanoseconds < 0x1p50 ? nanoseconds : 0x1p50)));
}

inline void require(bool condition, char const* what, long long value) {
    if (!condition)
        throw std::invalid_argument("papcoll: " + std::string(what) + ", but it is " + std::to_string(value));
}

} // namespace detail

/// Throws std::invalid_argument, naming the member and its value, unless ranks and blocks are at least 1,
/// the root and every owner are ranks, and arrivals and owners are empty or have one entry per rank or block.
inline void check(problem const& p) {
    using detail::require;
    require(p.ranks >= 1, "problem.ranks must be at least 1", p.ranks);
    require(p.root >= 0 && p.root < p.ranks, "problem.root must be a rank", p.root);
    require(p.blocks >= 1, "problem.blocks must be at least 1", p.blocks);
    require(p.arrivals.empty() || p.arrivals.size() == static_cast<std::size_t>(p.ranks),
            "problem.arrivals must be empty or have one entry per rank",
            static_cast<long long>(p.arrivals.size()));
    require(p.owners.empty() || p.owners.size() == static_cast<std::size_t>(p.blocks),
            "problem.owners must be empty or have one entry per block",
            static_cast<long long>(p.owners.size()));
    for (int const owner : p.owners)
        require(owner >= 0 && owner < p.ranks, "every entry of problem.owners must be a rank", owner);
}

} // namespace papcoll::inline v0
