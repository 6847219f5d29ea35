// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/papcoll.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "policy_draw.hpp"
#include "support/own_schedulers.hpp"

namespace soak {

/// A policy of whatever type: else every collective would have to be compiled with every policy.
class any_policy {
public:
    virtual ~any_policy() = default;
    virtual void check(papcoll::call_shape const& shape) const = 0;
    [[nodiscard]] virtual auto name() const -> std::string_view = 0;
    /// What it plans by.
    [[nodiscard]] virtual auto pending_arrivals() const -> papcoll::arrival_source = 0;
    [[nodiscard]] virtual auto fingerprint() const -> std::optional<std::vector<std::int64_t>> = 0;
    [[nodiscard]] virtual auto plan(papcoll::call_shape const& shape, papcoll::link_model const& link) const
        -> papcoll::program = 0;
};

/// The policy that was drawn; of its arrivals, those that a monitor gave are `taken`.
[[nodiscard]] auto make_policy(policy_draw const& drawn, papcoll::collective_kind operation,
                               papcoll::arrival_source const& taken) -> std::shared_ptr<any_policy const>;

/// Such a policy as papcoll takes it, for these collectives.
template <bool ReordersOperands, papcoll::collective_kind... Served>
struct chosen_policy {
    static constexpr bool reorders_operands = ReordersOperands;
    static constexpr auto provides(papcoll::collective_kind operation) -> bool {
        return ((operation == Served) || ...);
    }
    [[nodiscard]] auto name() const -> std::string_view { return what->name(); }
    void check(papcoll::call_shape const& shape) const { what->check(shape); }
    [[nodiscard]] auto pending_arrivals() const -> papcoll::arrival_source {
        return what->pending_arrivals();
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return what->fingerprint();
    }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const& link) const
        -> papcoll::program {
        return what->plan(shape, link);
    }

    std::shared_ptr<any_policy const> what;
};

/// How the calls of a kind and type are compiled with policies.
template <papcoll::collective_kind Operation, bool Commutative = true, bool Serialized = false,
          bool Plainly = false>
struct policy_types {
    static constexpr auto operation = Operation;
    static constexpr bool has_native = !Serialized;
    /// Also without a policy and with a scheduler, as users write them.
    static constexpr bool plainly = Plainly;
    /// Serialized values are all-reduced by a reduce and a broadcast, by policies that have both.
    static constexpr bool twofold = Serialized && Operation == papcoll::collective_kind::all_reduce;
    using chosen = chosen_policy<Commutative, Operation>;
    using both = chosen_policy<Commutative, Operation, papcoll::collective_kind::reduce,
                               papcoll::collective_kind::broadcast>;
    using to_root = chosen_policy<Commutative, Operation, papcoll::collective_kind::reduce>;
};

/// Calls f(policy), or f() for no policy.
template <class Types, class F>
void with_policy(policy_draw const& drawn, papcoll::arrival_source const& taken, F f) {
    if constexpr (Types::has_native)
        if (drawn.kind == policy_kind::native) return f(papcoll::native{});
    if constexpr (Types::plainly) {
        if (drawn.kind == policy_kind::by_default) return f();
        using scheduler = std::conditional_t<Types::operation == papcoll::collective_kind::broadcast,
                                             own_schedulers::round_the_ring, own_schedulers::to_the_owners>;
        if (drawn.kind == policy_kind::own_scheduler && !drawn.has_members) return f(scheduler{});
    }
    auto policy = make_policy(drawn, Types::operation, taken);
    if constexpr (Types::twofold) {
        if (drawn.kind == policy_kind::arrival_tree || drawn.kind == policy_kind::own_scheduler)
            return f(typename Types::to_root{std::move(policy)});
        f(typename Types::both{std::move(policy)});
    } else {
        f(typename Types::chosen{std::move(policy)});
    }
}

} // namespace soak
