// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/call_shape.hpp>
#include <papcoll/schedule/problem.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "random_source.hpp"

namespace soak {

enum class policy_kind {
    by_default, ///< no policy is passed
    automatic,
    native,
    circulant,
    two_level,
    clairvoyant,
    arrival_tree,
    arrival_all_reduce,
    greedy_tree,
    binomial_tree,
    fibonacci_tree,
    knomial_tree,
    bine_tree,
    dissemination,
    own_scheduler,
    ring,
    neighbor_exchange,
    background_ring,
    background_circulant,
    linear,
    sorted_linear,
    exchange_linear,
    exchange_pairwise,
    exchange_bruck,
    exchange_linear_sync,
    prefix_doubling,
    prefix_chain
};

enum class arrivals_from { nobody, the_draw, the_monitor };

/// A policy with its members; those that the kind does not have are ignored.
struct policy_draw {
    policy_kind kind = policy_kind::by_default;
    /// Written as the type alone, or with braces in which all that follows is given.
    bool has_members = false;
    arrivals_from source = arrivals_from::nobody;
    std::vector<papcoll::ticks> arrivals;
    std::optional<std::size_t> bytes;
    std::optional<int> pieces; ///< segments, lanes, window
    std::optional<papcoll::ticks> time;
    std::optional<papcoll::ticks> second_time;
    int limit = 0; ///< max_transfers, max_reducers, ranks_per_node, radix
    double per_element = 0;
};

/// What the call is like for which a policy is drawn.
struct policy_wishes {
    papcoll::collective_kind operation;
    bool commutative = true;
    bool serialized = false;
    bool open = false;      ///< begun before the data is there
    bool uneven = false;    ///< each rank knows its own sizes alone
    bool attached = true;   ///< `native` does not attach
    bool monitored = false; ///< the communicator has an arrival monitor
    int ranks = 1;
    std::size_t bytes = 0; ///< about as many, in all
};

[[nodiscard]] auto draw_policy(random_source& random, policy_wishes const& wishes) -> policy_draw;
[[nodiscard]] auto words(policy_draw const& policy) -> std::string;

/// Whether the MPI library's own routine may serve such a call, so that all ranks must call it alike.
[[nodiscard]] inline auto may_be_native(policy_draw const& policy) -> bool {
    return policy.kind == policy_kind::by_default || policy.kind == policy_kind::automatic ||
           policy.kind == policy_kind::native;
}

} // namespace soak
