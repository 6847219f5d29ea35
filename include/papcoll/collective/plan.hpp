// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>

#include <array>
#include <memory>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0 {

/// A collective prepared once and run on buffers again and again. Collective to make and to run, in the same
/// order as other collectives on its communicator, to which papcoll is attached (see attach). Made by
/// plan_broadcast, plan_reduce, ….
template <class Comm, class Call, class Policy>
class collective_plan {
public:
    /// Takes the buffers of the collective, without the arguments that were given to the plan; throws as it
    /// does.
    template <class... Buffers>
    requires requires(Call& call, Buffers... buffers) { call.bind(buffers...); }
    void run(Buffers... buffers) {
        auto call = m_call;
        call.bind(buffers...);
        detail::run_operation(m_context, operation_of(call));
    }

    /// run that returns at once; the buffers must stay until the request has ended.
    template <class... Buffers>
    requires requires(Call& call, Buffers... buffers) { call.bind(buffers...); }
    [[nodiscard]] auto start(Buffers... buffers) -> request {
        auto call = m_call;
        call.bind(buffers...);
        return detail::begin_operation(m_context, operation_of(call));
    }

    collective_plan(Comm comm, Call call, Policy const& policy)
        : m_comm(std::move(comm))
        , m_context(context_of(m_comm))
        , m_call(std::move(call))
        , m_policy(policy) {
        Call::template require<Policy>();
        detail::find_datatype<typename Call::value_type>();
        auto const mine = shape();
        auto const check = [&](check_level level) {
            if (level == check_level::off) return;
            m_call.check_shape(mine);
            if constexpr (!std::same_as<Policy, native>) m_policy.check(mine);
        };
        auto const nothing = [](auto const&, int) -> std::shared_ptr<operation> {
            return std::make_shared<detail::empty_operation>();
        };
        auto const name = "plan_" + std::string(to_string(Call::operation));
        detail::run_operation(
            m_context, detail::make_call(m_context, m_context->tags(), name, mine, m_policy, check, nothing));
        if constexpr (!std::same_as<Policy, native>) (void)plan_for(mine);
    }

private:
    using context_type = typename decltype(context_of(std::declval<Comm&>()))::element_type;
    using transport_type = std::remove_cvref_t<decltype(std::declval<context_type&>().transport_layer())>;

    [[nodiscard]] auto shape() const -> call_shape { return detail::shape_of(*m_context, m_call); }
    auto plan_for(call_shape const& shape) -> std::shared_ptr<detail::kept_plan> const& {
        auto& plan = m_plans[shape.in_place ? 1 : 0];
        if (!plan)
            plan = std::make_shared<detail::kept_plan>(detail::kept_plan{
                std::make_shared<program const>(detail::plan_of(m_policy, shape, m_context->link())), {}});
        return plan;
    }
    auto operation_of(Call const& call) -> std::shared_ptr<operation> {
        auto const mine = detail::shape_of(*m_context, call);
        auto const check = [&](check_level level) {
            if (level != check_level::off) detail::check_call(call, mine);
        };
        if constexpr (std::same_as<Policy, native>) {
            return detail::make_call(m_context, m_context->tags(), to_string(Call::operation), mine, m_policy,
                                     check, detail::start_of<transport_type>(call, m_policy));
        } else {
            // A call that waits for its turn may outlive this object.
            auto execute = [call, plan = plan_for(mine)](std::shared_ptr<context_type> const& c, int tag) {
                return detail::execute_plan(c, call, *plan, tag);
            };
            return detail::make_observed_call(m_context, m_context->tags(), mine, m_policy, check,
                                              std::move(execute), nullptr);
        }
    }

    Comm m_comm;
    std::shared_ptr<context_type> m_context;
    Call m_call;
    Policy m_policy;
    std::array<std::shared_ptr<detail::kept_plan>, 2> m_plans; // with two buffers, and in place
};

namespace detail {

template <class Comm, class Call, class Policy>
[[nodiscard]] auto make_plan(Comm const& comm, Call call, Policy const& policy) {
    using policy_type = decltype(as_policy(policy));
    return collective_plan<Comm, Call, policy_type>(comm, std::move(call), as_policy(policy));
}

} // namespace detail

} // namespace papcoll::inline v0
