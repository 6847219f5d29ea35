// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/forms.hpp>

#include <memory>
#include <utility>

namespace papcoll::inline v0 {

/// A collective prepared once and run on buffers again and again. Collective to make and to run, in the same
/// order as other collectives on its communicator, to which papcoll is attached (see attach). Made by
/// plan_broadcast, plan_reduce, ….
///
/// Takes the buffers of the collective, without the arguments that were given to the plan; throws as it does.
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

    /// run that returns at once; the buffers must stay until the request has ended.
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
