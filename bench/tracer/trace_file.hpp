// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
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
    int rank = 0;
    int ranks = 0;
    std::uint64_t every = 1;
    bool complete = false; ///< whether the program reached MPI_Finalize
    std::vector<clock_reading> readings;
    std::vector<call> calls;
    std::map<std::uint32_t, std::string> sites; ///< "<offset> <symbol or -> <module>", see README.md

    /// A time of this rank's clock on that of rank 0: the offset is interpolated between the first reading
    /// and the last, since clocks drift.
    [[nodiscard]] auto synchronised(std::int64_t local) const -> std::int64_t {
        auto const& first = readings.front();
        auto const& last = readings.back();
        if (last.local <= first.local) return local + first.offset;
        auto const slope =
            static_cast<double>(last.offset - first.offset) / static_cast<double>(last.local - first.local);
        return local + first.offset +
               static_cast<std::int64_t>(slope * static_cast<double>(local - first.local));
    }
};

namespace detail {

class parser {
public:
    parser(std::istream& in, std::string name, bool partial)
        : m_in(in)
        , m_partial(partial) {
        m_trace.name = std::move(name);
    }

    auto run() -> rank_trace {
        header();
        while (next_line()) {
            if (m_trace.complete) fail("nothing may follow the line \"end\"");
            line();
        }
        if (m_in.bad()) fail("reading failed");
        if (!m_trace.complete && !m_partial)
            fail("the line \"end\" is missing: the program was killed or the file was cut off (--partial "
                 "reads what there is)");
        if (m_trace.readings.empty())
            fail("no line \"clock\": the times cannot be compared with other ranks'");
        return std::move(m_trace);
    }

private:
    void header() {
        if (!next_line()) fail("the file is empty: a line \"papcoll-trace 1\" must come first");
        if (m_line != "papcoll-trace 1") fail("expected \"papcoll-trace 1\", found " + quoted(m_line));
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
            fail("expected call, site, comm, clock or end, found " + quoted(m_line));
    }

    void read_call() {
        call read;
        read.line = m_number;
        auto const comm = number<std::uint32_t>("the number of a communicator", 1);
        auto const found = m_communicators.find(comm);
        if (found == m_communicators.end()) undescribed("communicator", comm);
        read.comm = found->second;
        read.sequence = number<std::uint64_t>("the number of a call", 0);
        read.operation = word();
        if (read.operation.empty()) fail("the name of the operation is missing");
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
    }

    void read_clock() {
        clock_reading read;
        read.local = time("a time");
        read.offset = time("an offset");
        read.round_trip = number<std::int64_t>("a round trip", 0);
        finish();
        if (!m_trace.readings.empty() && read.local < m_trace.readings.back().local)
            fail("the clock was read earlier than before");
        m_trace.readings.push_back(read);
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
        if (word() != kind) fail("expected \"" + std::string(kind) + "\", found " + quoted(m_line));
    }
    void finish() const {
        if (!m_rest.empty()) fail("the line goes on with " + quoted(m_rest));
    }

    /// The next line; a last one without its end is an error, or ignored where parts are welcome.
    auto next_line() -> bool {
        if (!std::getline(m_in, m_line)) return false;
        ++m_number;
        m_rest = m_line;
        if (!m_in.eof()) return true;
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
            fail(quoted(text) + " is too large for " + std::string(what));
        if (error != std::errc{} || end != text.data() + text.size() || value < least)
            fail(quoted(text) + " is not " + std::string(what));
        return value;
    }
    /// Limited, so that sums and differences of a few times do not overflow.
    auto time(char const* what) -> std::int64_t {
        constexpr auto most = std::numeric_limits<std::int64_t>::max() / 8;
        auto const text = m_rest.substr(0, m_rest.find(' '));
        auto const value = number<std::int64_t>(what, std::numeric_limits<std::int64_t>::min());
        if (value > most || value < -most) fail(quoted(text) + " is too large for " + std::string(what));
        return value;
    }

    // A line of a file that is no text may be long and unprintable.
    static auto quoted(std::string_view text) -> std::string {
        constexpr std::size_t longest = 40;
        std::string shown = "\"";
        for (char const c : text.substr(0, longest)) shown += c >= ' ' && c <= '~' ? c : '?';
        return shown + (text.size() > longest ? "…\"" : "\"");
    }
    [[noreturn]] void fail(std::string const& why) const {
        throw trace_error(m_trace.name + ":" + std::to_string(m_number) + ": " + why);
    }

    std::istream& m_in;
    bool m_partial;
    rank_trace m_trace;
    std::string m_line;
    std::string_view m_rest;
    std::size_t m_number = 0;
    std::map<std::uint32_t, communicator> m_communicators;
    std::set<std::uint64_t> m_ids;
};

} // namespace detail

/// Reads one rank's trace; `name` stands for the source in errors. With `partial` a trace that ends early,
/// also within a line, is accepted. Throws trace_error.
inline auto read_trace(std::istream& in, std::string name, bool partial = false) -> rank_trace {
    return detail::parser(in, std::move(name), partial).run();
}

inline auto read_trace(std::filesystem::path const& file, bool partial = false) -> rank_trace {
    std::ifstream in(file);
    if (!in || std::filesystem::is_directory(file))
        throw trace_error(file.string() + ": cannot be opened for reading");
    return read_trace(in, file.string(), partial);
}

} // namespace trace
