// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/circulant.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using papcoll::call_shape;
using papcoll::collective_kind;
using papcoll::link_model;
using papcoll::quantised;
using papcoll::ticks;
using namespace std::chrono_literals;

namespace {

auto equal(link_model const& a, link_model const& b) -> bool {
    return a.latency == b.latency && a.per_byte == b.per_byte && a.per_message == b.per_message;
}
auto times(link_model const& link, double latency, double per_byte) -> link_model {
    return {ticks(std::llround(static_cast<double>(link.latency.count()) * latency)),
            link.per_byte * per_byte};
}

/// What the model makes of some calls: the policies and the numbers of blocks.
auto choices(link_model const& link) -> std::vector<std::string> {
    std::vector<std::string> result;
    for (auto const operation :
         {collective_kind::broadcast, collective_kind::reduce, collective_kind::all_reduce,
          collective_kind::gather, collective_kind::all_gather, collective_kind::all_to_all})
        for (int const ranks : {2, 7, 64, 1000})
            for (std::size_t count = 1; count < 20'000'000; count *= 3) {
                call_shape shape{.operation = operation, .ranks = ranks};
                shape.count = count;
                shape.element_bytes = 8;
                result.push_back(papcoll::automatic{}.choose(shape, link).choice.policy + " " +
                                 std::to_string(papcoll::circulant{}.blocks(shape, link)) + " " +
                                 std::to_string(papcoll::automatic{.compute_per_element = 20'000}
                                                    .choose(shape, link)
                                                    .choice.policy.size()));
            }
    return result;
}

std::vector<link_model> const grid{
    {ticks(1 << 16), 64.0}, {ticks(1 << 11), 0.0625}, {ticks(1 << 15), 0.125}, {ticks(1 << 8), 1.0}};

} // namespace

TEST_CASE("a quantised link is the nearest power of two, in ratio, and is its own") {
    std::int64_t latency = 1;
    for (double per_byte = 1e-6; per_byte < 1e5; per_byte *= 1.037) {
        link_model const measured{ticks(latency), per_byte};
        auto const q = quantised(measured);
        CHECK(std::abs(std::log2(q.per_byte / per_byte)) <= 0.5 + 1e-12);
        CHECK(std::abs(std::log2(static_cast<double>(q.latency.count()) / static_cast<double>(latency))) <=
              0.5 + 1e-12);
        CHECK(std::exp2(std::round(std::log2(q.per_byte))) == q.per_byte);
        CHECK(equal(quantised(q), q));
        latency += latency / 30 + 1;
    }
    CHECK(equal(quantised({ticks(90'000), 84.0}), {ticks(1 << 16), 64.0}));
    CHECK(equal(quantised({ticks(95'000), 95.0}), {ticks(1 << 17), 128.0}));
    CHECK(equal(quantised({ticks(2), 1.0}), {ticks(2), 1.0}));
}

TEST_CASE("what a message costs beyond its latency speaks against blocks and for few messages") {
    call_shape shape{.operation = collective_kind::broadcast, .ranks = 8};
    shape.count = 1024;
    shape.element_bytes = 4;
    link_model const plain{50us, 80.0};
    link_model const costly{50us, 80.0, 1e6};
    CHECK(papcoll::circulant{}.blocks(shape, plain) > 1);
    CHECK(papcoll::circulant{}.blocks(shape, costly) == 1);
    shape.operation = collective_kind::all_to_all;
    CHECK(papcoll::automatic{}.choose(shape, plain).choice.policy == "linear_sync");
    CHECK(papcoll::automatic{}.choose(shape, costly).choice.policy == "bruck");
    CHECK(equal(quantised({ticks(90'000), 84.0, 300.0}), {ticks(1 << 16), 64.0, 256.0}));
    CHECK(quantised({ticks(90'000), 84.0}).per_message == 0);
}

TEST_CASE("zero stays zero, and nothing else becomes it or overflows") {
    CHECK(equal(quantised({ticks(0), 0.0}), {ticks(0), 0.0}));
    CHECK(equal(quantised({ticks(0), 3.0}), {ticks(0), 4.0}));
    CHECK(quantised({ticks(1), 1e-300}).latency == ticks(1));
    CHECK(quantised({ticks(1), 1e-300}).per_byte > 0);
    CHECK(quantised({ticks::max(), 1.0}).latency > ticks::max() / 4);
    CHECK(std::isnan(quantised({ticks(1), std::nan("")}).per_byte));
    CHECK(std::isinf(quantised({ticks(1), std::numeric_limits<double>::infinity()}).per_byte));
    CHECK(quantised({ticks(-5), -1.0}).latency == ticks(-5));
}

TEST_CASE(
    "measurements within a fifth of a point of the grid choose alike, which they do not by themselves") {
    int different = 0;
    for (auto const& point : grid) {
        auto const expected = choices(point);
        for (double const latency : {0.8, 0.93, 1.0, 1.11, 1.2})
            for (double const per_byte : {0.8, 0.97, 1.0, 1.04, 1.2}) {
                auto const measured = times(point, latency, per_byte);
                CHECK(equal(quantised(measured), point));
                CHECK(choices(quantised(measured)) == expected);
                if (choices(measured) != expected) ++different;
            }
    }
    CHECK(different > 50);
}

TEST_CASE("links that cannot be are told from slow and fast ones") {
    for (auto const& link : {link_model{50us, 80.0}, link_model{200ns, 0.02}, link_model{100ms, 8'000.0},
                             link_model{1ns, 1e-6}, link_model{2s, 10'000.0}})
        CHECK(papcoll::implausibility_of(link).empty());
    auto const says = [](link_model const& link, std::string const& words) {
        auto const sentence = papcoll::implausibility_of(link);
        CAPTURE(sentence);
        CHECK(sentence.find(words) != std::string::npos);
        CHECK(sentence.find("implausible") != std::string::npos);
        CHECK(sentence.find("attach_options") != std::string::npos);
    };
    says({0ns, 1.0}, "a latency of 0 ns");
    says({-3ns, 1.0}, "a latency of -3 ns");
    says({3s, 1.0}, "a latency of 3000000000 ns");
    says({1us, 0.0}, "0.000000 ns per byte");
    says({1us, -2.0}, "-2.000000 ns per byte");
    says({1us, 10'001.0}, "10001.000000 ns per byte");
    says({1us, std::nan("")}, "nan ns per byte");
    says({1us, std::numeric_limits<double>::infinity()}, "inf ns per byte");
}

TEST_CASE("the ranks of one node have no link that could be implausible") {
    using nodes = std::vector<int>;
    link_model const busy{1us, 0.0};
    for (auto const& one : {nodes{}, nodes{0}, nodes{0, 0}, nodes{3, 3, 3, 3, 3}})
        CHECK(papcoll::implausibility_of(busy, one).empty());
    for (auto const& several : {nodes{0, 1}, nodes{0, 0, 2}, nodes{0, 1, 0}, nodes{0, 1, 1, 1}})
        CHECK(papcoll::implausibility_of(busy, several) == papcoll::implausibility_of(busy));
    CHECK(papcoll::implausibility_of({1us, 1.0}, nodes{0, 1}).empty());
}

TEST_CASE("plans by the clock go by what long messages took, where that is known") {
    link_model link{100us, 8.0};
    CHECK(link.planned_time(1'000'000) == link.transfer_time(1'000'000));
    link.of_64_kib = 1000us; // they take longer than latency and rate say
    link.of_256_kib = 2573us;
    CHECK(link.planned_time(0) == 100us);
    CHECK(link.planned_time(1 << 15) == 550us);
    CHECK(link.planned_time(1 << 16) == 1000us);
    CHECK(link.planned_time(1 << 18) == 2573us);
    CHECK(std::abs((link.planned_time(1 << 20) - 8865us).count()) < 2); // at the rate between the two
    ticks before{0};
    for (std::size_t bytes = 0; bytes < 10'000'000; bytes = bytes * 5 / 4 + 1) {
        CHECK(link.planned_time(bytes) >= before);
        before = link.planned_time(bytes);
    }
    link.of_64_kib = 200us; // a part of the shorter one went by at once
    link.of_256_kib = 1773us;
    CHECK(link.planned_time(1 << 16) == 100us + ticks(1573us) / 3);
    link.of_64_kib = link.of_256_kib; // not plausible
    CHECK(link.planned_time(1 << 20) == link.transfer_time(1 << 20));
}

TEST_CASE("times that no clock could show are long, and not negative") {
    auto const most = std::numeric_limits<std::size_t>::max();
    for (double const per_byte : {1e-3, 1e9, 1e300}) {
        link_model const link{1us, per_byte};
        CHECK(link.transfer_time(most) > 1h);
        CHECK(1000 * link.transfer_time(most) > 1h);
    }
}
