// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the fingerprint\(\) of a scheduler is const and returns
// anywhere
#include <papcoll/core.hpp>

struct to_nobody {
    static constexpr auto kind = papcoll::schedule_kind::dissemination;
    int member = 0;
    [[nodiscard]] auto for_rank(papcoll::problem const&, int) const -> papcoll::rank_schedule { return {}; }
};
struct told : to_nobody {
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> { return {member}; }
};
struct told_as_policies_are : to_nobody {
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> { return {{member}}; }
};

void call(MPI_Comm comm, float* data) {
    papcoll::broadcast(comm, data, 100, 0, told{});
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(comm, data, 100, 0, told_as_policies_are{});
#endif
}
