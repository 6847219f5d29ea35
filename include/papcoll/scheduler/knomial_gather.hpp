// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstdint>

namespace papcoll::inline v0 {

/// What a rank sends and receives in a gather through a k-nomial tree; block b is the part of rank b.
///
/// Counted from the root, rank v = k^t·(k·j + d), 0 < d < k, gathers the parts of the ranks v … v + k^t − 1
/// in rounds 0 … t − 1, of up to k − 1 messages each, and sends all of them to v − d·k^t in round t; the root
/// ends with everything after ⌈log_k P⌉ rounds. So the root receives P − 1 parts in up to (k − 1)·⌈log_k P⌉
/// messages, where linear has P − 1, but each part moves up to ⌈log_k P⌉ times, and an inner rank needs room
/// for the parts of others and waits for all of them. The parts of a message are those of ranks in a row,
/// from the last rank on to rank 0 again. A round is k − 1 steps; in a step a rank either sends or receives,
/// one message; blocks of a step ascend.
///
/// This is no dissemination, since nobody but the root gets all blocks, and so no scheduler. O(b log b) for
/// the b blocks that this rank has or gets, and O(k log P). Throws std::invalid_argument when there is no
/// rank, for a root or rank out of range, or a radix below 2.
[[nodiscard]] inline auto knomial_gather_share(int ranks, int root, int rank, int radix) -> rank_schedule {
    detail::require(ranks >= 1, "ranks must be at least 1", ranks);
    detail::require(root >= 0 && root < ranks, "root must be a rank", root);
    detail::require(rank >= 0 && rank < ranks, "rank must be a rank", rank);
    detail::require(radix >= 2, "radix must be at least 2", radix);
    std::int64_t const p = ranks;
    std::int64_t const own = rank >= root ? rank - root : rank - root + p; // counted from the root
    auto const absolute = [&](std::int64_t v) { return static_cast<int>((v + root) % p); };

    rank_schedule share;
    step_type round = 0;
    std::int64_t unit = 1; // k^round
    for (; unit < p && own / unit % radix == 0; unit *= radix, ++round)
        for (std::int64_t d = 1; d < radix && own + d * unit < p; ++d) {
            auto const from = own + d * unit;
            auto const step = round * (radix - 1) + static_cast<step_type>(d) - 1;
            for (auto v = from; v < std::min(p, from + unit); ++v)
                share.receives.push_back({step, absolute(from), absolute(v)});
        }
    if (own != 0) {
        auto const digit = own / unit % radix;
        auto const step = round * (radix - 1) + static_cast<step_type>(digit) - 1;
        for (auto v = own; v < std::min(p, own + unit); ++v)
            share.sends.push_back({step, absolute(own - digit * unit), absolute(v)});
    }
    std::sort(share.sends.begin(), share.sends.end());
    std::sort(share.receives.begin(), share.receives.end());
    return share;
}

} // namespace papcoll::inline v0
