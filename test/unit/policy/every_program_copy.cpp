// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include "support/every_program.hpp"

using papcoll::collective_kind;

TEST_CASE("every policy's programs broadcast") {
    every_program::verify_policies(collective_kind::broadcast, 33);
}

TEST_CASE("every policy's programs gather") { every_program::verify_policies(collective_kind::gather, 33); }

TEST_CASE("every policy's programs gather on all ranks") {
    every_program::verify_policies(collective_kind::all_gather, 33);
}

TEST_CASE("every policy's programs exchange") {
    every_program::verify_policies(collective_kind::all_to_all, 33);
}

TEST_CASE("every policy's programs scatter") { every_program::verify_policies(collective_kind::scatter, 33); }

TEST_CASE("every policy's programs synchronise") {
    every_program::verify_policies(collective_kind::barrier, 70);
}
