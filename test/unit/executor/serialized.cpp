// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include "../../support/serialized_suite.hpp"

using papcoll::threads::endpoint;

namespace {

void all(endpoint& self) { serialized_suite::all(self, self.rank(), self.size()); }

} // namespace

TEST_CASE("serialized values on threads") {
    for (int const ranks : {1, 2, 3, 5, 7, 8, 13}) {
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

TEST_CASE("archives hold the values and nothing behind them") {
    using format = papcoll::archive_format<std::string>;
    std::vector<std::string> const values = {"", "one", std::string(100'000, 'x')};
    auto const bytes = format::save(values.data(), 3);
    CHECK(bytes.size() == 3 * sizeof(std::size_t) + 100'003);
    std::vector<std::string> read(3, "old");
    format::load(bytes, read.data(), 3);
    CHECK(read == values);
    CHECK_THROWS_AS(format::load(bytes, read.data(), 2), std::length_error);
    CHECK_THROWS(format::load(std::span(bytes).first(50), read.data(), 3));
}

static_assert(papcoll::serializable<std::string> && papcoll::serializable<std::map<int, std::string>> &&
              papcoll::serializable<serialized_suite::fragile>);
static_assert(!papcoll::serializable<int> && !papcoll::serializable<std::pair<int, int>>);
