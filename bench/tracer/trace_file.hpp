// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/line_reader.hpp>
#include <papcoll/detail/text.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <istream>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

/// Reads what the tracer wrote; README.md describes the format.
namespace trace {

/// What is wrong with a trace; begins with the file's name and the number of the line.
class trace_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// At `local` of the rank's clock rank 0's showed local + offset, up to round_trip / 2. Nanoseconds.
struct clock_reading {
    std::int64_t local = 0;
    std::int64_t offset = 0;
    std::int64_t round_trip = 0;
};

/// Times and offsets in a trace are at most this, 36 years: so the difference of two times of rank 0's clock,
/// each the sum of a time, an offset and a drift, does not overflow.
inline constexpr std::int64_t most_time = std::numeric_limits<std::int64_t>::max() / 8;

struct communicator {
    std::uint64_t id = 0;
    int rank = 0;
    int size = 0;
};

/// One call on one rank; times in nanoseconds of the rank's own clock.
struct call {
    std::size_t line = 0;
    communicator comm;
    std::uint64_t sequence = 0;
    std::string operation;
    std::uint64_t bytes = 0;
    std::int64_t entry = 0;
    std::int64_t exit = 0;
    std::uint32_t site = 0; ///< see rank_trace::sites
};

struct rank_trace {
    std::string name; ///< of the file
    std::uint64_t run = 0;
    int rank = 0;
    int ranks = 0;
    std::uint64_t every = 1;
    bool complete = false; ///< whether the program reached MPI_Finalize
    std::vector<clock_reading> readings;
    std::vector<communicator> comms; ///< on which it has made calls, also such that the file lacks
    std::vector<call> calls;
    std::map<std::uint32_t, std::string> sites; ///< "<offset> <symbol or -> <module>", see README.md

    /// A time of this rank's clock on that of rank 0: the offset is interpolated between the first reading
    /// and the last, since clocks drift. Times are at most most_time.
    [[nodiscard]] auto synchronised(std::int64_t local) const -> std::int64_t {
        auto const& first = readings.front();
        auto const& last = readings.back();
        if (last.local <= first.local) return local + first.offset;
        auto const passed =
            static_cast<double>(local - first.local) / static_cast<double>(last.local - first.local);
        constexpr double most = 0x1p59; // less than most_time
        auto const drift = std::clamp(static_cast<double>(last.offset - first.offset) * passed, -most, most);
        return local + first.offset + static_cast<std::int64_t>(drift);
    }
};

namespace detail {

using papcoll::detail::in_quotes;

class parser {
public:
    parser(std::istream& in, std::string name, bool partial)
        : m_lines(in)
        , m_partial(partial) {
        m_trace.name = std::move(name);
    }

    auto run() -> rank_trace {
        header();
        while (next_line()) {
            if (m_trace.complete) fail("nothing may follow the line \"end\"");
            line();
        }
        if (m_lines.bad()) fail("reading failed");
        if (!m_trace.complete && !m_partial)
            fail("the line \"end\" is missing: the program was killed or the file was cut off (--partial "
                 "reads what there is)");
        if (m_trace.readings.empty())
            fail("no line \"clock\": the times cannot be compared with other ranks'");
        return std::move(m_trace);
    }

private:
    void header() {
        if (!next_line()) fail("the file is empty: a line \"papcoll-trace 2\" must come first");
        if (word() != "papcoll-trace" || word() != "2")
            fail("expected \"papcoll-trace 2\", found " + in_quotes(m_line));
        m_trace.run = number<std::uint64_t>("the number of a run", 0, 16);
        finish();
        expect("rank");
        m_trace.rank = number<int>("a rank", 0);
        m_trace.ranks = number<int>("a number of ranks", 1);
        if (m_trace.rank >= m_trace.ranks)
            fail("rank " + std::to_string(m_trace.rank) + " of " + std::to_string(m_trace.ranks) + " ranks");
        finish();
        expect("every");
        m_trace.every = number<std::uint64_t>("a number of calls", 1);
        finish();
    }

    void line() {
        auto const kind = word();
        if (kind == "call")
            read_call();
        else if (kind == "site")
            read_site();
        else if (kind == "comm")
            read_communicator();
        else if (kind == "clock")
            read_clock();
        else if (kind == "end")
            read_end();
        else
            fail("expected call, site, comm, clock or end, found " + in_quotes(m_line));
    }

    void read_call() {
        call read;
        read.line = m_lines.number();
        auto const comm = number<std::uint32_t>("the number of a communicator", 1);
        auto const found = m_communicators.find(comm);
        if (found == m_communicators.end()) undescribed("communicator", comm);
        read.comm = found->second;
        read.sequence = number<std::uint64_t>("the number of a call", 0);
        read.operation = word();
        if (read.operation.empty()) fail("the name of the operation is missing");
        if (auto const name = in_quotes(read.operation); name.substr(1, name.size() - 2) != read.operation)
            fail(name + " is not the name of an operation");
        read.bytes = number<std::uint64_t>("a number of bytes", 0);
        read.entry = time("the time of entry");
        read.exit = time("the time of exit");
        if (read.exit < read.entry) fail("the call ends before it begins");
        read.site = number<std::uint32_t>("the number of a call site", 1);
        if (!m_trace.sites.contains(read.site)) undescribed("call site", read.site);
        finish();
        m_trace.calls.push_back(std::move(read));
    }

    void read_site() {
        auto const index = number<std::uint32_t>("the number of a call site", 1);
        if (m_rest.empty()) fail("the description of the call site is missing");
        define(m_trace.sites, index, std::string(std::exchange(m_rest, {})), "call site");
    }

    void read_communicator() {
        auto const index = number<std::uint32_t>("the number of a communicator", 1);
        communicator read;
        read.id = number<std::uint64_t>("the id of a communicator", 0, 16);
        read.rank = number<int>("a rank", 0);
        read.size = number<int>("a number of ranks", 1);
        if (read.rank >= read.size || read.size > m_trace.ranks)
            fail("rank " + std::to_string(read.rank) + " of " + std::to_string(read.size) +
                 " ranks, in a program of " + std::to_string(m_trace.ranks));
        finish();
        if (!m_ids.insert(read.id).second) fail("the id of the communicator occurs twice");
        define(m_communicators, index, read, "communicator");
        m_trace.comms.push_back(read);
    }

    void read_clock() {
        clock_reading read;
        read.local = time("a time");
        read.offset = time("an offset");
        read.round_trip = time("a round trip", 0);
        finish();
        if (!m_trace.readings.empty()) check_drift(m_trace.readings.back(), read);
        m_trace.readings.push_back(read);
    }
    /// No clock is more than twice as fast or slow as another; each offset errs by half its round trip.
    void check_drift(clock_reading const& before, clock_reading const& now) const {
        auto const passed = now.local - before.local;
        if (passed < 0) fail("the clock was read earlier than before");
        if (std::abs(now.offset - before.offset) > passed + (before.round_trip + now.round_trip) / 2)
            fail("the offset changes by more than the time that passes");
    }

    void read_end() {
        auto const calls = number<std::uint64_t>("a number of calls", 0);
        if (calls != m_trace.calls.size())
            fail("there should be " + std::to_string(calls) + " calls, but are " +
                 std::to_string(m_trace.calls.size()));
        finish();
        m_trace.complete = true;
    }

    template <class Value>
    void define(std::map<std::uint32_t, Value>& known, std::uint32_t index, Value value, char const* what) {
        if (!known.emplace(index, std::move(value)).second)
            fail("the " + std::string(what) + " " + std::to_string(index) + " is described twice");
    }
    [[noreturn]] void undescribed(char const* what, std::uint32_t index) const {
        fail("the " + std::string(what) + " " + std::to_string(index) + " has not been described");
    }

    void expect(std::string_view kind) {
        if (!next_line()) fail("the file ends where a line \"" + std::string(kind) + "\" should be");
        if (word() != kind) fail("expected \"" + std::string(kind) + "\", found " + in_quotes(m_line));
    }
    void finish() const {
        if (!m_rest.empty()) fail("the line goes on with " + in_quotes(m_rest));
    }

    /// The next line; a last one without its end is an error, or ignored where parts are welcome.
    auto next_line() -> bool {
        if (!m_lines.next()) {
            if (m_lines.too_long()) fail("the line is longer than 64 KiB");
            return false;
        }
        m_line = m_rest = m_lines.line();
        if (!m_lines.cut()) return true;
        if (!m_partial) fail("the line does not end: the file was cut off");
        return false;
    }
    auto word() -> std::string_view {
        auto const found = m_rest.substr(0, m_rest.find(' '));
        m_rest.remove_prefix(found.size() < m_rest.size() ? found.size() + 1 : found.size());
        return found;
    }
    template <std::integral Integer>
    auto number(char const* what, Integer least, int base = 10) -> Integer {
        auto const text = word();
        Integer value{};
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
        if (error == std::errc::result_out_of_range)
            fail(in_quotes(text) + " is too large for " + std::string(what));
        if (error != std::errc{} || end != text.data() + text.size() || value < least)
            fail(in_quotes(text) + " is not " + std::string(what));
        return value;
    }
    auto time(char const* what, std::int64_t least = std::numeric_limits<std::int64_t>::min())
        -> std::int64_t {
        auto const text = m_rest.substr(0, m_rest.find(' '));
        auto const value = number<std::int64_t>(what, least);
        if (value > most_time || value < -most_time)
            fail(in_quotes(text) + " is too large for " + std::string(what));
        return value;
    }

    [[noreturn]] void fail(std::string const& why) const {
        throw trace_error(m_trace.name + ":" + std::to_string(m_lines.number()) + ": " + why);
    }

    papcoll::detail::line_reader m_lines;
    bool m_partial;
    rank_trace m_trace;
    std::string_view m_line;
    std::string_view m_rest; ///< of the line
    std::map<std::uint32_t, communicator> m_communicators;
    std::set<std::uint64_t> m_ids;
};

} // namespace detail

/// Reads one rank's trace; `name` stands for the source in errors. With `partial` a trace that ends early,
/// also within a line, is accepted. Throws trace_error.
inline auto read_trace(std::istream& in, std::string name, bool partial = false) -> rank_trace {
    return detail::parser(in, std::move(name), partial).run();
}

/// Reads the trace in a regular file. Throws trace_error.
inline auto read_trace(std::filesystem::path const& file, bool partial = false) -> rank_trace {
    auto const name = papcoll::detail::shown(file.string());
    std::error_code ignored;
    bool const is_regular = std::filesystem::is_regular_file(file, ignored);
    std::ifstream in;
    if (is_regular) in.open(file);
    if (!in.is_open()) throw trace_error(name + ": cannot be opened as a regular file");
    return read_trace(in, name, partial);
}

} // namespace trace
