// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/program/program_builder.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

/// A policy whose programs are written by a function of a builder and the shape; they are kept uncut beyond
/// `limit` bytes.
struct own_program {
    std::function<void(papcoll::program_builder&, papcoll::call_shape const&)> write;
    std::size_t limit = std::numeric_limits<std::size_t>::max();

    static constexpr bool reorders_operands = false;
    static constexpr auto provides(papcoll::collective_kind) -> bool { return true; }
    [[nodiscard]] auto name() const -> std::string_view { return "own_program"; }
    void check(papcoll::call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::nullopt;
    }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const&) const
        -> papcoll::program {
        papcoll::program_builder to(shape.in_place);
        write(to, shape);
        return to.finish(limit);
    }
};
