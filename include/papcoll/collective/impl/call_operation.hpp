// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/call_checks.hpp>
#include <papcoll/collective/call_description.hpp>
#include <papcoll/collective/impl/known_calls.hpp>
#include <papcoll/collective/impl/own_memory_operation.hpp>
#include <papcoll/collective/native_operation.hpp>
#include <papcoll/context/impl/attach.hpp>
#include <papcoll/context/observed_operation.hpp>
#include <papcoll/detail/hash.hpp>
#include <papcoll/executor/execution.hpp>
#include <papcoll/executor/request.hpp>
#include <papcoll/policy/policy_ref.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What ranks must agree on before an agreed operation begins, as minima and maxima over the ranks, and the
/// complaint of the lowest rank that has one.
struct call_record {
    static constexpr std::array<char const*, 7> names = {"operation", "count",  "element size", "root",
                                                         "sizes",     "policy", "operator"};

    std::array<std::int64_t, names.size()> smallest;
    std::array<std::int64_t, names.size()> largest;
    std::int32_t complaining_rank;
    std::array<char, 172> complaint;

    static auto merge(call_record const& a, call_record const& b) -> call_record {
        call_record result = a.complaining_rank <= b.complaining_rank ? a : b;
        for (std::size_t i = 0; i < names.size(); ++i) {
            result.smallest[i] = std::min(a.smallest[i], b.smallest[i]);
            result.largest[i] = std::max(a.largest[i], b.largest[i]);
        }
        return result;
    }
    /// Throws the same on all ranks unless everybody agrees.
    void check() const {
        if (complaining_rank != std::numeric_limits<std::int32_t>::max())
            throw refused_together(std::string(complaint.data()) + " (rank " +
                                   std::to_string(complaining_rank) + ")");
        for (std::size_t i = 0; i < names.size(); ++i)
            if (smallest[i] != largest[i]) throw refused_together(disagreement(i));
    }

private:
    /// What has this hash, see record_of.
    [[nodiscard]] static auto operation_of(std::int64_t hash) -> std::string {
        for (auto const name : collective_names) {
            auto const own = hash_text(name);
            if (static_cast<std::int64_t>(own) == hash) return std::string(name);
            if (static_cast<std::int64_t>(hash_text("plan", own)) == hash) return "plan_" + std::string(name);
            if (static_cast<std::int64_t>(hash_text("buffers", own)) == hash)
                return "buffers of a plan_" + std::string(name);
        }
        return "another one";
    }
    [[nodiscard]] auto disagreement(std::size_t i) const -> std::string {
        std::string text = "papcoll: ranks disagree on the " + std::string(names[i]);
        if (i == 0) text += ": " + operation_of(smallest[0]) + " and " + operation_of(largest[0]);
        if (i >= 1 && i <= 3)
            text += ": from " + std::to_string(smallest[i]) + " to " + std::to_string(largest[i]);
        return text;
    }
};

/// An operation that has nothing to do.
class empty_operation final : public operation {
public:
    auto advance(bool) -> bool override { return true; }
    [[nodiscard]] auto finished() const -> bool override { return true; }
};

/// What f() throws; null: nothing.
template <class F>
[[nodiscard]] auto thrown_by(F f) -> std::exception_ptr {
    try {
        f();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

/// How a call is executed once the ranks have agreed.
struct call_start {
    enum class what {
        call,     ///< by the plan of its policy
        prepared, ///< by a plan that is there
        nothing   ///< not at all: it is being prepared
    };

    call_description call;
    policy_ref policy;
    what how = what::call;
    std::shared_ptr<kept_plan> plan = {};    // of a prepared one
    std::shared_ptr<void const> keeper = {}; // of the policy, where it must outlive the call
    std::shared_ptr<own_memory> own = {};    // what nothing is made with: of a plan, for its buffers
    /// What went wrong before the call, on this rank alone perhaps. The call is made, to throw that: it has
    /// its number, so that those after it meet those of the other ranks, and with agreed checks all ranks
    /// hear of it.
    std::exception_ptr failed = {};

    /// What must be known before there can be a plan; null: nothing is missing.
    [[nodiscard]] auto awaited() const -> std::shared_ptr<arrival_answer> {
        auto answer = call.memory.late ? policy.arrivals(true) : nullptr;
        return answer && !answer->is_known() ? answer : nullptr;
    }

    /// For a call that begins later.
    [[nodiscard]] auto kept() const -> call_start {
        if (keeper) return *this;
        auto result = *this;
        std::tie(result.keeper, result.policy) = policy.kept();
        return result;
    }
};

/// Whether the MPI library can make this call.
template <transport Transport>
[[nodiscard]] auto has_native(call_description const& call) -> bool {
    return std::derived_from<Transport, mpi_transport> && call.elements->datatype != nullptr &&
           !call.memory.late;
}
template <transport Transport>
[[nodiscard]] auto shape_of(context<Transport> const& c, call_description const& call) -> call_shape {
    auto shape = shape_of(call, c.size(), c.rank());
    shape.has_native = has_native<Transport>(call);
    shape.nodes = c.nodes();
    if (call.memory.type->wire == element_type::format::bytes && !call.memory.late)
        shape.shared_bytes = c.shared_bytes();
    shape.tuning = &c.tuning();
    shape.candidate = call.candidate;
    return shape;
}

/// The MPI library's own on papcoll's duplicate, which it keeps: the user may free the communicator
/// meanwhile.
template <transport Transport>
[[nodiscard]] auto native_on_duplicate(std::shared_ptr<context<Transport>> const& c,
                                       call_description const& call, native_operation::form how)
    -> std::shared_ptr<operation> {
    if constexpr (std::derived_from<Transport, mpi_transport>) {
        if (has_native<Transport>(call)) {
            struct pair { // the operation ends before its communicator
                std::shared_ptr<context<Transport>> keeper;
                std::shared_ptr<operation> body;
            };
            auto body = std::make_shared<native_operation>(c->transport_layer().communicator(), call,
                                                           shape_of(call, c->size(), c->rank()), how);
            auto* const raw = body.get();
            return {std::make_shared<pair>(pair{c, std::move(body)}), raw};
        }
    }
    throw std::logic_error("papcoll: the policy's plan needs a routine of MPI's");
}
/// The operation that executes a plan for a call, as far as it can be begun at once.
template <transport Transport>
[[nodiscard]] auto execute_plan(std::shared_ptr<context<Transport>> const& c, call_description const& call,
                                kept_plan& plan, int tag) -> std::shared_ptr<operation> {
    if (plan.what->native) return native_on_duplicate(c, call, native_operation::form::chosen);
    auto body = execution_of<Transport>(plan, c->engine()->concurrent());
    body->begin(c->transport_layer(), c, tag, call.memory);
    return body;
}
/// Tells the others on the node that this rank has come to this call: those before have begun or never will.
/// By the thread that drives.
inline void pass_to(call_memory const& memory) {
    if (memory.shared != nullptr) memory.shared->pass_to(memory.call);
}
/// The operation of a call once the ranks have agreed.
template <transport Transport>
[[nodiscard]] auto start(std::shared_ptr<context<Transport>> const& c, call_start const& s, int tag)
    -> std::shared_ptr<operation> {
    pass_to(s.call.memory);
    if (s.how == call_start::what::nothing && s.own)
        return std::make_shared<own_memory_operation<Transport>>(c, s.own, tag);
    if (s.how == call_start::what::nothing) return std::make_shared<empty_operation>();
    if (s.policy.is_native())
        return native_on_duplicate(
            c, s.call, native_operation::form::begun); // the order on the user's own is the user's
    if (s.how == call_start::what::prepared) return execute_plan(c, s.call, *s.plan, tag);
    auto const shape = shape_of(*c, s.call);
    return execute_plan(c, s.call, known_calls::of(c->cache()).plan(s.policy, shape, c->link()), tag);
}

/// What a plan is made from besides the call, as it was in the call's turn. papcoll may attach anew before
/// arrivals are known, on one rank before it plans and on another afterwards.
template <transport Transport>
class basis_of_plan {
public:
    explicit basis_of_plan(context<Transport> const& c)
        : m_attachments(c.attachments())
        , m_link(c.link())
        , m_tuning(c.tuning()) {}

    /// As start(), of a call that plans after its turn.
    [[nodiscard]] auto start_late(std::shared_ptr<context<Transport>> const& c, call_start const& s,
                                  int tag) const -> std::shared_ptr<operation> {
        auto shape = shape_of(*c, s.call);
        if (m_attachments == c->attachments())
            return execute_plan(c, s.call, known_calls::of(c->cache()).plan(s.policy, shape, m_link), tag);
        shape.tuning = &m_tuning;
        kept_plan once{std::make_shared<program const>(s.policy.plan(shape, m_link)), {}};
        return execute_plan(c, s.call, once, tag);
    }

private:
    std::uint64_t m_attachments;
    link_model m_link;
    tuning_text m_tuning;
};

[[nodiscard]] inline auto record_of(call_start const& s, call_shape const& shape,
                                    std::string const& complaint) -> call_record {
    auto operation = hash_text(to_string(shape.operation));
    if (s.how == call_start::what::nothing) operation = hash_text(s.own ? "buffers" : "plan", operation);
    auto const sizes = shape.is_uneven() ? std::span<std::size_t const>() : shape.sizes; // ranks differ
    call_record r{};
    r.smallest = {static_cast<std::int64_t>(operation),
                  shape.is_uneven() ? 0 : static_cast<std::int64_t>(shape.count),
                  static_cast<std::int64_t>(shape.element_bytes),
                  shape.root,
                  static_cast<std::int64_t>(
                      hash_bytes(std::as_bytes(sizes), hash_of_nothing + (shape.is_uneven() ? 1 : 0))),
                  s.policy.hash(),
                  (shape.commutative ? 1 : 0) + (shape.exact ? 2 : 0)};
    r.largest = r.smallest;
    r.complaining_rank = complaint.empty() ? std::numeric_limits<std::int32_t>::max() : shape.rank;
    std::copy_n(complaint.data(), std::min(complaint.size(), r.complaint.size() - 1), r.complaint.data());
    return r;
}

/// A collective that cannot begin at its call: it waits for its turn and its tag, agrees where that is asked
/// for, plans and executes. One whose data comes later lets the others have their turns before it agrees: on
/// some ranks it may wait for arrivals that others know, or that the calls after it bring.
template <transport Transport>
class call_operation final : public operation {
public:
    /// `has_tag`: whether it has been given its tag to keep. `complaint`: where the ranks agree first.
    call_operation(std::shared_ptr<context<Transport>> c, std::shared_ptr<tag_ledger> tags, int tag,
                   bool has_tag, call_start start, std::optional<std::string> complaint)
        : m_context(std::move(c))
        , m_tags(std::move(tags))
        , m_tag(tag)
        , m_has_tag(has_tag)
        , m_start(std::move(start))
        , m_complaint(std::move(complaint))
        , m_awaited(m_start.awaited())
        , m_turn(0) {
        if (!m_awaited) begin_agreement();
        m_turn = m_context->next_turn(); // last: from here on others wait for it
    }
    call_operation(call_operation const&) = delete;
    auto operator=(call_operation const&) -> call_operation& = delete;
    ~call_operation() override { pass_turn(); }

    auto advance(bool block) -> bool override {
        if (m_body) return m_body->advance(block);
        if (!m_passed && (!m_context->is_turn(m_turn) || !take_tag())) return false;
        if (m_start.call.memory.late) step_aside();
        if (m_awaited && !has_arrivals()) return false;
        if (m_agreement) {
            if (!m_agreement->advance(m_context->transport_layer(), block)) return false;
            check_agreement();
        }
        m_body = m_basis ? m_basis->start_late(m_context, m_start, m_tag) : start(m_context, m_start, m_tag);
        pass_turn();
        m_body->advance(block);
        return true;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_body && m_body->finished(); }
    [[nodiscard]] auto failure() const -> std::exception_ptr override {
        return m_body ? m_body->failure() : nullptr;
    }
    auto abandon() noexcept -> bool override {
        pass_turn();
        if (m_body) return m_body->abandon();
        return m_agreement && m_agreement->abandon(m_context->transport_layer());
    }

private:
    auto take_tag() -> bool {
        if (m_has_tag) return true;
        if (!m_tags->is_free(m_tag)) return false;
        keep(tag_lease(m_tags, m_tag));
        return m_has_tag = true;
    }
    void step_aside() {
        if (m_basis) return;
        m_basis.emplace(*m_context);
        pass_to(m_start.call.memory);
        pass_turn();
    }
    auto has_arrivals() -> bool {
        m_awaited->look();
        if (!m_awaited->is_known()) return false;
        m_awaited.reset();
        begin_agreement();
        return true;
    }
    void begin_agreement() {
        if (!m_complaint) return;
        auto const record = record_of(m_start, shape_of(*m_context, m_start.call), *m_complaint);
        m_agreement.emplace(record, call_record::merge, m_tag);
    }
    void check_agreement() {
        try {
            m_agreement->result().check();
        } catch (refused_together& refused) {
            refused.by = m_context.get();
            give_tag_back(); // all messages have come
            throw;
        }
    }
    void pass_turn() {
        if (!std::exchange(m_passed, true)) m_context->pass_turn(m_turn);
    }

    std::shared_ptr<context<Transport>> m_context;
    std::shared_ptr<tag_ledger> m_tags;
    int m_tag;
    bool m_has_tag;
    bool m_passed = false;
    std::optional<agreement<Transport, call_record, call_record (*)(call_record const&, call_record const&)>>
        m_agreement;
    call_start m_start;
    std::optional<std::string> m_complaint;
    std::shared_ptr<arrival_answer> m_awaited;       // null: there can be a plan
    std::optional<basis_of_plan<Transport>> m_basis; // of a call that has stepped aside
    std::shared_ptr<operation> m_body;
    std::uint32_t m_turn;
};

inline void check_call(call_description const& call, call_shape const& shape) {
    check_shape(call, shape);
    check_buffers(call, shape);
}
/// Throws what is wrong with the arguments of this call, and makes room for its result.
inline void check_arguments(call_start& s, call_shape const& shape, check_level level) {
    if (s.failed) std::rethrow_exception(s.failed);
    bool const checked = level != check_level::off;
    if (checked) {
        check_shape(s.call, shape);
        if (s.how != call_start::what::nothing) check_buffers(s.call, shape);
        if (s.how != call_start::what::prepared) s.policy.check(shape);
    }
    if (s.how != call_start::what::nothing) make_room(s.call, shape);
}
/// What is wrong with them; empty: nothing. With agreed checks it is exchanged first and thrown by all ranks,
/// else it is thrown here, before anything is sent.
[[nodiscard]] inline auto complaint_of(call_start& s, call_shape const& shape, check_level level)
    -> std::string {
    if (level != check_level::agreed) {
        check_arguments(s, shape, level);
        return {};
    }
    std::string complaint;
    try {
        check_arguments(s, shape, level);
        return complaint;
    } catch (std::exception const& bad) {
        complaint = bad.what();
    } catch (...) {
        complaint = "papcoll: an exception that is no std::exception";
    }
    return complaint.empty() ? "papcoll: an exception without a message" : complaint;
}

/// For programs that use the memory of the node: the number of the call, which has just been taken.
template <transport Transport>
void number_call(context<Transport> const& c, call_description& call) {
    call.memory.shared = c.shared();
    call.memory.call = c.sequence();
    call.memory.key = call.kind_and_root();
}

/// The name of a call; the context has counted it already.
template <transport Transport>
[[nodiscard]] auto name_of(context<Transport> const& c, call_description const& call) -> operation_name {
    return {to_string(call.operation), c.sequence() - 1, c.rank()};
}

/// The operation of a call that has its number and tag.
template <transport Transport>
[[nodiscard]] auto make_numbered_call(std::shared_ptr<context<Transport>> const& c, call_start& s,
                                      call_shape const& shape, std::shared_ptr<tag_ledger> const& tags,
                                      int tag) -> std::shared_ptr<operation> {
    bool const is_open = s.call.memory.late != nullptr;
    auto complaint = complaint_of(s, shape, c->checks());
    if (is_open && !tags->is_free(tag))
        throw std::logic_error("papcoll: at most " + std::to_string(tags->under_way()) +
                               " open_ operations of a communicator may be under way at a time");
    bool const at_once = c->begins_at_once(*tags, tag) && !s.awaited();
    tag_lease lease;
    if (at_once || is_open) lease = tag_lease(tags, tag);
    if (at_once) {
        auto begun = start(c, s, tag);
        begun->keep(std::move(lease));
        return begun;
    }
    std::optional<std::string> agreed;
    if (c->checks() == check_level::agreed) agreed = std::move(complaint);
    auto waiting = std::make_shared<call_operation<Transport>>(c, tags, tag, is_open, s.kept(), agreed);
    if (is_open) waiting->keep(std::move(lease));
    return waiting;
}

/// The operation of a call: that which executes it, where nothing has to come before. Its number is taken
/// first: a call that throws here counts as made, so that those after it meet those of the other ranks.
template <transport Transport>
[[nodiscard]] auto make_call(std::shared_ptr<context<Transport>> const& c, call_start& s,
                             call_shape const& shape) -> std::shared_ptr<operation> {
    auto const& tags = s.call.memory.late != nullptr ? c->open_tags() : c->tags();
    int const tag = c->next_tag(tags);
    number_call(*c, s.call);
    auto const name = name_of(*c, s.call);
    try {
        return make_numbered_call(c, s, shape, tags, tag);
    } catch (...) {
        if (c->size() > 1) tags->spoil(tag); // the others may have sent what nobody receives here
        std::rethrow_exception(named(std::current_exception(), name));
    }
}

} // namespace papcoll::inline v0::detail
