// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/detail/edit_distance.hpp>

#include <doctest/doctest.h>

#include <string>

using papcoll::detail::edit_distance;

TEST_CASE("the least number of insertions, removals and replacements") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abc", "abc") == 0);
    CHECK(edit_distance("abc", "abd") == 1);
    CHECK(edit_distance("abc", "ac") == 1);
    CHECK(edit_distance("abc", "xabc") == 1);
    CHECK(edit_distance("ab", "ba") == 2);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("saturday", "sunday") == 3);
}

TEST_CASE("a metric: symmetric, 0 for equal texts alone, within the triangle") {
    std::string const texts[] = {"", "a", "b", "ab", "ba", "aab", "bab", "abba", "baab"};
    for (auto const& a : texts)
        for (auto const& b : texts) {
            CHECK(edit_distance(a, b) == edit_distance(b, a));
            CHECK((edit_distance(a, b) == 0) == (a == b));
            for (auto const& c : texts)
                CHECK(edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c));
        }
}
