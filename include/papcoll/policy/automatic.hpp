// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/context/settings.hpp>
#include <papcoll/detail/text.hpp>
#include <papcoll/policy/automatic_model.hpp>
#include <papcoll/policy/known_policies.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/policy/tree/tree_plan.hpp>
#include <papcoll/policy/tuning_table.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>

#include <bit>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Chooses a policy for each call, the default of every collective. The first of these that says one counts:
///
/// 1. the environment: `PAPCOLL_REDUCE_ALGORITHM=circulant`, and so for every collective;
/// 2. a tuning table: `table`, or the file that `PAPCOLL_TUNING_FILE` names, made by bench/tune;
/// 3. the model: the policy that the measured link (and the arrivals, where they are given) lets end first.
///
/// A forced or tuned policy that the call cannot take (its operator does not commute, or MPI has no routine
/// for it) gives way to the model. Without arrivals the choice is blind to them and repeats from run to run
/// while the link's measured constants do. `PAPCOLL_REPORT=1` lets rank 0 say on stderr what was chosen, and
/// why, when it is chosen; a repeated call finds its plan in the cache of the communicator.
///
/// `native` as a choice is the library's nonblocking routine on papcoll's duplicate, also where the call
/// blocks: so blocking calls match i… calls, and all of papcoll's requests progress meanwhile. Only the
/// policy `native` itself is the blocking routine.
///
/// MPI counts the collectives of a communicator: bad arguments on one rank alone shift it there where
/// `native` is the choice. Use agreed checks with it if that can happen.
///
/// Values that travel serialized are all-reduced by a reduce and a broadcast, each chosen as such.
///
/// Must agree on all ranks: all members, the environment's choices and the content of the tuning file; the
/// last two are checked when papcoll attaches. Errors of the environment and of the tuning file, such as a
/// policy that does not exist, are thrown by every call that they concern, on all ranks.
template <class Bits = simd_bitset<>>
struct basic_automatic {
    /// When the ranks arrive; none given: unknown. An arrival_monitor will do.
    arrival_source arrivals = {};
    /// What one combination of two elements takes, in nanoseconds; see agreed_combine_cost.
    double compute_per_element = 0;
    /// In place of the file that the environment names.
    std::shared_ptr<tuning_table const> table = {};

    static constexpr bool reorders_operands = false; // the shape says whether it may
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind) -> bool { return true; }

    [[nodiscard]] auto name() const -> std::string_view { return "automatic"; }
    void check(call_shape const& shape) const {
        detail::check_arrivals(arrivals, shape.ranks);
        detail::check_compute_per_element(compute_per_element);
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        std::vector<std::int64_t> key{table ? table->hash() : 0, arrivals.given() ? 1 : 0,
                                      std::bit_cast<std::int64_t>(compute_per_element)};
        for (auto const time : arrivals.times()) key.push_back(time.count());
        return key;
    }
    /// What a call of this shape takes on this link; the same on all ranks. Throws std::invalid_argument for
    /// a forced or tuned policy that does not exist, and for a tuning file that cannot be read.
    [[nodiscard]] auto choose(call_shape const& shape, link_model const& link) const -> automatic_choice {
        auto wanted = forced_choice(shape);
        if (!wanted) wanted = tuned_entry(shape);
        if (wanted && known::accepts(wanted->choice.policy, shape)) return *wanted;
        auto chosen = detail::automatic_model(shape, link, knowledge()).choose();
        if (wanted)
            chosen.reason +=
                "; not " + wanted->choice.policy + ", by " + wanted->reason + ": " + why_not(*wanted);
        return chosen;
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        auto const chosen = choose(shape, link);
        if (shape.rank == 0 && environment_settings::instance().report()) report(shape, chosen);
        return known::plan(chosen.choice, knowledge(), shape, link);
    }

    friend auto operator==(basic_automatic const&, basic_automatic const&) -> bool = default;

private:
    using known = detail::known_policies<Bits>;

    [[nodiscard]] auto knowledge() const -> detail::call_knowledge { return {arrivals, compute_per_element}; }

    [[nodiscard]] static auto forced_choice(call_shape const& shape) -> std::optional<automatic_choice> {
        auto const& settings = environment_settings::instance();
        if (!settings.unknown().empty())
            throw std::invalid_argument("papcoll: there is no environment variable " +
                                        detail::shown(settings.unknown()) + ", the nearest is " +
                                        environment_settings::nearest(settings.unknown()));
        auto const operation = capitals(to_string(shape.operation));
        auto const forced = settings.algorithm(operation);
        if (forced.empty()) return std::nullopt;
        auto const variable = environment_settings::variable_of(operation);
        require_known(forced, shape, variable);
        std::optional<automatic_choice> choice(std::in_place); // in steps: g++ 12 -O3 warns of temporaries
        choice->choice.policy = forced;
        choice->reason = variable;
        return choice;
    }
    [[nodiscard]] auto tuned_entry(call_shape const& shape) const -> std::optional<automatic_choice> {
        auto const tuned = table ? table : detail::parsed(shape.tuning);
        if (!tuned) return std::nullopt;
        auto const* const entry = tuned->find(shape.operation, shape.ranks, shape.bytes());
        if (entry == nullptr) return std::nullopt;
        require_known(entry->choice.policy, shape, "the tuning table");
        return automatic_choice{entry->choice, "tuned at " + std::to_string(entry->ranks) + " ranks, " +
                                                   std::to_string(entry->bytes) + " bytes"};
    }
    static auto why_not(automatic_choice const& refused) -> std::string {
        return refused.choice.policy == "native" ? "MPI has no routine for this call"
                                                 : "the operator must commute";
    }
    static void require_known(std::string_view policy, call_shape const& shape, std::string const& where) {
        std::string list;
        for (auto const& name : known::names(shape.operation)) {
            if (name == policy) return;
            list += (list.empty() ? "" : ", ") + std::string(name);
        }
        throw std::invalid_argument("papcoll: " + where + " asks for '" + detail::shown(policy, 40) +
                                    "', but " + std::string(to_string(shape.operation)) + " knows " + list);
    }
    static auto capitals(std::string_view name) -> std::string {
        std::string result(name);
        for (auto& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        return result;
    }
    static void report(call_shape const& shape, automatic_choice const& chosen) {
        std::string blocks;
        if (chosen.choice.block_bytes)
            blocks = ", blocks of " + std::to_string(*chosen.choice.block_bytes) + " bytes";
        auto const operation = std::string(to_string(shape.operation));
        std::fprintf(stderr, "papcoll: %s of %zu bytes on %d ranks: %s%s (%s)\n", operation.c_str(),
                     shape.bytes(), shape.ranks, chosen.choice.policy.c_str(), blocks.c_str(),
                     chosen.reason.c_str());
    }
};

/// The default of every collective.
using automatic = basic_automatic<simd_bitset<>>;

} // namespace papcoll::inline v0
