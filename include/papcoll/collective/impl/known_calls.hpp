// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/argument_checks.hpp>
#include <papcoll/collective/call_checks.hpp>
#include <papcoll/collective/call_description.hpp>
#include <papcoll/collective/sizes.hpp>
#include <papcoll/policy/plan_cache.hpp>
#include <papcoll/policy/policy_ref.hpp>

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace papcoll::inline v0::detail {

/// The last call that was made with nothing else under way, if its buffers are no vectors: the same call once
/// more is known by its arguments, and needs no other check than that of its buffers.
class last_call {
public:
    /// The plan of the call, if it is the same with buffers that look good; else null.
    [[nodiscard]] auto plan_of(call_description const& call, policy_ref policy, plan_cache const& plans) const
        -> kept_plan* {
        if (m_plan == nullptr || plans.changes() != m_changes || call.operation != m_operation ||
            call.elements != m_elements || call.operator_traits != m_operator || call.n != m_n ||
            call.root != m_root || call.in_place != m_in_place || !has_plain_buffers(call) ||
            call.parts.given() != m_parts.given || (m_parts.given && !call.parts.are(m_parts)))
            return nullptr;
        if ((m_in_bytes > 0 && call.memory.in == nullptr) || (m_out_bytes > 0 && call.out.data() == nullptr))
            return nullptr;
        if (!m_in_place && !are_apart(call.memory.in, m_in_bytes, call.out.data(), m_out_bytes))
            return nullptr;
        return policy.has_key(*m_policy) ? m_plan : nullptr;
    }
    /// `shape` is the call's, `plan` its plan, the last that `plans` found.
    void remember(call_description const& call, call_shape const& shape, kept_plan& plan,
                  plan_cache const& plans) {
        m_plan = nullptr;
        m_policy = plans.last_key();
        if (!is_simple(call) || plan.what->native || m_policy == nullptr) return;
        auto const size = call.elements->type->size;
        bool const is_gathered_in_place = call.in_place && (call.operation == collective_kind::gather ||
                                                            call.operation == collective_kind::all_gather);
        m_operation = call.operation;
        m_elements = call.elements;
        m_operator = call.operator_traits;
        m_n = call.n;
        m_root = call.root;
        m_in_place = call.in_place;
        m_in_bytes = is_gathered_in_place ? 0 : in_count(call, shape) * size;
        m_out_bytes = out_count(call, shape) * size;
        call.parts.keep(m_parts);
        m_changes = plans.changes();
        m_plan = &plan;
    }

private:
    static auto has_plain_buffers(call_description const& call) -> bool {
        return !call.out.is_vector() && call.in_size == call_description::unknown && !call.memory.late;
    }
    static auto is_simple(call_description const& call) -> bool {
        return has_plain_buffers(call) && !is_archived(call) && call.elements->prepare == nullptr;
    }

    kept_plan* m_plan = nullptr;
    std::any const* m_policy = nullptr; // what tells it from others; it stays as long as the plan
    std::uint64_t m_changes = 0;
    collective_kind m_operation{};
    element_description const* m_elements = nullptr;
    operator_description const* m_operator = nullptr;
    std::size_t m_n = 0;
    int m_root = 0;
    bool m_in_place = false;
    kept_sizes m_parts;
    std::size_t m_in_bytes = 0;
    std::size_t m_out_bytes = 0;
};

/// What a communicator keeps for its next calls.
struct known_calls {
    plan_cache plans;
    last_call last;

    /// Those of a context, whose slot nothing else uses.
    [[gnu::always_inline]] static auto of(std::shared_ptr<void>& slot) -> known_calls& {
        if (!slot) slot = std::make_shared<known_calls>();
        return *static_cast<known_calls*>(slot.get());
    }
};

} // namespace papcoll::inline v0::detail
