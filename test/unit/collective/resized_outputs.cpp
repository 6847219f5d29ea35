// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include <array>
#include <cstddef>
#include <vector>

#include "../../support/resize_suite.hpp"

using papcoll::threads::endpoint;

namespace {

/// Of which no vector can be resized.
struct without_default {
    explicit without_default(int v)
        : value(v) {}
    int value;
};

void pointers(endpoint& self) {
    std::vector<without_default> all(static_cast<std::size_t>(self.size()), without_default(-1));
    papcoll::all_gather(self, without_default(self.rank()), all.data());
    for (int r = 0; r < self.size(); ++r) CHECK(all[static_cast<std::size_t>(r)].value == r);
    bool const mine = self.rank() == 1;
    std::array<bool, 3> flags{};
    papcoll::all_gather(self, mine, flags.data());
    CHECK(flags == std::array<bool, 3>{false, true, false});
}

} // namespace

TEST_CASE("elements at a pointer need nothing to be resized with") { papcoll::threads::run(3, pointers); }

TEST_CASE("vectors are resized when nothing speaks against the call, and not before") {
    for (int const ranks : {1, 2, 3, 5}) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, [](endpoint& self) {
            resize_suite::all(self, self.rank(), self.size(), papcoll::automatic{});
        });
    }
}
