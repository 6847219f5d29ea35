// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/impl/learning.hpp>
#include <papcoll/collective/impl/run_alone.hpp>
#include <papcoll/collective/run_call.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

// How calls run.
namespace papcoll::inline v0::detail {

/// A blocking call with nothing else under way, by a plan that is there or is made now.
template <transport Transport>
void run_on_idle(context<Transport>& c, call_description& call, policy_ref policy) {
    run_alone(c, call, [&](int tag) {
        auto& known = known_calls::of(c.cache());
        auto* const again = known.plan_of_any(call, policy);
        if (again == nullptr) return run_plan(c, call, find_plan(c, call, policy, known), tag);
        take_memory(call);
        return run_plan(c, call, *again, tag);
    });
}
/// A blocking call that the engine drives with the others.
template <transport Transport>
void run_with_others(Transport& t, call_description& call, policy_ref policy, void const* call_site,
                     std::exception_ptr const& failed = nullptr) {
    auto const c = attached_context(t);
    call_start s{call, policy};
    s.failed = failed;
    auto const op = make_observed_call(c, s, call_site);
    run_to_end(*c->engine(), op, c->transport_layer());
}
/// A blocking call that is not known.
template <transport Transport>
void run_another(Transport& t, call_description& call, policy_ref policy, void const* call_site) {
    // While nothing of the call is under way.
    if (auto const failed = thrown_by([&] { (void)policy.arrivals(false); }))
        return run_with_others(t, call, policy, call_site, failed);
    auto const run = [&](call_description& one, policy_ref by) {
        auto* const c = raw_context_in(t);
        if (c == nullptr || !may_run_alone(*c, by)) return run_with_others(t, one, by, call_site);
        if (!c->observed_by()) return run_on_idle(*c, one, by);
        run_observed(*c, one, call_site, [&] { run_on_idle(*c, one, by); });
    };
    auto* const learning = raw_context_in(t);
    if (learning == nullptr || !learning->learns() || is_decided(*learning, call, policy))
        return run(call, policy);
    auto const c = context_in(t); // operators may free the communicator
    run_trial(*c, call, policy, run);
}
/// The execution of a call that is known, on an idle context with a cache, if it is short; else null.
template <transport Transport>
[[nodiscard, gnu::always_inline]] inline auto
execution_of_known(context<Transport>& c, call_description& call, policy_ref const& policy)
    -> execution<Transport>* {
    auto& known = *static_cast<known_calls*>(c.cache().get());
    auto* const plan = known.plan_of(call, policy);
    if (plan == nullptr) return nullptr;
    auto* const body = plan->execution.template ready_for<Transport>(call.memory);
    if (body == nullptr) {
        known.put_off();
        return nullptr;
    }
    call.memory.out = call.out.data();
    return body;
}
/// Runs a call that is known, and short; false: it is not. What such a call has to do besides its messages is
/// all here: the rest is kept out of the way. The function that it is inlined into has the call site.
template <transport Transport>
[[nodiscard, gnu::always_inline]] inline auto run_known(Transport& t, call_description& call,
                                                        policy_ref const& policy) -> bool {
    auto* const c = raw_context_in(t);
    // What is known of calls that run alone is of a communicator whose calls agree on nothing.
    bool const may_be_known = c != nullptr && c->is_idle() && c->cache();
    auto* const body = may_be_known ? execution_of_known(*c, call, policy) : nullptr;
    if (body == nullptr) return false;
    if (c->observed_by()) [[unlikely]]
        run_observed(*c, call, __builtin_return_address(0), [c, body, &call] { run_alone(*c, *body, call); });
    else
        run_alone(*c, *body, call);
    return true;
}
template <transport Transport>
[[nodiscard]] auto begin_on(Transport& t, call_description& call, policy_ref policy, void const* call_site)
    -> request {
    auto const c = papcoll::context_of(t);
    auto const failed = thrown_by([&] { (void)policy.arrivals(call.memory.late != nullptr); });
    take_learned(*c, call, policy);
    call_start s{call, policy};
    s.failed = failed;
    auto op = make_observed_call(c, s, call_site);
    call.late_target = s.call.late_target;
    call.late_count = s.call.late_count;
    return begin_operation(c, std::move(op));
}

/// The transport of a communicator, which papcoll attaches to where it must.
[[nodiscard]] inline auto attached_transport(MPI_Comm comm) -> mpi_transport& {
    if (auto* const known = find_transport(comm)) return *known;
    attach(comm);
    return *find_transport(comm);
}
/// The same; throws where papcoll is not attached.
[[nodiscard]] inline auto transport_of(MPI_Comm comm) -> mpi_transport& {
    auto* const known = find_transport(comm);
    if (known == nullptr) (void)papcoll::context_of(comm);
    return *known;
}

/// Whether the MPI library's routine is called on the user's communicator: there is no agreement to make
/// first.
[[nodiscard]] inline auto goes_to_mpi(MPI_Comm user, policy_ref policy) -> bool {
    if (!policy.is_native()) return false;
    auto* const t = find_transport(user);
    auto const* const known = t != nullptr ? raw_context_in(*t) : nullptr;
    return known == nullptr || known->checks() != check_level::agreed;
}
/// The shape of a call that the MPI library makes; checks the arguments and makes room for the result.
[[nodiscard]] inline auto native_shape(MPI_Comm user, call_description& call) -> call_shape {
    int rank = 0;
    int ranks = 1;
    mpi_check("MPI_Comm_rank", MPI_Comm_rank(user, &rank));
    mpi_check("MPI_Comm_size", MPI_Comm_size(user, &ranks));
    auto const shape = shape_of(call, ranks, rank);
    check_call(call, shape);
    make_room(call, shape);
    return shape;
}

// Out of the way of calls that are known.
[[gnu::noinline]] inline void run_unknown(MPI_Comm comm, call_description& call, policy_ref policy,
                                          void const* call_site) {
    if (goes_to_mpi(comm, policy)) return run_native(comm, call, native_shape(comm, call));
    run_another(attached_transport(comm), call, policy, call_site);
}

// These are not inlined, so that their return address lies where the collective is called.

template <transport Transport>
[[gnu::noinline]] void run_call(Transport& t, call_description& call, policy_ref policy) {
    if (!run_known(t, call, policy)) run_another(t, call, policy, __builtin_return_address(0));
}
template <transport Transport>
[[gnu::noinline]] auto begin_call(Transport& t, call_description& call, policy_ref policy) -> request {
    return begin_on(t, call, policy, __builtin_return_address(0));
}

inline namespace compiled_by_papcoll_impl_hpp {

template <std::same_as<MPI_Comm> Comm>
[[gnu::noinline]] void run_call(Comm comm, call_description& call, policy_ref policy) {
    auto* const t = find_transport(comm);
    if (t != nullptr && run_known(*t, call, policy)) return;
    run_unknown(comm, call, policy, __builtin_return_address(0));
}
template <std::same_as<MPI_Comm> Comm>
[[gnu::noinline]] auto begin_call(Comm comm, call_description& call, policy_ref policy) -> request {
    if (goes_to_mpi(comm, policy)) {
        auto const shape = native_shape(comm, call);
        return {mpi_registry::instance().engine(),
                std::make_shared<native_operation>(comm, call, shape, native_operation::form::begun),
                [] { std::this_thread::yield(); }};
    }
    return begin_on(transport_of(comm), call, policy, __builtin_return_address(0));
}

} // namespace compiled_by_papcoll_impl_hpp

} // namespace papcoll::inline v0::detail

// The calls that are planned once.
#include <papcoll/collective/impl/prepared_on.hpp>
