// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/detail/json.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using papcoll::detail::json_reader;
using papcoll::detail::json_value;
using json = nlohmann::json;

namespace {

/// What is wrong with the text, or "".
auto complaint(std::string_view text) -> std::string {
    try {
        (void)json_reader::read(text, "file");
    } catch (std::invalid_argument const& e) {
        return e.what();
    }
    return "";
}
auto contains(std::string const& text, std::string_view part) -> bool {
    return text.find(part) != std::string::npos;
}

auto equal(json_value const& a, json const& b) -> bool {
    if (auto const* const x = a.get_if<bool>()) return b.is_boolean() && *x == b.get<bool>();
    if (auto const* const x = a.get_if<double>()) return b.is_number() && *x == b.get<double>();
    if (auto const* const x = a.get_if<std::string>()) return b.is_string() && *x == b.get<std::string>();
    if (auto const* const x = a.get_if<json_value::array>())
        return b.is_array() && std::equal(x->begin(), x->end(), b.begin(), b.end(), equal);
    auto const* const members = a.get_if<json_value::object>();
    if (members == nullptr) return b.is_null();
    return b.is_object() && members->size() == b.size() &&
           std::all_of(members->begin(), members->end(), [&](auto const& member) {
               return b.contains(member.first) && equal(member.second, b[member.first]);
           });
}

/// What nlohmann's library takes and RFC 8259 allows, or forbids, a reader to refuse.
auto may_be_refused(std::string_view text, std::string const& why) -> bool {
    return contains(why, "is there twice") || contains(why, "nested too deeply") ||
           contains(why, "is out of range") ||        // it takes what is nearer to 0 than any double
           text.find('\0') != std::string_view::npos; // it ends there
}

/// Compares the two readers; returns whether ours accepts the text.
auto agree(std::string const& text) -> bool {
    CAPTURE(text);
    auto const theirs = json::parse(text.begin(), text.end(), nullptr, false);
    auto const why = complaint(text);
    bool const printable = std::all_of(why.begin(), why.end(), [](char c) { return c < 0 || c >= ' '; });
    if (!printable || why.size() > 200) FAIL_CHECK(why);
    if (why.empty()) {
        if (theirs.is_discarded() || !equal(json_reader::read(text, "file"), theirs)) FAIL_CHECK("accepted");
    } else if (!theirs.is_discarded() && !may_be_refused(text, why)) {
        FAIL_CHECK(why);
    }
    return why.empty();
}

std::vector<std::string> const accepted{
    "0",
    "-0",
    "-0.0e-0",
    " \t\r\n12 \n",
    "1e5",
    "1E+5",
    "1.25e-3",
    "123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
    "1.7976931348623157e308",
    "5e-324",
    "2.2250738585072014e-308",
    "0e999999",
    "9007199254740993",
    "true",
    "false",
    "null",
    "\"\"",
    "[]",
    "{}",
    "[[[[]]],{}]",
    "[1,2 , 3]",
    "{\"a\":1,\"b\":[true,null,{\"c\":\"d\"}]}",
    "{\"\":0}",
    R"("\"\\\/\b\f\n\r\t")",
    R"("\u0041\u00e9\u20ac\uFFFF\u0000")",
    R"("\ud83d\ude00\uDBFF\uDFFF\ud800\udc00")",
    "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \x7f\"",
    "\"\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf\"",
    "\xef\xbb\xbf[1]",
};
std::vector<std::string> const rejected{
    "",
    " ",
    "-",
    "+1",
    "01",
    "-01",
    "00",
    "1.",
    ".5",
    "-.5",
    "1.e5",
    "1e",
    "1e+",
    "0x10",
    "1_000",
    "1,",
    "1 2",
    "inf",
    "-inf",
    "Infinity",
    "-Infinity",
    "nan",
    "NaN",
    "-nan",
    "1e309",
    "-1e99999999999999999999",
    "True",
    "nul",
    "nulll",
    "tru",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1}",
    "{",
    "}",
    "{,}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\" 1}",
    "{a:1}",
    "{1:1}",
    "{'a':1}",
    "{\"a\":1,}",
    "{\"a\":1 \"b\":2}",
    "[1] // comment",
    "/**/1",
    "\"",
    "\"a",
    "\"a\nb\"",
    "\"a\tb\"",
    "\"a\x01\"",
    "'a'",
    "\"\\",
    "\"\\\"",
    R"("\a")",
    R"("\x41")",
    R"("\U0041")",
    R"("\u")",
    R"("\u12")",
    R"("\u123")",
    R"("\u12g4")",
    R"("\u-123")",
    R"("\u+123")",
    R"("\u 123")",
    R"("\ud800")",
    R"("\udc00")",
    R"("\udc00\ud800")",
    R"("\ud800\ud800")",
    R"("\ud800\n")",
    R"("\ud800x")",
    R"("\ud800\u0041")",
    "\"\x80\"",
    "\"\xc0\x80\"",
    "\"\xc3\"",
    "\"\xc3(\"",
    "\"\xe0\x80\x80\"",
    "\"\xed\xa0\x80\"",
    "\"\xf0\x80\x80\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xf8\x88\x80\x80\x80\"",
    "\"\xff\"",
    "\xff",
    "\xef\xbb",
    "\xef\xbb\xbf",
    "[1]\xef\xbb\xbf",
    "\xc2\xa0"
    "1",
    "\f1",
    "\v1",
};

std::string const table = R"({
  "papcoll_tuning": 1, "machine": {"hosts": 8, "note": "caf\u00e9 \"\ud83d\ude00\"\t\\é€😀"},
  "choices": [
    {"operation": "reduce", "ranks": 8, "bytes": 1024, "policy": "native", "evidence": [1.5e-3, -0, null, true]},
    {"operation": "reduce", "ranks": 64, "bytes": 65536, "policy": "circulant", "block_bytes": 8192},
    {"operation": "all_gather", "ranks": 8, "bytes": 0, "policy": "ring", "more": {"a": [], "b": {}, "": [[0.5]]}}
  ]
})";

/// Some changes of a text that are made in files, and that readers fall over.
class mutator {
public:
    explicit mutator(unsigned seed)
        : m_random(seed) {}

    auto operator()(std::string text) -> std::string {
        for (auto changes = 1 + below(3); changes > 0; --changes) change(text);
        return text;
    }

private:
    auto below(std::size_t n) -> std::size_t {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(m_random);
    }
    void change(std::string& text) {
        static constexpr std::array<std::string_view, 32> words{
            "\"", "\\",   ",",    ":",    "[",    "]",        "{",        "}",       "0",       "-",  ".",
            "e",  "+",    "1e99", "true", "nul",  "\\ud83d",  "\\udc00",  "\\u0000", "\\u",     " ",  "\n",
            "\t", "\xc3", "\xa9", "\xed", "\xf4", "\xe2\x82", "\"a\":1,", "1",       "0.00001", "E-5"};
        auto const at = below(text.size() + 1);
        auto const n = std::min(text.size() - at, 1 + below(below(4) == 0 ? 40 : 3));
        switch (below(5)) {
        case 0:
            text.erase(at, n);
            break;
        case 1:
            text.insert(at, words[below(words.size())]);
            break;
        case 2:
            text.insert(at, text.substr(below(text.size() + 1), n));
            break;
        case 3:
            text.replace(at, n, words[below(words.size())]);
            break;
        default:
            if (at < text.size()) text[at] = static_cast<char>(below(256));
        }
    }

    std::mt19937 m_random;
};

} // namespace

TEST_CASE("what RFC 8259 accepts and rejects, as nlohmann's reader does") {
    for (auto const& text : accepted) CHECK_MESSAGE(agree(text), text);
    for (auto const& text : rejected) CHECK_MESSAGE(!agree(text), text);
    for (int byte = 0; byte < 256; ++byte) {
        auto const c = static_cast<char>(byte);
        (void)agree(std::string(1, c));
        (void)agree(std::string("\"") + c + '"');
        (void)agree(std::string("\"\\") + c + '"');
        (void)agree(std::string("1") + c + "1");
        (void)agree(std::string("[1") + c + ']');
    }
}

TEST_CASE("a text that is cut off anywhere is rejected") {
    for (std::size_t n = 0; n < table.size(); ++n) CHECK_MESSAGE(!agree(table.substr(0, n)), n);
    CHECK(agree(table));
}

TEST_CASE("texts with mistakes are taken or refused as nlohmann's reader does, whichever they are") {
    std::size_t taken = 0;
    std::size_t refused = 0;
    for (unsigned seed = 0; seed < 30000; ++seed) {
        mutator mutate(seed);
        (agree(mutate(seed % 3 == 0 ? table : accepted[seed % accepted.size()])) ? taken : refused) += 1;
    }
    CHECK(taken > 3000); // so that both happen often
    CHECK(refused > 15000);
}

TEST_CASE(
    "the liberties of a reader: depth, names that are there twice, numbers beyond the range of a double") {
    auto const nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
    CHECK(complaint(nested(33)).empty());
    CHECK(contains(complaint(nested(34)), "nested too deeply"));
    CHECK(contains(complaint(std::string(1'000'000, '[')), "nested too deeply"));
    CHECK(complaint("{\"a\":1,\n\"a\":2}") == "papcoll: file:2: \"a\" is there twice");
    CHECK(complaint("1e400") == "papcoll: file:1: the number 1e400 is out of range");
    CHECK(contains(complaint("-1e-400"), "out of range"));
    auto const* const least = "4.9406564584124654e-324";
    CHECK(*json_reader::read(least, "file").get_if<double>() == std::numeric_limits<double>::denorm_min());
    CHECK(std::signbit(*json_reader::read("-0", "file").get_if<double>()));
}

TEST_CASE("complaints name file and line, short and printable, whatever the file has") {
    CHECK(complaint("\n\n\n1 2") == "papcoll: file:4: there is more behind the value");
    CHECK(complaint("[1,\n\"\xff\"]") == "papcoll: file:2: a string is not in UTF-8");
    CHECK(complaint("\"\x1f\"") == "papcoll: file:1: a string has a control character");
    CHECK(complaint("\"\\ud800\"") == "papcoll: file:1: a string has half of a surrogate pair");
    CHECK(complaint("\"\\u00\"") == "papcoll: file:1: \\u needs four hexadecimal digits");
    auto const name = "\"\\u001b[31m" + std::string(100'000, 'x') + '"';
    CHECK(complaint("{" + name + ":1," + name + ":2}") ==
          "papcoll: file:1: \"?[31m" + std::string(35, 'x') + "…\" is there twice");
    CHECK(complaint(std::string(100'000, '9')).size() < 120);
    CHECK_THROWS_WITH_AS((void)json_reader::read("", "a\nb"), "papcoll: a?b:1: a value is missing",
                         std::invalid_argument);
}

TEST_CASE("a text beyond 16 MiB is refused before it is read") {
    std::string text(std::size_t(16) << 20, ' ');
    text.front() = '1';
    CHECK(complaint(text).empty());
    CHECK(contains(complaint(text + ' '), "16 MiB"));
}
