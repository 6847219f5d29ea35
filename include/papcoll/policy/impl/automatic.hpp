// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/settings.hpp>
#include <papcoll/detail/text.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/automatic_model.hpp>
#include <papcoll/policy/impl/clairvoyant.hpp>
#include <papcoll/policy/known_policies.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/tree/tree_plan.hpp>
#include <papcoll/policy/tuning_table.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// What may end first where the model errs by little, the MPI library's own last.
[[nodiscard]] inline auto worth_trying(collective_kind operation) -> std::vector<char const*> {
    switch (operation) {
    case collective_kind::broadcast:
    case collective_kind::reduce:
        return {"circulant", "knomial_tree", "native"};
    case collective_kind::all_reduce:
        return {"circulant", "dissemination", "native"};
    case collective_kind::gather:
    case collective_kind::scatter:
        return {"linear", "knomial_tree", "native"};
    case collective_kind::all_gather:
        return {"circulant", "dissemination", "native"};
    case collective_kind::reduce_scatter:
        return {"circulant", "native"};
    case collective_kind::all_to_all:
        return {"linear_sync", "bruck", "native"};
    case collective_kind::scan:
    case collective_kind::exscan:
        return {"prefix_doubling", "prefix_chain", "native"};
    case collective_kind::barrier:
        return {"dissemination", "native"};
    }
    return {};
}

/// How `automatic` comes to its choice.
template <class Bits>
class automatic_choices {
public:
    using known = known_policies<typename bitset_in_use<Bits>::type>;

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
    [[nodiscard]] static auto tuned_entry(std::shared_ptr<tuning_table const> const& table,
                                          call_shape const& shape) -> std::optional<automatic_choice> {
        auto const tuned = table ? table : detail::parsed(shape.tuning);
        if (!tuned) return std::nullopt;
        auto const bytes = shape.is_uneven() ? 0 : shape.bytes(); // ranks must find the same
        auto const* const entry = tuned->find(shape.operation, shape.ranks, bytes);
        if (entry == nullptr) return std::nullopt;
        require_known(entry->choice.policy, shape, "the tuning table");
        return automatic_choice{entry->choice, "tuned at " + std::to_string(entry->ranks) + " ranks, " +
                                                   std::to_string(entry->bytes) + " bytes"};
    }
    static auto why_not(automatic_choice const& refused, call_shape const& shape) -> std::string {
        if (refused.choice.policy == "native" && !shape.is_uneven())
            return "MPI has no routine for this call";
        if (refused.choice.policy == "shared_memory") return "the ranks share no memory for this call";
        if (refused.choice.policy == "dissemination")
            return "the operands are too many or too long to be gathered";
        if (shape.is_uneven()) return "the parts have different sizes";
        return shape.commutative ? "it does not serve this call" : "the operator must commute";
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
        std::string details;
        if (chosen.choice.block_bytes)
            details = ", blocks of " + std::to_string(*chosen.choice.block_bytes) + " bytes";
        if (chosen.choice.radix) details += ", radix " + std::to_string(*chosen.choice.radix);
        auto const operation = std::string(to_string(shape.operation));
        std::fprintf(stderr, "papcoll: %s of %zu bytes on %d ranks: %s%s (%s)\n", operation.c_str(),
                     shape.bytes(), shape.ranks, chosen.choice.policy.c_str(), details.c_str(),
                     chosen.reason.c_str());
    }
};

} // namespace detail

template <class Bits>
void basic_automatic<Bits>::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    detail::check_compute_per_element(compute_per_element);
}
template <class Bits>
auto basic_automatic<Bits>::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return detail::arrivals_key(
        arrivals, {table ? table->hash() : 0, std::bit_cast<std::int64_t>(compute_per_element)});
}
template <class Bits>
auto basic_automatic<Bits>::choose(call_shape const& shape, link_model const& link) const
    -> automatic_choice {
    using choices = detail::automatic_choices<Bits>;
    auto wanted = choices::forced_choice(shape);
    if (!wanted) wanted = choices::tuned_entry(table, shape);
    if (wanted && choices::known::accepts(wanted->choice.policy, shape)) return *wanted;
    if (shape.candidate > 0 && !wanted) {
        auto const all = candidates(shape, link);
        if (!all.empty()) return all[std::min(shape.candidate, all.size() - 1)];
    }
    detail::call_knowledge const known{arrivals, compute_per_element};
    auto chosen = detail::automatic_model(shape, link, known).choose();
    if (wanted)
        chosen.reason += "; not " + wanted->choice.policy + ", by " + wanted->reason + ": " +
                         choices::why_not(*wanted, shape);
    return chosen;
}
template <class Bits>
auto basic_automatic<Bits>::candidates(call_shape const& shape, link_model const& link) const
    -> std::vector<automatic_choice> {
    using choices = detail::automatic_choices<Bits>;
    std::vector<automatic_choice> result;
    if (arrivals != arrival_source{} || choices::forced_choice(shape) || choices::tuned_entry(table, shape))
        return result;
    auto by_model = shape;
    by_model.candidate = 0;
    result.push_back(choose(by_model, link));
    auto const chosen = result.front().choice.policy;
    detail::call_knowledge const known{arrivals, compute_per_element};
    detail::automatic_model const model(by_model, link, known);
    for (auto const* const name : detail::worth_trying(shape.operation))
        if (name != chosen && choices::known::accepts(name, shape) && model.is_worth_trying(name, chosen)) {
            auto& other = result.emplace_back(); // in steps: g++ 12 -O3 warns of temporaries
            other.choice.policy = name;
            other.reason = "to learn what it takes";
        }
    return result;
}
template <class Bits>
auto basic_automatic<Bits>::plan(call_shape const& shape, link_model const& link) const -> program {
    using choices = detail::automatic_choices<Bits>;
    auto const chosen = choose(shape, link);
    if (shape.rank == 0 && environment_settings::instance().report()) choices::report(shape, chosen);
    return choices::known::plan(chosen.choice, {arrivals, compute_per_element}, shape, link);
}

} // namespace papcoll::inline v0
