// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/detail/read_file.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <sys/stat.h>

using papcoll::detail::read_file;

TEST_CASE("a file is read whole, up to the longest that is allowed") {
    auto const* const name = "read_file.test";
    for (std::size_t const n : {0U, 1U, 16383U, 16384U, 16385U, 100000U}) {
        std::string text(n, 'x');
        if (n > 0) text[n / 2] = '\0';
        std::ofstream(name, std::ios::binary) << text;
        CHECK(read_file(name) == text);
        CHECK(read_file(name, n) == text);
        if (n > 0) CHECK_FALSE(read_file(name, n - 1));
    }
    std::ofstream(name, std::ios::binary).seekp(16 << 20).put('x');
    CHECK_FALSE(read_file(name));
    std::remove(name);
}

TEST_CASE("what is no file, or does not end, is not read") {
    CHECK_FALSE(read_file("/nowhere/file"));
    CHECK_FALSE(read_file(""));
    CHECK_FALSE(read_file("."));
    CHECK_FALSE(read_file("/dev/zero"));
    CHECK_FALSE(read_file("/dev/null"));
    auto const* const pipe = "read_file.pipe"; // that nobody writes to
    std::remove(pipe);
    REQUIRE(::mkfifo(pipe, 0600) == 0);
    CHECK_FALSE(read_file(pipe));
    std::remove(pipe);
}
