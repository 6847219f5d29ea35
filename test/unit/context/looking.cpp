// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/looking.hpp>

#include <doctest/doctest.h>

#include <chrono>

using papcoll::detail::looking;

namespace {

/// Somebody else always has the processor for a while when it is yielded, unless it is free.
struct machine {
    bool busy = true;
    int yields = 0;

    void progress() {}
    void idle() {
        ++yields;
        auto const begin = std::chrono::steady_clock::now();
        while (busy && std::chrono::steady_clock::now() - begin < std::chrono::microseconds(20)) {
        }
    }
};
/// How often a wait looks that ends with this look at the latest, and yields before that if it does.
auto looks_of(looking& waits, machine& on, int last) -> int {
    int looks = 0;
    int looks_before_yield = last;
    waits.until(on, [&] {
        if (on.yields == 0) looks_before_yield = looks + 1;
        return ++looks >= last;
    });
    on.yields = 0;
    return looks_before_yield;
}

} // namespace

TEST_CASE("waiting finds out while it looks that others need the processor, and looks less from then on") {
    looking waits(true);
    machine on;
    CHECK(looks_of(waits, on, 3'000) < 2'000);
    for (int i = 0; i < 16; ++i) CHECK(looks_of(waits, on, 500) < 20);
}

TEST_CASE("where there are fewer processors than ranks it looks a few times before it yields") {
    looking waits(false);
    machine on;
    on.busy = false;
    for (int i = 0; i < 3; ++i) CHECK(looks_of(waits, on, 500) < 20);
}

TEST_CASE("a wait that ends soon does not yield") {
    looking waits(true);
    machine on;
    on.busy = false;
    CHECK(looks_of(waits, on, 900) == 900);
}
