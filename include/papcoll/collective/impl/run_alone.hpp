// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/impl/call_operation.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

// Calls that find nothing else under way go straight from their plan to the transport, the others become
// operations that the engine drives. Both are told to the context's observer.
namespace papcoll::inline v0::detail {

/// What an observer is told of a call that begins now. The bytes are what the MPI routine counts: of one
/// rank's block where all ranks have equal ones.
[[nodiscard]] inline auto seen_of(call_shape const& shape, std::uint64_t sequence, void const* call_site)
    -> collective_record {
    auto const what = shape.operation;
    bool const of_one_rank =
        shape.sizes.empty() && (what == collective_kind::gather || what == collective_kind::all_gather ||
                                what == collective_kind::all_to_all || what == collective_kind::scatter);
    auto const parts = static_cast<std::size_t>(of_one_rank ? shape.ranks : 1);
    return {to_string(what), shape.bytes() / parts, sequence, steady_now(), ticks{0}, call_site};
}
/// make_call, with the context's observer told of the end; `native` is MPI's.
template <transport Transport>
[[nodiscard]] auto make_observed_call(std::shared_ptr<context<Transport>> const& c, call_start& s,
                                      void const* call_site) -> std::shared_ptr<operation> {
    if (auto const prepare = s.call.elements->prepare) prepare();
    auto const shape = shape_of(*c, s.call);
    bool const told = c->observed_by() && !s.policy.is_native() && s.how != call_start::what::nothing;
    auto const seen = seen_of(shape, c->sequence(), call_site);
    std::shared_ptr<operation> op;
    try {
        op = make_call(c, s, shape);
    } catch (...) { // it counts as made, as for the observers of the other ranks
        if (told) tell(c->observed_by(), seen);
        throw;
    }
    if (told) op = std::make_shared<observed_operation>(std::move(op), c->observed_by(), seen);
    op->call_it({seen.operation, seen.sequence, c->rank()});
    return op;
}

/// Runs a short program; `failed(failure)` where it has failed. The operator may make calls of its own and
/// let the plan go.
template <transport Transport, class Failed>
[[gnu::always_inline]] inline void run_short(context<Transport>& c, execution<Transport>& body, int tag,
                                             call_memory& memory, Failed failed) {
    operation::use const used(body);
    try {
        if (body.run_in_order(c.transport_layer(), tag, memory)) return;
    } catch (...) {
        if (body.may_be_read()) c.engine()->keep(body.shared_from_this());
        throw;
    }
    failed(body.take_failure());
}
/// The same of a program of serialized values whose messages have boxes; returns its failure.
template <transport Transport>
[[nodiscard]] auto run_boxed(context<Transport>& c, execution<Transport>& body, int tag, call_memory& memory)
    -> std::exception_ptr {
    operation::use const used(body);
    try {
        if (body.run_boxed(c.transport_layer(), tag, memory)) return nullptr;
    } catch (...) {
        if (body.may_be_read()) c.engine()->keep(body.shared_from_this());
        throw;
    }
    return body.take_failure();
}
/// Runs a plan while nothing else is under way and returns its failure.
template <transport Transport>
[[nodiscard]] auto run_plan(context<Transport>& c, call_description& call, kept_plan& plan, int tag)
    -> std::exception_ptr {
    auto& t = c.transport_layer();
    auto const idle = [&] { t.idle(); };
    if (plan.what->native) {
        if constexpr (std::derived_from<Transport, mpi_transport>)
            if (has_native<Transport>(call))
                return c.engine()->run(std::make_shared<native_operation>(t.communicator(), call,
                                                                          shape_of(call, c.size(), c.rank()),
                                                                          native_operation::form::chosen),
                                       idle);
        throw std::logic_error("papcoll: the policy's plan needs a routine of MPI's");
    }
    auto const body = execution_of<Transport>(plan, false);
    std::exception_ptr failure;
    if (body->is_short(t, call.memory)) {
        run_short(c, *body, tag, call.memory, [&](std::exception_ptr why) { failure = std::move(why); });
        return failure;
    }
    if (body->is_boxed(call.memory)) return run_boxed(c, *body, tag, call.memory);
    body->begin(t, nullptr, tag, call.memory);
    failure = c.engine()->run(body, idle);
    if (!body->finished()) std::rethrow_exception(failure); // messages may be left over
    body->let_go();
    return failure;
}
/// Where a call of this tag has thrown, the others may have sent what nobody receives here.
template <transport Transport>
void spoil_tag(context<Transport>& c, int tag) {
    if (c.size() > 1) c.tags()->spoil(tag);
}
/// A blocking call while nothing else is under way, which needs no tag kept free: `run(tag)` returns its
/// failure.
template <transport Transport, class Run>
void run_alone(context<Transport>& c, call_description& call, Run run) {
    typename context<Transport>::in_call const here(c);
    int const tag = c.next_tag(c.tags());
    number_call(c, call);
    pass_to(call.memory);
    auto const name = name_of(c, call);
    std::exception_ptr failure;
    try {
        failure = run(tag);
    } catch (...) {
        spoil_tag(c, tag);
        std::rethrow_exception(named(std::current_exception(), name));
    }
    if (failure) std::rethrow_exception(named(failure, name));
}
// Out of the way of calls that succeed.
template <transport Transport>
[[noreturn, gnu::cold, gnu::noinline]] void
throw_named(context<Transport> const& c, call_description const& call, std::exception_ptr const& failure) {
    // An operator may have made calls meanwhile.
    std::rethrow_exception(named(failure, {to_string(call.operation), call.memory.call - 1, c.rank()}));
}
/// The same of a short program.
template <transport Transport>
[[gnu::always_inline]] inline void run_alone(context<Transport>& c, execution<Transport>& body,
                                             call_description& call) {
    typename context<Transport>::in_call const here(c);
    int const tag = c.next_tag(c.tags());
    number_call(c, call);
    std::exception_ptr failure;
    bool good = true;
    try {
        run_short(
            c, body, tag, call.memory, [&](std::exception_ptr why) __attribute__((cold)) {
                good = false;
                failure = std::move(why);
            });
    } catch (...) {
        spoil_tag(c, tag);
        throw_named(c, call, std::current_exception());
    }
    if (!good) throw_named(c, call, failure);
}
/// Checks a call for the first time, or when others were in between.
template <transport Transport>
[[nodiscard]] auto find_plan(context<Transport>& c, call_description& call, policy_ref policy,
                             known_calls& known) -> kept_plan& {
    if (auto const prepare = call.elements->prepare) prepare();
    auto const shape = shape_of(c, call);
    if (c.checks() != check_level::off) {
        check_call(call, shape);
        policy.check(shape);
    }
    make_room(call, shape);
    auto& plan = known.plan(policy, shape, c.link());
    if (!call.on_trial) known.remember(call, shape, policy, plan);
    return plan;
}
template <transport Transport>
[[nodiscard, gnu::always_inline]] inline auto may_run_alone(context<Transport>& c, policy_ref policy)
    -> bool {
    return c.is_quiet() && !policy.is_native();
}
/// Runs a blocking call that may run alone, and tells the observer when it has ended. What cannot be told
/// of it, `run` throws itself, once the call has its number.
template <transport Transport, class Run>
[[gnu::cold, gnu::noinline]] void run_observed(context<Transport>& c, call_description const& call,
                                               void const* call_site, Run run) {
    auto const told = c.observed_by(); // an operator may free the communicator
    std::optional<collective_record> seen;
    try {
        if (auto const prepare = call.elements->prepare) prepare();
        seen = seen_of(shape_of(c, call), c.sequence(), call_site);
    } catch (...) {
    }
    if (!seen) return run();
    try {
        run();
    } catch (...) {
        tell(told, *seen);
        throw;
    }
    tell(told, *seen);
}

/// Begins an operation on this context, which the request keeps alive.
template <transport Transport>
[[nodiscard]] auto begin_operation(std::shared_ptr<context<Transport>> const& c,
                                   std::shared_ptr<operation> op) -> request {
    return {c->engine(), std::move(op), [c] { c->transport_layer().idle(); }};
}

} // namespace papcoll::inline v0::detail
