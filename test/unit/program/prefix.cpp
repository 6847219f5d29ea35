// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/program/dissemination_barrier.hpp>
#include <papcoll/program/few_signs.hpp>
#include <papcoll/program/prefix.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/scheduler/butterfly.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

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

TEST_CASE("a dissemination of radix k has ⌈log_k P⌉ rounds of k − 1 messages") {
    for (int const radix : {2, 3, 8})
        for (int ranks = 1; ranks <= 100; ++ranks) {
            program_builder to;
            write_dissemination_barrier(to, ranks, 0, radix);
            auto const p = to.finish();
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
        std::vector<int> all(static_cast<std::size_t>(ranks));
        std::iota(all.begin(), all.end(), 100);
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
            program_builder to;
            write_dissemination_barrier(to, ranks, rank, radix);
            auto const p = to.finish();
            auto sent = program_lists::peers(p, action::send);
            auto received = program_lists::peers(p, action::receive);
            std::sort(sent.begin(), sent.end());
            std::sort(received.begin(), received.end());
            CHECK(sent == received);
        }
}
