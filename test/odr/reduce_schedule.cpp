// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Compiled twice, for different instruction sets; see CMakeLists.txt.
#include "reduce_schedule.hpp"

#include <papcoll/scheduler/clairvoyant.hpp>

namespace PAPCOLL_TEST_VARIANT {

auto reduce_schedule(papcoll::problem const& p) -> std::vector<papcoll::transfer> {
    return papcoll::clairvoyant_scheduler<>{.round = papcoll::ticks{10}}.transfers(p);
}

auto tree_schedule(papcoll::problem const& p) -> std::vector<papcoll::transfer> {
    using search = papcoll::segment_tree<papcoll::simd_bitset<>>;
    return papcoll::clairvoyant_scheduler<search>{.round = papcoll::ticks{10}}.transfers(p);
}

auto lane_bytes() -> std::size_t { return xsimd::default_arch::alignment(); }

} // namespace PAPCOLL_TEST_VARIANT
