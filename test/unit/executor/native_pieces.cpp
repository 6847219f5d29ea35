// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/native/pieces.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <vector>

namespace {

using sizes = std::vector<std::size_t>;
using papcoll::detail::native_fits;

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

} // namespace

TEST_CASE("parts follow one another, at least one, none too long") {
    for (std::size_t const count : {0U, 1U, 6U, 7U, 8U, 14U, 15U})
        for (std::size_t const most : {1U, 7U, 100U}) {
            std::size_t end = 0;
            std::size_t parts = 0;
            papcoll::detail::for_each_part(
                count,
                [&](std::size_t begin, int n) {
                    CHECK(begin == end);
                    CHECK(static_cast<std::size_t>(n) <= most);
                    end += static_cast<std::size_t>(n);
                    ++parts;
                },
                most);
            CHECK(end == count);
            CHECK(parts == (count == 0 ? 1 : (count + most - 1) / most));
        }
}

TEST_CASE("blocks fit when MPI can count all of them together") {
    CHECK(native_fits(sizes{}, 0));
    CHECK(native_fits(sizes{0, 0}, 0));
    CHECK(native_fits(sizes{2, 0, 3}, 5));
    CHECK(!native_fits(sizes{2, 0, 3}, 4));
    CHECK(!native_fits(sizes{huge, 1}, 100)); // their sum, modulo 2^64, is 0
    CHECK(!native_fits(sizes{1, huge}, 100));
}

TEST_CASE("displaced blocks fit when they end where MPI can count") {
    CHECK(native_fits(sizes{2, 3}, sizes{0, 7}, 10));
    CHECK(!native_fits(sizes{2, 3}, sizes{0, 8}, 10));
    CHECK(!native_fits(sizes{2, 3}, sizes{huge, 0}, 10));
    CHECK(!native_fits(sizes{6, 5}, sizes{0, 0}, 10));
    CHECK(native_fits(sizes{0, 3}, sizes{huge, 0}, 10)); // an empty block lies nowhere
}
