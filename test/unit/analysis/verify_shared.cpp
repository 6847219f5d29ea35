// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/analysis/verify_program.hpp>
#include <papcoll/program/program_builder.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

// What verify finds in programs that share the memory of a node, and what simulate makes of them.
namespace {

using papcoll::memory;
using papcoll::program;
using papcoll::program_builder;
using papcoll::region;

constexpr std::size_t n = 4;
region const out(memory::out, 0, n);
region const shared(memory::node, 0, n);

/// Programs of ranks 0, 1, …, which share n elements.
auto programs(std::vector<std::function<void(program_builder&)>> const& write) -> std::vector<program> {
    std::vector<program> result;
    for (auto const& w : write) {
        program_builder b;
        b.share(n, 17);
        w(b);
        result.push_back(b.finish());
    }
    return result;
}
void gives(program_builder& b) {
    b.copy(shared, out);
    b.post(shared);
}
void takes(program_builder& b) {
    b.await(0, 1, shared);
    b.copy(out, shared);
}
auto complaint(std::vector<program> const& p) -> std::string {
    return verify(p, papcoll::promise_of(static_cast<int>(p.size())).broadcast(0, n)).value_or("");
}
auto has(std::string const& text, std::string const& part) -> bool {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a post and an await pass data on") { CHECK(complaint(programs({gives, takes, takes})).empty()); }

TEST_CASE("what is not ordered is found") {
    auto const reads_at_once = [](program_builder& b) { b.copy(out, shared); };
    CHECK(has(complaint(programs({gives, reads_at_once})), "has no value"));
    auto const awaits_for_another = [](program_builder& b) {
        b.await(0, 1, region(memory::node, 0, 0));
        b.copy(out, shared);
    };
    auto const text = complaint(programs({gives, awaits_for_another}));
    CHECK_MESSAGE(has(text,
                      "instruction 1 of rank 1 (copy) and instruction 0 of rank 0 (copy) both use elements "
                      "0 to 3 of the node's memory, and no post and await orders them"),
                  text);
    auto const posts_before = [](program_builder& b) {
        b.post(region(memory::node, 0, 0));
        b.copy(shared, out);
    };
    CHECK(!complaint(programs({posts_before, takes})).empty());
    // Rank 2 has it from rank 1, which has it from rank 0.
    auto const passes_on = [](program_builder& b) {
        takes(b);
        b.post(shared);
    };
    auto const takes_from_1 = [](program_builder& b) {
        b.await(1, 1, shared);
        b.copy(out, shared);
    };
    CHECK(complaint(programs({gives, passes_on, takes_from_1})).empty());
}

TEST_CASE("memory that is written again while others read it is found") {
    region const first(memory::out, 0, 2), second(memory::out, 2, 2), window(memory::node, 0, 2);
    auto const reads = [&](program_builder& b) {
        b.await(0, 1, window);
        b.copy(first, window);
        b.post(window);
        b.await(0, 2, window);
        b.copy(second, window);
    };
    auto const writes = [&](bool waits) {
        return [=](program_builder& b) {
            b.copy(window, first);
            b.post(window);
            if (waits) b.await(1, 1, window);
            b.copy(window, second);
            b.post(window);
        };
    };
    CHECK(complaint(programs({writes(true), reads})).empty());
    CHECK(!complaint(programs({writes(false), reads})).empty());
}

TEST_CASE("programs that never end are found") {
    auto const waits_first = [](int peer) {
        return [=](program_builder& b) {
            b.await(peer, 1, region(memory::node, 0, 1));
            b.post(region(memory::node, 0, 1));
        };
    };
    CHECK(has(complaint(programs({waits_first(1), waits_first(0)})), "wait for each other in a circle"));
    auto const too_many = [](program_builder& b) { b.await(0, 2, shared); };
    CHECK(has(complaint(programs({gives, too_many})), "waits for post 2 of 1"));
}

TEST_CASE("malformed programs are found") {
    auto p = programs({gives, takes});
    p[1].node_key = 18;
    CHECK(has(complaint(p), "is for a rank whose program shares memory otherwise"));
    p = programs({gives, takes});
    p[1].posts.clear();
    CHECK(has(complaint(p), "has no number of posts that it waits for"));
    p[1].posts = {1, 1};
    CHECK(has(complaint(p), "has other awaits than it has numbers for"));
    p = programs({gives, takes});
    p[1].instructions[0].peer = 1;
    CHECK(has(complaint(p), "waits for the rank itself"));
    p[1].instructions[0].peer = 2;
    CHECK(has(complaint(p), "names a rank that is not among the 2"));
    p = programs({gives, takes});
    p[1].regions[0] = out;
    CHECK(has(complaint(p), "is about elements 0 to 3 of out, which nobody shares"));
    auto const posts_twice = [](program_builder& b) {
        gives(b);
        b.post(shared);
    };
    p = programs({posts_twice, takes});
    p[0].waits.pop_back();
    CHECK(has(complaint(p), "does not wait for the post before it"));
    p = programs({gives, takes});
    p[0].node = n - 1;
    CHECK(has(complaint(p), "of the node's memory, which has 3"));
    program_builder other;
    CHECK_THROWS_AS(other.append(programs({gives})[0]), std::invalid_argument);
}

TEST_CASE("an await ends with its post") {
    using papcoll::ticks;
    auto const p = programs({gives, takes, takes});
    std::vector const arrivals{ticks(30), ticks(10), ticks(50)};
    auto const exits = papcoll::simulate(p, arrivals, papcoll::cost_model{}, 8);
    CHECK(exits == std::vector{ticks(30), ticks(30), ticks(50)});
    CHECK_THROWS_AS(
        (void)papcoll::simulate(programs({[](program_builder&) {}, takes}), {}, papcoll::cost_model{}, 8),
        std::invalid_argument);
}
