// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/policy/tuning_table.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// The policies that can be asked for by name.
template <class Bits>
class known_policies {
public:
    using all = std::tuple<circulant, basic_clairvoyant<Bits>>;

    /// Of one collective, `native` first.
    static auto names(collective_kind operation) -> std::vector<std::string_view> {
        std::vector<std::string_view> result{"native"};
        for_each([&](auto const& policy) {
            if (policy.provides(operation)) result.push_back(policy.name());
        });
        return result;
    }
    /// Whether the policy of that name can serve the call: its operator may have to commute.
    static auto accepts(std::string_view name, call_shape const& shape) -> bool {
        bool result = name == "native";
        for_each([&](auto const& policy) {
            if (policy.name() == name && policy.provides(shape.operation))
                result = shape.commutative || !policy.reorders_operands;
        });
        return result;
    }
    static auto plan(tuned_choice const& choice, arrival_source const& arrivals, call_shape const& shape,
                     link_model const& link) -> execution_plan {
        if (choice.policy == "native") return plan_of(execution_stage{execution_stage::work::native});
        execution_plan result;
        for_each([&](auto policy) {
            if (policy.name() != choice.policy || !policy.provides(shape.operation)) return;
            if constexpr (requires { policy.arrivals; }) policy.arrivals = arrivals;
            if constexpr (requires { policy.block_bytes; }) policy.block_bytes = choice.block_bytes;
            policy.check(shape);
            result = policy.plan(shape, link);
        });
        if (result.stages.empty()) throw std::logic_error("papcoll: there is no policy " + choice.policy);
        return result;
    }

private:
    template <class F>
    static void for_each(F f) {
        for_each(f, static_cast<all*>(nullptr));
    }
    template <class F, class... Policies>
    static void for_each(F& f, std::tuple<Policies...>*) {
        (f(Policies{}), ...);
    }
};

} // namespace papcoll::inline v0::detail
