// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/impl/call_operation.hpp>
#include <papcoll/collective/impl/learning.hpp>
#include <papcoll/collective/run_call.hpp>
#include <papcoll/policy/impl/own_memory.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

// How calls run: those that find nothing else under way go straight from their plan to the transport, the
// others become operations that the engine drives.
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

// These are not inlined, so that their return address lies where the collective is called.

template <transport Transport>
[[gnu::noinline]] void run_call(Transport& t, call_description& call, policy_ref policy) {
    if (!run_known(t, call, policy)) run_another(t, call, policy, __builtin_return_address(0));
}
template <transport Transport>
[[gnu::noinline]] auto begin_call(Transport& t, call_description& call, policy_ref policy) -> request {
    return begin_on(t, call, policy, __builtin_return_address(0));
}
template <transport Transport>
auto prepare_call(Transport& t, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call> {
    return std::make_unique<prepared_on<Transport>>(papcoll::context_of(t), call, policy);
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
template <std::same_as<MPI_Comm> Comm>
auto prepare_call(Comm comm, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call> {
    return std::make_unique<prepared_on<mpi_transport>>(papcoll::context_of(comm), call, policy);
}

} // namespace compiled_by_papcoll_impl_hpp

} // namespace papcoll::inline v0::detail
