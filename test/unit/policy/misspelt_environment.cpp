// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/automatic.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>

// The environment is read once, so this program has the one test.
TEST_CASE(
    "a misspelt variable of papcoll's is reported with the name that was meant, others' are left alone") {
    ::setenv("PAPCOLL_JOBS", "1", 1);
    ::setenv("PAPCOLL_TUNINGFILE", "table.json", 1);
    papcoll::call_shape const shape{.operation = papcoll::collective_kind::reduce, .ranks = 4, .count = 100};
    CHECK_THROWS_WITH_AS((void)papcoll::automatic{}.choose(shape, {papcoll::ticks(1000), 1.0}),
                         "papcoll: there is no environment variable PAPCOLL_TUNINGFILE, the nearest is "
                         "PAPCOLL_TUNING_FILE",
                         std::invalid_argument);
}
