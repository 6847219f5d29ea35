// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/draw.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/program/program_builder.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using papcoll::draw_timeline;
using papcoll::ticks;
using papcoll::timeline_group;

namespace {

auto count(std::string_view text, std::string_view what) -> int {
    int found = 0;
    for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

auto times(std::vector<int> const& milliseconds) -> std::vector<ticks> {
    std::vector<ticks> all;
    all.reserve(milliseconds.size());
    for (int const value : milliseconds) all.emplace_back(std::chrono::milliseconds(value));
    return all;
}

} // namespace

TEST_CASE("two groups share a scale, and what they measure is written beneath") {
    auto const arrivals = times({1000, 1100, 1300, 1000});
    auto const slow = times({1200, 1800, 1500, 1300});
    auto const fast = times({1050, 1150, 1400, 1310});
    std::vector<timeline_group> const groups{{"MPI_Reduce", arrivals, slow}, {"papcoll", arrivals, fast}};
    auto const svg = draw_timeline(groups, "Who waits?");
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(count(svg, "Who waits?") == 1);
    CHECK(count(svg, ">MPI_Reduce<") == 1);
    CHECK(count(svg, ">papcoll<") == 1);
    CHECK(count(svg, "last arrival") == 1);
    CHECK(count(svg, "[ms]") == 2);
    CHECK(count(svg, "last delay 500.00 ms, mean elapsed time 350.00 ms") == 1);
    CHECK(count(svg, "last delay 100.00 ms, mean elapsed time 127.50 ms") == 1);
    CHECK(count(svg, ">800<") == 2);
    CHECK(count(svg, "#4a7fc1") == 4 + 4 + 1); // one bar per rank and group, and the legend
}

TEST_CASE("units follow the range") {
    auto const unit_of = [](ticks range) {
        std::vector<ticks> const arrivals{ticks{0}, ticks{0}};
        std::vector<ticks> const exits{ticks{0}, range};
        std::vector<timeline_group> const groups{{"", arrivals, exits}};
        auto const svg = draw_timeline(groups);
        auto const from = svg.find('[') + 1;
        return svg.substr(from, svg.find(']') - from);
    };
    CHECK(unit_of(ticks{0}) == "ns");
    CHECK(unit_of(ticks{1500}) == "ns");
    CHECK(unit_of(ticks{2500}) == "µs");
    CHECK(unit_of(ticks{25'000'000}) == "ms");
    CHECK(unit_of(ticks{std::chrono::hours(1)}) == "s");
}

TEST_CASE("labels are text, not markup") {
    std::vector<ticks> const one{ticks{5}};
    std::vector<timeline_group> const groups{{"a<b & \"c\"\n>", one, one}};
    auto const svg = draw_timeline(groups, "</svg>");
    CHECK(count(svg, "a&lt;b &amp; &quot;c&quot; &gt;") == 1);
    CHECK(count(svg, "</svg>") == 1);
}

TEST_CASE("every rank count from one to beyond what is readable") {
    for (int const ranks : {1, 2, 3, 5, 7, 8, 13, 64, 200}) {
        std::vector<ticks> const arrivals(static_cast<std::size_t>(ranks), ticks{-3});
        std::vector<ticks> const exits(static_cast<std::size_t>(ranks), ticks{90'000});
        std::vector<timeline_group> const groups{{"g", arrivals, exits}};
        CHECK(count(draw_timeline(groups), "#4a7fc1") == ranks + 1);
    }
}

TEST_CASE("nothing to draw") {
    CHECK_THROWS_AS((void)draw_timeline({}), std::invalid_argument);
    std::vector<ticks> const one{ticks{5}};
    std::vector<timeline_group> const uneven{{"g", one, {}}};
    CHECK_THROWS_WITH_AS((void)draw_timeline(uneven), doctest::Contains("1 and 0"), std::invalid_argument);
    std::vector<timeline_group> const no_ranks(1);
    CHECK_THROWS_AS((void)draw_timeline(no_ranks), std::invalid_argument);
}

namespace {

constexpr std::string_view begin_of_combination = " stroke=\"#111827\"";
constexpr std::string_view begin_of_receive = " fill-opacity=\"0.45\"";
constexpr std::string_view arrow = "stroke-opacity=\"0.7\"";

/// Everybody to rank 0, block by block or all in one message.
auto flat_reduction(int ranks, int blocks, bool one_message) -> papcoll::schedule_timeline {
    std::vector<papcoll::transfer> schedule;
    papcoll::step_type step = 0;
    for (int rank = 1; rank < ranks; ++rank, ++step)
        for (int block = 0; block < blocks; ++block)
            schedule.push_back({one_message ? step : step++, rank, 0, block});
    std::vector<ticks> const arrivals(static_cast<std::size_t>(ranks), ticks{-40});
    return papcoll::simulate_timeline(
        schedule, papcoll::problem{.ranks = ranks, .blocks = blocks, .arrivals = arrivals, .owners = {}},
        papcoll::cost_model{.latency = ticks{1000}, .per_byte = 1.0, .compute = ticks{100}}, 4);
}

} // namespace

TEST_CASE("a schedule has a box for each message at both ends and for each combination") {
    for (int const ranks : {1, 2, 3, 8, 16, 64, 200})
        for (int const blocks : {1, 2, 3, 7}) {
            auto const separate = draw(flat_reduction(ranks, blocks, false), "sep");
            CHECK(count(separate, begin_of_receive) == (ranks - 1) * blocks);
            CHECK(count(separate, begin_of_combination) == (ranks - 1) * blocks);
            CHECK(count(separate, arrow) == (blocks < 4 ? (ranks - 1) * blocks : 0));
            auto const together = draw(flat_reduction(ranks, blocks, true));
            CHECK(count(together, begin_of_receive) == ranks - 1);
            CHECK(count(together, begin_of_combination) == (ranks - 1) * blocks);
            CHECK(together.ends_with("</svg>\n"));
        }
}

TEST_CASE("a drawn schedule is on the axes of a timeline and says what it measures") {
    auto const timeline = flat_reduction(3, 2, true);
    auto const svg = draw(timeline, "a < b");
    CHECK(count(svg, "a &lt; b") == 1);
    CHECK(count(svg, "[µs]") == 1);
    CHECK(count(svg, "last arrival") == 1);
    // 2 messages of 8 bytes one after the other, and the combinations of the second: 2 · 1008 + 2 · 100
    CHECK(count(svg, "last delay 2.22 µs, mean elapsed time 1.75 µs") == 1);
    CHECK(count(svg, ">2 blocks<") == 4);
    CHECK(count(svg, "combines") == 1);
    auto const uncut = draw(flat_reduction(3, 1, true));
    CHECK(count(uncut, ">to 0<") == 2);
    CHECK(count(uncut, ">from 1<") == 1);
    CHECK(count(uncut, ">from 2<") == 1);
    CHECK(count(draw(flat_reduction(1, 1, false)), "combines") == 0);
}

TEST_CASE("blocks differ in colour") {
    auto const svg = draw(flat_reduction(2, 3, false));
    for (double const fraction : {0.0, 0.5, 1.0})
        CHECK(count(svg, papcoll::detail::colour_of(fraction)) >= 3);
    CHECK(papcoll::detail::colour_of(0) == "#7070f0");
    CHECK(papcoll::detail::colour_of(0.5) == "#70f070");
    CHECK(papcoll::detail::colour_of(1) == "#f07070");
}

TEST_CASE("programs are drawn as schedules are, coloured by the messages of a sender") {
    // Rank 1 sends two messages to rank 0, which adds both.
    papcoll::program_builder sender, receiver;
    for (std::size_t i = 0; i < 2; ++i) {
        auto const arrived = receiver.scratch(50);
        sender.send(0, papcoll::region(papcoll::memory::in, 50 * i, 50));
        receiver.receive(1, arrived);
        papcoll::region const own(papcoll::memory::in, 50 * i, 50), sum(papcoll::memory::out, 50 * i, 50);
        receiver.combine(sum, own, arrived);
    }
    std::vector<papcoll::program> const programs{receiver.finish(), sender.finish()};
    papcoll::cost_model const model{.latency = ticks{1000}, .per_byte = 1.0, .compute = ticks{500}};
    auto const svg = draw(papcoll::simulate_timeline(programs, {}, model, 4), "a program");
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(count(svg, begin_of_receive) == 2);
    CHECK(count(svg, begin_of_combination) == 2);
    CHECK(count(svg, arrow) == 2);
    CHECK(count(svg, ">to 0<") == 2);
    CHECK(count(svg, ">from 1<") == 2);
    CHECK(count(svg, ">message 0<") == 1);
    // Each end of a message, its combination, and the legend.
    CHECK(count(svg, papcoll::detail::colour_of(0)) == 4);
    CHECK(count(svg, papcoll::detail::colour_of(1)) == 4);
    CHECK(count(svg, "last delay 2.90 µs") == 1);
}

TEST_CASE("what ranks post to the memory of their node is drawn, and when others see it") {
    // Each rank gives one element to all; the last one has nothing to do before it arrives.
    auto const all_gather = [](int ranks) {
        std::vector<papcoll::program> programs;
        auto const n = static_cast<std::size_t>(ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            papcoll::program_builder b;
            b.share(n, 1);
            auto const place = [](papcoll::memory where, int r) {
                return papcoll::region(where, static_cast<std::size_t>(r), 1);
            };
            b.copy(place(papcoll::memory::node, rank), papcoll::region(papcoll::memory::in, 0, 1));
            b.post(papcoll::region(papcoll::memory::node, 0, n));
            for (int r = 0; r < ranks; ++r) {
                if (r != rank) b.await(r, 1, place(papcoll::memory::node, r));
                b.copy(place(papcoll::memory::out, r), place(papcoll::memory::node, r));
            }
            programs.push_back(b.finish());
        }
        return programs;
    };
    auto const drawn = [&](std::vector<ticks> const& arrivals) {
        auto const programs = all_gather(static_cast<int>(arrivals.size()));
        return papcoll::simulate_timeline(programs, arrivals, papcoll::cost_model{}, 8);
    };
    auto const timeline = drawn({ticks{40}, ticks{90}});
    REQUIRE(timeline.signs.size() == 2);
    for (auto const& s : timeline.signs) {
        CHECK(s.posted == (s.from == 0 ? ticks{40} : ticks{90}));
        CHECK(s.seen == ticks{90});
        CHECK(s.to == 1 - s.from);
        CHECK(s.post == 1);
        CHECK(s.await == (s.to == 0 ? 3 : 2));
    }
    auto const joined = draw(timeline);
    CHECK(count(joined, "stroke-dasharray=\"3 2\"") == 2);
    CHECK(count(joined, "stroke=\"#7c3aed\" stroke-width=\"1.5\"") == 4);
    CHECK(count(joined, "posts to the node") == 1);
    auto const many = draw(drawn(std::vector<ticks>(5)));
    CHECK(count(many, "stroke-dasharray=\"3 2\"") == 0);
    CHECK(count(many, "stroke=\"#7c3aed\" stroke-width=\"1.5\"") == 40);
    CHECK(count(draw(flat_reduction(3, 1, false)), "posts to the node") == 0);
}

TEST_CASE("no schedule to draw") {
    CHECK_THROWS_AS((void)draw(papcoll::schedule_timeline{}), std::invalid_argument);
    CHECK_THROWS_AS((void)draw(papcoll::program_timeline{}), std::invalid_argument);
    CHECK_THROWS_AS((void)draw(papcoll::schedule_timeline{.arrivals = {ticks{0}}}), std::invalid_argument);
}
