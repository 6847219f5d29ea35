// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "policies.hpp"

#include <stdexcept>
#include <type_traits>

namespace soak {
namespace {

using papcoll::collective_kind;

template <class Policy>
class held_policy final : public any_policy {
public:
    held_policy(policy_kind kind, Policy policy)
        : m_kind(kind)
        , m_policy(std::move(policy)) {}

    void check(papcoll::call_shape const& shape) const override { m_policy.check(shape); }
    [[nodiscard]] auto name() const -> std::string_view override { return m_policy.name(); }
    [[nodiscard]] auto pending_arrivals() const -> papcoll::arrival_source override {
        if constexpr (requires { m_policy.arrivals; })
            return m_policy.arrivals;
        else
            return {};
    }
    /// Different for policies of different kinds, which the cache of plans would else take for the same.
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> override {
        auto numbers = m_policy.fingerprint();
        if (numbers) numbers->push_back(static_cast<std::int64_t>(m_kind));
        return numbers;
    }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const& link) const
        -> papcoll::program override {
        return m_policy.plan(shape, link);
    }

private:
    policy_kind m_kind;
    Policy m_policy;
};

/// Gives the members that the policy has.
template <class Policy>
auto hold(Policy policy, policy_draw const& drawn, papcoll::arrival_source const& taken)
    -> std::shared_ptr<any_policy const> {
    if (drawn.has_members) {
        if constexpr (requires { policy.arrivals; }) {
            if (drawn.source == arrivals_from::the_draw) policy.arrivals = drawn.arrivals;
            if (drawn.source == arrivals_from::the_monitor) policy.arrivals = taken;
        }
        if constexpr (requires { policy.block_bytes; }) policy.block_bytes = drawn.bytes;
        if constexpr (requires { policy.first_bytes; }) policy.first_bytes = drawn.bytes.value_or(1024);
        if constexpr (requires { policy.segments; }) policy.segments = drawn.pieces;
        if constexpr (requires { policy.window; }) policy.window = drawn.pieces.value_or(4);
        if constexpr (requires { policy.lanes; }) policy.lanes = drawn.pieces;
        if constexpr (requires { policy.radix; }) policy.radix = 1 + drawn.pieces.value_or(1);
        if constexpr (requires { policy.ranks_per_node; })
            if (drawn.limit > 0) policy.ranks_per_node = drawn.limit;
        if constexpr (requires { policy.round; }) policy.round = drawn.time;
        if constexpr (requires { policy.block_time; }) policy.block_time = drawn.time;
        if constexpr (requires { policy.transfer_time; }) policy.transfer_time = drawn.time;
        if constexpr (requires { policy.compute_time; }) policy.compute_time = drawn.second_time;
        if constexpr (requires { policy.compute_per_element; })
            policy.compute_per_element = drawn.per_element;
        if constexpr (requires { policy.radix; })
            if (drawn.limit > 1) policy.radix = drawn.limit;
        if constexpr (requires { policy.max_transfers; })
            if (drawn.pieces.value_or(1) == 1) policy.max_transfers = drawn.limit;
        if constexpr (requires { policy.max_reducers; }) policy.max_reducers = drawn.limit / 2;
    }
    return std::make_shared<held_policy<Policy>>(drawn.kind, std::move(policy));
}

auto is_reduction(collective_kind operation) -> bool {
    return operation == collective_kind::reduce || operation == collective_kind::all_reduce ||
           operation == collective_kind::reduce_scatter;
}

} // namespace

auto make_policy(policy_draw const& drawn, collective_kind operation, papcoll::arrival_source const& taken)
    -> std::shared_ptr<any_policy const> {
    auto const held = [&](auto policy) { return hold(policy, drawn, taken); };
    switch (drawn.kind) {
    case policy_kind::native:
        break;
    case policy_kind::by_default:
    case policy_kind::automatic:
        return held(papcoll::automatic{});
    case policy_kind::circulant:
        return held(papcoll::circulant{});
    case policy_kind::two_level:
        return held(papcoll::two_level{});
    case policy_kind::clairvoyant:
        return held(papcoll::clairvoyant{});
    case policy_kind::arrival_tree:
        return held(papcoll::arrival_tree{});
    case policy_kind::arrival_all_reduce:
        return held(papcoll::arrival_all_reduce{});
    case policy_kind::greedy_tree:
        return held(papcoll::greedy_tree{});
    case policy_kind::binomial_tree:
        return held(papcoll::binomial_tree{});
    case policy_kind::fibonacci_tree:
        return held(papcoll::fibonacci_tree{});
    case policy_kind::knomial_tree:
        return held(papcoll::knomial_tree{});
    case policy_kind::bine_tree:
        return held(papcoll::bine_tree{});
    case policy_kind::dissemination:
        return held(papcoll::dissemination{});
    case policy_kind::own_scheduler:
        if (is_reduction(operation)) return held(papcoll::scheduled<own_schedulers::to_the_owners>{});
        return held(papcoll::scheduled<own_schedulers::round_the_ring>{});
    case policy_kind::ring:
        return held(papcoll::ring{});
    case policy_kind::neighbor_exchange:
        return held(papcoll::neighbor_exchange{});
    case policy_kind::background_ring:
        return held(papcoll::background_ring{});
    case policy_kind::background_circulant:
        return held(papcoll::background_circulant{});
    case policy_kind::linear:
        return held(papcoll::linear{});
    case policy_kind::sorted_linear:
        return held(papcoll::sorted_linear{});
    case policy_kind::exchange_linear:
        return held(papcoll::all_to_all_linear{});
    case policy_kind::exchange_pairwise:
        return held(papcoll::all_to_all_pairwise{});
    case policy_kind::exchange_bruck:
        return held(papcoll::all_to_all_bruck{});
    case policy_kind::exchange_linear_sync:
        return held(papcoll::all_to_all_linear_sync{});
    case policy_kind::prefix_doubling:
        return held(papcoll::prefix_doubling{});
    case policy_kind::prefix_chain:
        return held(papcoll::prefix_chain{});
    }
    throw std::logic_error("soak: this is not a policy to be held");
}

} // namespace soak
