// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/argument_checks.hpp>
#include <papcoll/collective/call_checks.hpp>
#include <papcoll/collective/call_description.hpp>
#include <papcoll/collective/sizes.hpp>
#include <papcoll/policy/plan_cache.hpp>
#include <papcoll/policy/policy_ref.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace papcoll::inline v0::detail {

/// A call that was made with nothing else under way: the same call once more is known by its arguments, and
/// needs no other check than that of its buffers. Vectors are known while they need not be resized.
class alignas(64) known_call {
public:
    known_call() = default;
    /// `shape` is the call's, `policy` its policy and `plan` its plan, which stay where they are.
    known_call(call_description const& call, call_shape const& shape, policy_ref::known_policy policy,
               kept_plan& plan)
        : m_identity(call)
        , m_policy(policy)
        , m_in_size(call.in_size)
        , m_out_size(out_count(call, shape))
        , m_fills_output(fills_output(shape)) {
        (call.parts.given() ? m_plan_of_parts : m_plan) = &plan;
        auto const size = call.elements->type->size;
        bool const is_gathered_in_place = call.in_place && (call.operation == collective_kind::gather ||
                                                            call.operation == collective_kind::all_gather);
        m_in_bytes = is_gathered_in_place ? 0 : in_count(call, shape) * size;
        m_out_bytes = m_out_size * size;
        m_in_apart = call.in_place ? 0 : m_in_bytes;
        m_out_apart = call.in_place ? 0 : m_out_bytes;
        call.parts.keep(m_parts);
    }

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

    /// Whether it is this call, by this plan, whatever the buffers are.
    [[nodiscard]] auto is_of(call_description const& call, kept_plan const& plan) const -> bool {
        auto const* const own = call.parts.given() ? m_plan_of_parts : m_plan;
        return static_cast<call_identity const&>(call) == m_identity && call.in_size == m_in_size &&
               own == &plan && (!call.parts.given() || call.parts.are(m_parts));
    }

    /// There is none.
    void forget() {
        m_identity = {};
        m_parts = {};
    }
    [[nodiscard]] auto is_forgotten() const -> bool { return m_identity.elements == nullptr; }

private:
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
    std::size_t m_out_bytes = 0;
    std::size_t m_in_apart = 0; // of buffers that must not overlap
    std::size_t m_out_apart = 0;
    std::size_t m_out_size = 0;
    bool m_fills_output = false;
    kept_sizes m_parts;
};

/// What a communicator keeps for its next calls: the plans, and up to 16 calls that were made. Programs
/// repeat a few calls in turn, so the first guess is the call that came behind the last one when that was
/// made before. Where plans come or go, nothing is known of the calls any more.
class known_calls {
public:
    auto plan(policy_ref policy, call_shape const& shape, link_model const& link) -> kept_plan& {
        struct watch {
            known_calls& all;
            std::uint64_t before = all.m_plans.changes();
            ~watch() {
                if (all.m_plans.changes() != before) all.forget();
            }
        } const here{*this};
        return m_plans.plan(policy, shape, link);
    }

    /// The plan of a call that is known; else null, as for vectors.
    [[nodiscard, gnu::always_inline]] auto plan_of(call_description const& call, policy_ref const& policy)
        -> kept_plan* {
        auto* const guess = m_latest->next;
        auto* const plan = guess->call.plan_of(call, policy);
        if (plan == nullptr) return plan_of_other(call, policy);
        m_latest = guess;
        return plan;
    }
    /// The same where the result may go to a vector.
    [[nodiscard]] auto plan_of_any(call_description& call, policy_ref const& policy) -> kept_plan* {
        return find(call, [&](known_call const& known) { return known.plan_of_any(call, policy); });
    }
    /// The call whose plan was found last does not go by it at once; it will be asked for once more.
    [[gnu::cold]] void put_off() { m_is_put_off = true; }
    /// `shape` is the call's, `plan` its plan, the last that was asked for.
    void remember(call_description const& call, call_shape const& shape, policy_ref policy, kept_plan& plan) {
        auto const* const key = m_plans.last_key();
        if (call.memory.late || call.elements->prepare != nullptr || plan.what->native || key == nullptr)
            return;
        auto const known_policy = policy.known_by(*key);
        if (known_policy.functions == nullptr) return;
        auto* const place = place_for(call, plan);
        if (place == nullptr) return;
        if (!place->call.is_of(call, plan)) {
            place->call = known_call(call, shape, known_policy, plan);
            m_tags[static_cast<std::size_t>(place - m_known.data())] = tag_of(call);
        }
        came(*place);
    }

    /// Those of a context, whose slot nothing else uses.
    [[gnu::always_inline]] static auto of(std::shared_ptr<void>& slot) -> known_calls& {
        if (!slot) slot = std::make_shared<known_calls>();
        return *static_cast<known_calls*>(slot.get());
    }

    known_calls() = default;
    known_calls(known_calls const&) = delete; // its calls know each other
    auto operator=(known_calls const&) -> known_calls& = delete;

private:
    static constexpr std::size_t capacity = 16;
    struct entry {
        known_call call;
        entry* next = this; // the call that came behind it
    };

    /// Calls with different tags are different.
    [[nodiscard]] static auto tag_of(call_identity const& call) -> std::uint32_t {
        auto const sum = call.n + 5 * call.kind_and_root() + (call.in_place ? 3 : 0) +
                         reinterpret_cast<std::uintptr_t>(call.elements) +
                         reinterpret_cast<std::uintptr_t>(call.operator_traits);
        return static_cast<std::uint32_t>((sum * 0x9e3779b97f4a7c15U) >> 32U); // multiplicative hashing
    }
    [[nodiscard, gnu::noinline]] auto plan_of_other(call_description const& call, policy_ref const& policy)
        -> kept_plan* {
        if (call.out.is_vector()) return nullptr;
        return find(call, [&](known_call const& known) { return known.plan_of(call, policy); });
    }
    /// Where a call is remembered: where it is already, with other buffers; else in a free place, or in that
    /// of the oldest one. Of the calls that come when all places are taken one in eight is, so that of more
    /// calls in turn than there is room for most stay. Null: it is not remembered.
    [[nodiscard]] auto place_for(call_description const& call, kept_plan const& plan) -> entry* {
        auto const tag = tag_of(call);
        for (std::size_t i = 0; i < capacity; ++i)
            if (m_tags[i] == tag && m_known[i].call.is_of(call, plan)) return &m_known[i];
        constexpr std::size_t many_ranks = 256; // whose lists are kept in one place alone
        if (call.parts.sizes().size() > many_ranks) return &m_known.back();
        for (auto& known : m_known)
            if (known.call.is_forgotten()) return &known;
        return ++m_left_out % 8 == 0 ? &m_known[m_oldest++ % capacity] : nullptr;
    }
    /// The plan that `plan_of` says of the first call that has one, of those that may be this one.
    template <class PlanOf>
    [[nodiscard]] auto find(call_identity const& call, PlanOf plan_of) -> kept_plan* {
        auto const tag = tag_of(call);
        for (std::size_t i = 0; i < capacity; ++i) {
            if (m_tags[i] != tag) continue;
            if (auto* const plan = plan_of(m_known[i].call)) {
                came(m_known[i]);
                return plan;
            }
        }
        return nullptr;
    }
    void forget() {
        for (auto& known : m_known) known.call.forget();
    }
    void came(entry& known) {
        bool const was_latest = std::exchange(m_is_put_off, false) && &known == m_latest;
        if (!was_latest) m_latest = m_latest->next = &known;
    }

    std::array<entry, capacity> m_known;
    entry* m_latest = m_known.data();
    plan_cache m_plans;
    std::array<std::uint32_t, capacity> m_tags{};
    std::size_t m_oldest = 0;
    std::size_t m_left_out = 0;
    bool m_is_put_off = false;
};

} // namespace papcoll::inline v0::detail
