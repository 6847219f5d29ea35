// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include "support/every_program.hpp"

using papcoll::collective_kind;

TEST_CASE("every policy's programs reduce to all ranks") {
    every_program::verify_policies(collective_kind::all_reduce, 33);
}
