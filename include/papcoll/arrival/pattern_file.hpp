// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/line_reader.hpp>
#include <papcoll/detail/text.hpp>
#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

/// Arrival times in text files:
///
///     # papcoll arrivals, nanoseconds, one line per rank
///     ranks 3
///     0
///     1500000   # everything from a hash sign on is a comment
///     -20
///
/// The line `ranks P` comes first; with it, and because every line ends with a newline, a file that was cut
/// off is recognised. Times are whole nanoseconds on a clock of any origin, so negative ones are allowed;
/// they differ by at most 2^62 ns (146 years), which all schedulers can compute with. Blank lines and
/// comments may be anywhere; a line has at most 64 KiB.
namespace papcoll::inline v0 {

/// What is wrong with a file of arrivals; the text begins with the file's name and, where there is one, the
/// number of the line.
class pattern_file_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

class pattern_parser {
public:
    pattern_parser(std::istream& in, std::string name)
        : m_lines(in)
        , m_name(std::move(name)) {}

    [[nodiscard]] auto run() -> std::vector<ticks> {
        auto const ranks = header();
        std::vector<ticks> arrivals; // Grows with what is read, not with what the header claims.
        while (next_line()) {
            if (arrivals.size() == ranks)
                fail("more arrivals than the " + std::to_string(ranks) + " ranks announced: " + shown_line());
            arrivals.emplace_back(number<ticks::rep>(m_content, "an arrival in whole nanoseconds"));
        }
        if (m_lines.bad()) fail("reading failed");
        if (m_lines.cut()) fail("the last line does not end: the file may be cut off");
        if (arrivals.size() < ranks)
            fail("the file ends after " + std::to_string(arrivals.size()) + " of " + std::to_string(ranks) +
                 " arrivals");
        check_range(arrivals);
        return arrivals;
    }

private:
    auto header() -> std::size_t {
        if (!next_line()) fail("the file is empty: a line \"ranks P\" must come first");
        constexpr std::string_view word = "ranks";
        if (!m_content.starts_with(word) || m_content.size() == word.size() ||
            !is_space(m_content[word.size()]))
            fail("expected \"ranks P\", found " + shown_line());
        auto const ranks = number<int>(trimmed(m_content.substr(word.size())), "a number of ranks");
        if (ranks < 1) fail("the number of ranks must be at least 1, but is " + std::to_string(ranks));
        return static_cast<std::size_t>(ranks);
    }

    void check_range(std::vector<ticks> const& arrivals) const {
        auto const [first, last] = std::minmax_element(arrivals.begin(), arrivals.end());
        auto const span =
            static_cast<std::uint64_t>(last->count()) - static_cast<std::uint64_t>(first->count());
        if (span > std::uint64_t(1) << 62U) fail("the arrivals differ by more than 2^62 ns");
    }

    // Moves to the next line with content, which m_content then views.
    auto next_line() -> bool {
        while (m_lines.next()) {
            auto const line = m_lines.line();
            m_content = trimmed(line.substr(0, line.find('#')));
            if (!m_content.empty()) return true;
        }
        if (m_lines.too_long()) fail("the line is longer than 64 KiB");
        return false;
    }

    template <class Integer>
    auto number(std::string_view text, char const* what) const -> Integer {
        Integer value{};
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc::result_out_of_range)
            fail(shown_line() + " is too large or too small for " + std::string(what));
        if (error != std::errc{} || end != text.data() + text.size())
            fail(shown_line() + " is not " + std::string(what));
        return value;
    }

    static auto is_space(char c) -> bool {
        return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
    }
    static auto trimmed(std::string_view text) -> std::string_view {
        while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
        while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
        return text;
    }

    [[nodiscard]] auto shown_line() const -> std::string { return in_quotes(m_content); }
    [[noreturn]] void fail(std::string const& why) const {
        throw pattern_file_error(shown(m_name) + ":" + std::to_string(m_lines.number()) + ": " + why);
    }

    line_reader m_lines;
    std::string m_name;
    std::string_view m_content;
};

} // namespace detail

/// Reads arrivals; `name` stands for the source in errors. Throws pattern_file_error.
[[nodiscard]] inline auto read_arrivals(std::istream& in, std::string name) -> std::vector<ticks> {
    return detail::pattern_parser(in, std::move(name)).run();
}

/// Reads a regular file of arrivals. With `ranks` > 0 it must be for that many. Throws pattern_file_error.
[[nodiscard]] inline auto read_arrivals(std::filesystem::path const& file, int ranks = 0)
    -> std::vector<ticks> {
    auto const name = detail::shown(file.string());
    std::error_code ignored;
    bool const is_regular = std::filesystem::is_regular_file(file, ignored);
    std::ifstream in;
    if (is_regular) in.open(file);
    if (!in.is_open()) throw pattern_file_error(name + ": cannot be opened as a regular file");
    auto arrivals = read_arrivals(in, file.string());
    if (ranks > 0 && arrivals.size() != static_cast<std::size_t>(ranks))
        throw pattern_file_error(name + ": has arrivals of " + std::to_string(arrivals.size()) +
                                 " ranks, but " + std::to_string(ranks) + " are needed");
    return arrivals;
}

/// Writes what read_arrivals reads.
inline void write_arrivals(std::ostream& out, std::span<ticks const> arrivals) {
    // Not as numbers, which the stream would write as its locale does.
    out << "# papcoll arrivals, nanoseconds, one line per rank\nranks " << std::to_string(arrivals.size())
        << '\n';
    for (ticks const arrival : arrivals) out << std::to_string(arrival.count()) << '\n';
}

/// Writes, or replaces, a file of arrivals; they must not be empty. Throws pattern_file_error when the file
/// cannot be written, std::invalid_argument for no arrivals.
inline void write_arrivals(std::filesystem::path const& file, std::span<ticks const> arrivals) {
    detail::require(!arrivals.empty(), "the number of arrivals to write must be at least 1", 0);
    std::ofstream out(file);
    write_arrivals(out, arrivals);
    out.close();
    if (!out) throw pattern_file_error(detail::shown(file.string()) + ": cannot be written");
}

} // namespace papcoll::inline v0
