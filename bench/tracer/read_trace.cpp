// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Turns the traces of a program's ranks into statistics, a pattern file, CSV and a picture; README.md.
#include <papcoll/arrival/pattern_file.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "analysis.hpp"
#include "picture.hpp"
#include "trace_file.hpp"

namespace {

struct options {
    std::vector<std::string> files;
    bool partial = false;
    std::string operation;
    std::string bytes;
    std::string comm;
    std::string site;
    std::string ranks_csv;
    std::string calls_csv;
    std::string pattern;
    std::string picture;
};

auto hexadecimal(std::uint64_t number) -> std::string {
    std::ostringstream text;
    text << std::hex << number;
    return text.str();
}

auto demangled(std::string const& symbol) -> std::string {
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> const text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? text.get() : symbol;
}

/// "main (program+0x11a9)" of "11a9 main /path/to/program".
auto readable_site(std::string const& site) -> std::string {
    std::istringstream words(site);
    std::string offset;
    std::string symbol;
    std::string module;
    words >> offset >> symbol;
    std::getline(words >> std::ws, module);
    auto const place = std::filesystem::path(module).filename().string() + "+0x" + offset;
    return symbol == "-" ? place : demangled(symbol) + " (" + place + ")";
}

auto is_selected(options const& wanted, trace::kind const& what) -> bool {
    return (wanted.operation.empty() || wanted.operation == what.operation) &&
           (wanted.bytes.empty() || wanted.bytes == std::to_string(what.bytes)) &&
           (wanted.comm.empty() || wanted.comm == hexadecimal(what.comm)) &&
           (wanted.site.empty() || readable_site(what.site).find(wanted.site) != std::string::npos);
}

void print(std::vector<trace::group> const& groups) {
    std::printf("%-16s %-24s %10s %6s %6s %8s | %10s %10s %10s %10s | %10s  %s\n", "communicator",
                "operation", "bytes", "ranks", "traced", "calls", "mean skew", "median", "90 %", "largest",
                "last delay", "call site");
    for (auto const& one : groups) {
        auto const skew = summarise_calls(one, [](auto const& call) { return call.skew; });
        auto const last = summarise_calls(one, [](auto const& call) { return call.last_delay; });
        auto const us = [](auto ns) { return static_cast<double>(ns) / 1e3; };
        std::printf("%-16s %-24s %10llu %6d %6zu %8zu | %10.1f %10.1f %10.1f %10.1f | %10.1f  %s\n",
                    hexadecimal(one.what.comm).c_str(), one.what.operation.c_str(),
                    static_cast<unsigned long long>(one.what.bytes), one.size, one.ranks.size(),
                    one.calls.size(), us(skew.mean), us(skew.p50), us(skew.p90), us(skew.most), us(last.mean),
                    readable_site(one.what.site).c_str());
    }
    std::printf(
        "Times in microseconds. Skew: last entry - first entry of a call. Last delay: last exit - last "
        "entry, mean.\n");
}

auto open(std::string const& name) -> std::ofstream {
    std::ofstream out(name);
    if (!out) throw std::runtime_error(name + ": cannot be written");
    return out;
}

void close(std::ofstream& out, std::string const& name) {
    out.close();
    if (!out) throw std::runtime_error(name + ": cannot be written");
}

auto quoted(std::string const& text) -> std::string {
    std::string result = "\"";
    for (char const c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
}

auto csv(trace::kind const& what) -> std::string {
    return hexadecimal(what.comm) + ',' + what.operation + ',' + std::to_string(what.bytes) + ',' +
           quoted(readable_site(what.site));
}

void write_ranks(std::string const& name, std::vector<trace::group> const& groups) {
    auto out = open(name);
    out << "communicator,operation,bytes,call_site,ranks,calls,rank,mean_ns,p10_ns,p50_ns,p90_ns,p99_ns,max_"
           "ns\n";
    for (auto const& one : groups)
        for (std::size_t i = 0; i < one.ranks.size(); ++i) {
            auto const delay = summarise_rank(one, i);
            out << csv(one.what) << ',' << one.size << ',' << one.calls.size() << ',' << one.ranks[i] << ','
                << std::llround(delay.mean) << ',' << delay.p10 << ',' << delay.p50 << ',' << delay.p90 << ','
                << delay.p99 << ',' << delay.most << '\n';
        }
    close(out, name);
}

void write_calls(std::string const& name, std::vector<trace::group> const& groups) {
    auto out = open(name);
    out << "communicator,operation,bytes,call_site,call,first_entry_ns,skew_ns,last_delay_ns,total_delay_"
           "ns\n";
    for (auto const& one : groups)
        for (auto const& call : one.calls)
            out << csv(one.what) << ',' << call.sequence << ',' << call.first_entry << ',' << call.skew << ','
                << call.last_delay << ',' << call.total_delay << '\n';
    close(out, name);
}

/// All groups as one: they must be of one communicator.
auto merged(std::vector<trace::group> const& groups) -> trace::group {
    auto all = groups.front();
    for (std::size_t i = 1; i < groups.size(); ++i) {
        if (groups[i].what.comm != all.what.comm)
            throw std::runtime_error(
                "several communicators were recorded, and an average pattern is of one: choose "
                "with --communicator");
        all.calls.insert(all.calls.end(), groups[i].calls.begin(), groups[i].calls.end());
    }
    return all;
}

void write_pattern(std::string const& name, trace::group const& of) {
    if (of.ranks.size() != static_cast<std::size_t>(of.size))
        throw std::runtime_error("a pattern needs all " + std::to_string(of.size) +
                                 " ranks of the communicator, but only " + std::to_string(of.ranks.size()) +
                                 " are in the given traces");
    std::vector<papcoll::ticks> arrivals;
    for (std::size_t i = 0; i < of.ranks.size(); ++i)
        arrivals.emplace_back(std::llround(summarise_rank(of, i).mean));
    papcoll::write_arrivals(std::filesystem::path(name), arrivals);
}

auto title_of(std::vector<trace::group> const& groups, trace::group const& all) -> std::string {
    auto const same = [&](auto what) {
        return std::all_of(groups.begin(), groups.end(),
                           [&](auto const& one) { return what(one.what) == what(all.what); });
    };
    std::string title = "Average delay in ";
    title += same([](auto const& what) { return what.operation; }) ? all.what.operation : "collectives";
    if (same([](auto const& what) { return what.bytes; }))
        title += " of " + std::to_string(all.what.bytes) + " bytes";
    return title + ", " + std::to_string(all.size) + " ranks, " + std::to_string(all.calls.size()) + " calls";
}

void draw_to(std::string const& name, std::vector<trace::group> const& groups, trace::group const& all) {
    auto out = open(name);
    trace::draw(out, all, title_of(groups, all));
    close(out, name);
}

auto selected_groups(options const& wanted) -> std::vector<trace::group> {
    std::vector<trace::rank_trace> traces;
    for (auto const& file : wanted.files)
        traces.push_back(trace::read_trace(std::filesystem::path(file), wanted.partial));
    auto result = trace::analyse(traces, wanted.partial);
    if (result.dropped > 0)
        std::fprintf(stderr, "%zu calls that some traced rank lacks are left out\n", result.dropped);
    std::vector<trace::group> wanted_ones;
    for (auto& one : result.groups)
        if (is_selected(wanted, one.what)) wanted_ones.push_back(std::move(one));
    if (wanted_ones.empty() && !result.groups.empty()) {
        constexpr std::size_t most = 20;
        std::string text;
        for (std::size_t i = 0; i < std::min(most, result.groups.size()); ++i) {
            auto const& what = result.groups[i].what;
            text += (i == 0 ? "" : ", ") + what.operation + " of " + std::to_string(what.bytes) +
                    " bytes on communicator " + hexadecimal(what.comm);
        }
        if (result.groups.size() > most) text += " and others";
        throw std::runtime_error("no calls were recorded that are wanted; recorded are " + text);
    }
    return wanted_ones;
}

void run(options const& wanted) {
    auto const groups = selected_groups(wanted);
    print(groups);
    bool const has_output = !(wanted.ranks_csv + wanted.calls_csv + wanted.pattern + wanted.picture).empty();
    if (groups.empty() && has_output) throw std::runtime_error("no calls were recorded that are wanted");
    if (!wanted.ranks_csv.empty()) write_ranks(wanted.ranks_csv, groups);
    if (!wanted.calls_csv.empty()) write_calls(wanted.calls_csv, groups);
    if (wanted.pattern.empty() && wanted.picture.empty()) return;
    auto const all = merged(groups);
    if (groups.size() > 1)
        std::fprintf(stderr,
                     "The pattern is the mean over %zu calls of %zu kinds; --operation, --bytes and --site "
                     "choose among the lines of the table\n",
                     all.calls.size(), groups.size());
    if (!wanted.pattern.empty()) write_pattern(wanted.pattern, all);
    if (!wanted.picture.empty()) draw_to(wanted.picture, groups, all);
}

} // namespace

int main(int argc, char** argv) {
    options wanted;
    CLI::App app("Reads the traces of a program's ranks");
    app.add_option("files", wanted.files, "PREFIX.<rank>.trace of all ranks that were traced")->required();
    app.add_flag("--partial", wanted.partial,
                 "accept traces that end early, of a program that was killed, and leave out calls that some "
                 "traced rank lacks");
    app.add_option("--operation", wanted.operation,
                   "only this operation: alltoall, ireduce, papcoll.reduce …");
    app.add_option("--bytes", wanted.bytes, "only calls with this many bytes");
    app.add_option("--communicator", wanted.comm,
                   "only the communicator with this id; MPI_COMM_WORLD's is 1");
    app.add_option("--site", wanted.site, "only call sites that contain this text");
    app.add_option("--ranks-csv", wanted.ranks_csv, "write mean and percentiles of every rank's delay");
    app.add_option("--calls-csv", wanted.calls_csv, "write skew and delays of every call");
    app.add_option("--pattern", wanted.pattern, "write the average pattern, for papcoll::read_arrivals");
    app.add_option("--picture", wanted.picture, "draw the average pattern as SVG");
    CLI11_PARSE(app, argc, argv);
    try {
        run(wanted);
    } catch (std::exception const& error) {
        std::cerr << "read_trace: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
