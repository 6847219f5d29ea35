// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/known_policies.hpp>
#include <papcoll/policy/plan_cache.hpp>
#include <papcoll/policy/radix_choice.hpp>
#include <papcoll/policy/tuning_table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../support/program_lists.hpp"

using papcoll::automatic;
using papcoll::call_shape;
using papcoll::collective_kind;
using papcoll::link_model;
using papcoll::ticks;
using papcoll::tuning_table;
using namespace std::chrono_literals;

namespace {

link_model const slow{ticks(50'000), 84.0}; // 100 Mbit/s

auto shape_of(collective_kind operation, std::size_t count) -> call_shape {
    call_shape shape{.operation = operation, .ranks = 8, .rank = 1};
    shape.count = count;
    shape.element_bytes = 4;
    shape.has_native = true;
    return shape;
}
auto policy_of(automatic const& policy, call_shape const& shape) -> std::string {
    return policy.choose(shape, slow).choice.policy;
}
auto table_of(std::vector<tuning_table::entry> entries) -> std::shared_ptr<tuning_table const> {
    return std::make_shared<tuning_table const>(std::move(entries));
}
template <class F>
auto complaint_of(F const& f) -> std::string {
    try {
        f();
    } catch (std::invalid_argument const& e) {
        return e.what();
    }
    return "nothing was thrown";
}

std::vector<collective_kind> const all_kinds{
    collective_kind::broadcast,  collective_kind::reduce,     collective_kind::all_reduce,
    collective_kind::gather,     collective_kind::all_gather, collective_kind::reduce_scatter,
    collective_kind::all_to_all, collective_kind::scatter,    collective_kind::scan,
    collective_kind::exscan,     collective_kind::barrier,
};
std::vector<ticks> const one_late{0ms, 0ms, 0ms, 90ms, 0ms, 0ms, 0ms, 0ms};

} // namespace

TEST_CASE("without arrivals the model takes circulant graphs wherever they are") {
    for (auto const operation :
         {collective_kind::broadcast, collective_kind::reduce, collective_kind::all_reduce,
          collective_kind::all_gather, collective_kind::reduce_scatter})
        CHECK(policy_of({}, shape_of(operation, 100'000)) == "circulant");
    CHECK(policy_of({}, shape_of(collective_kind::gather, 100'000)) == "linear");
}

TEST_CASE("scatters, scans and barriers take what ends first in the model") {
    CHECK(policy_of({}, shape_of(collective_kind::scatter, 100'000)) == "linear");
    auto many = shape_of(collective_kind::scatter, 1'024);
    many.ranks = 256;
    CHECK(policy_of({}, many) == "knomial_tree");
    for (auto const operation : {collective_kind::scan, collective_kind::exscan}) {
        CHECK(policy_of({}, shape_of(operation, 8)) == "prefix_doubling");
        CHECK(policy_of({}, shape_of(operation, 10'000'000)) == "prefix_chain");
    }
    CHECK(policy_of({}, shape_of(collective_kind::barrier, 0)) == "dissemination");
}

TEST_CASE("where ranks know their own sizes alone, the choice does not depend on them") {
    std::vector<std::size_t> const some(8, 100), none(8), own{1'000'000};
    auto const with = [&](collective_kind operation, std::vector<std::size_t> const& sizes) {
        auto shape = shape_of(operation, sizes[0]);
        shape.sizes = sizes;
        return shape;
    };
    auto const table = table_of({{collective_kind::gather, 8, 1, {"knomial_tree", {}}},
                                 {collective_kind::scatter, 8, 1, {"native", {}}},
                                 {collective_kind::scatter, 8, 1'000'000, {"linear", {}}}});
    for (auto const& sizes : {some, none, own}) {
        CHECK(policy_of({}, with(collective_kind::gather, sizes)) == "linear");
        CHECK(policy_of({}, with(collective_kind::scatter, sizes)) == "linear");
        CHECK(policy_of({}, with(collective_kind::all_to_all, sizes)) == "linear_sync");
        for (auto const operation : {collective_kind::gather, collective_kind::scatter}) {
            auto const refused = automatic{.table = table}.choose(with(operation, sizes), slow);
            CHECK(refused.choice.policy == "linear");
            CHECK(refused.reason.find("the parts have different sizes") != std::string::npos);
        }
    }
}

TEST_CASE("what a combination takes does not matter where nothing is combined") {
    std::vector<int> const one_node(8);
    for (auto const operation : {collective_kind::gather, collective_kind::scatter,
                                 collective_kind::all_to_all, collective_kind::broadcast}) {
        auto shape = shape_of(operation, 1); // of parts of which each rank knows its own, another has more
        shape.nodes = one_node;
        shape.shared_bytes = 262'144;
        CHECK(policy_of({.compute_per_element = 1e9}, shape) == "shared_memory");
    }
}

TEST_CASE("ranks that share nodes go by nodes") {
    std::vector<int> const nodes{0, 0, 1, 1, 2, 2, 3, 3};
    for (auto const operation :
         {collective_kind::broadcast, collective_kind::reduce, collective_kind::all_reduce,
          collective_kind::all_gather, collective_kind::reduce_scatter}) {
        auto shape = shape_of(operation, 100'000);
        shape.nodes = nodes;
        CHECK(policy_of({}, shape) == "two_level");
    }
    std::vector<int> const uneven{0, 0, 0, 1, 2, 2, 3, 3};
    auto shape = shape_of(collective_kind::broadcast, 100'000);
    shape.nodes = uneven;
    CHECK(policy_of({}, shape) == "circulant");
}

TEST_CASE(
    "what is short goes by the memory of the nodes, prefixes where the ranks of a node follow each other") {
    std::vector<int> const in_a_row{4, 4, 4, 2, 2, 7, 7, 7}, in_turn{0, 1, 2, 3, 0, 1, 2, 3};
    auto const on = [](std::vector<int> const& nodes, collective_kind operation, std::size_t count) {
        auto shape = shape_of(operation, count);
        shape.ranks = static_cast<int>(nodes.size());
        shape.nodes = nodes;
        shape.shared_bytes = 262'144;
        return policy_of({}, shape);
    };
    for (auto const* const nodes : {&in_a_row, &in_turn})
        for (auto const operation : {collective_kind::scatter, collective_kind::barrier})
            CHECK(on(*nodes, operation, operation == collective_kind::barrier ? 0 : 800) == "two_level");
    for (auto const operation : {collective_kind::scan, collective_kind::exscan}) {
        CHECK(on(in_a_row, operation, 8) == "two_level");
        CHECK(on(in_turn, operation, 8) == "prefix_doubling");
        CHECK(on(in_a_row, operation, 32'768) == "prefix_chain");
        CHECK(on(in_a_row, operation, 10'000'000) == "prefix_chain");
        // Of few nodes a chain has no more rounds between them than doubling.
        for (std::size_t const nodes : {2U, 3U, 4U, 5U}) {
            std::vector<int> of_eight(8 * nodes);
            for (std::size_t r = 0; r < of_eight.size(); ++r) of_eight[r] = static_cast<int>(r / 8);
            for (std::size_t const count : {8U, 1'000U, 4'000U, 8'000U, 32'768U, 100'000U})
                CHECK(on(of_eight, operation, count) != "prefix_doubling");
        }
    }
}

TEST_CASE("a gather of short parts of many ranks goes through a tree, unless ranks are known to be late") {
    auto shape = shape_of(collective_kind::gather, 1000);
    shape.ranks = 1000;
    CHECK(policy_of({}, shape) == "knomial_tree");
    CHECK(policy_of({.arrivals = std::vector<ticks>(1000)}, shape) == "knomial_tree");
    std::vector<ticks> late(1000);
    late[7] = 1s;
    CHECK(policy_of({.arrivals = late}, shape) == "linear");
    shape.count = 10'000'000; // 3.4 ms each
    CHECK(policy_of({}, shape) == "linear");
    for (int const few : {1, 2, 8, 13}) {
        shape.ranks = few;
        shape.count = static_cast<std::size_t>(few);
        CHECK(policy_of({}, shape) == "linear");
    }
}

TEST_CASE("short data goes in fewer rounds of more messages, where latencies are what these cost") {
    std::pair<collective_kind, std::string> const kinds[] = {{collective_kind::broadcast, "knomial_tree"},
                                                             {collective_kind::reduce, "knomial_tree"},
                                                             {collective_kind::all_reduce, "dissemination"},
                                                             {collective_kind::all_gather, "dissemination"}};
    for (auto const& kind : kinds)
        for (bool const commutative : {true, false}) {
            auto const operation = kind.first;
            auto const& few_rounds = kind.second;
            CAPTURE(to_string(operation));
            auto shape = shape_of(operation, 2);
            shape.commutative = commutative;
            bool const as_few = operation == collective_kind::all_reduce && commutative;
            CHECK(policy_of({}, shape) == (as_few ? "circulant" : few_rounds));
            bool const reduces =
                operation == collective_kind::reduce || operation == collective_kind::all_reduce;
            shape.count = 100'000;
            bool const in_order = reduces && !commutative;
            bool const exchanges = in_order && operation == collective_kind::all_reduce; // half the rounds
            CHECK(policy_of({}, shape) == (exchanges  ? "dissemination"
                                           : in_order ? "greedy_tree"
                                                      : "circulant"));
        }
    CHECK(policy_of({.arrivals = one_late}, shape_of(collective_kind::reduce, 2)) == "arrival_tree");
    std::vector<std::size_t> const parts{1, 1, 1, 1, 1, 1, 1, 1};
    auto of_sizes = shape_of(collective_kind::all_gather, 8);
    of_sizes.sizes = parts;
    CHECK(policy_of({}, of_sizes) == "circulant");
}

TEST_CASE("short all-reduces of ranks that are no power of two go in groups where there are such") {
    auto const by_ranks = [](int ranks) {
        auto shape = shape_of(collective_kind::all_reduce, 100);
        shape.ranks = ranks;
        return policy_of({}, shape);
    };
    CHECK(by_ranks(6) == "dissemination");
    CHECK(by_ranks(9) == "dissemination");
    CHECK(by_ranks(8) == "circulant");
    CHECK(by_ranks(7) == "circulant");
    auto const chosen = papcoll::detail::choose_dissemination(
        {.operation = collective_kind::all_reduce, .ranks = 9, .count = 1, .element_bytes = 8}, slow);
    CHECK(chosen.radix == 3);
    CHECK(chosen.time == doctest::Approx(2 * 1.5 * papcoll::detail::round_latency(slow) +
                                         4 * papcoll::detail::volume_time(8, slow)));
    for (int const ranks : {10, 15, 18, 24, 40}) {
        CAPTURE(ranks);
        auto const several = papcoll::detail::choose_dissemination(
            {.operation = collective_kind::all_reduce, .ranks = ranks, .count = 1, .element_bytes = 8}, slow);
        CHECK_FALSE(papcoll::exchange_groups(ranks, several.radix).empty());
    }
}

TEST_CASE("a scan goes from rank to rank unless rounds save more than they cost in a row of calls") {
    for (auto const operation : {collective_kind::scan, collective_kind::exscan}) {
        auto const by_bytes = [&](std::size_t bytes, int ranks = 8) {
            auto shape = shape_of(operation, bytes / 8);
            shape.element_bytes = 8;
            shape.ranks = ranks;
            return policy_of({}, shape);
        };
        CHECK(by_bytes(64) == "prefix_doubling");
        CHECK(by_bytes(512, 64) == "prefix_doubling");
        CHECK(by_bytes(2048) == "prefix_chain"); // where rounds alone would be shorter
        CHECK(by_bytes(65536) == "prefix_chain");
    }
}

TEST_CASE("scans of a few bytes on a fast link of which only the latency is known take the fewest rounds") {
    for (auto const operation : {collective_kind::scan, collective_kind::exscan})
        for (int const ranks : {1, 2, 5, 7, 8, 13}) { // of 3 ranks a chain has no more
            auto shape = shape_of(operation, 1);
            shape.ranks = ranks;
            CHECK(automatic{}.choose(shape, {ticks(1'000), 0.1}).choice.policy == "prefix_doubling");
        }
}

TEST_CASE("a flat tree is for links on which further messages cost little") {
    auto const radix = [](double per_message) {
        auto link = slow;
        link.per_message = per_message;
        call_shape shape{.operation = collective_kind::reduce, .ranks = 8, .count = 1, .element_bytes = 8};
        return papcoll::detail::choose_knomial(shape, link).radix;
    };
    auto const latency = papcoll::detail::round_latency(slow);
    CHECK(radix(latency / 100) == 8);
    CHECK(radix(latency) == 2);
}

TEST_CASE("short all-gathers go both ways between the same ranks where their number is a power of two") {
    struct expectation {
        int ranks;
        std::size_t count;
        char const* policy;
    };
    for (double const per_message : {0.0, 2'000.0, 50'000.0})
        for (auto const& e : {expectation{8, 8, "dissemination"}, expectation{16, 1'600, "dissemination"},
                              expectation{8, 100'000, "circulant"}, expectation{6, 600, "circulant"},
                              expectation{12, 1'200, "circulant"}}) {
            auto link = slow;
            link.per_message = per_message;
            auto shape = shape_of(collective_kind::all_gather, e.count);
            shape.ranks = e.ranks;
            CAPTURE(e.ranks);
            CAPTURE(e.count);
            CAPTURE(per_message);
            CHECK(automatic{}.choose(shape, link).choice.policy == e.policy);
        }
}

TEST_CASE("of all radices the model takes the shortest, and of equal numbers of rounds the smallest") {
    using papcoll::detail::choose_radix;
    using papcoll::detail::radix_for_rounds;
    for (int ranks = 1; ranks <= 200; ++ranks)
        for (int rounds = 1; rounds <= 8; ++rounds) {
            int const k = radix_for_rounds(ranks, rounds);
            CHECK(papcoll::detail::rounds_of_radix(ranks, k) <= rounds);
            CHECK((k == 2 || papcoll::detail::rounds_of_radix(ranks, k - 1) > rounds));
        }
    for (int const ranks : {1, 2, 5, 8, 64, 1000})
        for (double const per_message : {100.0, 5'000.0, 50'000.0}) {
            auto const volume = [](int rounds, int radix) { return 1000.0 * rounds * radix; };
            auto const round = [&](int, double messages) { return 50'000 + (messages - 1) * per_message; };
            auto const best = choose_radix(ranks, round, volume);
            for (int radix = 2; radix <= std::max(ranks, 2); ++radix) {
                int const rounds = std::max(papcoll::detail::rounds_of_radix(ranks, radix), 1);
                double const messages = std::min(radix, std::max(ranks, 2)) - 1;
                CHECK(best.time <= rounds * round(radix, messages) + volume(rounds, radix) + 1e-6);
            }
        }
}

TEST_CASE("an all-to-all of short parts goes in few rounds where messages cost much, else at once") {
    auto const shape = shape_of(collective_kind::all_to_all, 16);
    auto costly = slow;
    costly.per_message = 25'000;
    CHECK(automatic{}.choose(shape, costly).choice.policy == "bruck");
    CHECK(policy_of({}, shape) == "linear_sync");
    CHECK(policy_of({}, shape_of(collective_kind::all_to_all, 1'000'000)) == "pairwise");
}

TEST_CASE("known arrivals take the policies that use them, unless all arrive together") {
    automatic const aware{.arrivals = one_late};
    CHECK(policy_of(aware, shape_of(collective_kind::reduce, 100'000)) == "clairvoyant");
    CHECK(policy_of(aware, shape_of(collective_kind::reduce, 1)) == "arrival_tree");
    CHECK(policy_of(aware, shape_of(collective_kind::all_reduce, 100'000)) == "arrival_all_reduce");
    CHECK(policy_of(aware, shape_of(collective_kind::all_gather, 100'000)) == "background_circulant");
    CHECK(policy_of(aware, shape_of(collective_kind::broadcast, 100'000)) == "circulant");
    std::vector<ticks> extreme(8);
    extreme.front() = ticks::min();
    extreme.back() = ticks::max();
    CHECK(policy_of({.arrivals = extreme}, shape_of(collective_kind::all_gather, 1)) ==
          "background_circulant");
    automatic const together{.arrivals = std::vector<ticks>(8, 5ms)};
    for (auto const operation : {collective_kind::reduce, collective_kind::all_gather})
        CHECK(policy_of(together, shape_of(operation, 100'000)) == "circulant");
}

TEST_CASE("operators that do not commute keep the order of ranks") {
    for (int const ranks : {7, 8}) // 8: in three rounds, both ways between two ranks
        for (auto const operation : {collective_kind::reduce, collective_kind::all_reduce}) {
            auto shape = shape_of(operation, 1000);
            shape.ranks = ranks;
            shape.commutative = false;
            std::vector<ticks> late(static_cast<std::size_t>(ranks));
            late.front() = 1s;
            std::string const kept =
                operation == collective_kind::all_reduce && ranks == 8 ? "dissemination" : "greedy_tree";
            CHECK(policy_of({}, shape) == kept);
            CHECK(policy_of({.arrivals = late}, shape) == kept);
        }
    auto scatter = shape_of(collective_kind::reduce_scatter, 1000);
    scatter.commutative = false;
    CHECK(policy_of({}, scatter) == "native");
    scatter.has_native = false;
    CHECK(complaint_of([&] { (void)automatic{}.choose(scatter, slow); }).find("commutative") !=
          std::string::npos);
}

TEST_CASE("a value that takes long to combine goes through the tree made for it") {
    CHECK(policy_of({.compute_per_element = 1e6}, shape_of(collective_kind::reduce, 1)) == "greedy_tree");
    CHECK(policy_of({.compute_per_element = 10}, shape_of(collective_kind::reduce, 1)) == "knomial_tree");
    CHECK(policy_of({.compute_per_element = 1e6}, shape_of(collective_kind::broadcast, 1)) == "knomial_tree");
}

TEST_CASE("a table comes before the model, with its parameters") {
    automatic const tuned{.table = table_of({{collective_kind::reduce, 8, 4000, {"circulant", 512}},
                                             {collective_kind::reduce, 8, 400'000, {"native", {}}}})};
    auto const small = tuned.choose(shape_of(collective_kind::reduce, 1000), slow);
    CHECK(small.choice == papcoll::tuned_choice{"circulant", 512});
    CHECK(small.reason == "tuned at 8 ranks, 4000 bytes");
    auto const plan = tuned.plan(shape_of(collective_kind::reduce, 1000), slow);
    // Blocks of 512 bytes, each given away once.
    CHECK(program_lists::elements(plan, papcoll::program::action::send) == 1000);
    CHECK(program_lists::count(plan, papcoll::program::action::send) == 8);
    CHECK(policy_of(tuned, shape_of(collective_kind::reduce, 200'000)) == "native");
    CHECK(policy_of(tuned, shape_of(collective_kind::broadcast, 200'000)) == "circulant");
}

TEST_CASE("a tuned policy that the call cannot take gives way to the model") {
    automatic const tuned{.table = table_of({{collective_kind::reduce, 8, 4000, {"circulant", {}}},
                                             {collective_kind::broadcast, 8, 4000, {"native", {}}}})};
    auto reduce = shape_of(collective_kind::reduce, 1000);
    reduce.commutative = false;
    CHECK(policy_of(tuned, reduce) == "greedy_tree");
    CHECK(
        tuned.choose(reduce, slow).reason ==
        "model: keeps the order of ranks; not circulant, by tuned at 8 ranks, 4000 bytes: the operator must "
        "commute");
    auto broadcast = shape_of(collective_kind::broadcast, 1000);
    CHECK(policy_of(tuned, broadcast) == "native");
    broadcast.has_native = false;
    CHECK(policy_of(tuned, broadcast) == "circulant");
}

TEST_CASE("what is too long for a tuned policy is the reason, whether or not the operator commutes") {
    automatic const tuned{
        .table = table_of({{collective_kind::all_reduce, 8, 32'000'000, {"dissemination", {}}}})};
    for (bool const commutes : {true, false}) {
        auto shape = shape_of(collective_kind::all_reduce, 8'000'000);
        shape.commutative = commutes;
        auto const reason = tuned.choose(shape, slow).reason;
        CHECK(reason.find("not dissemination") != std::string::npos);
        CHECK(reason.find("the operands are too many or too long to be gathered") != std::string::npos);
        CHECK(reason.find("commute") == std::string::npos);
    }
}

TEST_CASE("an unknown policy is refused with the list of the known ones") {
    automatic const wrong{.table = table_of({{collective_kind::gather, 8, 4000, {"circulant", {}}}})};
    auto const complaint =
        complaint_of([&] { (void)wrong.plan(shape_of(collective_kind::gather, 8), slow); });
    CHECK(complaint == "papcoll: the tuning table asks for 'circulant', but gather knows native, "
                       "two_level, knomial_tree, shared_memory, linear, sorted_linear");
}

TEST_CASE("members that cannot be are refused") {
    auto const shape = shape_of(collective_kind::reduce, 8);
    CHECK(complaint_of([&] {
              automatic{.arrivals = {0ms, 1ms}}.check(shape);
          }).find("arrivals") != std::string::npos);
    for (double const cost : {-1.0, 1e13, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
        CAPTURE(cost);
        CHECK(complaint_of([&] {
                  automatic{.compute_per_element = cost}.check(shape);
              }).find("compute_per_element") != std::string::npos);
    }
    automatic{.compute_per_element = 1e12}.check(shape);
}

TEST_CASE("ranks that share one node go by its memory") {
    std::vector<int> const one_node(8, 3), two_nodes{0, 0, 0, 1, 1, 1, 1, 1};
    for (auto const operation : all_kinds) {
        auto shape = shape_of(operation, 800);
        shape.nodes = one_node;
        CHECK(policy_of({}, shape) != "shared_memory");
        shape.shared_bytes = 256 * 1024;
        CHECK(policy_of({}, shape) == "shared_memory");
        shape.element_bytes = 64 * 1024; // there is no room for a piece for each rank
        CHECK(policy_of({}, shape) != "shared_memory");
        shape.element_bytes = 4;
        shape.nodes = two_nodes;
        CHECK(policy_of({}, shape) != "shared_memory");
        CHECK((policy_of({}, shape) == "two_level") == papcoll::two_level::provides(operation));
    }
    auto one = shape_of(collective_kind::all_reduce, 1);
    one.nodes = one_node;
    one.shared_bytes = 256 * 1024;
    CHECK(policy_of(automatic{.compute_per_element = 1e9}, one) != "shared_memory");
    one.commutative = false;
    CHECK(policy_of({}, one) == "shared_memory");
    automatic const wanted{.table = table_of({{collective_kind::all_reduce, 8, 4, {"shared_memory", {}}}})};
    one.shared_bytes = 0;
    CHECK(wanted.choose(one, slow).reason.find("the ranks share no memory for this call") !=
          std::string::npos);
}

TEST_CASE("to learn is tried what the model has not far behind its choice") {
    using names = std::vector<std::string>;
    auto const tried = [](call_shape const& shape, automatic const& policy = {}) {
        names result;
        for (auto const& c : policy.candidates(shape, slow)) result.push_back(c.choice.policy);
        return result;
    };
    auto const of = [&](collective_kind operation, std::size_t bytes) {
        return tried(shape_of(operation, bytes / 4));
    };
    CHECK(of(collective_kind::broadcast, 8) == names{"knomial_tree"}); // rounds take 1.7 times as long
    CHECK(of(collective_kind::broadcast, 512) == names{"circulant", "knomial_tree", "native"});
    CHECK(of(collective_kind::broadcast, 65'536) == names{"circulant"}); // whole messages: 2 times
    CHECK(of(collective_kind::all_reduce, 512) == names{"circulant", "native"});
    CHECK(of(collective_kind::all_reduce, 8'192) == names{"circulant", "native"});
    CHECK(of(collective_kind::all_reduce, 65'536) == names{"circulant"});
    CHECK(of(collective_kind::all_gather, 65'536) == names{"circulant", "dissemination", "native"});
    CHECK(of(collective_kind::all_to_all, 65'536) == names{"pairwise", "linear_sync", "native"});
    CHECK(of(collective_kind::scan, 65'536) == names{"prefix_chain"});
    for (auto const operation : all_kinds)
        for (std::size_t const bytes : {8U, 65'536U}) {
            auto const all = of(operation, bytes);
            CHECK(all.front() == policy_of({}, shape_of(operation, bytes / 4)));
            for (auto const& name : all) CHECK(std::ranges::count(all, name) == 1);
        }

    // On one node the memory that its ranks share is faster, but for what does not fit into it.
    std::vector<int> const one_node(8, 0);
    auto on_node = shape_of(collective_kind::broadcast, 1'000);
    on_node.nodes = one_node;
    on_node.shared_bytes = 65'536;
    CHECK(tried(on_node) == names{"shared_memory"});
    on_node.count = 20'000;
    CHECK(tried(on_node) == names{"shared_memory", "native"});

    CHECK(tried(shape_of(collective_kind::reduce, 1), {.arrivals = one_late}).empty());
    CHECK(tried(shape_of(collective_kind::reduce, 1),
                {.table = table_of({{collective_kind::reduce, 8, 4, {"circulant", {}}}})})
              .empty());
}

TEST_CASE("every known policy of every collective makes a plan") {
    using known = papcoll::detail::known_policies<papcoll::simd_bitset<>>;
    for (auto const operation : all_kinds) {
        auto const names = known::names(operation);
        CHECK(names.size() >= 2);
        for (auto const name : names) {
            CAPTURE(name);
            automatic const forced{.arrivals = one_late,
                                   .table = table_of({{operation, 8, 4000, {std::string(name), {}}}})};
            auto shape = shape_of(operation, 800);
            std::vector<int> const one_node(8, 0);
            if (name == "shared_memory") {
                shape.nodes = one_node;
                shape.shared_bytes = 256 * 1024;
            }
            CHECK(policy_of(forced, shape) == name);
            auto const plan = forced.plan(shape, slow);
            CHECK(plan.native == (name == "native"));
            CHECK(plan.instructions.empty() == plan.native);
        }
    }
}

TEST_CASE("a choice is found again in the cache of plans, and no other is taken for it") {
    papcoll::detail::plan_cache cache;
    auto const shape = shape_of(collective_kind::broadcast, 1000);
    automatic const model;
    automatic const tuned{.table = table_of({{collective_kind::broadcast, 8, 4000, {"native", {}}}})};
    auto const first = cache.plan(model, shape, slow).what;
    CHECK(cache.plan(automatic{}, shape, slow).what == first);
    CHECK(cache.plan(tuned, shape, slow).what != first);
    CHECK(cache.plan(automatic{.arrivals = one_late}, shape, slow).what != first);
    auto without = shape;
    without.has_native = false;
    CHECK(cache.plan(tuned, shape, slow).what->native);
    CHECK_FALSE(cache.plan(tuned, without, slow).what->native);
}
