// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/knomial_tree.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>

#include "../../support/program_lists.hpp"

using papcoll::call_shape;
using papcoll::collective_kind;
using program_lists::action;

TEST_CASE("the root of a binomial scatter sends ⌈log2 P⌉ messages, and every part of another rank once") {
    for (int ranks = 2; ranks <= 70; ++ranks)
        for (int const root : {0, ranks / 2, ranks - 1}) {
            call_shape const shape{.operation = collective_kind::scatter,
                                   .ranks = ranks,
                                   .rank = root,
                                   .root = root,
                                   .count = 3 * static_cast<std::size_t>(ranks)};
            auto const plan = papcoll::knomial_tree{.radix = 2}.plan(shape, {papcoll::ticks(1'000), 0.1});
            CHECK(program_lists::count(plan, action::send) ==
                  static_cast<std::size_t>(std::ceil(std::log2(ranks))));
            CHECK(program_lists::elements(plan, action::send) == shape.count - 3);
            CHECK(program_lists::count(plan, action::receive) == 0);
        }
}
