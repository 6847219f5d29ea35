// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include "support/every_program.hpp"

using papcoll::collective_kind;

TEST_CASE("every policy's programs scan") { every_program::verify_policies(collective_kind::scan, 33); }

TEST_CASE("every policy's programs scan exclusively") {
    every_program::verify_policies(collective_kind::exscan, 33);
}
