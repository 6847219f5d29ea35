// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/impl/learning.hpp>
#include <papcoll/collective/impl/run_alone.hpp>
#include <papcoll/collective/run_call.hpp>
#include <papcoll/policy/impl/own_memory.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

namespace papcoll::inline v0::detail {

/// A call on this context that is planned once.
template <transport Transport>
class prepared_on final : public prepared_call {
public:
    prepared_on(std::shared_ptr<context<Transport>> c, call_description const& call, policy_ref policy)
        : m_context(std::move(c))
        , m_start{call, policy, call_start::what::nothing} {
        m_start.failed = thrown_by([&] { (void)policy.arrivals(false); });
        m_start = m_start.kept();
        take_learned(*m_context, m_start.call, m_start.policy);
        auto const op = make_observed_call(m_context, m_start, nullptr);
        run_to_end(*m_context->engine(), op, m_context->transport_layer());
        if (!policy.is_native()) (void)plan_for(call);
    }

    [[nodiscard]] auto copy() const -> std::unique_ptr<prepared_call> override {
        return std::unique_ptr<prepared_call>(new prepared_on(*this));
    }
    auto own_buffers() -> plan_buffers override {
        forget_old_plans();
        auto const shape = shape_with_buffers();
        auto const& call = m_start.call;
        bool const may_share = !m_start.policy.is_native() && own_memory_plan::serves(shape);
        auto const plan = may_share ? shared_plan(shape) : nullptr;
        if (plan) m_plans[0] = plan; // else it is one as for the user's buffers
        m_has_buffers = true;
        auto const place = [&](region const& there, element_memory& own, std::size_t n) -> void* {
            if (n > 0 && plan && there.size() > 0)
                return plan->node.get() + there.offset() * shape.element_bytes;
            if (n > 0) provide(own, n);
            return own.data();
        };
        auto const in = in_count(call, shape), out = out_count(call, shape);
        return {place(plan ? plan->what->in_there : region(), m_own_in, in), in,
                place(plan ? plan->what->out_there : region(), m_own_out, out), out,
                shape.rank == shape.root};
    }

    void run(call_description& call) override {
        require_free_buffers();
        if (may_run_alone(*m_context, m_start.policy)) {
            if (!m_context->observed_by()) return run_idle(call);
            return run_observed(*m_context, call, nullptr, [&] { run_idle(call); });
        }
        auto const op = operation_of(call);
        run_to_end(*m_context->engine(), op, m_context->transport_layer());
    }
    [[nodiscard]] auto begin(call_description& call) -> request override {
        require_free_buffers();
        auto const op = operation_of(call);
        if (m_has_buffers) m_last = op;
        return begin_operation(m_context, op);
    }

private:
    /// With the same plans.
    prepared_on(prepared_on const& other)
        : prepared_call()
        , m_context(other.m_context)
        , m_start(other.m_start)
        , m_plans(other.m_plans)
        , m_attachments(other.m_attachments) {}
    void run_idle(call_description& call) {
        run_alone(*m_context, call, [&](int tag) {
            auto& plan = *plan_for(call);
            if (auto const prepare = call.elements->prepare) prepare();
            auto const shape = shape_of(*m_context, call);
            if (m_context->checks() != check_level::off) check_call(call, shape);
            make_room(call, shape);
            return run_plan(*m_context, call, plan, tag);
        });
    }
    [[nodiscard]] auto shape_with_buffers() const -> call_shape {
        auto shape = shape_of(*m_context, m_start.call);
        shape.candidate = m_start.call.candidate;
        shape.own_buffers = true;
        return shape;
    }
    [[nodiscard]] auto make_plan(call_shape const& shape) const -> std::shared_ptr<kept_plan> {
        return std::make_shared<kept_plan>(kept_plan{
            std::make_shared<program const>(m_start.policy.plan(shape, m_context->link())), {}, nullptr});
    }
    /// A plan whose buffers are in the memory of the node; null where it has none there.
    [[nodiscard]] auto shared_plan(call_shape const& shape) -> std::shared_ptr<kept_plan> {
        auto plan = make_plan(shape);
        if (plan->what->keeps_node) plan->node = own_memory_for(plan->what->node * shape.element_bytes);
        return plan->node ? plan : nullptr;
    }
    /// Of zeros, for the ranks of the node; null on all where there is none. It lies behind the word by which
    /// the ranks know their segment, whose line no rank's buffers share.
    auto own_memory_for(std::size_t bytes) -> std::shared_ptr<std::byte> {
        constexpr std::size_t line = 64;
        auto s = m_start;
        s.own = std::make_shared<own_memory>(own_memory{bytes + line});
        auto const op = make_observed_call(m_context, s, nullptr);
        run_to_end(*m_context->engine(), op, m_context->transport_layer());
        auto const& made = s.own->made;
        return made ? std::shared_ptr<std::byte>(made, made.get() + line) : nullptr;
    }
    // What has ended may be begun again by a call that blocks.
    void require_free_buffers() {
        if (auto const last = m_last.lock(); last && !m_context->engine()->ended(*last))
            throw std::logic_error("papcoll: the plan's buffers are in use: wait for the request of the last "
                                   "start first");
        m_last.reset();
    }
    void provide(element_memory& own, std::size_t n) const {
        auto const& type = *m_start.call.elements->type;
        own.provide(type, n);
        if (type.wire == element_type::format::bytes) std::memset(own.data(), 0, n * type.size);
    }
    auto operation_of(call_description const& call) -> std::shared_ptr<operation> {
        bool const is_native = m_start.policy.is_native();
        auto s = m_start;
        s.call = call;
        s.how = is_native ? call_start::what::call : call_start::what::prepared;
        if (!is_native) // a call that waits for its turn may outlive this object
            s.failed = thrown_by([&] { s.plan = plan_for(call); });
        return make_observed_call(m_context, s, nullptr);
    }
    /// Those of another attachment.
    void forget_old_plans() {
        if (m_attachments != m_context->attachments()) m_plans = {};
        m_attachments = m_context->attachments();
    }
    auto plan_for(call_description const& call) -> std::shared_ptr<kept_plan> const& {
        bool const attached_again = m_plans[0] && m_attachments != m_context->attachments();
        if (attached_again && m_plans[0]->node)
            throw std::logic_error("papcoll: the plan has buffers that ranks share, and papcoll has been "
                                   "attached again since: make the plan again, too");
        forget_old_plans();
        auto& plan = m_plans[call.in_place ? 1 : 0];
        if (!plan) {
            auto shape = shape_of(*m_context, call);
            shape.candidate = m_start.call.candidate;
            plan = make_plan(shape);
        }
        return plan;
    }

    std::shared_ptr<context<Transport>> m_context;
    call_start m_start;
    std::array<std::shared_ptr<kept_plan>, 2> m_plans; // with two buffers, and in place
    std::uint64_t m_attachments = 0;                   // when they were made
    // Where it has buffers of its own: those that are not in the memory of the node, and the last operation.
    bool m_has_buffers = false;
    element_memory m_own_in, m_own_out;
    std::weak_ptr<operation> m_last;
};

template <transport Transport>
auto prepare_call(Transport& t, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call> {
    return std::make_unique<prepared_on<Transport>>(papcoll::context_of(t), call, policy);
}

inline namespace compiled_by_papcoll_impl_hpp {

template <std::same_as<MPI_Comm> Comm>
auto prepare_call(Comm comm, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call> {
    return std::make_unique<prepared_on<mpi_transport>>(papcoll::context_of(comm), call, policy);
}

} // namespace compiled_by_papcoll_impl_hpp

} // namespace papcoll::inline v0::detail
