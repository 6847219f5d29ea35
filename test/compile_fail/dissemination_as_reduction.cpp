// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: this policy or scheduler does not serve this collective; leave it out
#include <papcoll/core.hpp>

#include <functional>

struct spreads {
#ifdef PAPCOLL_MISTAKE
    static constexpr auto kind = papcoll::schedule_kind::dissemination;
#else
    static constexpr auto kind = papcoll::schedule_kind::reduction;
#endif
    auto for_rank(papcoll::problem const&, int) const -> papcoll::rank_schedule { return {}; }
};

void call(MPI_Comm comm, int const* in, int* out) {
    papcoll::reduce(comm, in, 1, out, std::plus<>(), 0, spreads{});
}
