// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/detail/line_reader.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

using papcoll::detail::line_reader;

namespace {

struct outcome {
    std::vector<std::string> lines;
    std::size_t number;
    bool cut;
    bool too_long;
};

auto read(std::string const& text) -> outcome {
    std::istringstream in(text);
    line_reader reader(in);
    outcome result{};
    while (reader.next()) {
        result.lines.emplace_back(reader.line());
        CHECK(reader.number() == result.lines.size());
    }
    CHECK_FALSE(reader.bad());
    CHECK_FALSE(reader.next());
    result.number = reader.number();
    result.cut = reader.cut();
    result.too_long = reader.too_long();
    return result;
}

} // namespace

TEST_CASE("lines are those of the text, whether it ends with a newline or not") {
    using lines = std::vector<std::string>;
    CHECK(read("").lines.empty());
    CHECK_FALSE(read("").cut);
    CHECK(read("\n").lines == lines{""});
    CHECK(read("a\n\nb c\r\n").lines == lines{"a", "", "b c\r"});
    CHECK_FALSE(read("a\n").cut);
    CHECK(read("a\nb").lines == lines{"a", "b"});
    CHECK(read("a\nb").cut);
    CHECK(read(std::string("a\0b\n", 4)).lines == lines{std::string("a\0b", 3)});
}

TEST_CASE("a line that is too long ends the text") {
    std::string const longest(line_reader::longest, 'x');
    CHECK(read(longest + "\ny\n").lines.size() == 2);
    CHECK(read("y\n" + longest).lines.back() == longest);
    CHECK(read("y\n" + longest).cut);
    auto const beyond = read("y\n" + longest + "x\nz\n");
    CHECK(beyond.lines.size() == 1);
    CHECK(beyond.too_long);
    CHECK(beyond.number == 2);
    CHECK(read(longest + "x").too_long);
}
