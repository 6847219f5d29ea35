// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/forms.hpp>

#include <memory>
#include <span>
#include <utility>

namespace papcoll::inline v0 {

/// A plan with buffers of its own, made by collective_plan::with_buffers. Where ranks share the memory of a
/// node they take each other's data from there, which saves copies; elsewhere the buffers are ordinary
/// memory, and the same program runs.
///
///     auto plan = papcoll::plan_all_reduce<float>(world, n, std::plus<>()).with_buffers();
///     for (;;) {
///         std::ranges::copy(mine, plan.input().begin());
///         plan.run();
///         use(plan.output());
///     }
///
/// Both buffers stay where they are, and are zero or default-constructed at first. `input` may be written
/// again as soon as the run has ended on this rank; what is in `output` then stays until this rank begins the
/// next run. It is all_reduce, all_gather, all_to_all and reduce_scatter of more than a few kilobytes that go
/// so. In the others there are ranks that only give, and these may leave before the others come, as long as
/// their data is copied.
///
/// Collective to run, as collective_plan is; the plan stays until its request has ended, and papcoll is not
/// attached again meanwhile. Throws std::logic_error where it is begun while its last request is under way:
/// such a call counts as not made, takes no number, and is made again when that request has ended.
template <class Comm, class T, collective_kind Operation>
class buffered_plan {
public:
    /// What this rank gives in the next run, of as many elements as the collective's `in`; of a broadcast's
    /// root its values. Empty where this rank gives nothing.
    [[nodiscard]] auto input() const -> std::span<T> {
        if (Operation != collective_kind::broadcast)
            return {static_cast<T*>(m_buffers.in), m_buffers.in_size};
        bool const is_root = m_buffers.is_root;
        return {is_root ? static_cast<T*>(m_buffers.out) : nullptr, is_root ? m_buffers.out_size : 0};
    }
    /// The result of the last run, of as many elements as the collective's `out`. Other ranks may read the
    /// same memory: copy what is to be changed.
    [[nodiscard]] auto output() const -> std::span<T const> {
        return {static_cast<T const*>(m_buffers.out), m_buffers.out_size};
    }
    /// Runs the collective on the buffers.
    void run() {
        auto call = described();
        m_prepared->run(call);
    }
    /// run that returns at once; the buffers are the request's until it has ended.
    [[nodiscard]] auto start() -> request {
        auto call = described();
        return m_prepared->begin(call);
    }

    /// For collective_plan.
    buffered_plan(Comm comm, detail::call_description call, detail::prepared_call const& prepared)
        : m_comm(std::move(comm))
        , m_call(std::move(call))
        , m_prepared(prepared.copy())
        , m_buffers(m_prepared->own_buffers()) {
        m_call.memory.in = m_buffers.in;
        m_call.out = static_cast<T*>(m_buffers.out);
    }

private:
    [[nodiscard]] auto described() const -> detail::call_description {
        auto call = m_call;
        call.memory.op = m_call.memory.op.copy();
        return call;
    }

    Comm m_comm;
    detail::call_description m_call;
    std::shared_ptr<detail::prepared_call> m_prepared;
    detail::plan_buffers m_buffers;
};

/// A collective prepared once and run on buffers again and again. Collective to make and to run, in the same
/// order as other collectives on its communicator, to which papcoll is attached (see attach). Made by
/// plan_broadcast, plan_reduce, ….
///
/// Takes the buffers of the collective, without the arguments that were given to the plan; throws as it does.
/// Several requests of one plan may be under way at once, on other buffers. A plan works on after its
/// communicator is freed, until MPI is finalized.
template <class Comm, class T, collective_kind Operation>
class collective_plan {
    static constexpr bool has_root =
        Operation == collective_kind::reduce || Operation == collective_kind::gather;
    static constexpr bool has_input = Operation != collective_kind::broadcast;
    static constexpr bool scatters = Operation == collective_kind::scatter;
    static constexpr bool gathers =
        Operation == collective_kind::gather || Operation == collective_kind::all_gather;

public:
    /// The values of a broadcast.
    void run(T* values) requires(!has_input) {
        auto call = on(nullptr, values);
        m_prepared->run(call);
    }
    void run(T const* in, T* out) requires has_input {
        auto call = on(in, out);
        m_prepared->run(call);
    }
    /// On ranks other than the root.
    void run(T const* in) requires has_root { run(in, nullptr); }
    void run(T* out) requires scatters { run(nullptr, out); }
    template <detail::in_place_array V>
    requires has_input void run(V values) {
        auto call = in_place(values.buffer);
        m_prepared->run(call);
    }

    /// run that returns at once; the buffers, of a broadcast its values, must stay until the request has
    /// ended.
    [[nodiscard]] auto start(T* values) -> request requires(!has_input) {
        auto call = on(nullptr, values);
        return m_prepared->begin(call);
    }
    [[nodiscard]] auto start(T const* in, T* out) -> request requires has_input {
        auto call = on(in, out);
        return m_prepared->begin(call);
    }
    [[nodiscard]] auto start(T const* in) -> request requires has_root { return start(in, nullptr); }
    [[nodiscard]] auto start(T* out) -> request requires scatters { return start(nullptr, out); }
    template <detail::in_place_array V>
    requires has_input [[nodiscard]] auto start(V values) -> request {
        auto call = in_place(values.buffer);
        return m_prepared->begin(call);
    }

    /// The plan with buffers of its own in place of the user's, see buffered_plan. Collective. Copies of this
    /// plan that were made before stay as they are.
    [[nodiscard]] auto with_buffers() && -> buffered_plan<Comm, T, Operation> {
        return {std::move(m_comm), std::move(m_call), *m_prepared};
    }

    /// For the functions that make plans.
    template <class Policy>
    collective_plan(Comm comm, detail::call_description call, Policy const& policy)
        : m_comm(std::move(comm))
        , m_call(std::move(call)) {
        detail::require_communicator<Comm, Policy>();
        auto&& used = detail::as_policy(policy);
        m_prepared = detail::prepare_call(detail::ranks_of(m_comm), m_call, detail::policy_ref::to(used));
    }

private:
    [[nodiscard]] auto on(T const* in, T* out) const -> detail::call_description {
        auto call = m_call;
        call.memory.op = m_call.memory.op.copy();
        call.memory.in = in;
        call.out = out;
        return call;
    }
    [[nodiscard]] auto in_place(T* values) const -> detail::call_description {
        auto call = on(gathers ? nullptr : values, values);
        call.in_place = true;
        return call;
    }

    Comm m_comm;
    detail::call_description m_call;
    std::shared_ptr<detail::prepared_call> m_prepared;
};

} // namespace papcoll::inline v0
