// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "trace_file.hpp"

/// From the ranks' traces to the delays of calls. Times are nanoseconds of rank 0's clock.
namespace trace {

/// One collective call, over all traced members of its communicator. A member's delay is its entry − the
/// first member's entry.
struct instance {
    std::uint64_t sequence = 0;
    std::int64_t first_entry = 0;
    std::int64_t skew = 0;            ///< last entry − first entry
    std::int64_t total_delay = 0;     ///< last exit − first entry
    std::int64_t last_delay = 0;      ///< last exit − last entry
    std::vector<std::int64_t> delays; ///< one per traced member
};

/// What calls have in common: of the traced member with the lowest rank, where members differ.
struct kind {
    std::uint64_t comm = 0;
    std::string operation;
    std::uint64_t bytes = 0;
    std::string site;

    friend auto operator<(kind const& a, kind const& b) -> bool {
        return std::tie(a.comm, a.operation, a.bytes, a.site) <
               std::tie(b.comm, b.operation, b.bytes, b.site);
    }
};

struct group {
    kind what;
    int size = 0;           ///< of the communicator
    std::vector<int> ranks; ///< the traced members, ascending, by rank in the communicator
    std::vector<instance> calls;
};

struct analysis {
    std::vector<group> groups;
    std::size_t dropped = 0; ///< calls that not all traced members recorded
};

namespace detail {

struct member_call {
    rank_trace const* trace = nullptr;
    call const* seen = nullptr;
};

struct members {
    int size = 0;
    std::map<int, rank_trace const*> traced; ///< by rank in the communicator
};

/// MPI_COMM_WORLD's.
inline constexpr std::uint64_t world_id = 1;

/// papcoll numbers its operations apart from MPI's.
using call_key = std::tuple<std::uint64_t, bool, std::uint64_t>;

[[noreturn]] inline void refuse(rank_trace const& trace, call const& seen, std::string const& why) {
    throw trace_error(trace.name + ":" + std::to_string(seen.line) + ": " + why);
}

inline void check_same_run(std::vector<rank_trace> const& traces) {
    std::map<int, std::string> names;
    for (auto const& trace : traces) {
        auto const [known, is_new] = names.emplace(trace.rank, trace.name);
        if (!is_new)
            throw trace_error(trace.name + ": rank " + std::to_string(trace.rank) + " is also in " +
                              known->second);
        if (trace.run != traces.front().run)
            throw trace_error(trace.name + ": is of another run of the program than " + traces.front().name +
                              ": one of them is left from before");
        if (trace.ranks != traces.front().ranks)
            throw trace_error(trace.name + ": is of " + std::to_string(trace.ranks) + " ranks, but " +
                              traces.front().name + " of " + std::to_string(traces.front().ranks));
        if (trace.every != traces.front().every)
            throw trace_error(trace.name + ": has every " + std::to_string(trace.every) + "th call, but " +
                              traces.front().name + " every " + std::to_string(traces.front().every) + "th");
    }
}

inline void join(members& known, rank_trace const& trace, communicator const& comm) {
    auto const refuse_it = [&](std::string const& why) {
        std::ostringstream id;
        id << std::hex << comm.id;
        throw trace_error(trace.name + ": communicator " + id.str() + ": " + why);
    };
    if (known.size == 0) known.size = comm.size;
    if (known.size != comm.size)
        refuse_it(std::to_string(comm.size) + " ranks, but " + std::to_string(known.size) +
                  " in another file");
    auto const [member, is_new] = known.traced.emplace(comm.rank, &trace);
    if (member->second != &trace)
        refuse_it("its rank " + std::to_string(comm.rank) + " is also in " + member->second->name);
}
/// The communicators of all traces with their traced members, also those whose calls were lost.
inline auto members_of(std::vector<rank_trace> const& traces) -> std::map<std::uint64_t, members> {
    std::map<std::uint64_t, members> comms;
    for (auto const& trace : traces) {
        for (auto const& comm : trace.comms) join(comms[comm.id], trace, comm);
        join(comms[world_id], trace, {world_id, trace.rank, trace.ranks});
    }
    return comms;
}

inline auto measure(std::uint64_t sequence, std::map<int, member_call> const& calls) -> instance {
    instance result;
    result.sequence = sequence;
    std::int64_t last_exit = std::numeric_limits<std::int64_t>::min();
    for (auto const& [rank, one] : calls) {
        result.delays.push_back(one.trace->synchronised(one.seen->entry));
        last_exit = std::max(last_exit, one.trace->synchronised(one.seen->exit));
    }
    auto const [first, last] = std::minmax_element(result.delays.begin(), result.delays.end());
    result.first_entry = *first;
    result.skew = *last - *first;
    result.total_delay = last_exit - *first;
    result.last_delay = last_exit - *last;
    for (auto& delay : result.delays) delay -= result.first_entry;
    return result;
}

} // namespace detail

/// Puts the calls of all ranks' traces together: by communicator and the call's number on it. With `partial`,
/// calls that a traced member lacks are dropped. Throws trace_error where traces do not fit together.
inline auto analyse(std::vector<rank_trace> const& traces, bool partial = false) -> analysis {
    using namespace detail;
    check_same_run(traces);
    auto const comms = members_of(traces);
    std::map<call_key, std::map<int, member_call>> all;
    for (auto const& trace : traces)
        for (auto const& seen : trace.calls) {
            auto& calls = all[{seen.comm.id, seen.operation.starts_with("papcoll."), seen.sequence}];
            if (!calls.emplace(seen.comm.rank, member_call{&trace, &seen}).second)
                refuse(trace, seen,
                       "call " + std::to_string(seen.sequence) + " of the communicator occurs twice");
            auto const& other = *calls.begin()->second.seen;
            if (other.operation != seen.operation)
                refuse(trace, seen,
                       "call " + std::to_string(seen.sequence) + " is " + seen.operation + ", but " +
                           other.operation + " in " + calls.begin()->second.trace->name + ":" +
                           std::to_string(other.line));
        }

    analysis result;
    std::map<kind, group> groups;
    for (auto const& [key, calls] : all) {
        auto const& of = comms.at(std::get<0>(key));
        auto const& lowest = calls.begin()->second;
        if (calls.size() != of.traced.size()) {
            if (!partial)
                refuse(*lowest.trace, *lowest.seen,
                       "not all traced ranks of the communicator have its call " +
                           std::to_string(std::get<2>(key)) + ", " + lowest.seen->operation +
                           " (--partial leaves such calls out)");
            ++result.dropped;
            continue;
        }
        kind const what{std::get<0>(key), lowest.seen->operation, lowest.seen->bytes,
                        lowest.trace->sites.at(lowest.seen->site)};
        auto& into = groups[what];
        if (into.calls.empty()) {
            into.what = what;
            into.size = of.size;
            for (auto const& [rank, trace] : of.traced) into.ranks.push_back(rank);
        }
        into.calls.push_back(measure(std::get<2>(key), calls));
    }
    for (auto& [what, one] : groups) result.groups.push_back(std::move(one));
    return result;
}

/// Some values, summarised.
struct summary {
    double mean = 0;
    std::int64_t p10 = 0;
    std::int64_t p50 = 0;
    std::int64_t p90 = 0;
    std::int64_t p99 = 0;
    std::int64_t most = 0;
};

/// The q-th percentile is the least value that at least q % of all values do not exceed. Needs a value.
inline auto summarise(std::vector<std::int64_t> values) -> summary {
    std::sort(values.begin(), values.end());
    auto const percentile = [&](std::size_t q) { return values[(values.size() * q + 99) / 100 - 1]; };
    auto const sum = std::accumulate(values.begin(), values.end(), 0.0);
    return {sum / static_cast<double>(values.size()),
            percentile(10),
            percentile(50),
            percentile(90),
            percentile(99),
            values.back()};
}

/// `what(instance)` of all calls, summarised.
template <class What>
auto summarise_calls(group const& of, What what) -> summary {
    std::vector<std::int64_t> values;
    for (auto const& one : of.calls) values.push_back(what(one));
    return summarise(std::move(values));
}

/// The delays of the i-th traced rank.
inline auto summarise_rank(group const& of, std::size_t i) -> summary {
    return summarise_calls(of, [i](instance const& one) { return one.delays[i]; });
}

} // namespace trace
