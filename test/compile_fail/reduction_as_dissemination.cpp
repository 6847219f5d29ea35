// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: this policy or scheduler does not serve this collective; leave it out
#include <papcoll/core.hpp>

struct own {
#ifdef PAPCOLL_MISTAKE
    static constexpr auto kind = papcoll::schedule_kind::reduction;
#else
    static constexpr auto kind = papcoll::schedule_kind::dissemination;
#endif
    auto for_rank(papcoll::problem const&, int) const -> papcoll::rank_schedule { return {}; }
};

void call(MPI_Comm comm, int* values) { papcoll::broadcast(comm, values, 1, 0, own{}); }
