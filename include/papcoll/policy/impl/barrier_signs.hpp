// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/radix_choice.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/program/signs.hpp>
#include <papcoll/scheduler/butterfly.hpp>

#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Ranks hear of each other in the chosen way; see write_dissemination_signs.
inline auto write_signs(program_builder& to, std::span<int const> ranks, int me, sign_choice const& chosen,
                        std::vector<program::index> heard) -> std::vector<program::index> {
    switch (chosen.by) {
    case sign_choice::way::butterfly:
        return write_butterfly_signs(to, ranks, butterfly(static_cast<int>(ranks.size()), me),
                                     std::move(heard));
    case sign_choice::way::star:
        return write_star_signs(to, ranks, me, std::move(heard));
    case sign_choice::way::dissemination:
        break;
    }
    return write_dissemination_signs(to, ranks, me, chosen.radix, std::move(heard));
}

} // namespace papcoll::inline v0::detail
