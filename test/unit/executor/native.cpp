// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/native.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace {

struct pieces {
    std::size_t elements = 0;
    int calls = 0;
};

// Addresses only: no such buffer exists.
auto cut(std::size_t count, bool is_root, bool in_place, std::size_t most) -> pieces {
    auto* const out = reinterpret_cast<char*>(std::uintptr_t(1) << 40);
    char const* const in = in_place ? out : out - (std::uintptr_t(1) << 39);
    pieces seen;
    auto const look = [&](void const* send, void* receive, int n) {
        bool const no_copy = is_root && in_place;
        CHECK(send == (no_copy ? MPI_IN_PLACE : static_cast<void const*>(in + seen.elements)));
        CHECK(receive == (is_root ? out + seen.elements : nullptr));
        CHECK(static_cast<std::size_t>(n) <= most);
        seen.elements += static_cast<std::size_t>(n);
        ++seen.calls;
    };
    papcoll::detail::for_each_piece(is_root, in, out, count, look, most);
    return seen;
}

} // namespace

TEST_CASE("counts are cut into pieces that MPI can count, at least one") {
    std::size_t const most = std::numeric_limits<int>::max();
    for (bool const root : {false, true})
        for (bool const in_place : {false, true}) {
            CHECK(cut(0, root, in_place, most).calls == 1);
            CHECK(cut(7, root, in_place, most).calls == 1);
            CHECK(cut(most, root, in_place, most).calls == 1);
            CHECK(cut(most + 1, root, in_place, most).calls == 2);
            CHECK(cut(5 * most + 3, root, in_place, most).calls == 6);
            CHECK(cut(5 * most + 3, root, in_place, most).elements == 5 * most + 3);
            CHECK(cut(10, root, in_place, 3).calls == 4);
        }
}
