// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/promise.hpp>
#include <papcoll/analysis/verify_program.hpp>
#include <papcoll/program/own_buffers.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

using papcoll::block_range;
using papcoll::memory;
using papcoll::program;
using papcoll::program_builder;
using papcoll::promise;
using papcoll::promise_of;
using papcoll::region;

namespace {

/// The programs of `calls` calls in a row, which call(with, k, rank) writes. Between them each rank writes
/// its next input, and reads its last result, whenever it likes: that is what the copies from `in` and to
/// `out` stand for.
template <class Call>
auto programs(int ranks, std::size_t stretch, std::size_t shared, Call call) -> std::vector<program> {
    std::vector<program> result;
    for (int rank = 0; rank < ranks; ++rank) {
        program_builder to;
        papcoll::own_buffers with(to, ranks, rank, stretch, shared);
        to.share(with.size(), 1);
        for (std::size_t k = 0; k < 3; ++k) call(with, k, rank);
        result.push_back(to.finish());
    }
    return result;
}
auto verdict(std::vector<program> const& all, promise const& promised) -> std::string {
    return verify(all, promised).value_or("");
}
auto third(memory where, std::size_t k, std::size_t n) -> region { return {where, k * n, n}; }
auto parts_of(int ranks, std::size_t each) -> std::vector<block_range> {
    std::vector<block_range> parts;
    for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) parts.push_back({r * each, each});
    return parts;
}
/// What each rank gives and gets in three calls: `in` and `out` elements in each. result(p, k, rank) appends
/// what rank has at the end of call k.
template <class Result>
auto promised(int ranks, std::size_t in, std::size_t out, Result result) -> promise {
    promise all;
    for (int rank = 0; rank < ranks; ++rank) {
        papcoll::rank_promise p{.in = 3 * in, .out = 3 * out};
        p.given.push_back({region(memory::in, 0, 3 * in), rank, 0});
        for (std::size_t k = 0; k < 3; ++k) result(p, k, rank);
        all.ranks.push_back(p);
    }
    return all;
}

} // namespace

TEST_CASE("calls in a row with the same buffers, whose result each rank reads as long as it likes") {
    for (int ranks = 2; ranks <= 8; ++ranks)
        for (std::size_t const n : {1u, 3u, 64u, 100u}) {
            CAPTURE(ranks);
            CAPTURE(n);
            for (std::size_t const piece : {std::size_t(5), n})
                CHECK(verdict(programs(ranks, n, n,
                                       [&](auto& with, std::size_t k, int) {
                                           with.all_reduce(third(memory::in, k, n), third(memory::out, k, n),
                                                           piece);
                                       }),
                              promise_of(ranks).in_rank_order().alike().all_reduce(3 * n)) == "");
        }
}

TEST_CASE("the same of what belongs to ranks") {
    for (int ranks = 2; ranks <= 8; ++ranks)
        for (std::size_t const e : {1u, 7u, 64u}) {
            CAPTURE(ranks);
            CAPTURE(e);
            auto const all = e * static_cast<std::size_t>(ranks);
            auto const parts = parts_of(ranks, e);
            auto const begin = [&](int r) { return static_cast<std::size_t>(r) * e; };
            CHECK(verdict(programs(ranks, 0, all,
                                   [&](auto& with, std::size_t k, int) {
                                       with.all_gather(third(memory::in, k, e), parts,
                                                       third(memory::out, k, all));
                                   }),
                          promised(ranks, e, all, [&](auto& p, std::size_t k, int) {
                              for (int r = 0; r < ranks; ++r)
                                  p.results.push_back({region(memory::out, k * all + begin(r), e), r, k * e});
                          })) == "");
            CHECK(verdict(programs(ranks, all, 0,
                                   [&](auto& with, std::size_t k, int) {
                                       with.all_to_all(third(memory::in, k, all), parts,
                                                       third(memory::out, k, all));
                                   }),
                          promised(ranks, all, all, [&](auto& p, std::size_t k, int rank) {
                              for (int r = 0; r < ranks; ++r)
                                  p.results.push_back(
                                      {region(memory::out, k * all + begin(r), e), r, k * all + begin(rank)});
                          })) == "");
            auto scattered = promised(ranks, all, e, [&](auto& p, std::size_t k, int rank) {
                p.results.push_back({region(memory::out, k * e, e), papcoll::contributed_part::all_ranks,
                                     k * all + begin(rank)});
            });
            scattered.in_rank_order = true;
            CHECK(verdict(programs(ranks, all, 0,
                                   [&](auto& with, std::size_t k, int) {
                                       with.reduce_scatter(third(memory::in, k, all), parts,
                                                           third(memory::out, k, e), 3);
                                   }),
                          scattered) == "");
        }
}

TEST_CASE("a rank that wrote its next input too early would be found out") {
    std::size_t const e = 4;
    auto const parts = parts_of(3, e);
    auto all = programs(3, 3 * e, 0, [&](auto& with, std::size_t k, int) {
        with.all_to_all(third(memory::in, k, 3 * e), parts, third(memory::out, k, 3 * e));
    });
    auto const wanted = promised(3, 3 * e, 3 * e, [&](auto& p, std::size_t k, int rank) {
        for (int r = 0; r < 3; ++r)
            p.results.push_back({region(memory::out, (3 * k + static_cast<std::size_t>(r)) * e, e), r,
                                 (3 * k + static_cast<std::size_t>(rank)) * e});
    });
    CHECK(verdict(all, wanted) == "");
    for (auto& posts : all[0].posts) posts -= posts % 2 == 0 ? 1 : 0; // it waits for the first post alone
    CHECK(verdict(all, wanted) != "");
}
