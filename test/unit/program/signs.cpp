// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/program/program_builder.hpp>
#include <papcoll/program/signs.hpp>
#include <papcoll/scheduler/butterfly.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "../../support/program_lists.hpp"

using papcoll::program_builder;
using program_lists::action;

namespace {

/// Some of many ranks.
auto members(int ranks) -> std::vector<int> {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 100);
    return all;
}
auto disseminated(int ranks, int me, int radix) -> papcoll::program {
    program_builder to;
    (void)write_dissemination_signs(to, members(ranks), me, radix, {});
    return to.finish();
}

} // namespace

TEST_CASE("a dissemination of radix k has ⌈log_k P⌉ rounds of k − 1 messages") {
    for (int const radix : {2, 3, 8})
        for (int ranks = 1; ranks <= 100; ++ranks) {
            auto const p = disseminated(ranks, 0, radix);
            std::size_t rounds = 0;
            for (int reached = 1; reached < ranks; reached *= radix) ++rounds;
            CHECK(program_lists::count(p, action::send) == program_lists::count(p, action::receive));
            CHECK(program_lists::count(p, action::send) <= rounds * static_cast<std::size_t>(radix - 1));
            CHECK(program_lists::count(p, action::send) >= rounds);
        }
}

TEST_CASE("barriers of few messages: a star has two for each other rank, a butterfly one for each exchange "
          "and pair") {
    for (int ranks = 1; ranks <= 40; ++ranks) {
        auto const all = members(ranks);
        std::size_t star = 0, by_butterfly = 0, expected = 0;
        for (int me = 0; me < ranks; ++me) {
            program_builder to;
            CHECK(write_star_signs(to, all, me, {}).size() ==
                  static_cast<std::size_t>(me > 0 ? 1 : ranks - 1));
            star += program_lists::count(to.finish(), action::send);
            auto const rounds = papcoll::butterfly(ranks, me);
            program_builder with;
            (void)write_butterfly_signs(with, all, rounds, {});
            by_butterfly += program_lists::count(with.finish(), action::send);
            for (auto const& round : rounds) expected += round.sends() ? 1 : 0;
        }
        CHECK(star == 2 * static_cast<std::size_t>(ranks - 1));
        CHECK(by_butterfly == expected);
    }
}

TEST_CASE("where P is a power of the radix the messages of a round go both ways between the same ranks") {
    struct cell {
        int ranks, radix;
    };
    for (auto const [ranks, radix] : {cell{8, 2}, cell{64, 2}, cell{16, 4}, cell{27, 3}, cell{8, 8}})
        for (int rank = 0; rank < ranks; ++rank) {
            auto const p = disseminated(ranks, rank, radix);
            auto sent = program_lists::peers(p, action::send);
            auto received = program_lists::peers(p, action::receive);
            std::sort(sent.begin(), sent.end());
            std::sort(received.begin(), received.end());
            CHECK(sent == received);
        }
}
