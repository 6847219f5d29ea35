// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/archived_messages.hpp>
#include <papcoll/transport/threads.hpp>

#include <boost/archive/archive_exception.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/exported_class.hpp"
#include "../../support/sanitized.hpp"
#include "../../support/serialized_suite.hpp"

using papcoll::threads::endpoint;

namespace {

using exported_class::animal;
using exported_class::spider;

/// Letters are added modulo 26.
auto added(std::string a, std::string const& b) -> std::string {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<char>('a' + (a[i] - 'a' + b[i] - 'a') % 26);
    return a;
}

void all(endpoint& self) { serialized_suite::all(self, self.rank(), self.size()); }
void all_with(endpoint& self, std::size_t node_memory) {
    papcoll::attach(self, {.node_memory = node_memory});
    all(self);
}

} // namespace

TEST_CASE("serialized values on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all);
    }
}

TEST_CASE("serialized values with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100}, all);
    }
}

TEST_CASE("serialized values without memory of the node, and with boxes that few values fit into") {
    for (std::size_t const node_memory : {std::size_t(0), std::size_t(1) << 13, std::size_t(1) << 15})
        for (int const ranks : {2, 3, 5}) {
            CAPTURE(node_memory);
            CAPTURE(ranks);
            papcoll::threads::run(ranks, [&](endpoint& self) { all_with(self, node_memory); });
        }
}

TEST_CASE("serialized values on several nodes, and on one of more ranks than have boxes") {
    papcoll::threads::run(6, {.nodes = {0, 1, 0, 2, 0, 1}}, all);
    auto const gather = [](endpoint& self) {
        std::vector<std::string> all;
        for (std::size_t const length : {3u, 400u, 3'000u}) {
            papcoll::all_gather(self, std::string(length, 'x') + std::to_string(self.rank()), all);
            for (int r = 0; r < self.size(); ++r)
                CHECK(all[static_cast<std::size_t>(r)] == std::string(length, 'x') + std::to_string(r));
        }
    };
    papcoll::threads::run(16, gather); // boxes that the longer ones do not fit into
    papcoll::threads::run(17, gather);
}

TEST_CASE("a long value that is still being sent may be combined with the next one, and be sent again") {
    auto const letter = [](int n) { return static_cast<char>('a' + n % 26); };
    for (int const ranks : {3, 4, 5, 8})
        for (std::uint64_t seed = 1; seed <= test_support::at_most<std::uint64_t>(10, 2); ++seed)
            for (std::size_t const length : {5u, 600u, 2'000u, 20'000u}) {
                CAPTURE(ranks);
                CAPTURE(seed);
                CAPTURE(length);
                papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, [&](endpoint& self) {
                    papcoll::attach(self);
                    auto const rank = self.rank();
                    std::string sum;
                    for (int again = 0; again < 3; ++again) {
                        papcoll::scan(self, std::string(length, letter(rank + 1)), sum, added,
                                      papcoll::prefix_doubling{});
                        bool const is_right = sum == std::string(length, letter((rank + 1) * (rank + 2) / 2));
                        CHECK(is_right);
                    }
                });
            }
}

TEST_CASE("ranks of a node that make different calls of serialized values are told") {
    papcoll::threads::run(2, [](endpoint& self) {
        papcoll::attach(self);
        std::string sum;
        std::vector<std::string> all;
        if (self.rank() == 0)
            CHECK_THROWS_AS(papcoll::all_gather(self, std::string("x"), all), std::invalid_argument);
        else
            CHECK_THROWS_AS(papcoll::all_reduce(self, std::string("x"), sum, std::plus<>()),
                            std::invalid_argument);
        papcoll::all_reduce(self, std::string("x"), sum, std::plus<>());
        CHECK(sum == "xx");
    });
}

TEST_CASE("a first part says how many values there are and where their contents are") {
    using papcoll::detail::content;
    for (std::size_t const most_message : {20u, 30u, 100u, 100'000u})
        for (std::size_t const length : {0u, 1u, 10u, 500u, 600u}) {
            CAPTURE(most_message);
            CAPTURE(length);
            papcoll::detail::leaving_values leaving;
            leaving.add(content(std::vector<char>(length, 'a')));
            leaving.add(content());
            leaving.add(content(std::vector<char>(length, 'b')));
            auto const first = leaving.make_first(most_message);
            papcoll::detail::arriving_values arriving;
            auto const room = arriving.expect(3, most_message);
            REQUIRE(first.size() <= room.size());
            CHECK((first.size() - 1) / most_message == (room.size() - 1) / most_message);
            CHECK(leaving.contents_follow() == (2 * length > room.size() - 32));
            std::ranges::copy(first, room.begin());
            arriving.take_first(first.size());
            auto const later = arriving.make_room();
            CHECK(later.size() == (leaving.contents_follow() ? 2 * length : 0));
            if (!later.empty()) {
                papcoll::detail::stretch_list<std::byte const> list;
                leaving.list_contents(list);
                list.gather(later.data());
            }
            CHECK(std::ranges::equal(arriving.take_next().bytes(), std::vector<char>(length, 'a')));
            CHECK(arriving.take_next().is_missing());
            CHECK(std::ranges::equal(arriving.take_next().bytes(), std::vector<char>(length, 'b')));
        }
}

TEST_CASE("a first part that is cut, or of another number of values, is of values that are missing") {
    using papcoll::detail::content;
    papcoll::detail::leaving_values leaving;
    leaving.add(content(std::vector<char>(5, 'a')));
    leaving.add(content(std::vector<char>(7, 'b')));
    auto const first = leaving.make_first(1'000);
    auto const is_missing = [&](std::size_t values, std::size_t bytes) {
        papcoll::detail::arriving_values arriving;
        auto const room = arriving.expect(values, 1'000);
        std::ranges::copy(first.first(bytes), room.begin());
        arriving.take_first(bytes);
        CHECK(arriving.make_room().empty());
        bool all = true;
        for (std::size_t v = 0; v < values; ++v) all = arriving.take_next().is_missing() && all;
        return all;
    };
    CHECK_FALSE(is_missing(2, first.size()));
    for (std::size_t bytes = 0; bytes < first.size(); ++bytes) CHECK(is_missing(2, bytes));
    CHECK(is_missing(1, first.size()));
    CHECK(is_missing(3, first.size()));
}

TEST_CASE("pointers to a base class load what they point to") {
    using format = papcoll::archive_format<std::shared_ptr<animal>>;
    std::shared_ptr<animal> const with_six = [] {
        auto made = std::make_shared<spider>();
        made->left = 6;
        return made;
    }();
    std::shared_ptr<animal> read;
    auto const bytes = format::save(&with_six, 1);
    format::load(bytes, &read, 1);
    REQUIRE(read);
    CHECK(read->legs() == 6);
}

TEST_CASE("archives hold the values and nothing behind them") {
    using format = papcoll::archive_format<std::string>;
    std::vector<std::string> const values = {"", "one", std::string(100'000, 'x')};
    auto const bytes = format::save(values.data(), 3);
    CHECK(bytes.size() == 3 * sizeof(std::size_t) + 100'003);
    std::vector<std::string> read(3, "old");
    format::load(bytes, read.data(), 3);
    CHECK(read == values);
    CHECK_THROWS_AS(format::load(bytes, read.data(), 2), std::length_error);
    for (std::size_t const cut : {0u, 4u, 8u, 10u, 18u, 50u})
        CHECK_THROWS_AS(format::load(std::span(bytes).first(cut), read.data(), 3),
                        boost::archive::archive_exception);
}

static_assert(papcoll::serializable<std::string> && papcoll::serializable<std::map<int, std::string>> &&
              papcoll::serializable<serialized_suite::fragile>);
static_assert(!papcoll::serializable<int> && !papcoll::serializable<std::pair<int, int>>);
