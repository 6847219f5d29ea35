// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/reduce.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0 {

/// A reduction prepared once and run on buffers again and again. Collective to make and to run, in the same
/// order as other collectives on its communicator.
template <class Comm, class T, class Op, class Policy>
class reduce_plan {
public:
    /// n elements each; `out` counts at the root alone. Throws as reduce does.
    void run(T const* in, T* out = nullptr) { start(in, out).wait(); }
    /// The same in place.
    void run(boost::mpi::inplace_t<T*> values) { start(values).wait(); }
    [[nodiscard]] auto start(T const* in, T* out = nullptr) -> request {
        return start(detail::reduce_buffers<T>{in, out, false});
    }
    [[nodiscard]] auto start(boost::mpi::inplace_t<T*> values) -> request {
        return start(detail::reduce_buffers<T>{values.buffer, values.buffer, true});
    }

    /// Made by plan_reduce.
    reduce_plan(Comm comm, std::size_t n, Op op, int root, Policy const& policy)
        : m_comm(std::move(comm))
        , m_context(context_of(m_comm))
        , m_op(std::move(op))
        , m_policy(policy)
        , m_shape{m_context->size(), m_context->rank(), root, n, sizeof(T)} {
        detail::require_operand_order<Policy, Op, T>();
        auto const check_shape = [this] { check(detail::reduce_buffers<T>{nullptr, nullptr, false}, 0); };
        detail::begin_call(m_context, "plan_reduce", m_shape, detail::policy_hash(m_policy), check_shape,
                           [](auto const&, int) -> std::shared_ptr<operation> {
                               return std::make_shared<detail::empty_operation>();
                           })
            .wait();
        if constexpr (!std::same_as<Policy, native>)
            m_program = std::make_shared<message_program const>(policy.plan(m_shape, m_context->link()));
    }

private:
    using context_type = typename decltype(context_of(std::declval<Comm&>()))::element_type;
    using transport_type = std::remove_cvref_t<decltype(std::declval<context_type&>().transport_layer())>;

    void check(detail::reduce_buffers<T> const& buffers, std::size_t count) const {
        auto shape = m_shape;
        shape.count = count;
        detail::check_reduce(shape, buffers);
        if constexpr (!std::same_as<Policy, native>) m_policy.check(m_shape);
    }
    auto start(detail::reduce_buffers<T> const& buffers) -> request {
        typename detail::call_operation<transport_type>::start_function begin;
        if constexpr (std::same_as<Policy, native>)
            begin = detail::reduce_start<transport_type>(buffers, m_shape, m_op, m_policy);
        else
            begin = [buffers, program = m_program, op = m_op](std::shared_ptr<context_type> const& c,
                                                              int tag) -> std::shared_ptr<operation> {
                return std::make_shared<combine_operation<transport_type, T, Op>>(c, program, buffers.in,
                                                                                  buffers.out, op, tag);
            };
        return detail::begin_call(
            m_context, "reduce", m_shape, detail::policy_hash(m_policy),
            [&] { check(buffers, m_shape.count); }, std::move(begin));
    }

    Comm m_comm;
    std::shared_ptr<context_type> m_context;
    Op m_op;
    Policy m_policy;
    call_shape m_shape;
    std::shared_ptr<message_program const> m_program;
};

namespace detail {

template <class T>
struct plan_reduce_function {
    template <communicator Comm, reduction_operator<T> Op, class Policy>
    requires collective_policy<Policy, schedule_kind::reduction>
    [[nodiscard]] auto operator()(Comm&& comm, std::size_t n, Op op, int root, Policy const& policy) const {
        using policy_type = decltype(as_policy(policy));
        return reduce_plan<std::remove_cvref_t<Comm>, T, Op, policy_type>(comm, n, std::move(op), root,
                                                                          as_policy(policy));
    }
};

} // namespace detail

/// plan_reduce<T>(comm, n, op, root, policy) prepares a reduction of n elements of type T; what must agree is
/// that of reduce. Collective: attaches papcoll to `comm` if it is not. Throws as reduce does.
///
///     auto sum = papcoll::plan_reduce<float>(world, n, std::plus<>(), 0, papcoll::clairvoyant{});
///     for (...) sum.run(image, total);
template <class T>
inline constexpr detail::plan_reduce_function<T> plan_reduce{};

} // namespace papcoll::inline v0
