// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <cstddef>
#include <vector>

#define PAPCOLL_TEST_DECLARE                                                                                 \
    auto reduce_schedule(papcoll::problem const&)->std::vector<papcoll::transfer>;                           \
    auto tree_schedule(papcoll::problem const&)->std::vector<papcoll::transfer>;                             \
    auto lane_bytes()->std::size_t;

namespace plain {
PAPCOLL_TEST_DECLARE
}
namespace avx2 {
PAPCOLL_TEST_DECLARE
}

#undef PAPCOLL_TEST_DECLARE
