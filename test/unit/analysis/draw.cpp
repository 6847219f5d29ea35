// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/draw.hpp>

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
