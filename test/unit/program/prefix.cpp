// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/program/prefix.hpp>
#include <papcoll/program/program_builder.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "../../support/program_lists.hpp"

using papcoll::prefix_kind;
using papcoll::program;
using papcoll::program_builder;
using program_lists::action;

namespace {

auto doubling(prefix_kind kind, int ranks, int rank) -> program {
    program_builder to;
    write_prefix_doubling(to, kind, ranks, rank, 10);
    return to.finish();
}
auto most_received(prefix_kind kind, int ranks) -> std::size_t {
    std::size_t most = 0;
    for (int rank = 0; rank < ranks; ++rank)
        most = std::max(most, program_lists::count(doubling(kind, ranks, rank), action::receive));
    return most;
}

} // namespace

TEST_CASE("a scan has ⌈log2 P⌉ rounds") {
    for (int ranks = 2; ranks <= 300; ++ranks)
        CHECK(most_received(prefix_kind::inclusive, ranks) ==
              static_cast<std::size_t>(std::ceil(std::log2(ranks))));
}

TEST_CASE("an exscan has ⌈log2(P − 1) + log2(4/3)⌉ rounds, and one combination more than rounds but one") {
    CHECK(most_received(prefix_kind::exclusive, 2) == 1);
    for (int ranks = 3; ranks <= 300; ++ranks) {
        auto const rounds = static_cast<std::size_t>(std::ceil(std::log2(4.0 * (ranks - 1) / 3.0) - 1e-9));
        CHECK(most_received(prefix_kind::exclusive, ranks) == rounds);
        CHECK(papcoll::detail::prefix_rounds::of_exclusive(ranks) == static_cast<int>(rounds));
        for (int rank = 0; rank < ranks; rank += 1 + ranks / 20)
            CHECK(program_lists::count(doubling(prefix_kind::exclusive, ranks, rank), action::combine) <=
                  rounds);
    }
}

TEST_CASE("a chain moves every block once") {
    for (int rank = 0; rank < 5; ++rank) {
        program_builder to;
        write_prefix_chain(to, prefix_kind::exclusive, 5, rank, 100, 7);
        auto const p = to.finish();
        CHECK(program_lists::elements(p, action::send) == (rank < 4 ? 100u : 0u));
        CHECK(program_lists::count(p, action::receive) == (rank > 0 ? 7u : 0u));
        CHECK(program_lists::elements(p, action::combine) == (rank > 0 && rank < 4 ? 100u : 0u));
    }
}
