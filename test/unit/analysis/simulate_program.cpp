// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/binomial_tree.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/policy/shared_memory.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/program/triggered_gather.hpp>
#include <papcoll/program/whole_operands.hpp>
#include <papcoll/scheduler/arrival_all_reduce.hpp>
#include <papcoll/scheduler/background_ring.hpp>
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/butterfly.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <support/all_reduce_model.hpp>
#include <vector>

using papcoll::cost_model;
using papcoll::memory;
using papcoll::message_form;
using papcoll::problem;
using papcoll::program;
using papcoll::program_builder;
using papcoll::region;
using papcoll::simulate;
using papcoll::simulate_timeline;
using papcoll::ticks;

namespace {

using times = std::vector<ticks>;
using program_list = std::vector<program>;

auto at(int i) -> std::size_t { return static_cast<std::size_t>(i); }

auto nanoseconds(std::vector<int> const& numbers) -> times {
    times result;
    for (int const n : numbers) result.emplace_back(n);
    return result;
}

/// The program of each rank that write(builder, rank) writes.
auto programs_of(int ranks, std::function<void(program_builder&, int)> const& write) -> program_list {
    program_list result;
    for (int rank = 0; rank < ranks; ++rank) {
        program_builder to;
        write(to, rank);
        result.push_back(to.finish());
    }
    return result;
}

auto random_arrivals(int ranks, int most, std::uint64_t seed) -> times {
    std::mt19937_64 random(seed);
    times arrivals;
    for (int rank = 0; rank < ranks; ++rank)
        arrivals.emplace_back(static_cast<int>(random() % static_cast<std::uint64_t>(most + 1)) - most / 2);
    return arrivals;
}

/// Rank 0 receives an operand of one element from each other and adds it to its own.
auto flat_reduction(int ranks, bool one_slot, papcoll::message_windows const& windows = {}) -> program_list {
    return programs_of(ranks, [&](program_builder& to, int rank) {
        to.use(windows);
        region const in(memory::in, 0, 1), out(memory::out, 0, 1);
        if (rank > 0) {
            to.send(0, in);
            return;
        }
        auto slot = to.scratch(1);
        auto held = in;
        for (int from = 1; from < ranks; ++from) {
            to.receive(from, slot);
            to.combine(out, held, slot);
            held = out;
            if (!one_slot) slot = to.scratch(1);
        }
    });
}

/// Rank 0 sends n elements down a chain of ranks, in messages of at most so many.
auto chain(int ranks, std::size_t n, std::size_t longest, std::size_t limit) -> program_list {
    program_list result;
    for (int rank = 0; rank < ranks; ++rank) {
        program_builder to;
        to.use({.longest_elements = longest});
        region const data(memory::out, 0, n);
        if (rank > 0) to.receive(rank - 1, data);
        if (rank + 1 < ranks) to.send(rank + 1, data);
        result.push_back(to.finish(limit));
    }
    return result;
}

} // namespace

TEST_CASE("two ranks add what they have") {
    auto const programs = programs_of(2, [](program_builder& to, int rank) {
        auto const theirs = to.scratch(4);
        to.send(1 - rank, region(memory::in, 0, 4));
        to.receive(1 - rank, theirs);
        to.combine(region(memory::out, 0, 4), region(memory::in, 0, 4), theirs);
    });
    cost_model const model{
        .latency = ticks{10}, .per_byte = 1.0, .compute = ticks{5}, .compute_per_byte = 0.5};
    CHECK(simulate(programs, {}, model, 2) == nanoseconds({27, 27}));
    CHECK(simulate(programs, nanoseconds({0, 100}), model, 2) == nanoseconds({127, 127}));
    CHECK(simulate(programs, nanoseconds({-60, -50}), model, 1) == nanoseconds({-29, -29}));
    auto const timeline = simulate_timeline(programs, nanoseconds({0, 100}), model, 2);
    CHECK(timeline.arrivals == nanoseconds({0, 100}));
    CHECK(timeline.exits == nanoseconds({127, 127}));
    REQUIRE(timeline.messages.size() == 2);
    for (auto const& m : timeline.messages) {
        CHECK(m.from == 1 - m.to);
        CHECK(m.send == 0);
        CHECK(m.receive == 1);
        CHECK(m.begin == ticks{100});
        CHECK(m.end == ticks{118});
    }
    REQUIRE(timeline.combinations.size() == 2);
    for (auto const& c : timeline.combinations) {
        CHECK(c.instruction == 2);
        CHECK(c.begin == ticks{118});
        CHECK(c.end == ticks{127});
    }
}

TEST_CASE("a chain; long messages in pieces, or whole") {
    cost_model const model{.latency = ticks{10}, .per_byte = 1.0};
    auto const cut = chain(4, 100, 25, static_cast<std::size_t>(-1));
    CHECK_FALSE(cut[1].uncut);
    // Three hops; of pieces each but the first follows the one before it.
    CHECK(simulate(cut, {}, model, 1) == nanoseconds({4 * 35, 5 * 35, 6 * 35, 6 * 35}));
    auto const uncut = chain(4, 100, 25, 0);
    REQUIRE(uncut[1].uncut);
    CHECK(simulate(uncut, {}, model, 1) == simulate(cut, {}, model, 1));
    CHECK(simulate(uncut, {}, model, 1, message_form::whole) == nanoseconds({110, 220, 330, 330}));
    CHECK(simulate_timeline(uncut, {}, model, 1).messages.size() == 12);
    CHECK(simulate_timeline(uncut, {}, model, 1, message_form::whole).messages.size() == 3);
}

TEST_CASE("a butterfly takes log2 P exchanges and combinations") {
    for (int q = 0; q <= 4; ++q) {
        int const ranks = 1 << q;
        auto const programs = programs_of(ranks, [&](program_builder& to, int rank) {
            papcoll::write_butterfly(to, papcoll::butterfly(ranks, rank), rank, 3);
        });
        cost_model const model{.latency = ticks{50}, .per_byte = 1.0, .compute = ticks{20}};
        CHECK(simulate(programs, {}, model, 4) == times(at(ranks), q * ticks{82}));
    }
}

TEST_CASE("combinations overlap messages, where these have memory of their own") {
    for (auto const& [d, c] : {std::pair{40, 10}, {10, 40}, {20, 20}})
        for (int n = 2; n <= 6; ++n) {
            cost_model const model{.latency = ticks{d}, .compute = ticks{c}};
            CHECK(simulate(flat_reduction(n, false), {}, model, 1)[0] ==
                  ticks{d + (n - 2) * std::max(d, c) + c});
            CHECK(simulate(flat_reduction(n, true), {}, model, 1)[0] == ticks{(n - 1) * (d + c)});
        }
}

TEST_CASE("windows and admission make no difference") {
    cost_model const model{.latency = ticks{10}, .compute = ticks{4}};
    auto const expected = simulate(flat_reduction(5, false), nanoseconds({7, 0, 90, 3, 1}), model, 1);
    // Rank 1 at 7, rank 2 at 90, and the others one behind the other.
    CHECK(expected == nanoseconds({124, 17, 100, 110, 120}));
    for (bool const admission : {false, true})
        for (int const window : {1, 8}) {
            auto const programs = flat_reduction(
                5, false, {.receives = window, .sends = window, .admission = admission, .tail_bytes = 1});
            CHECK(simulate(programs, nanoseconds({7, 0, 90, 3, 1}), model, 1) == expected);
        }
}

TEST_CASE("a message without elements costs the latency: a triggered gather") {
    auto const programs = programs_of(3, [](program_builder& to, int rank) {
        papcoll::triggered_gather gather(to, 5);
        if (rank > 0) return gather.answer(0, region(memory::in, 0, 20));
        gather.ask(1, region(memory::out, 20, 20));
        gather.ask(2, region(memory::out, 40, 20));
    });
    cost_model const model{.latency = ticks{10}, .per_byte = 1.0};
    // Asked at 0; the first elements at 10 and the rest at 25. Rank 2 is asked at 25, its part follows at 50.
    CHECK(simulate(programs, {}, model, 1) == nanoseconds({90, 50, 90}));
    auto const timeline = simulate_timeline(programs, nanoseconds({0, 0, 200}), model, 1);
    CHECK(timeline.exits == nanoseconds({250, 50, 250}));
    CHECK(timeline.messages[3].begin == ticks{200}); // the question
    CHECK(timeline.messages[3].end == ticks{210});
    CHECK(timeline.messages.size() == 6);
}

namespace {

/// Rank 1 passes on what rank 0 has, and then its own.
auto relay(bool contributes) -> program_list {
    return programs_of(3, [&](program_builder& to, int rank) {
        region const own(memory::in, 0, 10);
        region const parts[] = {{memory::out, 0, 10}, {memory::out, 10, 10}}; // NOLINT
        if (rank == 0) to.send(1, own);
        if (rank == 1) {
            if (contributes) to.contribution(own);
            to.receive(0, parts[0]);
            to.send(2, parts[0]);
            to.send(2, own);
        }
        if (rank == 2) to.receive(1, parts[0]), to.receive(1, parts[1]);
    });
}

} // namespace

TEST_CASE("a rank that contributes takes part before it arrives") {
    cost_model const model{.latency = ticks{10}, .per_byte = 1.0};
    auto const arrivals = nanoseconds({3, 500, 3});
    CHECK(simulate(relay(false), arrivals, model, 1) == nanoseconds({520, 560, 560}));
    CHECK(simulate(relay(true), arrivals, model, 1) == nanoseconds({23, 520, 520}));
    CHECK(simulate(relay(true), nanoseconds({3, 30, 3}), model, 1) == nanoseconds({23, 63, 63}));
    CHECK(simulate(relay(true), nanoseconds({900, 0, 0}), model, 1) == nanoseconds({920, 960, 960}));
}

TEST_CASE("combinations are made in the order in which they can be; copies and what is free take no time") {
    // Rank 0 adds what comes late first in its program; the sum of the rest is a copy of a copy.
    auto const programs = programs_of(3, [](program_builder& to, int rank) {
        if (rank == 1) to.send(0, region(memory::in, 0, 90));
        if (rank == 2) to.send(0, region(memory::in, 0, 1));
        if (rank > 0) return;
        auto const small = to.scratch(1), great = to.scratch(90), copied = to.scratch(1);
        to.receive(2, small);
        to.receive(1, great);
        to.combine(region(memory::out, 0, 90), region(memory::in, 0, 90), great);
        to.copy(copied, small);
        to.combine(region(memory::out, 90, 1), region(memory::in, 90, 1), copied);
    });
    cost_model const model{.latency = ticks{10}, .per_byte = 1.0, .compute = ticks{7}};
    auto const timeline = simulate_timeline(programs, {}, model, 1);
    CHECK(timeline.exits == nanoseconds({118, 111, 11}));
    REQUIRE(timeline.combinations.size() == 2);
    CHECK(timeline.combinations[0].instruction == 4);
    CHECK(timeline.combinations[0].begin == ticks{11});
    CHECK(timeline.combinations[1].instruction == 2);
    CHECK(timeline.combinations[1].begin == ticks{111});
    CHECK(simulate(programs, {}, {.latency = ticks{10}, .per_byte = 1.0}, 1) == nanoseconds({111, 111, 11}));
}

TEST_CASE("a long combination of several regions costs each of them") {
    auto const programs = programs_of(1, [](program_builder& to, int) {
        auto const a = to.scratch(20), b = to.scratch(20);
        std::vector<region> const threes{region(memory::out, 0, 5), a.part(0, 5), b.part(0, 5),
                                         region(memory::out, 9, 8), a.part(5, 8), b.part(9, 8)};
        to.combine(std::span<region const>(threes));
    });
    CHECK(simulate(programs, nanoseconds({40}), {.compute = ticks{3}, .compute_per_byte = 2.0}, 1) ==
          nanoseconds({40 + 3 + 10 + 3 + 16}));
}

TEST_CASE("an instruction that waits for a later one, or for itself") {
    for (program::index const other : {0U, 1U, 50'000'000U}) {
        program_builder to;
        to.copy(region(memory::out, 0, 4), region(memory::in, 0, 4));
        auto broken = to.finish();
        broken.waits.push_back(other);
        broken.instructions[0].first_wait = 0;
        CHECK_THROWS_AS((void)papcoll::simulate(std::vector{broken}, {}, cost_model{}, 4),
                        std::invalid_argument);
    }
}

TEST_CASE("a program that is written when it is executed takes its time in either form") {
    std::vector<program> all;
    papcoll::call_shape shape{.operation = papcoll::collective_kind::all_reduce, .ranks = 2};
    shape.count = std::size_t(1) << 26U;
    shape.element_bytes = 4;
    shape.commutative = true;
    shape.shared_bytes = std::size_t(1) << 18U;
    std::vector<int> const nodes{0, 0};
    shape.nodes = nodes;
    for (shape.rank = 0; shape.rank < 2; ++shape.rank)
        all.push_back(papcoll::shared_memory{}.plan(shape, papcoll::link_model{}));
    REQUIRE(all[0].written_by);
    cost_model const model{.compute_per_byte = 1.0};
    for (auto const form : {message_form::whole, message_form::in_pieces})
        CHECK(papcoll::simulate(all, {}, model, 4, form)[0] > std::chrono::milliseconds(1));
}

TEST_CASE("nothing to do") {
    CHECK(simulate(program_list(3), nanoseconds({5, 1, 2}), {}, 8) == nanoseconds({5, 1, 2}));
    CHECK(simulate(program_list(2), {}, {}, 8) == nanoseconds({0, 0}));
}

TEST_CASE("programs that cannot proceed") {
    auto const error = [](program_list const& programs, times const& arrivals = {}) -> std::string {
        try {
            (void)simulate(programs, arrivals, {}, 1);
        } catch (std::invalid_argument const& e) {
            return e.what();
        }
        return "";
    };
    auto const sends = [](int to, std::size_t elements) {
        program_builder b;
        b.send(to, region(memory::in, 0, elements));
        return b.finish();
    };
    auto const receives = [](int from, std::size_t elements) {
        program_builder b;
        b.receive(from, region(memory::out, 0, elements));
        return b.finish();
    };
    std::string const begin = "papcoll: the programs cannot proceed: ";
    CHECK(error({sends(1, 4), receives(0, 4)}).empty());
    CHECK(error({sends(1, 4), receives(0, 5)}) ==
          begin + "rank 0 sends 4 elements to rank 1, which expects 5");
    CHECK(error({sends(1, 4), {}}) ==
          begin + "rank 0 sends 4 elements to rank 1, which does not receive them");
    CHECK(error({{}, receives(0, 4)}) ==
          begin + "rank 1 receives 4 elements from rank 0, which does not send them");
    CHECK(error({sends(2, 4), receives(0, 4), receives(1, 4)}) ==
          begin + "rank 1 receives 4 elements from rank 0, which does not send them");
    CHECK(error({sends(2, 4), {}}) == begin + "rank 0 sends 4 elements to rank 2, which does not exist");
    CHECK(error({{}, receives(-1, 4)}) ==
          begin + "rank 1 receives 4 elements from rank -1, which does not exist");
    auto const answers = programs_of(2, [](program_builder& to, int rank) {
        region const data(memory::out, 0, 1);
        to.receive(1 - rank, data);
        to.send(1 - rank, data);
    });
    CHECK(error(answers) == begin + "instruction 1 of rank 0, a send, waits for ever");
    program native;
    native.native = true;
    CHECK(error({native}).find("native") != std::string::npos);
    CHECK(error({}).find("0 programs") != std::string::npos);
    CHECK(error(program_list(2), times(3)).find("2 programs and 3 arrivals") != std::string::npos);
    CHECK_THROWS_WITH_AS((void)simulate(program_list(1), {}, {.per_byte = -1.0}, 1),
                         doctest::Contains("per_byte"), std::invalid_argument);
}

namespace {

constexpr papcoll::link_model link_of_model{.latency = ticks{1000}, .per_byte = 1.0};
// The blocks of one message are combined at once, which may not cost less than one by one.
constexpr cost_model model{.latency = ticks{1000}, .per_byte = 1.0, .compute_per_byte = 0.75};

template <class Policy>
auto plans_of(Policy const& policy, papcoll::call_shape shape) -> program_list {
    program_list result;
    for (shape.rank = 0; shape.rank < shape.ranks; ++shape.rank)
        result.push_back(policy.plan(shape, link_of_model));
    return result;
}

/// The plans of a policy against the schedule that they are made from, of whole data or of parts of ranks.
template <class Policy, class Scheduler>
void compare(papcoll::collective_kind operation, Policy const& policy, Scheduler const& algorithm, int ranks,
             int segments, std::span<ticks const> arrivals, bool has_parts = false, bool late = false) {
    CAPTURE(policy.name());
    CAPTURE(ranks);
    CAPTURE(segments);
    papcoll::call_shape shape{.operation = operation, .ranks = ranks, .root = has_parts ? 0 : ranks / 2};
    shape.count = at(101 * (has_parts ? ranks : 1));
    shape.element_bytes = 4;
    shape.late = late;
    std::vector<int> owners;
    for (int owner = 0; owner < (has_parts ? ranks : 0); ++owner)
        owners.insert(owners.end(), at(segments), owner);
    std::vector<std::size_t> bytes;
    for (int part = 0; part < (has_parts ? ranks : 1); ++part)
        for (auto const b : papcoll::bytes_of_blocks({101, segments}, 4)) bytes.push_back(b);
    problem const p{.ranks = ranks,
                    .root = shape.root,
                    .blocks = static_cast<int>(bytes.size()),
                    .arrivals = arrivals,
                    .owners = owners};
    auto const schedule = papcoll::transfers(algorithm, p);
    auto const part = late ? papcoll::participation::background : papcoll::participation::from_arrival;
    auto const programs = plans_of(policy, shape);
    CHECK(simulate(programs, arrivals, model, 4) ==
          simulate(schedule, p, model, bytes, Scheduler::kind, part));
}

} // namespace

TEST_CASE("the programs of policies take the time of their schedules") {
    using kind = papcoll::collective_kind;
    using up = papcoll::reversed_scheduler<papcoll::circulant_scheduler>;
    std::uint64_t seed = 0;
    for (int const ranks : {1, 2, 3, 5, 8, 13})
        for (int const segments : {1, 2, 7}) {
            auto const arrivals = random_arrivals(ranks, 9000, ++seed);
            auto const block_bytes = at((404 + segments - 1) / segments);
            compare(kind::broadcast, papcoll::circulant{.block_bytes = block_bytes},
                    papcoll::circulant_scheduler{}, ranks,
                    papcoll::circulant{.block_bytes = block_bytes}.blocks(
                        {.operation = kind::broadcast, .ranks = ranks, .count = 101, .element_bytes = 4},
                        link_of_model),
                    arrivals);
            compare(kind::reduce, papcoll::scheduled<up>{.algorithm = {}, .segments = segments}, up{}, ranks,
                    segments, arrivals);
            compare(kind::reduce, papcoll::binomial_tree{.segments = segments},
                    papcoll::binomial_tree_scheduler{}, ranks, segments, arrivals);
            compare(kind::broadcast, papcoll::binomial_tree{.segments = segments},
                    papcoll::reversed(papcoll::binomial_tree_scheduler{}), ranks, segments, arrivals);
            papcoll::clairvoyant const informed{
                .arrivals = arrivals, .round = ticks{1100}, .segments = segments};
            if (informed.choose({.ranks = ranks, .root = ranks / 2, .count = 101}, link_of_model)
                    .uses_arrivals)
                compare(kind::reduce, informed, papcoll::clairvoyant_scheduler<>{.round = ticks{1100}}, ranks,
                        segments, arrivals);
            compare(kind::all_gather,
                    papcoll::scheduled<papcoll::ring_scheduler>{.algorithm = {}, .segments = segments},
                    papcoll::ring_scheduler{}, ranks, segments, arrivals, true);
            compare(kind::reduce_scatter,
                    papcoll::scheduled<papcoll::reversed_scheduler<papcoll::ring_scheduler>>{
                        .algorithm = {}, .segments = segments},
                    papcoll::reversed_scheduler<papcoll::ring_scheduler>{}, ranks, segments, arrivals, true);
            if (segments > 1) continue;
            compare(kind::all_gather, papcoll::ring{}, papcoll::ring_scheduler{}, ranks, 1, arrivals, true);
            for (bool const late : {false, true})
                compare(kind::all_gather,
                        papcoll::background_ring{.arrivals = arrivals, .block_time = ticks{1404}},
                        papcoll::background_ring_scheduler{ticks{1404}}, ranks, 1, arrivals, true, late);
        }
}

TEST_CASE("an all-reduce whose results spread while it reduces takes the time of its schedule") {
    for (int const ranks : {3, 4, 7, 12}) {
        times arrivals(at(ranks), ticks{0});
        arrivals[1] = ticks{3'000'000};
        papcoll::arrival_all_reduce const policy{.arrivals = arrivals, .block_bytes = 8000};
        papcoll::call_shape shape{.operation = papcoll::collective_kind::all_reduce, .ranks = ranks};
        shape.count = 100'000;
        shape.element_bytes = 4;
        REQUIRE(policy.aware(shape, link_of_model));
        REQUIRE(policy.blocks(shape, link_of_model) == 50);
        problem const p{.ranks = ranks, .root = 0, .blocks = 50, .arrivals = arrivals, .owners = {}};
        papcoll::arrival_all_reduce_scheduler const algorithm{.transfer_time = ticks{400'000},
                                                              .latency = ticks{1000}};
        std::vector<papcoll::transfer> schedule;
        for (int rank = 0; rank < ranks; ++rank) {
            auto const share = algorithm.for_rank(p, rank);
            for (auto const* half : {&share.reduction, &share.dissemination})
                for (auto const& t : half->sends) schedule.push_back({t.step, rank, t.peer, t.block});
        }
        CHECK(simulate(plans_of(policy, shape), arrivals, {.latency = ticks{1000}, .per_byte = 1.0}, 4) ==
              all_reduce_exits(schedule, p, ticks{1000}, ticks{8000}));
    }
}
