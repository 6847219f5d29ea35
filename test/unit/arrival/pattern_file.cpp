// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/arrival/pattern_file.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <locale>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace papcoll;
using times = std::vector<ticks>;

namespace {

auto parse(std::string const& text) -> times {
    std::istringstream in(text);
    return read_arrivals(in, "input");
}

// The error that the text leads to, or "".
auto error_of(std::string const& text) -> std::string {
    try {
        (void)parse(text);
    } catch (pattern_file_error const& error) {
        return error.what();
    }
    return "";
}

// A file in the folder for temporary files that goes away with its scope.
struct scratch_file {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("papcoll-pattern-file-" + std::to_string(::getpid()) + ".txt");
    scratch_file() = default;
    scratch_file(scratch_file const&) = delete;
    auto operator=(scratch_file const&) -> scratch_file& = delete;
    ~scratch_file() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

} // namespace

TEST_CASE("comments, blank lines, spaces, line ends of both kinds, negative values") {
    CHECK(parse("# made by hand\n\n  ranks\t3 # three\n 10\r\n\n-20 # early\n#\n30\n") ==
          times{ticks{10}, ticks{-20}, ticks{30}});
    CHECK(parse("ranks 1\n-9223372036854775808\n") == times{ticks::min()});
}

TEST_CASE("what is written is read") {
    ticks const widest{std::int64_t(1) << 62};
    std::vector<times> const cases{{ticks{0}},
                                   {ticks::max(), ticks::max() - widest},
                                   {ticks::min(), ticks::min() + widest},
                                   times(1000, ticks{5})};
    for (auto const& arrivals : cases) {
        std::stringstream text;
        write_arrivals(text, arrivals);
        CHECK(read_arrivals(text, "text") == arrivals);

        scratch_file const file;
        write_arrivals(file.path, arrivals);
        CHECK(read_arrivals(file.path) == arrivals);
        CHECK(read_arrivals(file.path, static_cast<int>(arrivals.size())) == arrivals);
    }
}

TEST_CASE("bad content is reported with file and line") {
    CHECK(error_of("") == "input:0: the file is empty: a line \"ranks P\" must come first");
    CHECK(error_of("# nothing\n\n") == "input:2: the file is empty: a line \"ranks P\" must come first");
    CHECK(error_of("1\n2\n") == "input:1: expected \"ranks P\", found \"1\"");
    CHECK(error_of("ranks\n2\n") == "input:1: expected \"ranks P\", found \"ranks\"");
    CHECK(error_of("ranks 0\n") == "input:1: the number of ranks must be at least 1, but is 0");
    CHECK(error_of("ranks -4\n") == "input:1: the number of ranks must be at least 1, but is -4");
    CHECK(error_of("ranks two\n") == "input:1: \"ranks two\" is not a number of ranks");
    CHECK(error_of("ranks 99999999999\n") ==
          "input:1: \"ranks 99999999999\" is too large or too small for a number of ranks");
    CHECK(error_of("ranks 2\n\n1.5\n2\n") == "input:3: \"1.5\" is not an arrival in whole nanoseconds");
    CHECK(error_of("ranks 2\n1 2\n") == "input:2: \"1 2\" is not an arrival in whole nanoseconds");
    CHECK(error_of("ranks 1\n+7\n") == "input:2: \"+7\" is not an arrival in whole nanoseconds");
    CHECK(error_of("ranks 1\n9223372036854775808\n") ==
          "input:2: \"9223372036854775808\" is too large or too small for an arrival in whole nanoseconds");
    CHECK(error_of("ranks 1\n5\n6\n") == "input:3: more arrivals than the 1 ranks announced: \"6\"");
}

TEST_CASE("times that cannot be subtracted from each other are refused") {
    CHECK(error_of("ranks 2\n9223372036854775807\n-9223372036854775808\n") ==
          "input:3: the arrivals differ by more than 2^62 ns");
    CHECK(error_of("ranks 3\n-1\n0\n4611686018427387904\n") ==
          "input:4: the arrivals differ by more than 2^62 ns");
    CHECK(error_of("ranks 3\n-1\n0\n4611686018427387903\n") == "");
    for (auto const* bad : {"inf", "-inf", "nan", "1e3", "0x10", "1.", "--1", "-"})
        CHECK(error_of("ranks 1\n" + std::string(bad) + "\n") ==
              "input:2: \"" + std::string(bad) + "\" is not an arrival in whole nanoseconds");
}

TEST_CASE("files that were cut off") {
    CHECK(error_of("ranks 3\n1\n2\n") == "input:3: the file ends after 2 of 3 arrivals");
    CHECK(error_of("ranks 2000000000\n1\n") == "input:2: the file ends after 1 of 2000000000 arrivals");
    CHECK(error_of("ranks 2\n1000\n15") == "input:3: the last line does not end: the file may be cut off");
    std::string const whole = "ranks 2\n1000\n1500\n";
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK(error_of(whole.substr(0, length)) != "");
    CHECK(error_of(whole) == "");
}

TEST_CASE("what is no text at all is quoted short and printable") {
    std::string const bytes("ranks 2\n\x01\xff\0abc", 14);
    CHECK(error_of(bytes) == "input:2: \"???abc\" is not an arrival in whole nanoseconds");
    auto const error = error_of("ranks 2\n" + std::string(60'000, 'x') + "\n");
    CHECK(error.size() < 150);
    CHECK(error.find("…") != std::string::npos);
}

TEST_CASE("a line that does not end is not read to its end") {
    CHECK(error_of("ranks 1\n#" + std::string(65535, 'x') + "\n5\n") == "");
    CHECK(error_of("ranks 1\n#" + std::string(65536, 'x') + "\n5\n") ==
          "input:2: the line is longer than 64 KiB");
    std::ifstream endless("/dev/zero");
    CHECK_THROWS_WITH_AS((void)read_arrivals(endless, "zeros\n"), "zeros?:1: the line is longer than 64 KiB",
                         pattern_file_error);
}

TEST_CASE("files that cannot be used") {
    scratch_file const file;
    CHECK_THROWS_WITH_AS((void)read_arrivals(file.path), doctest::Contains(file.path.string().c_str()),
                         pattern_file_error);
    CHECK_THROWS_WITH_AS((void)read_arrivals(std::filesystem::temp_directory_path()),
                         doctest::Contains("cannot be opened"), pattern_file_error);
    CHECK_THROWS_WITH_AS((void)read_arrivals(std::filesystem::path("/dev/zero")),
                         "/dev/zero: cannot be opened as a regular file", pattern_file_error);
    CHECK_THROWS_WITH_AS(write_arrivals(file.path / "below", times(1)),
                         doctest::Contains("cannot be written"), pattern_file_error);
    CHECK_THROWS_AS(write_arrivals(file.path, times{}), std::invalid_argument);
    write_arrivals(file.path, times(4));
    CHECK_THROWS_WITH_AS((void)read_arrivals(file.path, 5), doctest::Contains("4 ranks, but 5 are needed"),
                         pattern_file_error);
}

TEST_CASE("numbers are written plainly, whatever the program's locale") {
    struct grouped : std::numpunct<char> {
        [[nodiscard]] auto do_thousands_sep() const -> char override { return ','; }
        [[nodiscard]] auto do_grouping() const -> std::string override { return "\3"; }
    };
    struct with_locale {
        explicit with_locale(std::locale const& wanted)
            : before(std::locale::global(wanted)) {}
        with_locale(with_locale const&) = delete;
        auto operator=(with_locale const&) -> with_locale& = delete;
        ~with_locale() { std::locale::global(before); }
        std::locale before;
    };
    with_locale const here(std::locale(std::locale(), new grouped)); // which it owns
    std::vector<ticks> const arrivals(1'024, ticks{1'500'000});
    std::stringstream file;
    papcoll::write_arrivals(file, arrivals);
    CHECK(papcoll::read_arrivals(file, "file") == arrivals);
}
