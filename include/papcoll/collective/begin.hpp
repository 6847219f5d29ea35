// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/call.hpp>
#include <papcoll/collective/call_memory.hpp>
#include <papcoll/collective/requirements.hpp>
#include <papcoll/context/observed_operation.hpp>
#include <papcoll/executor/execution.hpp>
#include <papcoll/executor/native.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/policy/plan_cache.hpp>

#include <boost/mpi/inplace.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// A collective is described by a small value, its call. For `Call const call`:
//
//  1. `Call::operation` is the collective_kind, `Call::value_type` the type of the elements.
//  2. `Call::require<Policy>()` is where static_assert refuses types and operators.
//  3. `call.shape(ranks, rank)` is the shape; its spans live as long as a copy of the call.
//  4. `call.check_shape(shape)` and `call.check_buffers(shape)` throw std::invalid_argument for arguments
//  that cannot be. Then `call.make_room(shape)`, where there is one, resizes the std::vector that is filled.
//  5. `call.memory()` is what a program works on.
//  6. `call.native_operation(comm)` begins the MPI library's own, `call.native_blocking(comm)` runs it; both
//  are missing where MPI has no such call.
namespace papcoll::inline v0::detail {

[[noreturn]] inline void reject(std::string const& what) { throw std::invalid_argument("papcoll: " + what); }

inline void check_root(call_shape const& shape) {
    if (shape.root < 0 || shape.root >= shape.ranks)
        reject("root must be a rank (0 to " + std::to_string(shape.ranks - 1) + "), but is " +
               std::to_string(shape.root));
}
inline void check_count(std::size_t n, std::size_t element_bytes) {
    if (n > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / element_bytes)
        reject("n must be a number of elements that memory can hold, but is " + std::to_string(n));
}
/// Whether [a, a + n) and [b, b + m) share no element.
template <class T>
[[nodiscard]] auto are_apart(T const* a, std::size_t n, T const* b, std::size_t m) -> bool {
    std::less<T const*> const before;
    return n == 0 || m == 0 || !before(a, b + m) || !before(b, a + n);
}

template <class Comm>
[[nodiscard]] auto size_and_rank(Comm const& comm) -> std::pair<int, int> {
    if constexpr (transport<Comm>) {
        return {comm.size(), comm.rank()};
    } else {
        auto const user = mpi_transport::checked(static_cast<MPI_Comm>(comm));
        std::pair<int, int> result;
        mpi_check("MPI_Comm_size", MPI_Comm_size(user, &result.first));
        mpi_check("MPI_Comm_rank", MPI_Comm_rank(user, &result.second));
        return result;
    }
}
template <class Comm>
[[nodiscard]] auto rank_of(Comm const& comm) -> int {
    return size_and_rank(comm).second;
}

/// Whether papcoll has an agreement to make before the MPI library may begin.
[[nodiscard]] inline auto agrees_first(MPI_Comm user) -> bool {
    auto const known = find_context(user);
    return known && known->checks() == check_level::agreed;
}
template <class Call>
void check_call(Call const& call, call_shape const& shape) {
    call.check_shape(shape);
    call.check_buffers(shape);
}
/// Resizes the std::vector that a call fills, if there is one; nothing has been sent then.
template <class Call>
void make_room(Call const& call, call_shape const& shape) {
    if constexpr (requires { call.make_room(shape); }) call.make_room(shape);
}
template <class Call>
void check_native_call(MPI_Comm user, Call const& call) {
    auto const [ranks, rank] = size_and_rank(user);
    auto const shape = call.shape(ranks, rank);
    check_call(call, shape);
    make_room(call, shape);
}

/// Whether the MPI library can make this call.
template <class Transport, class Call>
inline constexpr bool has_native =
    std::derived_from<Transport, mpi_transport> && !serializable<typename Call::value_type> &&
    requires(Call const& call, MPI_Comm comm) {
    call.native_operation(comm);
};

template <class Call, transport Transport>
[[nodiscard]] auto shape_of(context<Transport> const& c, Call const& call) -> call_shape {
    auto shape = call.shape(c.size(), c.rank());
    shape.has_native = has_native<Transport, Call>;
    shape.nodes = c.nodes();
    shape.tuning = &c.tuning();
    return shape;
}

/// The MPI library's own on papcoll's duplicate, which it keeps: the user may free the communicator
/// meanwhile.
template <transport Transport, class Call>
[[nodiscard]] auto native_on_duplicate(std::shared_ptr<context<Transport>> const& c, Call const& call)
    -> std::shared_ptr<operation> {
    struct pair { // the operation ends before its communicator
        std::shared_ptr<context<Transport>> keeper;
        std::shared_ptr<operation> body;
    };
    auto body = call.native_operation(c->transport_layer().communicator());
    auto* const raw = body.get();
    return {std::make_shared<pair>(pair{c, std::move(body)}), raw};
}

/// The operation that executes a plan for a call, as far as it can be begun at once.
template <transport Transport, class Call>
[[nodiscard]] auto execute_plan(std::shared_ptr<context<Transport>> const& c, Call const& call,
                                kept_plan& plan, int tag) -> std::shared_ptr<operation> {
    if constexpr (has_native<Transport, Call>)
        if (plan.what->native) return native_on_duplicate(c, call);
    if (plan.what->native) throw std::logic_error("papcoll: the policy's plan needs a routine of MPI's");
    auto body = execution_of<Transport>(plan, c->engine()->concurrent());
    body->begin(c->transport_layer(), c, tag, call.memory());
    return body;
}

/// What an observer is told of a call that begins now. The bytes are what the MPI routine counts: of one
/// rank's block where all ranks have equal ones.
[[nodiscard]] inline auto record_of(call_shape const& shape, std::uint64_t sequence, void const* call_site)
    -> collective_record {
    auto const what = shape.operation;
    bool const of_one_rank =
        shape.sizes.empty() && (what == collective_kind::gather || what == collective_kind::all_gather ||
                                what == collective_kind::all_to_all);
    auto const parts = static_cast<std::size_t>(of_one_rank ? shape.ranks : 1);
    return {to_string(what), shape.bytes() / parts, sequence, steady_now(), ticks{0}, call_site};
}
/// make_call, with the context's observer told of the end.
template <transport Transport, class Policy, class Check, class Start>
[[nodiscard]] auto make_observed_call(std::shared_ptr<context<Transport>> const& c,
                                      std::shared_ptr<tag_ledger> const& tags, call_shape const& shape,
                                      Policy const& policy, Check check, Start start, void const* call_site)
    -> std::shared_ptr<operation> {
    auto const make = [&] {
        return make_call(c, tags, to_string(shape.operation), shape, policy, check, std::move(start));
    };
    if (!c->observed_by()) return make();
    auto const record = record_of(shape, c->sequence(), call_site);
    return std::make_shared<observed_operation>(make(), c->observed_by(), record);
}

/// Makes the operation of a call once the ranks have agreed.
template <transport Transport, class Call, class Policy>
[[nodiscard]] auto start_of(Call const& call, Policy const& policy) {
    using context_pointer = std::shared_ptr<context<Transport>>;
    if constexpr (std::same_as<Policy, native>) {
        static_assert(std::derived_from<Transport, mpi_transport>,
                      "papcoll: the policy native needs an MPI communicator");
        return [call](context_pointer const& c, int) -> std::shared_ptr<operation> {
            return native_on_duplicate(c, call); // the order on the user's own is the user's
        };
    } else {
        return [call, policy](context_pointer const& c, int tag) -> std::shared_ptr<operation> {
            auto shape = shape_of(*c, call);
            return execute_plan(c, call, plan_cache::of(c->cache()).plan(policy, shape, c->link()), tag);
        };
    }
}

/// Boost.MPI makes a type's datatype when it is first asked for one, which two threads must not do at once:
/// it is asked here, in the thread that calls.
template <class T>
void find_datatype() {
    if constexpr (transportable<T>) (void)wire_format<T>::bytes(0);
}

/// The operation of a call on this context.
template <transport Transport, class Call, class Policy>
[[nodiscard]] auto operation_of(std::shared_ptr<context<Transport>> const& c, Call const& call,
                                Policy const& policy, void const* call_site) -> std::shared_ptr<operation> {
    find_datatype<typename Call::value_type>();
    auto const shape = shape_of(*c, call);
    auto const check = [&](check_level level) {
        if (level != check_level::off) {
            check_call(call, shape);
            if constexpr (!std::same_as<Policy, native>) policy.check(shape);
        }
        make_room(call, shape);
    };
    auto start = start_of<Transport>(call, policy);
    auto const& tags = requires { call.own; }
    ? c->open_tags() : c->tags();
    if constexpr (std::same_as<Policy, native>)
        return make_call(c, tags, to_string(Call::operation), shape, policy, check, std::move(start));
    else
        return make_observed_call(c, tags, shape, policy, check, std::move(start), call_site);
}

// These are not inlined, so that their return address lies where the collective is called.

template <class Call, class Comm, class Policy>
[[gnu::noinline]] auto begin_collective(Comm& comm, Call const& call, Policy const& policy) -> request {
    Call::template require<Policy>();
    if constexpr (std::same_as<Policy, native> && std::convertible_to<Comm, MPI_Comm>) {
        auto const user = static_cast<MPI_Comm>(comm);
        if (!agrees_first(user)) {
            check_native_call(user, call);
            return {mpi_registry::instance().engine(), call.native_operation(user),
                    [] { std::this_thread::yield(); }};
        }
    }
    auto const c = papcoll::context_of(comm);
    return begin_operation(c, operation_of(c, call, policy, __builtin_return_address(0)));
}

/// Runs a short program and returns its failure.
template <transport Transport>
[[nodiscard]] auto run_in_order(context<Transport>& c, std::shared_ptr<execution<Transport>> const& body,
                                int tag, call_memory memory) -> std::exception_ptr {
    try {
        auto failure = body->run_in_order(c.transport_layer(), tag, std::move(memory));
        body->let_go();
        return failure;
    } catch (...) {
        if (body->may_be_read()) c.engine()->keep(body);
        throw;
    }
}

/// Runs a plan while nothing else is under way and returns its failure.
template <transport Transport, class Call>
[[nodiscard]] auto run_plan(context<Transport>& c, Call const& call, kept_plan& plan, int tag)
    -> std::exception_ptr {
    auto& t = c.transport_layer();
    auto const idle = [&] { t.idle(); };
    if (plan.what->native) {
        if constexpr (has_native<Transport, Call>)
            return c.engine()->run(call.native_operation(t.communicator()), idle);
        throw std::logic_error("papcoll: the policy's plan needs a routine of MPI's");
    }
    auto const body = execution_of<Transport>(plan, false);
    auto memory = call.memory();
    if (body->is_short(t, memory)) return run_in_order(c, body, tag, std::move(memory));
    body->begin(t, nullptr, tag, std::move(memory));
    auto failure = c.engine()->run(body, idle);
    if (!body->finished()) std::rethrow_exception(failure); // messages may be left over
    body->let_go();
    return failure;
}

/// A blocking call while nothing else is under way: from here straight to the messages.
template <transport Transport, class Call, class Policy>
void run_alone(context<Transport>& c, Call const& call, Policy const& policy) {
    using value_type = typename Call::value_type;
    if constexpr (transportable<value_type> && !travels_as_bytes<value_type>)
        (void)wire_format<value_type>::bytes(0); // Boost.MPI makes a type's datatype when it is first asked
    auto& tags = *c.tags();
    int const tag = c.next_tag(c.tags());
    std::exception_ptr failure;
    try {
        auto const shape = shape_of(c, call);
        if (c.checks() != check_level::off) {
            check_call(call, shape);
            policy.check(shape);
        }
        make_room(call, shape);
        auto& plan = plan_cache::of(c.cache()).plan(policy, shape, c.link());
        tags.take(tag);
        failure = run_plan(c, call, plan, tag);
        tags.give_back(tag);
    } catch (...) {
        tags.give_back(tag);
        if (c.size() > 1) tags.spoil(tag); // the others may have sent what nobody receives here
        throw;
    }
    if (failure) std::rethrow_exception(failure);
}

/// Calls that block go to the library's blocking routine itself, which it tunes better than the nonblocking
/// one and which does not match it, unless papcoll has an agreement to make first.
template <class Call, class Comm, class Policy>
[[gnu::noinline]] void run_collective(Comm& comm, Call const& call, Policy const& policy) {
    Call::template require<Policy>();
    if constexpr (std::same_as<Policy, native> && std::convertible_to<Comm, MPI_Comm>) {
        auto const user = static_cast<MPI_Comm>(comm);
        if (!agrees_first(user)) {
            check_native_call(user, call);
            call.native_blocking(user);
            return;
        }
    }
    if constexpr (!std::same_as<Policy, native>)
        if (auto* const t = find_transport(comm))
            if (auto* const c = raw_context_in(*t); c != nullptr && c->is_quiet() && !c->observed_by())
                return run_alone(*c, call, policy);
    auto const c = attached_context(comm);
    run_operation(c, operation_of(c, call, policy, __builtin_return_address(0)));
}

/// What the forms of a collective do with their call: run it, or return its request.
template <bool Blocking>
struct collective_forms {
    using result = std::conditional_t<Blocking, void, request>;

    template <class Call, class Comm, class Policy>
    static auto call(Comm& comm, Call const& description, Policy const& policy) -> result {
        if constexpr (Blocking)
            run_collective(comm, description, as_policy(policy));
        else
            return begin_collective(comm, description, as_policy(policy));
    }
};

template <class T>
inline constexpr bool is_scalar_argument = !std::is_pointer_v<T> && !std::is_array_v<T>;
template <class T, class A>
inline constexpr bool is_scalar_argument<std::vector<T, A>> = false;
template <class T>
inline constexpr bool is_scalar_argument<boost::mpi::inplace_t<T>> = false;
/// Stands before the operator's concept, so that generic lambdas are not tried on vectors.
template <class T>
concept scalar_argument = is_scalar_argument<T>;

} // namespace papcoll::inline v0::detail
