// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace papcoll::inline v0 {

/// What a rank sends and receives in a gather through a binomial tree; block b is the part of rank b.
///
/// Counted from the root, rank v = 2^k·(2j + 1) gathers the parts of the ranks v … v + 2^k − 1 in steps
/// 0 … k − 1, and sends all of them to v − 2^k in step k; the root ends with everything after ⌈log2 P⌉ steps.
/// So the root receives P − 1 parts in ⌈log2 P⌉ messages, where linear has P − 1, but each part moves up to
/// ⌈log2 P⌉ times, and an inner rank needs room for the parts of others and waits for all of them. The parts
/// of a message are those of ranks in a row, from the last rank on to rank 0 again. In a step a rank either
/// sends or receives, one message; blocks of a step ascend.
///
/// This is no dissemination, since nobody but the root gets all blocks, and so no scheduler. O(b log b) for
/// the b blocks that this rank has or gets. Throws std::invalid_argument when there is no rank, or for a root
/// or rank out of range.
[[nodiscard]] inline auto binomial_gather_share(int ranks, int root, int rank) -> rank_schedule {
    detail::require(ranks >= 1, "ranks must be at least 1", ranks);
    detail::require(root >= 0 && root < ranks, "root must be a rank", root);
    detail::require(rank >= 0 && rank < ranks, "rank must be a rank", rank);
    std::int64_t const p = ranks;
    std::int64_t const own = rank >= root ? rank - root : rank - root + p; // counted from the root
    int const rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
    int const send_step = own == 0 ? rounds : std::countr_zero(static_cast<unsigned>(own));
    auto const absolute = [&](std::int64_t v) { return static_cast<int>((v + root) % p); };

    rank_schedule share;
    auto const gathered = std::min(p - own, std::int64_t(1) << send_step);
    if (own != 0) share.sends.reserve(static_cast<std::size_t>(gathered));
    share.receives.reserve(static_cast<std::size_t>(gathered - 1));
    for (int k = 0; k < send_step; ++k) {
        auto const from = own + (std::int64_t(1) << k);
        for (auto v = from; v < std::min(p, from + (std::int64_t(1) << k)); ++v)
            share.receives.push_back({k, absolute(from), absolute(v)});
    }
    for (std::int64_t v = own; own != 0 && v < own + gathered; ++v)
        share.sends.push_back({send_step, absolute(own - (std::int64_t(1) << send_step)), absolute(v)});
    std::sort(share.sends.begin(), share.sends.end());
    std::sort(share.receives.begin(), share.receives.end());
    return share;
}

} // namespace papcoll::inline v0
