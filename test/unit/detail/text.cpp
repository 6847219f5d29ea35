// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/detail/text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace papcoll::detail;

namespace {

auto length(std::string_view text) -> std::size_t { return first_code_point(text).bytes; }

} // namespace

TEST_CASE("what is appended is read again, of all code points") {
    for (char32_t c = 0; c <= 0x110000; ++c) {
        std::string text;
        append_code_point(text, c);
        bool const valid = c < 0xd800 || (c > 0xdfff && c <= 0x10ffff);
        auto const read = first_code_point(text + "x");
        if (read.bytes != (valid ? text.size() : 0) || (valid && read.value != c)) FAIL(c);
        for (std::size_t n = 0; n < text.size(); ++n)
            if (length(text.substr(0, n)) != 0) FAIL(c);
    }
}

TEST_CASE("what is no UTF-8 has no code point") {
    CHECK(length("") == 0);
    CHECK(length(std::string_view("\0", 1)) == 1);
    for (auto const* text : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
                             "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
                             "\xc3(", "\xe2\x82(", "\xf0\x9f\x98("})
        CHECK_MESSAGE(length(text) == 0, text);
    CHECK(length("\xf4\x8f\xbf\xbf") == 4);
    CHECK(length("\xed\x9f\xbf") == 3);
}

TEST_CASE("a text is shown in printable characters, and not more of it than wanted") {
    CHECK(shown("") == "");
    CHECK(shown("tables/Übung €.json") == "tables/Übung €.json");
    CHECK(shown(std::string_view("a\0b\n\t\x1b[31m\x7f", 11)) == "a?b???[31m?");
    CHECK(shown("\xff\xc3") == "??");
    CHECK(shown("\u0085\u202e\u2066\ufeff.") == "????.");
    CHECK(shown("abcdef", 6) == "abcdef");
    CHECK(shown("abcdef", 5) == "abcde…");
    CHECK(shown("abcü", 4) == "abc…");
    CHECK(in_quotes(std::string(1'000'000, '\x01')) == '"' + std::string(40, '?') + "…\"");
}
