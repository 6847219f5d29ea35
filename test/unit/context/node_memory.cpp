// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/node_memory.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

using papcoll::detail::node_memory;

namespace {

constexpr std::size_t bytes_per_rank = node_memory::granularity;
constexpr auto lines = node_memory::sign_lines;

auto segment(std::size_t ranks) -> std::shared_ptr<std::byte> {
    auto const n = node_memory::segment_bytes(ranks, bytes_per_rank);
    std::shared_ptr<std::byte> made(static_cast<std::byte*>(::operator new(n, std::align_val_t(64))),
                                    [](std::byte* p) { ::operator delete(p, std::align_val_t(64)); });
    std::memset(made.get(), 0, n);
    return made;
}

/// The memory of a node of two ranks, as each sees it.
struct pair {
    std::shared_ptr<std::byte> both = segment(2);
    std::vector<int> members = {0, 1};
    node_memory first = {both, bytes_per_rank, members, 0, 2, true};
    node_memory second = {both, bytes_per_rank, members, 1, 2, true};
};

} // namespace

TEST_CASE("calls that were passed while another one had an area have ended when it ends, or is given up") {
    for (bool const given_up : {false, true}) {
        CAPTURE(given_up);
        pair node;
        auto const early = node.first.reserve_line(1, 7);
        REQUIRE(node.first.open(early));
        // They use no memory.
        for (std::uint64_t call = 2; call <= lines + 4; ++call) node.first.pass_to(call);
        for (std::uint64_t call = 1; call < lines + 2; ++call) node.second.pass_to(call);
        auto const later = node.second.reserve_line(lines + 2, 7);
        CHECK_FALSE(node.second.open(later)); // its line was the second call's, and the first goes on
        if (given_up)
            node.first.abandon(early);
        else
            node.first.end(1);
        CHECK(node.second.open(later));
        auto const last = node.second.reserve_line(2 * lines + 4, 7);
        CHECK_FALSE(node.second.open(last)); // the call so many lines before it may still want memory
    }
}

TEST_CASE("signs hold the last bits of a call's number, and tell calls of any number") {
    for (std::uint64_t const call : {std::uint64_t{3}, (std::uint64_t{1} << 39) - 1, std::uint64_t{1} << 39,
                                     (std::uint64_t{1} << 39) + 1, (std::uint64_t{5} << 41) + 77}) {
        CAPTURE(call);
        pair node;
        for (auto* const rank : {&node.first, &node.second}) rank->pass_to(call);
        auto mine = node.first.reserve_line(call, 7), other = node.second.reserve_line(call, 7);
        REQUIRE(node.first.open(mine));
        CHECK(node.second.look(other, 0, 0) == node_memory::news::there);
        CHECK(node.second.look(other, 0, 1) == node_memory::news::none);
        node.first.post(mine, false);
        CHECK(node.second.look(other, 0, 1) == node_memory::news::there);
        CHECK(node_memory::is_there(other, 0, 1));
        CHECK(node.first.line_again(call, 7).sign == mine.sign);
        REQUIRE(node.second.open(other));
        node.second.post(other, true);
        CHECK(node.first.look(mine, 1, 1) == node_memory::news::failed);
    }
}

TEST_CASE("of several calls with areas the oldest counts, whatever was passed") {
    pair node;
    auto const first = node.first.reserve_line(1, 7), third = node.first.reserve_line(3, 7);
    REQUIRE(node.first.open(first));
    REQUIRE(node.first.open(third));
    node.first.pass_to(lines + 14);
    node.first.end(1);
    node.second.pass_to(lines + 2);
    auto const line_of_second = node.second.reserve_line(lines + 2, 7);
    CHECK(node.second.open(line_of_second));
    node.second.end(lines + 2);
    auto const line_of_third = node.second.reserve_line(lines + 3, 7);
    CHECK_FALSE(node.second.open(line_of_third));
    node.first.end(3);
    CHECK(node.second.open(line_of_third));
}
