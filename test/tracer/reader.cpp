// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <tracer/analysis.hpp>
#include <tracer/picture.hpp>
#include <tracer/settings.hpp>
#include <tracer/trace_file.hpp>
#include <vector>

namespace {

auto parse(std::string const& text, bool partial = false, std::string const& name = "t")
    -> trace::rank_trace {
    std::istringstream in(text);
    return trace::read_trace(in, name, partial);
}

/// What reading the text leads to, or "".
auto error_of(std::string const& text, bool partial = false) -> std::string {
    try {
        (void)parse(text, partial);
    } catch (trace::trace_error const& error) {
        return error.what();
    }
    return "";
}

std::string const head = "papcoll-trace 2 5eed\nrank 1 3\nevery 1\n";
std::string const body = "clock 1000 -400 20\ncomm 1 1 1 3\nsite 1 1a2b main /a path/program\n"
                         "call 1 0 bcast 8 1500 1600 1\ncall 1 1 reduce 16 1700 1900 1\n"
                         "clock 2000 -600 10\n";
std::string const whole = head + body + "end 2\n";

/// The whole trace with one line replaced.
auto with(std::string const& line, std::string const& other) -> std::string {
    auto text = whole;
    auto const at = text.find(line + "\n");
    REQUIRE(at != std::string::npos);
    return text.replace(at, line.size(), other);
}

struct seen_call {
    std::string operation;
    int bytes;
    int sequence;
    int entry;
    int exit;
};

/// The trace of a rank whose clock is right, on MPI_COMM_WORLD.
auto rank_of(int rank, int ranks, std::vector<seen_call> const& calls) -> trace::rank_trace {
    std::ostringstream text;
    text << "papcoll-trace 2 5eed\nrank " << rank << ' ' << ranks << "\nevery 1\nclock 0 0 1\ncomm 1 1 "
         << rank << ' ' << ranks << "\nsite 1 10 - program\n";
    for (auto const& one : calls)
        text << "call 1 " << one.sequence << ' ' << one.operation << ' ' << one.bytes << ' ' << one.entry
             << ' ' << one.exit << " 1\n";
    text << "end " << calls.size() << '\n';
    return parse(text.str(), false, "rank" + std::to_string(rank));
}

auto error_of(std::vector<trace::rank_trace> const& traces) -> std::string {
    try {
        (void)trace::analyse(traces);
    } catch (trace::trace_error const& error) {
        return error.what();
    }
    return "";
}

std::map<std::string, std::string> variables;
auto environment(char const* name) -> char const* {
    auto const found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
}

auto is_traced(std::string const& ranks, int rank) -> bool {
    variables = {{"PAPCOLL_TRACE_RANKS", ranks}};
    return tracer::read_settings(environment, rank).records;
}

} // namespace

TEST_CASE("a trace is read") {
    auto const read = parse(whole);
    CHECK(read.rank == 1);
    CHECK(read.ranks == 3);
    CHECK(read.complete);
    REQUIRE(read.calls.size() == 2);
    CHECK(read.calls[1].operation == "reduce");
    CHECK(read.calls[1].bytes == 16);
    CHECK(read.calls[1].comm.id == 1);
    CHECK(read.calls[1].line == 8);
    CHECK(read.sites.at(1) == "1a2b main /a path/program");
}

TEST_CASE("times are brought to rank 0's clock by offset and drift") {
    auto const read = parse(whole);
    CHECK(read.synchronised(1000) == 600);
    CHECK(read.synchronised(2000) == 1400);
    CHECK(read.synchronised(1500) == 1000);
    CHECK(read.synchronised(3000) == 2200);
    auto const one_reading = parse(head + "clock 1000 -400 20\nend 0\n");
    CHECK(one_reading.synchronised(5000) == 4600);
}

TEST_CASE("broken traces are reported with file and line") {
    CHECK(error_of("") == "t:0: the file is empty: a line \"papcoll-trace 2\" must come first");
    CHECK(error_of("papcoll-trace 1\n") == "t:1: expected \"papcoll-trace 2\", found \"papcoll-trace 1\"");
    CHECK(error_of("papcoll-trace 2\n") == "t:1: \"\" is not the number of a run");
    CHECK(error_of(with("papcoll-trace 2 5eed", "papcoll-trace 2 seed")) ==
          "t:1: \"seed\" is not the number of a run");
    CHECK(error_of(std::string("\x7f"
                               "ELF\0\1\n",
                               7)) == "t:1: expected \"papcoll-trace 2\", found \"?ELF??\"");
    CHECK(error_of(with("rank 1 3", "rank 3 3")) == "t:2: rank 3 of 3 ranks");
    CHECK(error_of(with("rank 1 3", "rank -1 3")) == "t:2: \"-1\" is not a rank");
    CHECK(error_of(with("rank 1 3", "rank 0 99999999999")) ==
          "t:2: \"99999999999\" is too large for a number of ranks");
    CHECK(error_of(with("rank 1 3", "rank 1")) == "t:2: \"\" is not a number of ranks");
    CHECK(error_of(with("every 1", "every 0")) == "t:3: \"0\" is not a number of calls");
    CHECK(error_of(with("every 1", "each 1")) == "t:3: expected \"every\", found \"each 1\"");
    CHECK(error_of(with("clock 1000 -400 20", "clock 1000 x 20")) == "t:4: \"x\" is not an offset");
    CHECK(error_of(with("clock 1000 -400 20", "clock 1000 -400 -1")) == "t:4: \"-1\" is not a round trip");
    CHECK(error_of(with("clock 2000 -600 10", "clock 999 -600 10")) ==
          "t:9: the clock was read earlier than before");
    CHECK(error_of(with("clock 2000 -600 10", "clock 2000 -600 9000000000000000000")) ==
          "t:9: \"9000000000000000000\" is too large for a round trip");
    CHECK(error_of(with("clock 2000 -600 10", "clock 2000 -600 10 3")) == "t:9: the line goes on with \"3\"");
    CHECK(error_of(with("comm 1 1 1 3", "comm 1 xyz 1 3")) == "t:5: \"xyz\" is not the id of a communicator");
    CHECK(error_of(with("comm 1 1 1 3", "comm 1 1 3 3")) == "t:5: rank 3 of 3 ranks, in a program of 3");
    CHECK(error_of(with("comm 1 1 1 3", "comm 1 1 1 4")) == "t:5: rank 1 of 4 ranks, in a program of 3");
    CHECK(error_of(with("comm 1 1 1 3", "comm 1 1 1 3\ncomm 1 2 1 3")) ==
          "t:6: the communicator 1 is described twice");
    CHECK(error_of(with("comm 1 1 1 3", "comm 1 1 1 3\ncomm 2 1 1 3")) ==
          "t:6: the id of the communicator occurs twice");
    CHECK(error_of(with("comm 1 1 1 3", "")) == "t:5: expected call, site, comm, clock or end, found \"\"");
    CHECK(error_of(with("end 2", "end 3")) == "t:10: there should be 3 calls, but are 2");
    CHECK(error_of(with("end 2", "end 2\nend 2")) == "t:11: nothing may follow the line \"end\"");
    CHECK(error_of(head + "end 0\n") ==
          "t:4: no line \"clock\": the times cannot be compared with other ranks'");
    CHECK(error_of(with("end 2", std::string(100'000, 'x'))).size() < 150);
}

TEST_CASE("broken calls are reported with file and line") {
    auto const error = [](std::string const& call) {
        return error_of(with("call 1 0 bcast 8 1500 1600 1", call));
    };
    CHECK(error("call 2 0 bcast 8 1500 1600 1") == "t:7: the communicator 2 has not been described");
    CHECK(error("call 1 0 bcast 8 1500 1600 2") == "t:7: the call site 2 has not been described");
    CHECK(error("call 1 -1 bcast 8 1500 1600 1") == "t:7: \"-1\" is not the number of a call");
    CHECK(error("call 1 0  8 1500 1600 1") == "t:7: the name of the operation is missing");
    CHECK(error("call 1 0 b\x1b[31mcast 8 1500 1600 1") ==
          "t:7: \"b?[31mcast\" is not the name of an operation");
    CHECK(error("call 1 0 " + std::string(100, 'x') + " 8 1500 1600 1") ==
          "t:7: \"" + std::string(40, 'x') + "…\" is not the name of an operation");
    CHECK(error("call 1 0 bcast -8 1500 1600 1") == "t:7: \"-8\" is not a number of bytes");
    CHECK(error("call 1 0 bcast 99999999999999999999 1500 1600 1") ==
          "t:7: \"99999999999999999999\" is too large for a number of bytes");
    CHECK(error("call 1 0 bcast 8 1.5 1600 1") == "t:7: \"1.5\" is not the time of entry");
    CHECK(error("call 1 0 bcast 8 1500 9000000000000000000 1") ==
          "t:7: \"9000000000000000000\" is too large for the time of exit");
    CHECK(error("call 1 0 bcast 8 1500 1499 1") == "t:7: the call ends before it begins");
    CHECK(error("call 1 0 bcast 8 1500") == "t:7: \"\" is not the time of exit");
    CHECK(error("site 1 1a2b main program") == "t:7: the call site 1 is described twice");
    CHECK(error("site 2") == "t:7: the description of the call site is missing");
}

TEST_CASE(
    "a trace that was cut off anywhere is refused, and read as far as it goes where parts are welcome") {
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK(error_of(whole.substr(0, length)).starts_with("t:"));
    auto const first_clock = whole.find("comm");
    for (std::size_t length = first_clock; length < whole.size(); ++length) {
        auto const part = whole.substr(0, length);
        auto const lines = part.substr(0, part.rfind('\n') + 1);
        std::size_t calls = 0;
        for (std::size_t at = 0; (at = lines.find("\ncall", at)) != std::string::npos; ++at) ++calls;
        auto const read = parse(part, true);
        CHECK(read.calls.size() == calls);
        CHECK_FALSE(read.complete);
    }
    CHECK(error_of(head, true) == "t:3: no line \"clock\": the times cannot be compared with other ranks'");
}

TEST_CASE("a clock that runs away from the others is refused") {
    auto const error = [](std::string const& offset) {
        return error_of(with("clock 2000 -600 10", "clock 2000 " + offset + " 10"));
    };
    CHECK(error("615") == "");
    CHECK(error("616") == "t:9: the offset changes by more than the time that passes");
    CHECK(error("-1415") == "");
    CHECK(error("-1416") == "t:9: the offset changes by more than the time that passes");
    CHECK(error("1152921504606846975") == "t:9: the offset changes by more than the time that passes");
}

TEST_CASE("times at the ends of their range are computed with") {
    std::string const most = "1152921504606846975"; // 2^60 - 1
    for (std::string const& local : {"-" + most, std::string("0"), most})
        for (std::string const& offset : {"-" + most, most}) {
            auto const text = "papcoll-trace 2 5eed\nrank 0 1\nevery 1\nclock " + local + " -" + most + " " +
                              most + "\nclock " + most + " " + offset + " " + most +
                              "\ncomm 1 1 0 1\nsite 1 10 - program\ncall 1 0 bcast 8 -" + most + " " + most +
                              " 1\nend 1\n";
            if (!error_of(text).empty()) continue; // the clock runs away
            auto const all = trace::analyse({parse(text)}).groups;
            REQUIRE(all.size() == 1);
            CHECK(all.front().calls.front().total_delay >= 0);
            std::ostringstream out;
            trace::draw(out, all.front(), "extremes");
        }
    auto steep = parse(whole); // no trace that is read has such a clock
    steep.readings = {{0, -1152921504606846975, 0}, {1, 1152921504606846975, 0}};
    CHECK(steep.synchronised(1152921504606846975) > 0);
    CHECK(steep.synchronised(-1152921504606846975) < 0);
}

TEST_CASE("traces with mistakes are refused, or read and analysed") {
    std::vector<std::string> const words{
        "-1",   "0",    "1",     "2",     "1152921504606846975",  "-1152921504606846975",
        "call", "site", "comm",  "clock", "9223372036854775807",  "-9223372036854775808",
        "end",  "",     "bcast", "\n",    "18446744073709551615", "ffffffffffffffff"};
    std::mt19937 random(5);
    auto const below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    int analysed = 0;
    for (int i = 0; i < 20000; ++i) {
        auto text = whole;
        for (auto changes = 1 + below(3); changes > 0; --changes) { // words, each with its blank or newline
            auto const at = text.find_first_of(" \n", below(text.size()));
            if (at == std::string::npos) continue;
            auto const end = std::min(text.find_first_of(" \n", at + 1), text.size());
            text.replace(at + 1, end - at - 1, words[below(words.size())]);
        }
        bool const partial = i % 2 == 0;
        try {
            auto const result = trace::analyse({parse(text, partial)}, partial);
            for (auto const& group : result.groups) {
                std::ostringstream out;
                trace::draw(out, group, "any");
            }
            ++analysed;
        } catch (trace::trace_error const& error) {
            CHECK(std::string_view(error.what()).starts_with("t:"));
        }
    }
    CHECK(analysed > 500);
}

TEST_CASE("a file that does not end is not read") {
    std::ifstream endless("/dev/zero");
    CHECK_THROWS_WITH_AS((void)trace::read_trace(endless, "t"), "t:1: the line is longer than 64 KiB",
                         trace::trace_error);
    for (auto const* bad : {"/dev/zero", ".", "/nowhere"})
        CHECK_THROWS_WITH_AS((void)trace::read_trace(std::filesystem::path(bad)),
                             (std::string(bad) + ": cannot be opened as a regular file").c_str(),
                             trace::trace_error);
}

TEST_CASE("delays, skew and last delay of calls") {
    auto const result =
        trace::analyse({rank_of(2, 3, {{"bcast", 8, 0, 130, 150}, {"bcast", 8, 1, 1000, 1700}}),
                        rank_of(0, 3, {{"bcast", 8, 0, 100, 170}, {"bcast", 8, 1, 1050, 1070}}),
                        rank_of(1, 3, {{"bcast", 8, 0, 110, 140}, {"bcast", 8, 1, 1500, 1510}})});
    REQUIRE(result.groups.size() == 1);
    auto const& group = result.groups.front();
    CHECK(group.ranks == std::vector{0, 1, 2});
    REQUIRE(group.calls.size() == 2);
    auto const& call = group.calls.front();
    CHECK(call.first_entry == 100);
    CHECK(call.delays == std::vector<std::int64_t>{0, 10, 30});
    CHECK(call.skew == 30);
    CHECK(call.total_delay == 70);
    CHECK(call.last_delay == 40);
    CHECK(group.calls[1].delays == std::vector<std::int64_t>{50, 500, 0});
    CHECK(trace::summarise_rank(group, 1).mean == 255);
}

TEST_CASE("calls are grouped by communicator, operation, bytes and site; papcoll's have their own numbers") {
    std::vector<seen_call> const calls{{"bcast", 8, 0, 1, 2},
                                       {"bcast", 16, 1, 3, 4},
                                       {"papcoll.reduce", 8, 0, 5, 6},
                                       {"bcast", 8, 2, 7, 8},
                                       {"papcoll.reduce", 8, 1, 9, 10}};
    auto const result = trace::analyse({rank_of(0, 2, calls), rank_of(1, 2, calls)});
    std::vector<std::size_t> sizes;
    for (auto const& group : result.groups) sizes.push_back(group.calls.size());
    CHECK(sizes == std::vector<std::size_t>{2, 1, 2});
}

TEST_CASE("traces that do not fit together are refused") {
    auto const one = rank_of(0, 2, {{"bcast", 8, 0, 1, 2}});
    CHECK(error_of({one, one}) == "rank0: rank 0 is also in rank0");
    CHECK(error_of({one, rank_of(1, 3, {})}) == "rank1: is of 3 ranks, but rank0 of 2");
    CHECK(error_of({one, rank_of(1, 2, {{"reduce", 8, 0, 1, 2}})}) ==
          "rank1:7: call 0 is reduce, but bcast in rank0:7");
    CHECK(error_of({one, rank_of(1, 2, {{"bcast", 8, 1, 1, 2}})}) ==
          "rank0:7: not all traced ranks of the communicator have its call 0, bcast (--partial leaves "
          "such calls out)");
    CHECK(error_of({rank_of(0, 2, {{"bcast", 8, 0, 1, 2}, {"bcast", 8, 0, 3, 4}})}) ==
          "rank0:8: call 0 of the communicator occurs twice");
    CHECK(error_of({one, rank_of(1, 2, {{"bcast", 8, 0, 1, 2}})}) == "");
    auto sampled = rank_of(1, 2, {});
    sampled.every = 2;
    CHECK(error_of({one, sampled}) == "rank1: has every 2th call, but rank0 every 1th");
    auto smaller = rank_of(1, 2, {{"bcast", 8, 0, 1, 2}});
    smaller.comms[0].size = 1;
    CHECK(error_of({one, smaller}) == "rank1: communicator 1: 1 ranks, but 2 in another file");
    smaller.comms = one.comms;
    CHECK(error_of({one, smaller}) == "rank1: communicator 1: its rank 0 is also in rank0");
    auto old = rank_of(1, 2, {{"bcast", 8, 0, 1, 2}});
    ++old.run;
    CHECK(error_of({one, old}) ==
          "rank1: is of another run of the program than rank0: one of them is left from before");
}

TEST_CASE("calls that some rank lacks are left out where parts are welcome") {
    auto const result = trace::analyse({rank_of(0, 2, {{"bcast", 8, 0, 1, 2}, {"bcast", 8, 1, 3, 4}}),
                                        rank_of(1, 2, {{"bcast", 8, 0, 1, 2}})},
                                       true);
    CHECK(result.dropped == 1);
    CHECK(result.groups.front().calls.size() == 1);
    auto const lost = trace::analyse({rank_of(0, 2, {{"bcast", 8, 0, 1, 2}}), rank_of(1, 2, {})}, true);
    CHECK(lost.dropped == 1); // it was of MPI_COMM_WORLD, whose member rank 1 is without a call, too
    CHECK(lost.groups.empty());
}

TEST_CASE("percentiles: the least value that enough values do not exceed") {
    std::vector<std::int64_t> values(200);
    std::iota(values.rbegin(), values.rend(), 1);
    auto const all = trace::summarise(values);
    CHECK(all.mean == 100.5);
    CHECK(all.p10 == 20);
    CHECK(all.p50 == 100);
    CHECK(all.p90 == 180);
    CHECK(all.p99 == 198);
    CHECK(all.most == 200);
    auto const one = trace::summarise({7});
    CHECK(one.p10 == 7);
    CHECK(one.p99 == 7);
}

TEST_CASE("the picture has a bar per rank and ends, also without delays and with many ranks") {
    for (int ranks : {1, 2, 1000}) {
        trace::group group;
        group.calls.emplace_back();
        for (int rank = 0; rank < ranks; ++rank) {
            group.ranks.push_back(rank);
            group.calls.front().delays.push_back(rank * 1000);
        }
        std::ostringstream out;
        trace::draw(out, group, "a < b & c");
        auto const text = out.str();
        CHECK(text.ends_with("</svg>\n"));
        CHECK(text.find("a &lt; b &amp; c") != std::string::npos);
        CHECK(text.find("nan") == std::string::npos);
        int bars = 0;
        for (std::size_t at = 0; (at = text.find("class=\"mean\"", at)) != std::string::npos; ++at) ++bars;
        CHECK(bars == ranks);
    }
}

TEST_CASE("lists of ranks") {
    for (int rank = 0; rank < 20; ++rank) {
        CHECK(is_traced("all", rank));
        CHECK(is_traced("3", rank) == (rank == 3));
        CHECK(is_traced("0,4-7,10-18:4", rank) ==
              (rank == 0 || (rank >= 4 && rank <= 7) || rank == 10 || rank == 14 || rank == 18));
    }
    for (auto const* bad :
         {"", ",", "1,", "a", "-1", "1-", "3-1", "1:0", "1:", "1-2-3", "1,,2", "1 ,2", "99999999999"})
        CHECK_THROWS_WITH_AS((void)is_traced(bad, 0), doctest::Contains("PAPCOLL_TRACE_RANKS=\""),
                             std::invalid_argument);
}

TEST_CASE("settings have defaults and clocks are wrong by rank") {
    variables = {};
    auto const usual = tracer::read_settings(environment, 3);
    CHECK(usual.records);
    CHECK(usual.every == 1);
    CHECK(usual.clock_offset == 0);
    variables = {{"PAPCOLL_TRACE_TEST_OFFSET_NS", "50"},
                 {"PAPCOLL_TRACE_TEST_DRIFT_PPM", "7"},
                 {"PAPCOLL_TRACE_EVERY", "4"}};
    auto const skewed = tracer::read_settings(environment, 3);
    CHECK(skewed.clock_offset == 150);
    CHECK(skewed.clock_drift == 21);
    CHECK(skewed.every == 4);
    for (auto const* variable : {"PAPCOLL_TRACE_TEST_OFFSET_NS", "PAPCOLL_TRACE_TEST_DRIFT_PPM"}) {
        variables = {{variable, "9000000000000000000"}};
        CHECK_NOTHROW((void)tracer::read_settings(environment, 0));
        CHECK_THROWS_WITH_AS((void)tracer::read_settings(environment, 3), doctest::Contains(variable),
                             std::invalid_argument);
    }
}
