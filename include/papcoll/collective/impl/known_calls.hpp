// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/argument_checks.hpp>
#include <papcoll/collective/call_checks.hpp>
#include <papcoll/collective/call_description.hpp>
#include <papcoll/collective/sizes.hpp>
#include <papcoll/policy/plan_cache.hpp>
#include <papcoll/policy/policy_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace papcoll::inline v0::detail {

/// The last call that was made with nothing else under way: the same call once more is known by its
/// arguments, and needs no other check than that of its buffers. Vectors are known while they need not be
/// resized.
class last_call {
public:
    /// The plan of the call, if it is the same with buffers that look good; else null, as for vectors.
    [[nodiscard, gnu::always_inline]] auto plan_of(call_description const& call,
                                                   policy_ref const& policy) const -> kept_plan* {
        if (!(static_cast<call_identity const&>(call) == m_identity) || call.in_size != m_in_size ||
            call.out.is_vector() || call.memory.late || !are_good(call) || !policy.is(m_policy))
            return nullptr;
        if (!call.parts.given()) return m_plan;
        return call.parts.are(m_parts) ? m_plan_of_parts : nullptr;
    }
    /// The same where the result may go to a vector: one that need not be resized is as good as its elements.
    [[nodiscard]] auto plan_of_any(call_description& call, policy_ref const& policy) const -> kept_plan* {
        auto const given = call.out;
        if (given.is_vector()) call.out = m_fills_output ? given.if_it_has(m_out_size) : output();
        auto* const plan = plan_of(call, policy);
        if (plan == nullptr) call.out = given;
        return plan;
    }
    /// `shape` is the call's, `plan` its plan, the last that `plans` found.
    void remember(call_description const& call, call_shape const& shape, policy_ref policy, kept_plan& plan,
                  plan_cache const& plans) {
        forget();
        auto const* const key = plans.last_key();
        if (!is_simple(call) || plan.what->native || key == nullptr) return;
        auto const size = call.elements->type->size;
        bool const is_gathered_in_place = call.in_place && (call.operation == collective_kind::gather ||
                                                            call.operation == collective_kind::all_gather);
        m_in_size = call.in_size;
        m_in_bytes = is_gathered_in_place ? 0 : in_count(call, shape) * size;
        m_out_size = out_count(call, shape);
        m_out_bytes = m_out_size * size;
        m_fills_output = fills_output(shape);
        m_in_apart = call.in_place ? 0 : m_in_bytes;
        m_out_apart = call.in_place ? 0 : m_out_bytes;
        call.parts.keep(m_parts);
        m_policy = policy.known_by(*key);
        if (m_policy.functions == nullptr) return;
        m_identity = call;
        (call.parts.given() ? m_plan_of_parts : m_plan) = &plan;
    }

    /// There is none.
    void forget() {
        m_plan = m_plan_of_parts = nullptr;
        m_identity = {};
    }

private:
    static auto is_simple(call_description const& call) -> bool {
        return !call.memory.late && call.elements->prepare == nullptr;
    }
    [[nodiscard, gnu::always_inline]] auto are_good(call_description const& call) const -> bool {
        auto const in = reinterpret_cast<std::uintptr_t>(call.memory.in);
        auto const out = reinterpret_cast<std::uintptr_t>(call.out.data());
        if ((in == 0 && m_in_bytes > 0) || (out == 0 && m_out_bytes > 0)) return false;
        return out - in >= m_in_apart && in - out >= m_out_apart; // neither begins within the other
    }

    call_identity m_identity = {};        // without elements: there is none
    kept_plan* m_plan = nullptr;          // of a call whose ranks have equally much
    kept_plan* m_plan_of_parts = nullptr; // of another one
    policy_ref::known_policy m_policy;
    std::size_t m_in_size = 0; // of a vector
    std::size_t m_in_bytes = 0;
    std::size_t m_out_size = 0;
    std::size_t m_out_bytes = 0;
    bool m_fills_output = false;
    std::size_t m_in_apart = 0; // of buffers that must not overlap
    std::size_t m_out_apart = 0;
    kept_sizes m_parts;
};

/// What a communicator keeps for its next calls.
struct known_calls {
    plan_cache plans;
    last_call last;

    /// The plan of a call. Where plans come or go, nothing is known of the last call any more.
    auto plan(policy_ref policy, call_shape const& shape, link_model const& link) -> kept_plan& {
        struct watch {
            known_calls& all;
            std::uint64_t before = all.plans.changes();
            ~watch() {
                if (all.plans.changes() != before) all.last.forget();
            }
        } const here{*this};
        return plans.plan(policy, shape, link);
    }

    /// Those of a context, whose slot nothing else uses.
    [[gnu::always_inline]] static auto of(std::shared_ptr<void>& slot) -> known_calls& {
        if (!slot) slot = std::make_shared<known_calls>();
        return *static_cast<known_calls*>(slot.get());
    }
};

} // namespace papcoll::inline v0::detail
