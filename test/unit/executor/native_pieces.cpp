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
    constexpr std::size_t countable = std::numeric_limits<int>::max();
    for (std::size_t const count :
         {std::size_t(0), std::size_t(1), std::size_t(6), std::size_t(7), std::size_t(8), std::size_t(14),
          std::size_t(15), countable, countable + 1, 5 * countable + 3})
        for (std::size_t const most : {std::size_t(1), std::size_t(7), std::size_t(100), countable}) {
            if (count > 15 && most < countable) continue;
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
