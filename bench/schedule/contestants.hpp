// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/clairvoyant.hpp>

#include <xsimd/xsimd.hpp>

#include <array>
#include <cstddef>

#include "baselines.hpp"
#include "instances.hpp"

namespace bench {

/// What every contestant does: generate the whole schedule and keep the share of rank 0.
struct share {
    papcoll::rank_schedule mine;
    std::size_t transfers = 0;
    heap_operations heaps = {};

    void operator()(papcoll::transfer const& t) {
        ++transfers;
        if (t.from == 0) mine.sends.push_back({t.step, t.to, t.block});
        if (t.to == 0) mine.receives.push_back({t.step, t.from, t.block});
    }
};

template <class Search>
auto with_search(instance const& i) -> share {
    share result;
    papcoll::clairvoyant_scheduler<Search>{.round = i.round}.generate(i.problem(), result);
    return result;
}

template <class Cells, idle_rounds Idle>
auto with_baseline(instance const& i) -> share {
    share result;
    result.heaps = play<Cells>(i.problem(), i.round, Idle, result);
    return result;
}

struct contestant {
    char const* name;
    auto(*run)(instance const&) -> share;
    int largest; ///< sizes above take minutes
};

using wide = papcoll::simd_bitset<>;
#if defined(__AVX2__)
using avx2 = papcoll::simd_bitset<xsimd::avx2>;
#endif

inline constexpr std::array contestants {
    contestant{"linear, pseudocode", with_baseline<plain_cells, idle_rounds::played>, 512},
        contestant{"linear, idle rounds skipped", with_baseline<plain_cells, idle_rounds::skipped>, 512},
        contestant{"pairing heaps", with_baseline<heap_cells, idle_rounds::played>, 512},
        contestant{"pairing heaps, idle rounds skipped", with_baseline<heap_cells, idle_rounds::skipped>,
                   512},
        contestant{"linear_search", with_search<papcoll::linear_search>, 512},
        contestant{"segment_tree<word>", with_search<papcoll::segment_tree<papcoll::word_bitset>>, 1024},
        contestant{"segment_tree<widest>", with_search<papcoll::segment_tree<wide>>, 1024},
        contestant{"sliced_counters<word>", with_search<papcoll::sliced_counters<papcoll::word_bitset>>,
                   1024},
#if defined(__AVX2__)
        contestant{"segment_tree<avx2>", with_search<papcoll::segment_tree<avx2>>, 1024},
        contestant{"sliced_counters<avx2>", with_search<papcoll::sliced_counters<avx2>>, 1024},
#endif
        contestant{"sliced_counters<widest>", with_search<papcoll::sliced_counters<wide>>, 1024},
};

} // namespace bench
