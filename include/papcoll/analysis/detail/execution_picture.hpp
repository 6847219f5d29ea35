// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/timeline.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What there is to draw of an execution. Colours are numbers from 0 on.
struct execution_picture {
    struct message {
        int from;
        int to;
        ticks begin;
        ticks end;
        int colour;
        std::string at_sender = {};
        std::string at_receiver = {};
    };
    struct combination {
        int rank;
        ticks begin;
        ticks end;
        int colour;
        std::string text = {};
    };
    /// What a rank told another one by memory that they share.
    struct sign {
        int from;
        int to;
        ticks posted;
        ticks seen;
    };

    std::span<ticks const> arrivals;
    std::span<ticks const> exits;
    std::string_view coloured; ///< what the colours number
    std::vector<message> messages = {};
    std::vector<combination> combinations = {};
    std::vector<sign> signs = {};
    int last_colour = 0;
};

inline void name_peers(execution_picture::message& m) {
    m.at_sender = "to " + std::to_string(m.to);
    m.at_receiver = "from " + std::to_string(m.from);
}

/// Coloured by block, which is written on it; the peers where there is only one block at all.
[[nodiscard]] inline auto picture_of(schedule_timeline const& timeline) -> execution_picture {
    execution_picture result{.arrivals = timeline.arrivals, .exits = timeline.exits, .coloured = "block"};
    auto const& all = timeline.transfers;
    for (auto const& t : all) result.last_colour = std::max(result.last_colour, t.what.block);
    auto const label = [&](int block) { return result.last_colour == 0 ? "" : std::to_string(block); };
    for (std::size_t i = 0; i < all.size();) {
        auto const& [what, begin, end] = all[i];
        auto const first = i;
        while (i < all.size() && all[i].what.step == what.step && all[i].what.from == what.from &&
               all[i].what.to == what.to)
            ++i;
        execution_picture::message m{what.from, what.to, begin, end, what.block};
        m.at_sender = m.at_receiver =
            i - first == 1 ? label(what.block) : std::to_string(i - first) + " blocks";
        if (result.last_colour == 0) name_peers(m);
        result.messages.push_back(std::move(m));
    }
    for (auto const& [what, begin, end] : timeline.combinations)
        result.combinations.push_back({what.to, begin, end, what.block, label(what.block)});
    return result;
}

/// Messages are coloured by how many their sender has sent before, combinations as what was received last
/// before them in the program.
[[nodiscard]] inline auto picture_of(program_timeline const& timeline) -> execution_picture {
    execution_picture result{.arrivals = timeline.arrivals, .exits = timeline.exits, .coloured = "message"};
    std::map<int, int> sent;                                  // by each rank
    std::map<std::pair<int, program::index>, int> received{}; // colours, by instruction
    for (auto const& t : timeline.messages) {
        int const colour = sent[t.from]++;
        execution_picture::message m{t.from, t.to, t.begin, t.end, colour};
        name_peers(m);
        result.messages.push_back(std::move(m));
        received[{t.to, t.receive}] = colour;
        result.last_colour = std::max(result.last_colour, colour);
    }
    for (auto const& [rank, instruction, begin, end] : timeline.combinations) {
        auto const next = received.lower_bound({rank, instruction});
        bool const known = next != received.begin() && std::prev(next)->first.first == rank;
        result.combinations.push_back({rank, begin, end, known ? std::prev(next)->second : 0});
    }
    for (auto const& s : timeline.signs) result.signs.push_back({s.from, s.to, s.posted, s.seen});
    return result;
}

} // namespace papcoll::inline v0::detail
