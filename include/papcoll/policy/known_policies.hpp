// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/all_to_all.hpp>
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/arrival_tree.hpp>
#include <papcoll/policy/automatic_choice.hpp>
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/bine_tree.hpp>
#include <papcoll/policy/binomial_tree.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/dissemination.hpp>
#include <papcoll/policy/fibonacci_tree.hpp>
#include <papcoll/policy/greedy_tree.hpp>
#include <papcoll/policy/impl/clairvoyant.hpp>
#include <papcoll/policy/knomial_tree.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/neighbor_exchange.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/policy/prefix.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/shared_memory.hpp>
#include <papcoll/policy/sorted_linear.hpp>
#include <papcoll/policy/two_level.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
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
    using all = std::tuple<circulant, two_level, basic_clairvoyant<Bits>, greedy_tree, binomial_tree,
                           fibonacci_tree, knomial_tree, bine_tree, arrival_tree, arrival_all_reduce, ring,
                           neighbor_exchange, shared_memory, background_ring, background_circulant, linear,
                           sorted_linear, all_to_all_linear, all_to_all_pairwise, all_to_all_bruck,
                           all_to_all_linear_sync, prefix_doubling, prefix_chain, dissemination>;

    /// Of one collective, `native` first.
    static auto names(collective_kind operation) -> std::vector<std::string_view> {
        std::vector<std::string_view> result{"native"};
        for (auto const& policy : list)
            if (policy.provides(operation)) result.push_back(policy.name());
        return result;
    }
    /// Whether the policy of that name can serve the call: the operator may have to commute, the parts may
    /// have to be of equal sizes, and the MPI library may have no routine for it.
    static auto accepts(std::string_view name, call_shape const& shape) -> bool {
        // Where each rank knows its own sizes alone, one might find alone that they do not fit into an int.
        if (name == "native") return shape.has_native && !shape.is_uneven();
        auto const* const policy = find(name, shape.operation);
        return policy != nullptr && (shape.commutative || !policy->may_reorder(shape.operation)) &&
               policy->serves(shape);
    }
    static auto plan(tuned_choice const& choice, call_knowledge const& known, call_shape const& shape,
                     link_model const& link) -> program {
        if (choice.policy == "native") {
            program routine;
            routine.native = true;
            return routine;
        }
        auto const* const policy = find(choice.policy, shape.operation);
        if (policy == nullptr) throw std::logic_error("papcoll: there is no policy " + choice.policy);
        return policy->plan(choice, known, shape, link);
    }

private:
    struct known_policy {
        auto(*may_reorder)(collective_kind operation) -> bool;
        auto(*name)() -> std::string_view;
        auto(*provides)(collective_kind operation) -> bool;
        auto(*serves)(call_shape const& shape) -> bool;
        auto(*plan)(tuned_choice const& choice, call_knowledge const& known, call_shape const& shape,
                    link_model const& link) -> program;
    };

    template <block_policy P>
    static auto name_of() -> std::string_view {
        return P{}.name();
    }
    template <block_policy P>
    static auto serves([[maybe_unused]] call_shape const& shape) -> bool {
        if constexpr (requires { P::serves(shape); })
            return P::serves(shape);
        else
            return true;
    }
    template <block_policy P>
    static auto plan_of(tuned_choice const& choice, call_knowledge const& known, call_shape const& shape,
                        link_model const& link) -> program {
        P policy;
        if constexpr (requires { policy.arrivals; }) policy.arrivals = known.arrivals;
        if constexpr (requires { policy.compute_per_element; })
            policy.compute_per_element = known.compute_per_element;
        if constexpr (requires { policy.block_bytes; }) policy.block_bytes = choice.block_bytes;
        if constexpr (requires { policy.radix; }) policy.radix = choice.radix;
        policy.check(shape);
        return policy.plan(shape, link);
    }
    template <class... Policies>
    static constexpr auto list_of(std::tuple<Policies...> const*)
        -> std::array<known_policy, sizeof...(Policies)> {
        return {known_policy{may_reorder<Policies>, name_of<Policies>, Policies::provides, serves<Policies>,
                             plan_of<Policies>}...};
    }
    static auto find(std::string_view name, collective_kind operation) -> known_policy const* {
        auto const found = std::find_if(list.begin(), list.end(), [&](known_policy const& policy) {
            return policy.name() == name && policy.provides(operation);
        });
        return found == list.end() ? nullptr : &*found;
    }

    static constexpr auto list = list_of(static_cast<all const*>(nullptr));
};

} // namespace papcoll::inline v0::detail
