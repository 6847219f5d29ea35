// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/problem.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>

TEST_CASE("blocks cover the elements once and differ by one at most") {
    for (std::size_t const count : {0u, 1u, 2u, 5u, 63u, 64u, 65u, 1000u})
        for (int const blocks : {1, 2, 3, 7, 64, 65, 200}) {
            papcoll::block_partition const p{count, blocks};
            std::size_t next = 0;
            for (int b = 0; b < blocks; ++b) {
                CHECK(p.offset(b) == next);
                CHECK(p.size(b) <= p.largest());
                CHECK(p.size(b) + 1 >= p.largest());
                next += p.size(b);
            }
            CHECK(next == count);
        }
}

TEST_CASE("counts beyond INT_MAX, and as large as they get, do not overflow") {
    for (std::size_t const count :
         {(std::size_t(1) << 31) + 7, std::size_t(1) << 45, std::numeric_limits<std::size_t>::max()})
        for (int const blocks : {1, 3, 4096, std::numeric_limits<int>::max()}) {
            papcoll::block_partition const p{count, blocks};
            CHECK(p.offset(0) == 0);
            CHECK(p.offset(blocks) == count);
            CHECK(p.offset(blocks - 1) + p.size(blocks - 1) == count);
            CHECK(p.largest() - count / static_cast<std::size_t>(blocks) <= 1);
        }
}

TEST_CASE("check names the member that is wrong") {
    using papcoll::problem;
    std::array const arrivals = {papcoll::ticks(0), papcoll::ticks(1)};
    std::array const owners = {0, 2};
    CHECK_NOTHROW(papcoll::check(problem{}));
    CHECK_NOTHROW(
        papcoll::check(problem{.ranks = 2, .root = 1, .blocks = 5, .arrivals = arrivals, .owners = {}}));
    CHECK_THROWS_WITH_AS(papcoll::check(problem{.ranks = 0}),
                         "papcoll: problem.ranks must be at least 1, but it is 0", std::invalid_argument);
    CHECK_THROWS_AS(papcoll::check(problem{.ranks = 2, .root = 2}), std::invalid_argument);
    CHECK_THROWS_AS(papcoll::check(problem{.ranks = 2, .root = -1}), std::invalid_argument);
    CHECK_THROWS_AS(papcoll::check(problem{.ranks = 2, .blocks = 0}), std::invalid_argument);
    CHECK_THROWS_AS(papcoll::check(problem{.ranks = 3, .arrivals = arrivals}), std::invalid_argument);
    CHECK_THROWS_AS(papcoll::check(problem{.ranks = 2, .blocks = 1, .owners = owners}),
                    std::invalid_argument);
    CHECK_THROWS_AS(papcoll::check(problem{.ranks = 2, .blocks = 2, .owners = owners}),
                    std::invalid_argument);
}
