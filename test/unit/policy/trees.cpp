// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/policy/arrival_tree.hpp>
#include <papcoll/policy/binomial_tree.hpp>
#include <papcoll/policy/fibonacci_tree.hpp>
#include <papcoll/policy/greedy_tree.hpp>
#include <papcoll/policy/tree/tree_plan.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../support/program_lists.hpp"

using namespace std::chrono_literals;
using papcoll::arrival_tree;
using papcoll::binomial_tree;
using papcoll::call_shape;
using papcoll::collective_kind;
using papcoll::fibonacci_tree;
using papcoll::greedy_tree;
using papcoll::link_model;
using papcoll::program;
using papcoll::ticks;
using program_lists::action;

static_assert(papcoll::block_policy<greedy_tree> && papcoll::block_policy<binomial_tree> &&
              papcoll::block_policy<fibonacci_tree> && papcoll::block_policy<arrival_tree>);
static_assert(!greedy_tree::reorders_operands && arrival_tree::reorders_operands);
static_assert(greedy_tree::provides(collective_kind::broadcast) &&
              !arrival_tree::provides(collective_kind::broadcast) &&
              !greedy_tree::provides(collective_kind::all_gather));

namespace {

link_model const slow{50us, 84.0};
link_model const fast{1500ns, 0.08};

auto shape_of(collective_kind operation, int ranks, int rank, int root, std::size_t count,
              std::size_t bytes = 8) -> call_shape {
    call_shape shape{.operation = operation, .ranks = ranks, .rank = rank, .root = root};
    shape.count = count;
    shape.element_bytes = bytes;
    return shape;
}

/// Whom a rank receives from and sends to, on the way up and on the way down.
struct peers {
    std::vector<int> from, to;
};
/// What is received to be combined, and what is sent before the first result is received or sent, goes up.
auto ways_of(program const& p, collective_kind operation, bool is_root) -> std::pair<peers, peers> {
    std::pair<peers, peers> ways;
    bool up = operation != collective_kind::broadcast;
    for (auto const& i : p.instructions) {
        auto& way = up ? ways.first : ways.second;
        if (i.what == action::receive) {
            way.from.push_back(i.peer);
        } else if (i.what == action::send && is_root) {
            ways.second.to.push_back(i.peer);
        } else if (i.what == action::send) {
            way.to.push_back(i.peer);
            up = false; // it has given its operand away
        }
    }
    return ways;
}

/// One block goes up a tree, or down one, in which everybody but the root sends, or receives, once.
template <class Policy>
void check_trees(Policy const& policy, collective_kind operation, int ranks, int root) {
    std::vector<peers> up, down;
    for (int rank = 0; rank < ranks; ++rank) {
        auto const plan = policy.plan(shape_of(operation, ranks, rank, root, 1, 100'000), slow);
        auto const ways = ways_of(plan, operation, rank == root);
        up.push_back(ways.first);
        down.push_back(ways.second);
    }
    auto const check = [&](std::vector<peers> const& way, bool is_up, bool is_used) {
        int edges = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            auto const& [from, to] = way[static_cast<std::size_t>(rank)];
            auto const& out = is_up ? to : from;
            CHECK(out.size() == (rank == root || !is_used ? 0 : 1));
            for (int const peer : out) {
                auto const& back = way[static_cast<std::size_t>(peer)];
                auto const& list = is_up ? back.from : back.to;
                CHECK(std::count(list.begin(), list.end(), rank) == 1);
            }
            edges += static_cast<int>((is_up ? from : to).size());
        }
        CHECK(edges == (is_used ? ranks - 1 : 0));
    };
    check(up, true, operation != collective_kind::broadcast);
    check(down, false, operation != collective_kind::reduce);
}

auto most_children(greedy_tree const& policy, int ranks) -> std::size_t {
    std::size_t most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        auto const plan = policy.plan(shape_of(collective_kind::reduce, ranks, rank, 0, 1), slow);
        most = std::max(most, program_lists::count(plan, action::receive));
    }
    return most;
}

auto programs_of(greedy_tree const& policy, collective_kind operation, int ranks, int root, std::size_t count)
    -> std::vector<program> {
    std::vector<program> all;
    for (int rank = 0; rank < ranks; ++rank)
        all.push_back(policy.plan(shape_of(operation, ranks, rank, root, count), slow));
    return all;
}
/// The most messages with data that are under way at one instant.
auto most_at_once(std::vector<program> const& programs, papcoll::program_timeline const& line) -> int {
    std::vector<std::pair<ticks, int>> events;
    for (auto const& m : line.messages) {
        if (programs[static_cast<std::size_t>(m.from)].elements_of(m.send) == 0) continue;
        events.emplace_back(m.begin, 1);
        events.emplace_back(m.end, -1);
    }
    std::sort(events.begin(), events.end());
    int now = 0, most = 0;
    for (auto const& event : events) most = std::max(most, now += event.second);
    return most;
}

} // namespace

TEST_CASE("one block goes up or down a tree, all ranks agreeing on it") {
    for (int ranks = 1; ranks <= 21; ++ranks)
        for (int const root : {0, ranks / 2, ranks - 1}) {
            CAPTURE(ranks);
            CAPTURE(root);
            for (auto const operation :
                 {collective_kind::broadcast, collective_kind::reduce, collective_kind::all_reduce}) {
                int const to = operation == collective_kind::all_reduce ? 0 : root;
                check_trees(binomial_tree{}, operation, ranks, to);
                check_trees(fibonacci_tree{}, operation, ranks, to);
                check_trees(greedy_tree{}, operation, ranks, to);
                check_trees(greedy_tree{.compute_time = 20ms, .max_reducers = 2}, operation, ranks, to);
            }
            std::vector<ticks> arrivals(static_cast<std::size_t>(ranks));
            arrivals.back() = 40ms;
            check_trees(arrival_tree{.arrivals = arrivals}, collective_kind::reduce, ranks, root);
            check_trees(arrival_tree{.arrivals = arrivals}, collective_kind::all_reduce, ranks, 0);
        }
}

TEST_CASE("costs shape the greedy tree") {
    CHECK(most_children({}, 16) == 4);
    CHECK(most_children({.transfer_time = 1us, .compute_time = 0us}, 16) == 4);
    CHECK(most_children({.transfer_time = 0us, .compute_time = 1us}, 16) == 4);
    CHECK(most_children({.transfer_time = 1us, .compute_time = 1us}, 16) == 6);
    CHECK(most_children({.max_reducers = 1}, 16) == 15); // the root combines all
    // α + β·8 = 50.672 µs per transfer of one element: a combination of as much makes a Fibonacci tree.
    CHECK(most_children({.compute_per_element = 50'672}, 16) == 6);
    for (int const transfers : {0, 1, 3})
        for (int rank = 0; rank < 16; ++rank) {
            greedy_tree const policy{
                .transfer_time = 3us, .compute_time = 2us, .max_transfers = transfers, .max_reducers = 5};
            papcoll::greedy_tree_scheduler const scheduler{
                .transfer_time = 3us, .compute_time = 2us, .max_transfers = transfers, .max_reducers = 5};
            auto const share = scheduler.for_rank({.ranks = 16, .root = 4}, rank);
            auto const plan = policy.plan(shape_of(collective_kind::reduce, 16, rank, 4, 1), slow);
            std::vector<int> from;
            for (auto const& t : share.receives) from.push_back(t.peer);
            std::vector<int> peers; // without signs
            for (auto const& m : program_lists::messages(plan, action::receive))
                if (m.elements > 0) peers.push_back(m.peer);
            CHECK(peers == from);
        }
}

TEST_CASE("no more than max_transfers are under way, whenever ranks arrive and whatever takes how long") {
    std::mt19937 random(7);
    for (auto const operation :
         {collective_kind::reduce, collective_kind::broadcast, collective_kind::all_reduce})
        for (int const ranks : {2, 3, 8, 13, 21})
            for (int const limit : {1, 2, 3, 5}) {
                greedy_tree const policy{.transfer_time = 3us, .compute_time = 2us, .max_transfers = limit};
                int const root = operation == collective_kind::all_reduce ? 0 : ranks / 3;
                auto const programs = programs_of(policy, operation, ranks, root, 50'000);
                CAPTURE(ranks);
                CAPTURE(limit);
                for (int round = 0; round < 8; ++round) {
                    std::vector<ticks> arrivals;
                    for (int rank = 0; rank < ranks; ++rank)
                        arrivals.emplace_back(static_cast<ticks::rep>(random() % 40'000'000));
                    papcoll::cost_model const costs{.latency = ticks{1000},
                                                    .per_byte = 1.0 + static_cast<double>(random() % 9),
                                                    .compute = ticks{0},
                                                    .compute_per_byte = static_cast<double>(random() % 9)};
                    auto const line = papcoll::simulate_timeline(programs, arrivals, costs, 8,
                                                                 papcoll::message_form::whole);
                    CHECK(most_at_once(programs, line) <= limit);
                }
            }
}

// In the model a sign takes its sender's link until the receiver has come to it, which may be a transfer
// later.
TEST_CASE("with limited transfers ranks that arrive together need about the time of the timed tree") {
    for (int const ranks : {2, 6, 13, 21})
        for (int const limit : {1, 2, 3, 5, 8}) {
            greedy_tree const policy{
                .transfer_time = 40'000us, .compute_time = 30'000us, .max_transfers = limit};
            auto const programs = programs_of(policy, collective_kind::reduce, ranks, 0, 1000);
            auto const tree = papcoll::grow_greedy_tree(ranks, 40'000us, 30'000us, {.transfers = limit});
            auto const exits = papcoll::simulate(
                programs, {},
                {.latency = ticks{0}, .per_byte = 5000, .compute = ticks{0}, .compute_per_byte = 3750}, 8,
                papcoll::message_form::whole);
            auto const end = *std::max_element(exits.begin(), exits.end());
            CHECK(end >= tree.finish); // no schedule is shorter
            CHECK(end <= tree.finish + 40'000us);
        }
}

TEST_CASE("without a limit more transfers are under way") {
    auto const programs = programs_of({.transfer_time = 3us}, collective_kind::reduce, 13, 0, 50'000);
    auto const line = papcoll::simulate_timeline(programs, {}, {.latency = ticks{1000}, .per_byte = 1.0}, 8,
                                                 papcoll::message_form::whole);
    CHECK(most_at_once(programs, line) > 3);
}

TEST_CASE("whoever is late enough sends straight to the root, last") {
    for (int const root : {0, 5}) {
        std::vector<ticks> arrivals(13);
        arrivals[9] = 1s;
        auto const plan = arrival_tree{.arrivals = arrivals}.plan(
            shape_of(collective_kind::reduce, 13, root, root, 1, 100'000), slow);
        CHECK(program_lists::peers(plan, action::receive).back() == 9);
    }
}

TEST_CASE("the number of blocks is the best power of two in the model, the same on all ranks") {
    for (auto const& link : {slow, fast})
        for (int const ranks : {1, 2, 3, 8, 13, 100})
            for (std::size_t const count : {0u, 1u, 2u, 1000u, 1'000'000u})
                for (double const each : {0.0, 1.0, 700.0}) {
                    CAPTURE(ranks);
                    CAPTURE(count);
                    CAPTURE(each);
                    greedy_tree const policy{.compute_per_element = each};
                    auto const shape = shape_of(collective_kind::reduce, ranks, 0, 0, count);
                    int const n = policy.blocks(shape, link);
                    CHECK(n >= 1);
                    CHECK(std::has_single_bit(static_cast<unsigned>(n)));
                    CHECK(static_cast<std::size_t>(n) <= std::max<std::size_t>(count, 1));
                    for (int rank = 1; rank < ranks; ++rank)
                        CHECK(policy.blocks(shape_of(collective_kind::reduce, ranks, rank, 0, count), link) ==
                              n);
                    if (each == 0) CHECK(n == 1); // the root receives all the time
                    CHECK(policy.blocks(shape_of(collective_kind::broadcast, ranks, 0, 0, count), link) == 1);
                }
    // A combination as long as a transfer is hidden behind the next block's.
    greedy_tree const slow_operator{.compute_per_element = 8 * 84.0};
    int const n = slow_operator.blocks(shape_of(collective_kind::reduce, 13, 0, 0, 1'000'000), slow);
    CHECK(n >= 8);
    papcoll::detail::tree_pipeline const tree(papcoll::grow_greedy_tree(13, 672ms, 672ms));
    auto const time = [&](int blocks) {
        ticks const part = ticks(672ms) / blocks;
        return tree.time(blocks, {50us + part, part});
    };
    CHECK(time(n) < 0.9 * time(1));
    for (int k = 1; k <= 4096; k *= 2) CHECK(time(n) <= 1.001 * time(k));
}

TEST_CASE("blocks that are asked for") {
    auto const blocks = [](auto const& policy) {
        auto const plan = policy.plan(shape_of(collective_kind::reduce, 7, 3, 0, 1000), slow);
        return program_lists::count(plan, action::send); // each is given away once
    };
    CHECK(blocks(binomial_tree{.segments = 9}) == 9);
    CHECK(blocks(fibonacci_tree{.segments = 9}) == 9);
    CHECK(blocks(greedy_tree{.segments = 9}) == 9);
    CHECK(blocks(arrival_tree{}) == 1);
}

TEST_CASE("values that cannot be are named") {
    auto const says = [](std::string const& words, auto const& policy) {
        try {
            policy.check(shape_of(collective_kind::reduce, 7, 0, 0, 10));
            FAIL("nothing was thrown");
        } catch (std::invalid_argument const& e) {
            CHECK(std::string(e.what()).find(words) != std::string::npos);
        }
    };
    says("transfer_time", greedy_tree{.transfer_time = -1ns});
    says("compute_time", greedy_tree{.compute_time = -1ns});
    says("transfer_time", greedy_tree{.transfer_time = ticks::max()});
    says("compute_per_element", greedy_tree{.compute_per_element = -1});
    says("compute_per_element", greedy_tree{.compute_per_element = std::nan("")});
    says("compute_per_element", greedy_tree{.compute_per_element = HUGE_VAL});
    says("compute_per_element", arrival_tree{.compute_per_element = std::nan("")});
    says("max_transfers", greedy_tree{.max_transfers = -1});
    says("segments must be 1", greedy_tree{.max_transfers = 2, .segments = 3});
    says("max_reducers", greedy_tree{.max_reducers = -1});
    says("segments", greedy_tree{.segments = 0});
    says("segments", binomial_tree{.segments = -3});
    says("segments", fibonacci_tree{.segments = 0});
    says("arrivals", arrival_tree{.arrivals = {1ns, 2ns}});
    says("transfer_time", arrival_tree{.transfer_time = -1ns});
    says("compute_per_element", arrival_tree{.compute_per_element = 1e300});
    greedy_tree{.compute_per_element = 1e12}.check(shape_of(collective_kind::reduce, 7, 0, 0, 10));
}

TEST_CASE("the largest costs do not overflow") {
    auto const most =
        std::numeric_limits<std::size_t>::max() / 8 / 64; // what is received has to lie somewhere
    for (int const ranks : {2, 1000}) {
        auto const shape = shape_of(collective_kind::reduce, ranks, 0, 0, most);
        CHECK(greedy_tree{.compute_per_element = 1e12}.plan(shape, slow).size() > 0);
        CHECK(arrival_tree{.compute_per_element = 1e12}.plan(shape, {1h, 1e6}).size() > 0);
    }
}

TEST_CASE("fingerprints tell policies apart") {
    std::vector<greedy_tree> const all = {{},
                                          {.transfer_time = 0ns},
                                          {.compute_time = 0ns},
                                          {.compute_per_element = 1},
                                          {.max_transfers = 1},
                                          {.max_reducers = 1},
                                          {.segments = 1}};
    for (auto const& a : all)
        for (auto const& b : all) CHECK((a.fingerprint() == b.fingerprint()) == (a == b));
    CHECK(binomial_tree{}.fingerprint() != binomial_tree{.segments = 2}.fingerprint());
    CHECK(fibonacci_tree{}.fingerprint() != fibonacci_tree{.segments = 2}.fingerprint());
    CHECK(arrival_tree{.arrivals = {1ns, 2ns}}.fingerprint() !=
          arrival_tree{.arrivals = {1ns, 3ns}}.fingerprint());
    CHECK(arrival_tree{.compute_time = 1ns}.fingerprint() != arrival_tree{}.fingerprint());
}
