// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/all_to_all.hpp>
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/arrival_tree.hpp>
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/binomial_gather.hpp>
#include <papcoll/policy/binomial_tree.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/fibonacci_tree.hpp>
#include <papcoll/policy/greedy_tree.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/neighbor_exchange.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/shared_memory.hpp>
#include <papcoll/policy/sorted_linear.hpp>
#include <papcoll/policy/tuning_table.hpp>
#include <papcoll/policy/two_level.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What is known of a call beside its shape; must agree on all ranks.
struct call_knowledge {
    arrival_source arrivals = {};
    /// Nanoseconds; see agreed_combine_cost.
    double compute_per_element = 0;
};

/// The policies that can be asked for by name.
template <class Bits>
class known_policies {
public:
    using all =
        std::tuple<circulant, two_level, basic_clairvoyant<Bits>, greedy_tree, binomial_tree, fibonacci_tree,
                   arrival_tree, arrival_all_reduce, ring, neighbor_exchange, shared_memory, background_ring,
                   background_circulant, linear, binomial_gather, sorted_linear, all_to_all_linear,
                   all_to_all_pairwise, all_to_all_bruck, all_to_all_linear_sync>;

    /// Of one collective, `native` first.
    static auto names(collective_kind operation) -> std::vector<std::string_view> {
        std::vector<std::string_view> result{"native"};
        for_each([&](auto const& policy) {
            if (policy.provides(operation)) result.push_back(policy.name());
        });
        return result;
    }
    /// Whether the policy of that name can serve the call: the operator may have to commute, and the MPI
    /// library may have no routine for it.
    static auto accepts(std::string_view name, call_shape const& shape) -> bool {
        bool result = name == "native" && shape.has_native;
        for_each([&](auto const& policy) {
            if (policy.name() == name && policy.provides(shape.operation))
                result = (shape.commutative || !policy.reorders_operands) && serves(policy, shape);
        });
        return result;
    }
    static auto plan(tuned_choice const& choice, call_knowledge const& known, call_shape const& shape,
                     link_model const& link) -> program {
        if (choice.policy == "native") {
            program routine;
            routine.native = true;
            return routine;
        }
        std::optional<program> result;
        for_each([&](auto policy) {
            if (policy.name() != choice.policy || !policy.provides(shape.operation)) return;
            if constexpr (requires { policy.arrivals; }) policy.arrivals = known.arrivals;
            if constexpr (requires { policy.compute_per_element; })
                policy.compute_per_element = known.compute_per_element;
            if constexpr (requires { policy.block_bytes; }) policy.block_bytes = choice.block_bytes;
            policy.check(shape);
            result = policy.plan(shape, link);
        });
        if (!result) throw std::logic_error("papcoll: there is no policy " + choice.policy);
        return std::move(*result);
    }

private:
    template <class Policy>
    static auto serves(Policy const& policy, call_shape const& shape) -> bool {
        if constexpr (requires { policy.serves(shape); }) return policy.serves(shape);
        return true;
    }
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
