// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/scheduler.hpp>

/// Schedulers as a user would write them, of both kinds, for any owners.
namespace own_schedulers {

/// Each block goes from its owner round the ring of ranks.
struct round_the_ring {
    static constexpr auto kind = papcoll::schedule_kind::dissemination;
    [[nodiscard]] auto for_rank(papcoll::problem const& p, int rank) const -> papcoll::rank_schedule {
        papcoll::rank_schedule share;
        for (int b = 0; b < p.blocks; ++b) {
            int const place = (rank - p.owner(b) + p.ranks) % p.ranks;
            if (place > 0) share.receives.push_back({place - 1 + b, (rank + p.ranks - 1) % p.ranks, b});
            if (place + 1 < p.ranks) share.sends.push_back({place + b, (rank + 1) % p.ranks, b});
        }
        return share;
    }
};

/// All ranks send each block to its owner, one after the other.
struct to_the_owners {
    static constexpr auto kind = papcoll::schedule_kind::reduction;
    [[nodiscard]] auto for_rank(papcoll::problem const& p, int rank) const -> papcoll::rank_schedule {
        papcoll::rank_schedule share;
        for (int b = 0; b < p.blocks; ++b) {
            int const owner = p.owner(b);
            if (rank != owner) share.sends.push_back({(rank - owner + p.ranks) % p.ranks, owner, b});
            for (int k = 1; k < p.ranks && rank == owner; ++k)
                share.receives.push_back({k, (owner + k) % p.ranks, b});
        }
        return share;
    }
};

} // namespace own_schedulers
