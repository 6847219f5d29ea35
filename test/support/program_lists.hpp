// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>

#include <cstddef>
#include <utility>
#include <vector>

/// What a program does, list by list.
namespace program_lists {

using papcoll::program;
using action = program::action;

struct message {
    int peer;
    std::size_t elements;

    friend auto operator==(message const&, message const&) -> bool = default;
};

/// Its sends, or its receives, in order.
[[nodiscard]] inline auto messages(program const& p, action what) -> std::vector<message> {
    std::vector<message> result;
    for (program::index i = 0; i < p.size(); ++i)
        if (p.instructions[i].what == what) result.push_back({p.instructions[i].peer, p.elements_of(i)});
    return result;
}
[[nodiscard]] inline auto peers(program const& p, action what) -> std::vector<int> {
    std::vector<int> result;
    for (auto const& m : messages(p, what)) result.push_back(m.peer);
    return result;
}
/// Elements of each message from, or to, this rank.
[[nodiscard]] inline auto lengths(program const& p, action what, int peer) -> std::vector<std::size_t> {
    std::vector<std::size_t> result;
    for (auto const& m : messages(p, what))
        if (m.peer == peer) result.push_back(m.elements);
    return result;
}
[[nodiscard]] inline auto count(program const& p, action what) -> std::size_t {
    std::size_t n = 0;
    for (auto const& i : p.instructions) n += i.what == what ? 1 : 0;
    return n;
}
[[nodiscard]] inline auto elements(program const& p, action what) -> std::size_t {
    std::size_t sum = 0;
    for (program::index i = 0; i < p.size(); ++i)
        if (p.instructions[i].what == what) sum += p.elements_of(i);
    return sum;
}
/// As it is executed.
[[nodiscard]] inline auto executed(program p) -> program {
    return p.uncut ? papcoll::in_pieces(p) : std::move(p);
}

/// Whether they do the same over the same memory.
[[nodiscard]] inline auto are_same(program const& a, program const& b) -> bool {
    if (a.size() != b.size() || a.regions != b.regions || a.waits != b.waits || a.windows != b.windows ||
        a.scratch != b.scratch || a.uncut != b.uncut || a.native != b.native || a.in_place != b.in_place)
        return false;
    for (program::index i = 0; i < a.size(); ++i) {
        auto const &x = a.instructions[i], &y = b.instructions[i];
        if (x.what != y.what || x.peer != y.peer || x.windows != y.windows || x.alike != y.alike ||
            x.first_region != y.first_region || x.first_wait != y.first_wait)
            return false;
    }
    return true;
}

} // namespace program_lists
