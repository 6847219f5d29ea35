// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/program/program_builder.hpp>
#include <papcoll/program/whole_operands.hpp>
#include <papcoll/schedule/exchange_groups.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "../../support/program_lists.hpp"

using papcoll::exchange_groups;
using program_lists::action;

namespace {

/// All products of so many factors from 1 to `radix`, up to `most`.
auto products(int radix, int rounds, int most) -> std::set<int> {
    std::set<int> reached{1};
    for (int i = 0; i < rounds; ++i) {
        std::set<int> next;
        for (int const r : reached)
            for (int f = 1; f <= radix && r * f <= most; ++f) next.insert(r * f);
        reached = std::move(next);
    }
    return reached;
}
auto rounds_of(int ranks, int radix) -> int {
    int rounds = 0;
    for (int reached = 1; reached < ranks; reached *= radix) ++rounds;
    return rounds;
}

} // namespace

TEST_CASE("groups multiply to the ranks in as few factors as a dissemination has rounds, wherever they can") {
    constexpr int most = 300;
    for (int const radix : {2, 3, 4, 5, 7, 16, 64}) {
        CAPTURE(radix);
        std::vector<std::set<int>> reached;
        for (int rounds = 0; rounds <= rounds_of(most, radix); ++rounds)
            reached.push_back(products(radix, rounds, most));
        for (int ranks = 1; ranks <= most; ++ranks) {
            CAPTURE(ranks);
            auto const groups = exchange_groups(ranks, radix);
            auto const rounds = static_cast<std::size_t>(rounds_of(ranks, radix));
            bool const expected = ranks > 1 && reached[rounds].contains(ranks);
            REQUIRE(groups.empty() != expected);
            if (groups.empty()) continue;
            CHECK(groups.size() == rounds);
            CHECK(std::accumulate(groups.begin(), groups.end(), 1, std::multiplies<>()) == ranks);
            CHECK(std::is_sorted(groups.begin(), groups.end(), std::greater<>()));
            CHECK(groups.back() >= 2);
            CHECK(groups.front() <= radix);
        }
    }
    CHECK(exchange_groups(64, 4) == std::vector{4, 4, 4});
    CHECK(exchange_groups(12, 3) == std::vector{3, 2, 2});
    CHECK(exchange_groups(2'000'000'011, 2'000'000'011) == std::vector{2'000'000'011});
    CHECK(exchange_groups(2'000'000'011, 1'000).empty());
    CHECK_THROWS_AS((void)exchange_groups(0, 2), std::invalid_argument);
    CHECK_THROWS_AS((void)exchange_groups(8, 1), std::invalid_argument);
}

TEST_CASE("ranks that exchange within groups send to each other member once in a round") {
    for (auto const& groups : {std::vector<int>{4, 4, 4}, std::vector<int>{3, 2}, std::vector<int>{5}}) {
        int const ranks = std::accumulate(groups.begin(), groups.end(), 1, std::multiplies<>());
        auto const expected =
            static_cast<std::size_t>(std::accumulate(groups.begin(), groups.end(), 0)) - groups.size();
        for (int rank = 0; rank < ranks; ++rank) {
            papcoll::program_builder to;
            write_group_exchange(to, groups, rank, 3);
            auto const p = to.finish();
            CHECK(program_lists::count(p, action::send) == expected);
            CHECK(program_lists::count(p, action::receive) == expected);
            CHECK(program_lists::count(p, action::combine) == expected);
            auto const second = groups.size() > 1 ? groups[1] - 1 : 0;
            CHECK(p.scratch == 3 * static_cast<std::size_t>(groups.front() - 1 + second));
        }
    }
}
