// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>

#include <cstddef>
#include <string>

namespace papcoll::inline v0::detail {

[[nodiscard]] constexpr auto name_of(memory where) -> char const* {
    switch (where) {
    case memory::in:
        return "in";
    case memory::out:
        return "out";
    case memory::scratch:
        return "scratch";
    case memory::node:
        break;
    }
    return "the node's memory";
}
/// "elements 3 to 6 of scratch"
[[nodiscard]] inline auto text_of(memory where, std::size_t begin, std::size_t end) -> std::string {
    if (end == begin + 1) return "element " + std::to_string(begin) + " of " + name_of(where);
    return "elements " + std::to_string(begin) + " to " + std::to_string(end - 1) + " of " + name_of(where);
}
[[nodiscard]] inline auto text_of(region const& r) -> std::string {
    return text_of(r.where(), r.offset(), r.end());
}
/// "instruction 4 of rank 2 (receive from rank 1)"
[[nodiscard]] inline auto text_of(program const& p, int rank, program::index i) -> std::string {
    auto const& instruction = p.instructions[i];
    auto text = "instruction " + std::to_string(i) + " of rank " + std::to_string(rank) + " (" +
                std::string(to_string(instruction.what));
    if (instruction.what == program::action::await) text += " of rank " + std::to_string(instruction.peer);
    if (p.is_message(i))
        text += (instruction.what == program::action::send ? " to rank " : " from rank ") +
                std::to_string(instruction.peer);
    return text + ")";
}

} // namespace papcoll::inline v0::detail
