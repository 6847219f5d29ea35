// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify_program.hpp>
#include <papcoll/program/whole_operands.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using papcoll::block_range;
using papcoll::memory;
using papcoll::program;
using papcoll::program_builder;
using papcoll::promise;
using papcoll::promise_of;
using papcoll::region;
using programs = std::vector<program>;
using verdict = std::optional<std::string>;

auto in(std::size_t offset, std::size_t size) -> region { return {memory::in, offset, size}; }
auto out(std::size_t offset, std::size_t size) -> region { return {memory::out, offset, size}; }

// The program of one rank, written by f.
auto written(std::function<void(program_builder&)> const& f, bool in_place = false) -> program {
    program_builder to(in_place);
    f(to);
    return to.finish();
}

// True if there is a violation and its text has all the words.
auto names(verdict const& violation, std::vector<std::string> const& words) -> bool {
    if (!violation) return false;
    for (auto const& word : words) {
        CHECK_MESSAGE(violation->find(word) != std::string::npos,
                      "\"" << word << "\" is missing in: " << *violation);
        if (violation->find(word) == std::string::npos) return false;
    }
    return true;
}

// Two ranks add n elements: each sends what it has, and combines in the order of ranks.
auto exchange(std::size_t n) -> programs {
    programs all;
    for (int rank = 0; rank < 2; ++rank)
        all.push_back(written([&](program_builder& to) {
            auto const theirs = to.scratch(n);
            to.send(1 - rank, in(0, n));
            to.receive(1 - rank, theirs);
            to.combine_alike(out(0, n), rank == 0 ? in(0, n) : theirs, rank == 0 ? theirs : in(0, n));
        }));
    return all;
}

// The first of `ranks` has n elements, which go from rank to rank.
auto chain(int ranks, std::size_t n) -> programs {
    programs all;
    for (int rank = 0; rank < ranks; ++rank)
        all.push_back(written([&](program_builder& to) {
            if (rank > 0) to.receive(rank - 1, out(0, n));
            if (rank + 1 < ranks) to.send(rank + 1, out(0, n));
        }));
    return all;
}

// Of what ranks have, the last one's comes first; the results go to rank 0.
auto reduction(int ranks, std::size_t n) -> programs {
    programs all;
    for (int rank = 0; rank < ranks; ++rank)
        all.push_back(written([&](program_builder& to) {
            auto const partial = to.scratch(n);
            bool const last = rank + 1 == ranks;
            if (!last) {
                to.receive(rank + 1, partial);
                to.combine(rank == 0 ? out(0, n) : partial, in(0, n), partial);
            }
            if (rank > 0) to.send(rank - 1, last ? in(0, n) : partial);
        }));
    return all;
}

// What instruction i of p waits for is forgotten.
void forget_waits(program& p, program::index i) {
    auto const count = static_cast<program::index>(p.waits_of(i).size());
    auto const begin = p.waits.begin() + p.instructions[i].first_wait;
    p.waits.erase(begin, begin + count);
    for (auto later = i + 1; later < p.size(); ++later) p.instructions[later].first_wait -= count;
}

auto const two_sums = [] { return promise_of(2).all_reduce(5); };
auto const three_copies = [] { return promise_of(3).broadcast(0, 5); };

} // namespace

TEST_CASE("right programs pass") {
    for (std::size_t const n : {std::size_t(0), std::size_t(1), std::size_t(5), std::size_t(1) << 40}) {
        CHECK_FALSE(verify(exchange(n), promise_of(2).all_reduce(n)));
        CHECK_FALSE(verify(exchange(n), promise_of(2).alike().in_rank_order().all_reduce(n)));
        for (int const ranks : {1, 2, 3, 13, 500})
            CHECK_FALSE(verify(chain(ranks, n), promise_of(ranks).broadcast(0, n)));
        for (int const ranks : {2, 3, 13, 500})
            CHECK_FALSE(verify(reduction(ranks, n), promise_of(ranks).in_rank_order().reduce(0, n)));
    }
}

TEST_CASE("a promise is kept by all ranks' programs together") {
    CHECK(names(verify(chain(3, 5), promise_of(4).broadcast(0, 5)), {"3 programs", "4 ranks"}));
    program routine;
    routine.native = true;
    CHECK(names(verify(programs{routine}, promise_of(1).all_reduce(1)), {"rank 0", "the MPI library's own"}));
    CHECK(names(verify(exchange(5), promise_of(2).in_place(1).all_reduce(5)),
                {"rank 1", "is not in place, but the call is"}));
    auto all = exchange(5);
    all[1].in_place = true;
    CHECK(names(verify(all, two_sums()), {"rank 1", "is in place, but the call is not"}));
}

TEST_CASE("malformed programs are refused") {
    auto all = exchange(5);
    SUBCASE("a wait for a later instruction") {
        all[1].waits[0] = 2;
        CHECK(names(verify(all, two_sums()),
                    {"instruction 2 of rank 1 (combine)", "waits for instruction 2", "not an earlier one"}));
    }
    SUBCASE("waits that do not ascend") {
        all = reduction(3, 5);
        all[1].waits = {0, 0, 1};
        all[1].instructions[1].first_wait = 0;
        all[1].instructions[2].first_wait = 2;
        CHECK(names(verify(all, promise_of(3).reduce(0, 5)), {"instruction 1 of rank 1", "do not ascend"}));
    }
    SUBCASE("a wait list that ends too late") {
        all[0].instructions[2].first_wait = 7;
        CHECK(names(verify(all, two_sums()), {"rank 0", "number 1", "not in its lists"}));
    }
    SUBCASE("memory that is not there") {
        all[0].scratch = 4;
        CHECK(names(verify(all, two_sums()), {"instruction 1 of rank 0 (receive from rank 1)",
                                              "elements 0 to 4 of scratch", "has 4"}));
        CHECK(names(verify(exchange(6), two_sums()), {"instruction 0 of rank 0", "elements 0 to 5 of in"}));
    }
    SUBCASE("ranks that are not there") {
        all[0].instructions[0].peer = 2;
        CHECK(names(verify(all, two_sums()), {"send to rank 2", "not among the 2"}));
        all[0].instructions[0].peer = 0;
        CHECK(names(verify(all, two_sums()), {"send to rank 0", "to itself"}));
    }
    SUBCASE("operands of different sizes") {
        all[1].regions.back() = in(0, 4);
        CHECK(names(verify(all, two_sums()), {"instruction 2 of rank 1", "different sizes"}));
    }
    SUBCASE("a target over a part of an operand") {
        all = programs{written([](program_builder& to) {
            auto const s = to.scratch(6);
            to.copy(s.part(0, 5), in(0, 5));
            to.copy(s.part(5, 1), in(0, 1));
            to.combine(s.part(1, 5), s.part(0, 5), in(0, 5));
        })};
        CHECK(names(verify(all, promise_of(1).all_reduce(5)),
                    {"elements 1 to 5 of scratch", "over a part of its operand"}));
    }
    SUBCASE("two parts of a message to one place") {
        all[0] = written([](program_builder& to) {
            region const parts[] = {out(0, 3), out(2, 2)};
            to.receive(1, parts);
        });
        CHECK(names(verify(all, two_sums()), {"instruction 0 of rank 0", "elements 2 to 3 of out", "twice"}));
    }
    SUBCASE("windows of nothing") {
        all[0].windows[0].sends = 0;
        CHECK(names(verify(all, two_sums()), {"rank 0", "window of no message"}));
        all[0].windows.clear();
        CHECK(names(verify(all, two_sums()), {"rank 0", "without windows"}));
    }
    SUBCASE("an operand too many") {
        all[0].regions.push_back(in(0, 5));
        CHECK(names(verify(all, two_sums()), {"instruction 2 of rank 0", "4 regions", "multiple of 3"}));
    }
    SUBCASE("an order that is none") {
        all[0].order.emplace_back(2, 1);
        CHECK(names(verify(all, two_sums()), {"rank 0", "orders instructions 2 and 1"}));
    }
}

TEST_CASE("a copy may overlap its source from below, not from above") {
    auto const shifted = [](std::size_t from, std::size_t to_where) {
        return programs{written([&](program_builder& to) {
                            auto const t = to.scratch(4);
                            to.copy(t.part(from, 3), out(0, 3));
                            to.copy(t.part(to_where, 3), t.part(from, 3));
                            to.send(1, t.part(to_where, 3));
                        }),
                        written([&](program_builder& to) { to.receive(0, out(0, 3)); })};
    };
    auto const spread = promise_of(2).broadcast(0, 3);
    CHECK(names(verify(shifted(0, 1), spread), {"instruction 1 of rank 0", "over its own end"}));
    CHECK_FALSE(verify(shifted(1, 0), spread));
}

TEST_CASE("promises are made to ranks, each of its part") {
    using parts = std::vector<papcoll::block_range>;
    promise_of const three(3);
    parts const two(2), all(3);
    for (int const root : {-1, 3}) {
        CHECK_THROWS_AS((void)three.broadcast(root, 1), std::invalid_argument);
        CHECK_THROWS_AS((void)three.reduce(root, 1), std::invalid_argument);
        CHECK_THROWS_AS((void)three.gather(root, all), std::invalid_argument);
        CHECK_THROWS_AS((void)three.scatter(root, all), std::invalid_argument);
        CHECK_THROWS_AS((void)promise_of(3).in_place(root), std::invalid_argument);
    }
    for (parts const& wrong : {two, parts{}}) {
        CHECK_THROWS_AS((void)three.gather(0, wrong), std::invalid_argument);
        CHECK_THROWS_AS((void)three.scatter(0, wrong), std::invalid_argument);
        CHECK_THROWS_AS((void)three.reduce_scatter(wrong), std::invalid_argument);
        CHECK_THROWS_AS((void)three.all_gather(wrong), std::invalid_argument);
        std::vector<parts> const full(3, all), some{all, all, wrong}, few(2, all);
        CHECK_THROWS_AS((void)three.all_to_all(full, some), std::invalid_argument);
        CHECK_THROWS_AS((void)three.all_to_all(few, full), std::invalid_argument);
        CHECK_NOTHROW((void)three.all_to_all(full, full));
    }
}

TEST_CASE("each wait that the data asks for is missed") {
    for (auto const& [all, kept] :
         {std::pair(exchange(5), two_sums()), std::pair(chain(3, 5), three_copies()),
          std::pair(reduction(4, 5), promise_of(4).reduce(0, 5))})
        for (std::size_t rank = 0; rank < all.size(); ++rank)
            for (program::index i = 0; i < all[rank].size(); ++i) {
                if (all[rank].waits_of(i).empty()) continue;
                auto broken = all;
                forget_waits(broken[rank], i);
                CHECK(names(verify(broken, kept),
                            {"instruction " + std::to_string(i) + " of rank " + std::to_string(rank),
                             "does not wait for"}));
            }
}

TEST_CASE("waits by way of others are enough") {
    auto all = programs{written([](program_builder& to) {
        auto const s = to.scratch(5);
        to.copy(s, in(0, 5));  // 0
        to.copy(out(0, 5), s); // 1 waits for 0
        to.copy(s, out(0, 5)); // 2 waits for 0 and 1
        to.copy(out(0, 5), s); // 3 waits for 1 and 2
    })};
    CHECK_FALSE(verify(all, promise_of(1).all_reduce(5)));
    all[0].waits = {0, 1, 2};
    for (program::index i = 1; i < 4; ++i) all[0].instructions[i].first_wait = i - 1;
    CHECK_FALSE(verify(all, promise_of(1).all_reduce(5)));
    all[0].waits = {0, 0, 2};
    CHECK(names(verify(all, promise_of(1).all_reduce(5)),
                {"instruction 2 of rank 0 (copy)", "does not wait for instruction 1 of rank 0 (copy)"}));
}

TEST_CASE("a receive may not write where a send still reads") {
    // Rank 0 sends its operand from scratch memory, and receives the next there.
    auto const first = [](bool waits) {
        auto p = written([](program_builder& to) {
            auto const s = to.scratch(5);
            to.copy(s, in(0, 5));
            to.send(1, s);
            to.receive(1, s);
            to.combine(out(0, 5), in(0, 5), s);
        });
        if (!waits) forget_waits(p, 2);
        return p;
    };
    auto const other = written([](program_builder& to) {
        auto const s = to.scratch(5);
        to.receive(0, s);
        to.send(0, in(0, 5));
        to.combine(out(0, 5), s, in(0, 5));
    });
    CHECK_FALSE(verify(programs{first(true), other}, two_sums()));
    CHECK(names(verify(programs{first(false), other}, two_sums()),
                {"instruction 2 of rank 0 (receive from rank 1)", "does not wait for",
                 "elements 0 to 4 of scratch"}));
}

TEST_CASE("in place the operands are where the result goes") {
    auto const one = [](bool in_place) {
        return programs{written([](program_builder& to) { to.copy(out(0, 5), in(0, 5)); }, in_place)};
    };
    CHECK_FALSE(verify(one(false), promise_of(1).all_reduce(5)));
    CHECK_FALSE(verify(one(true), promise_of(1).in_place(0).all_reduce(5)));
    auto all = exchange(5);
    for (int rank = 0; rank < 2; ++rank) all[static_cast<std::size_t>(rank)].in_place = true;
    // Written as if they were two buffers, the result goes over an operand that is still being sent.
    CHECK(names(
        verify(all, promise_of(2).in_place(0).in_place(1).all_reduce(5)),
        {"instruction 2 of rank 0 (combine)", "does not wait for instruction 0 of rank 0 (send to rank 1)"}));
    for (auto& p : all) papcoll::detail::find_waits(p);
    CHECK_FALSE(verify(all, promise_of(2).in_place(0).in_place(1).all_reduce(5)));
}

TEST_CASE("what may not be touched is not") {
    auto const n = std::size_t(5);
    auto const alone = [](std::function<void(program_builder&)> const& f) { return programs{written(f)}; };
    CHECK(names(verify(alone([&](program_builder& to) {
                           to.copy(out(0, n), in(0, n));
                           to.copy(in(1, 1), out(0, 1));
                       }),
                       promise_of(1).all_reduce(n)),
                {"instruction 1 of rank 0 (copy)", "writes to element 1 of in", "user's operand"}));
    CHECK(names(verify(alone([&](program_builder& to) { to.copy(out(0, n), to.scratch(n)); }),
                       promise_of(1).all_reduce(n)),
                {"instruction 0 of rank 0", "reads elements 0 to 4 of scratch", "not all there"}));
    CHECK(names(verify(alone([&](program_builder& to) {
                           to.copy(out(0, 4), in(0, 4));
                           to.copy(out(4, 1), out(4, 1).part(0, 1));
                           auto const s = to.scratch(n);
                           to.copy(s, out(0, n));
                       }),
                       promise_of(1).all_reduce(n)),
                {"reads elements 0 to 4 of out", "not all there"}));
    // Between the parts of an all-gather there may be anything.
    std::vector<block_range> const parts{{0, 2}, {5, 2}};
    auto const gather = [&](std::size_t from) {
        programs all;
        for (int rank = 0; rank < 2; ++rank)
            all.push_back(written([&](program_builder& to) {
                auto const& mine = parts[static_cast<std::size_t>(rank)];
                auto const& other = parts[static_cast<std::size_t>(1 - rank)];
                to.copy(out(mine.offset, 2), in(0, 2));
                if (rank == 0 && from < 5) to.copy(out(from, 1), in(0, 1));
                to.receive(1 - rank, out(other.offset, 2));
                to.send(1 - rank, in(0, 2));
            }));
        return all;
    };
    CHECK_FALSE(verify(gather(5), promise_of(2).all_gather(parts)));
    CHECK(names(verify(gather(3), promise_of(2).all_gather(parts)),
                {"rank 0", "writes to element 3 of out", "leaves alone"}));
}

TEST_CASE("every message meets its counterpart") {
    auto all = chain(3, 5);
    auto const more = [](program p, bool send, int peer, region const& r) {
        p.instructions.push_back({send ? program::action::send : program::action::receive, false, 0, peer,
                                  static_cast<program::index>(p.regions.size()), 0});
        p.regions.push_back(r);
        papcoll::detail::find_waits(p);
        return p;
    };
    SUBCASE("a message that nobody receives") {
        all[2] = more(all[2], true, 0, out(0, 1));
        CHECK(names(verify(all, three_copies()),
                    {"instruction 1 of rank 2 (send to rank 0)", "rank 0 never receives"}));
    }
    SUBCASE("a message that nobody sends") {
        all[1] = more(all[1], false, 2, out(0, 1));
        CHECK(names(verify(all, three_copies()),
                    {"instruction 2 of rank 1 (receive from rank 2)", "rank 2 never sends"}));
    }
    SUBCASE("a second message of a pair that nobody sends") {
        all[1] = more(all[1], false, 0, out(0, 1));
        CHECK(names(verify(all, three_copies()),
                    {"instruction 2 of rank 1 (receive from rank 0)", "rank 0 never sends"}));
    }
    SUBCASE("a wrong peer") {
        all[1].instructions[0].peer = 2;
        CHECK(names(verify(all, three_copies()), {"instruction 0 of rank 0", "rank 1 never receives"}));
    }
    SUBCASE("a wrong size") {
        all[1].regions[0] = out(0, 4);
        CHECK(names(verify(all, promise_of(3).broadcast(0, 5)), {"not all there"}));
        all[1].regions[1] = out(0, 4);
        CHECK(names(verify(all, three_copies()),
                    {"instruction 0 of rank 0 (send to rank 1)", "instruction 0 of rank 1",
                     "of 5 elements there", "of 4 here"}));
    }
    SUBCASE("admission at one end") {
        all[1].windows[0].admission = true;
        CHECK(names(verify(all, three_copies()), {"one message", "only one of them waits for admission"}));
        all[0].windows[0].admission = all[2].windows[0].admission = true;
        CHECK_FALSE(verify(all, three_copies()));
        all[2].windows[0].tail_bytes = 8;
        CHECK(names(verify(all, three_copies()), {"different tails", "of 0 bytes there", "of 8 here"}));
        all[2].windows[0].unadmitted_elements = 5;
        CHECK(names(verify(all, three_copies()), {"only one of them waits for admission"}));
    }
}

TEST_CASE("uncut programs are verified as they are executed") {
    auto const cut = [](std::size_t sender, std::size_t receiver, bool kept) {
        programs all;
        for (int rank = 0; rank < 2; ++rank) {
            program_builder to;
            to.use({.longest_elements = rank == 0 ? sender : receiver});
            if (rank == 0)
                to.send(1, out(0, 100));
            else
                to.receive(0, out(0, 100));
            all.push_back(to.finish(kept ? 0 : 1'000'000));
            CHECK(all.back().uncut == kept);
        }
        return all;
    };
    for (bool const kept : {false, true}) {
        CHECK_FALSE(verify(cut(7, 7, kept), promise_of(2).broadcast(0, 100)));
        CHECK(names(verify(cut(7, 9, kept), promise_of(2).broadcast(0, 100)),
                    {"one message", "of 6 elements there"}));
    }
    auto one = cut(7, 7, false);
    one[1] = cut(7, 7, true)[1];
    CHECK_FALSE(verify(one, promise_of(2).broadcast(0, 100)));
}

TEST_CASE("programs that wait for each other in a circle are refused") {
    programs all;
    for (int rank = 0; rank < 3; ++rank)
        all.push_back(written([&](program_builder& to) {
            auto const above = (rank + 1) % 3, below = (rank + 2) % 3;
            to.copy(out(static_cast<std::size_t>(rank), 1), in(0, 1));
            auto const received = to.receive(below, out(static_cast<std::size_t>(below), 1));
            to.after(received);
            to.send(above, in(0, 1));
            auto const next = static_cast<std::size_t>((rank + 1) % 3);
            to.receive(below, out(next, 1));
            to.send(above, out(static_cast<std::size_t>(below), 1));
        }));
    auto const kept = promise_of(3).all_gather({{0, 1}, {1, 1}, {2, 1}});
    CHECK(names(verify(all, kept), {"in a circle", "receive from rank", "send to rank", "the first"}));
    // One rank that sends first breaks it.
    forget_waits(all[1], 2);
    papcoll::detail::find_waits(all[1]);
    CHECK_FALSE(verify(all, kept));
}

TEST_CASE("what ends only where messages are buffered, or with larger windows, is refused") {
    // Both send two messages, of which the other receives the second first.
    auto const rank = [](int other, bool crossed) {
        return written([&](program_builder& to) {
            auto const theirs = to.scratch(2);
            to.copy(out(0, 1), in(0, 1));
            if (crossed) {
                auto const sent = to.send(other, in(0, 1));
                to.after(sent);
            } else {
                to.send(other, in(0, 1));
            }
            to.receive(other, theirs.part(0, 1));
            to.combine(out(0, 1), other == 1 ? in(0, 1) : theirs.part(0, 1),
                       other == 1 ? theirs.part(0, 1) : in(0, 1));
        });
    };
    auto const kept = promise_of(2).all_reduce(1);
    CHECK_FALSE(verify(programs{rank(1, false), rank(0, false)}, kept));
    CHECK_FALSE(verify(programs{rank(1, true), rank(0, false)}, kept));
    CHECK(names(verify(programs{rank(1, true), rank(0, true)}, kept),
                {"in a circle", "instruction 1 of rank 0 (send to rank 1)"}));
    // Rank 0 receives from 1 before 2, for which 1 waits.
    programs all;
    all.push_back(written([](program_builder& to) {
        to.copy(out(0, 1), in(0, 1));
        to.receive(1, out(1, 1));
        to.receive(2, out(2, 1));
    }));
    all.push_back(written([](program_builder& to) {
        auto const asked = to.receive(2, std::vector<region>());
        to.after(asked);
        to.send(0, in(0, 1));
    }));
    all.push_back(written([](program_builder& to) {
        to.send(0, in(0, 1));
        to.send(1, std::vector<region>());
    }));
    std::vector<block_range> const parts{{0, 1}, {1, 1}, {2, 1}};
    CHECK(names(verify(all, promise_of(3).gather(0, parts)), {"in a circle", "rank 1"}));
}

TEST_CASE("what ends only where instructions overtake each other is refused") {
    // Rank 0 combines what it gets only when it has sent what rank 1 waits for; the order of both can be
    // told.
    auto const rank_0 = [](bool combines_first) {
        return written([&](program_builder& to) {
            auto const theirs = to.scratch(1);
            to.receive(1, theirs);
            if (!combines_first) to.send(1, in(0, 1));
            to.combine(out(0, 1), in(0, 1), theirs);
            if (combines_first) to.send(1, in(0, 1));
        });
    };
    auto const rank_1 = written([](program_builder& to) {
        auto const theirs = to.scratch(1);
        auto const received = to.receive(0, theirs);
        to.after(received);
        to.send(0, in(0, 1));
        to.combine(out(0, 1), theirs, in(0, 1));
    });
    auto const kept = promise_of(2).all_reduce(1);
    CHECK_FALSE(verify(programs{rank_0(false), rank_1}, kept));
    CHECK(names(
        verify(programs{rank_0(true), rank_1}, kept),
        {"in a circle", "instruction 1 of rank 0 (combine)", "instruction 2 of rank 0 (send to rank 1)"}));
}

TEST_CASE("each contribution is in the result, once") {
    auto const kept = [] { return promise_of(3).reduce(0, 5); };
    auto const all = reduction(3, 5);
    CHECK_FALSE(verify(all, kept()));
    SUBCASE("a combination is missing") {
        auto broken = all;
        broken[1] = written([](program_builder& to) {
            auto const s = to.scratch(5);
            to.receive(2, s);
            to.send(0, s);
        });
        CHECK(names(verify(broken, kept()),
                    {"element 0 of out on rank 0", "misses the contribution of rank 1"}));
    }
    SUBCASE("a contribution counts twice") {
        auto broken = all;
        broken[1] = written([](program_builder& to) {
            auto const s = to.scratch(5);
            to.receive(2, s);
            to.combine(s, in(0, 5), s);
            to.combine(s.part(2, 1), in(2, 1), s.part(2, 1));
            to.send(0, s);
        });
        CHECK(names(verify(broken, kept()),
                    {"instruction 2 of rank 1 (combine)", "contribution of rank 1 to element 2 twice"}));
    }
    SUBCASE("elements are shifted") {
        auto broken = all;
        broken[2] = written([](program_builder& to) {
            region const parts[] = {in(1, 4), in(0, 1)};
            to.send(1, parts);
        });
        CHECK(
            names(verify(broken, kept()), {"instruction 1 of rank 1", "combines element 0 with element 1"}));
    }
    SUBCASE("the result is that of another element") {
        auto broken = all;
        broken[0] = written([](program_builder& to) {
            auto const s = to.scratch(5);
            to.receive(1, s);
            to.combine(s, in(0, 5), s);
            to.copy(out(0, 4), s.part(1, 4));
            to.copy(out(4, 1), s.part(0, 1));
        });
        CHECK(names(verify(broken, kept()), {"element 0 of out on rank 0", "to element 1",
                                             "not the combination of all contributions to element 0"}));
    }
    SUBCASE("there is no result") {
        auto broken = all;
        broken[0] = written([](program_builder& to) {
            auto const s = to.scratch(5);
            to.receive(1, s);
            to.combine(out(0, 4), in(0, 4), s.part(0, 4));
        });
        CHECK(names(verify(broken, kept()), {"element 4 of out on rank 0", "has no value"}));
    }
}

TEST_CASE("parts come from the ranks that they should") {
    auto all = chain(3, 5);
    CHECK(names(verify(all, promise_of(3).broadcast(1, 5)), {"not all there"}));
    // Rank 0 swaps what it gets from the others.
    auto const gather = [](int first) {
        programs result;
        result.push_back(written([&](program_builder& to) {
            to.copy(out(0, 2), in(0, 2));
            to.receive(first, out(2, 2));
            to.receive(3 - first, out(4, 2));
        }));
        for (int rank = 1; rank < 3; ++rank)
            result.push_back(written([&](program_builder& to) { to.send(0, in(0, 2)); }));
        return result;
    };
    std::vector<block_range> const parts{{0, 2}, {2, 2}, {4, 2}};
    CHECK_FALSE(verify(gather(1), promise_of(3).gather(0, parts)));
    CHECK(names(verify(gather(2), promise_of(3).gather(0, parts)),
                {"element 2 of out on rank 0", "is element 0 of rank 2, not element 0 of rank 1"}));
    // Messages of a pair do not overtake each other.
    auto const swapped = [](bool swap) {
        programs result;
        result.push_back(written([&](program_builder& to) {
            to.send(1, out(swap ? 1 : 0, 1));
            to.send(1, out(swap ? 0 : 1, 1));
        }));
        result.push_back(written([&](program_builder& to) {
            to.receive(0, out(0, 1));
            to.receive(0, out(1, 1));
        }));
        return result;
    };
    CHECK_FALSE(verify(swapped(false), promise_of(2).broadcast(0, 2)));
    CHECK(names(verify(swapped(true), promise_of(2).broadcast(0, 2)),
                {"element 0 of out on rank 1", "is element 1 of rank 0, not element 0"}));
}

TEST_CASE("operands are combined in the order of ranks where that is demanded") {
    auto all = reduction(3, 5);
    all[1] = written([](program_builder& to) {
        auto const s = to.scratch(5);
        to.receive(2, s);
        to.combine(s, s, in(0, 5));
        to.send(0, s);
    });
    CHECK_FALSE(verify(all, promise_of(3).reduce(0, 5)));
    CHECK(names(verify(all, promise_of(3).in_rank_order().reduce(0, 5)),
                {"instruction 1 of rank 1 (combine)", "out of order", "rank 2 comes before that of rank 1"}));
}

TEST_CASE("all ranks get the same bits where that is demanded") {
    auto const alike = [] { return promise_of(2).alike().all_reduce(5); };
    auto all = exchange(5);
    CHECK_FALSE(verify(all, alike()));
    SUBCASE("operands the other way round on one rank") {
        auto& regions = all[1].regions;
        std::swap(regions[regions.size() - 1], regions[regions.size() - 2]);
        CHECK_FALSE(verify(all, two_sums()));
        CHECK(names(verify(all, alike()), {"element 0", "not combined alike on all ranks", "rank 1"}));
    }
    SUBCASE("by different machine code") {
        all[1].instructions[2].alike = false;
        CHECK_FALSE(verify(all, two_sums()));
        CHECK(names(verify(all, alike()), {"not combined alike"}));
    }
    SUBCASE("from memory of papcoll's that lies alike") {
        auto const rank = [](int mine, std::size_t shift) {
            return written([&](program_builder& to) {
                to.scratch(shift);
                auto const both = to.scratch(10);
                auto const own = both.part(mine == 0 ? 0 : 5, 5);
                to.copy(own, in(0, 5));
                to.send(1 - mine, in(0, 5));
                to.receive(1 - mine, both.part(mine == 0 ? 5 : 0, 5));
                to.combine(both.part(0, 5), both.part(0, 5), both.part(5, 5));
                to.copy(out(0, 5), both.part(0, 5));
            });
        };
        CHECK_FALSE(verify(programs{rank(0, 0), rank(1, 0)}, alike()));
        CHECK(names(verify(programs{rank(0, 0), rank(1, 1)}, alike()), {"not combined alike"}));
    }
    SUBCASE("with other brackets") {
        programs three;
        for (int mine = 0; mine < 3; ++mine)
            three.push_back(written([&](program_builder& to) {
                std::vector<region> from;
                for (int r = 0; r < 3; ++r) from.push_back(r == mine ? in(0, 5) : to.scratch(5));
                for (int r = 0; r < 3; ++r) {
                    if (r == mine) continue;
                    to.receive(r, from[static_cast<std::size_t>(r)]);
                }
                for (int r = 0; r < 3; ++r)
                    if (r != mine) to.send((2 * mine + 3 - r) % 3, in(0, 5));
                auto const partial = to.scratch(5);
                if (mine < 2) {
                    to.combine_alike(partial, from[0], from[1]);
                    to.combine_alike(out(0, 5), partial, from[2]);
                } else {
                    to.combine_alike(partial, from[1], from[2]);
                    to.combine_alike(out(0, 5), from[0], partial);
                }
            }));
        CHECK_FALSE(verify(three, promise_of(3).in_rank_order().all_reduce(5)));
        CHECK(names(verify(three, promise_of(3).alike().all_reduce(5)), {"not combined alike", "rank 2"}));
    }
}

TEST_CASE("late contributions come whenever the user makes them") {
    auto const own = [](int rank) { return out(static_cast<std::size_t>(2 * rank), 2); };
    auto const gather = [&](int rank, bool late) {
        return written([&](program_builder& to) {
            if (late)
                to.contribution(own(rank));
            else
                to.copy(own(rank), in(0, 2));
            to.receive(1 - rank, own(1 - rank));
            to.send(1 - rank, own(rank));
        });
    };
    std::vector<block_range> const parts{{0, 2}, {2, 2}};
    auto const kept = [&] { return promise_of(2).late(0).all_gather(parts); };
    CHECK_FALSE(verify(programs{gather(0, true), gather(1, false)}, kept()));
    CHECK(names(verify(programs{gather(0, true), gather(1, true)}, kept()),
                {"rank 1", "waits for a contribution"}));
    CHECK(names(verify(programs{gather(0, false), gather(1, false)}, kept()), {"rank 0", "uses", "of in"}));
    CHECK(names(
        verify(programs{gather(0, true), gather(1, false)}, promise_of(2).late(0).late(1).all_gather(parts)),
        {"instruction 0 of rank 1"}));
    auto p = gather(0, true);
    SUBCASE("it is never taken") {
        p = written([&](program_builder& to) { to.receive(1, own(1)); });
        CHECK(
            names(verify(programs{p, gather(1, false)}, kept()), {"rank 0", "never takes the contribution"}));
    }
    SUBCASE("it is sent before it is there") {
        forget_waits(p, 2);
        CHECK(names(verify(programs{p, gather(1, false)}, kept()),
                    {"instruction 2 of rank 0 (send to rank 1)", "does not wait for instruction 0"}));
    }
    SUBCASE("its place is written before") {
        p = written([&](program_builder& to) {
            to.receive(1, own(0));
            to.contribution(own(0));
        });
        CHECK(names(verify(programs{p, gather(1, false)}, kept()),
                    {"instruction 1 of rank 0", "waits for other"}));
        forget_waits(p, 1);
        CHECK(names(verify(programs{p, gather(1, false)}, kept()),
                    {"instruction 0 of rank 0 (receive from rank 1)", "before the contribution is there"}));
    }
    SUBCASE("it comes to another place") {
        p = written([&](program_builder& to) { to.contribution(own(1)); });
        CHECK(names(verify(programs{p, gather(1, false)}, kept()),
                    {"instruction 0 of rank 0 (contribution)", "where the user puts nothing"}));
    }
}

TEST_CASE("uneven and exchanged parts") {
    // Rank r gives each other rank an element.
    auto const swap = [](bool in_place) {
        programs all;
        for (int rank = 0; rank < 2; ++rank)
            all.push_back(written(
                [&](program_builder& to) {
                    auto const mine = static_cast<std::size_t>(rank);
                    auto const leaving = to.scratch(1);
                    to.copy(leaving, in(1 - mine, 1));
                    to.copy(out(mine, 1), in(mine, 1));
                    to.send(1 - rank, leaving);
                    to.receive(1 - rank, out(1 - mine, 1));
                },
                in_place));
        return all;
    };
    CHECK_FALSE(verify(swap(false), promise_of(2).all_to_all(1)));
    CHECK_FALSE(verify(swap(true), promise_of(2).in_place(0).in_place(1).all_to_all(1)));
    std::vector<block_range> const parts{{0, 3}, {3, 0}};
    auto const scatter = [&](std::size_t where) {
        return programs{written(
                            [&](program_builder& to) {
                                auto const s = to.scratch(3);
                                to.receive(1, s);
                                to.combine(s, in(0, 3), s);
                                to.copy(out(0, 3), s);
                                to.copy(out(where, 1), s.part(0, 1));
                                to.copy(out(0, 3), s);
                            },
                            true),
                        written([&](program_builder& to) { to.send(0, in(0, 3)); })};
    };
    CHECK_FALSE(verify(scatter(0), promise_of(2).in_place(0).reduce_scatter(parts)));
    CHECK(names(verify(scatter(3), promise_of(2).in_place(0).reduce_scatter(parts)),
                {"element 3 of out", "has 3"}));
}

TEST_CASE("a scan must combine the ranks up to each, and no others") {
    // Rank r gets what `last(r)` says.
    auto const prefixes = [](auto last) {
        programs all;
        for (int rank = 0; rank < 3; ++rank)
            all.push_back(written([&](program_builder& to) {
                auto const theirs = to.scratch(6);
                auto const part = [&](int r) {
                    return r == rank ? in(0, 2) : theirs.part(2 * static_cast<std::size_t>(r), 2);
                };
                for (int r = 0; r < 3; ++r)
                    if (r != rank) to.send(r, in(0, 2)), to.receive(r, part(r));
                if (last(rank) < 0) return;
                auto held = part(0);
                for (int r = 1; r <= last(rank); ++r) to.combine(out(0, 2), held, part(r)), held = out(0, 2);
                if (last(rank) == 0) to.copy(out(0, 2), held);
            }));
        return all;
    };
    auto const inclusive = prefixes([](int rank) { return rank; });
    auto const exclusive = prefixes([](int rank) { return rank - 1; });
    auto const all = prefixes([](int) { return 2; });
    CHECK_FALSE(verify(inclusive, promise_of(3).in_rank_order().scan(2)));
    CHECK_FALSE(verify(exclusive, promise_of(3).in_rank_order().exscan(2)));
    CHECK(names(verify(exclusive, promise_of(3).scan(2)), {"rank 0", "has no value"}));
    CHECK(names(verify(inclusive, promise_of(3).exscan(2)), {"rank 0", "out"}));
    CHECK(names(verify(all, promise_of(3).scan(2)),
                {"on rank 0", "has the contribution of rank 1, which must not be in it"}));
}

TEST_CASE("no rank may leave a barrier before all have begun it") {
    // Round the ring from rank 0, and back if it is to be a barrier.
    auto const ring = [](int rounds) {
        programs all;
        for (int rank = 0; rank < 4; ++rank)
            all.push_back(written([&](program_builder& to) {
                std::span<region const> const nothing;
                for (int k = 0; k < rounds; ++k) {
                    if (rank > 0) to.after(to.receive(rank - 1, nothing));
                    to.send((rank + 1) % 4, nothing);
                    if (rank == 0) to.receive(3, nothing);
                    if (rank == 0 && k + 1 < rounds) to.after(to.next() - 1);
                }
            }));
        return all;
    };
    CHECK_FALSE(verify(ring(2), promise_of(4).barrier()));
    CHECK(names(verify(ring(1), promise_of(4).barrier()), {"rank 1 may end before rank 2 has begun"}));
    CHECK(names(verify(programs(2), promise_of(2).barrier()), {"rank 0 may end before rank 1 has begun"}));
}
