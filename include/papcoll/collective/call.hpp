// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>
#include <papcoll/detail/hash.hpp>
#include <papcoll/executor/request.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/native.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/policy/scheduled.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// What may stand as the policy of this collective: a block policy that provides it, a scheduler of its kind,
/// or `native`.
template <class P, collective_kind Operation>
concept collective_policy = std::same_as<P, native> ||(block_policy<P>&& P::provides(Operation)) ||
                            (scheduler<P> && scheduled<P>::provides(Operation));

namespace detail {

/// A scheduler becomes the policy that uses it; policies stay what they are.
template <class P>
[[nodiscard]] auto as_policy(P const& p) -> auto{
    if constexpr (scheduler<P> && !block_policy<P>)
        return scheduled<P>{p, {}, {}};
    else
        return p;
}

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
    /// Throws the same std::invalid_argument on all ranks unless everybody agrees.
    void check() const {
        if (complaining_rank != std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument(std::string(complaint.data()) + " (rank " +
                                        std::to_string(complaining_rank) + ")");
        for (std::size_t i = 0; i < names.size(); ++i)
            if (smallest[i] != largest[i]) throw std::invalid_argument(disagreement(i));
    }

private:
    [[nodiscard]] auto disagreement(std::size_t i) const -> std::string {
        std::string text = "papcoll: ranks disagree on the " + std::string(names[i]);
        if (i >= 1 && i <= 3)
            text += ": from " + std::to_string(smallest[i]) + " to " + std::to_string(largest[i]);
        return text;
    }
};

template <class P>
[[nodiscard]] auto policy_hash(P const& policy) -> std::int64_t {
    if constexpr (std::same_as<P, native>) {
        return 0;
    } else {
        std::string_view const name = policy.name();
        auto hash = hash_text(name);
        std::vector<std::int64_t> key;
        if constexpr (requires { policy.agreement_key(); })
            key = policy.agreement_key();
        else
            key = policy.fingerprint().value_or(key);
        hash = hash_bytes(std::as_bytes(std::span<std::int64_t const>(key)), hash);
        return static_cast<std::int64_t>(hash);
    }
}

[[nodiscard]] inline auto record_of(std::string_view operation, call_shape const& shape, std::int64_t policy,
                                    std::string const& complaint) -> call_record {
    call_record r{};
    r.smallest = {static_cast<std::int64_t>(hash_text(operation)),
                  static_cast<std::int64_t>(shape.count),
                  static_cast<std::int64_t>(shape.element_bytes),
                  shape.root,
                  static_cast<std::int64_t>(hash_bytes(std::as_bytes(shape.sizes))),
                  policy,
                  (shape.commutative ? 1 : 0) + (shape.exact ? 2 : 0)};
    r.largest = r.smallest;
    r.complaining_rank = complaint.empty() ? std::numeric_limits<std::int32_t>::max() : shape.rank;
    std::copy_n(complaint.data(), std::min(complaint.size(), r.complaint.size() - 1), r.complaint.data());
    return r;
}

/// A collective that cannot begin at its call: it waits for its turn and its tag, agrees where that is asked
/// for, plans and executes.
template <transport Transport>
class call_operation final : public operation {
public:
    /// Makes the operation that executes the call; runs after the ranks have agreed.
    using start_function =
        std::function<std::shared_ptr<operation>(std::shared_ptr<context<Transport>> const&, int tag)>;

    /// `record`: where the ranks agree first. `has_tag`: whether it has been given its tag to keep.
    call_operation(std::shared_ptr<context<Transport>> c, std::optional<call_record> const& record,
                   std::shared_ptr<tag_ledger> tags, int tag, bool has_tag, start_function start)
        : m_context(std::move(c))
        , m_tags(std::move(tags))
        , m_tag(tag)
        , m_has_tag(has_tag)
        , m_start(std::move(start))
        , m_turn(0) {
        if (record) m_agreement.emplace(*record, call_record::merge, tag);
        m_turn = m_context->next_turn(); // last: from here on others wait for it
    }
    call_operation(call_operation const&) = delete;
    auto operator=(call_operation const&) -> call_operation& = delete;
    ~call_operation() override { pass_turn(); }

    auto advance(bool block) -> bool override {
        if (m_body) return m_body->advance(block);
        if (!m_context->is_turn(m_turn) || !take_tag()) return false;
        if (m_agreement) {
            if (!m_agreement->advance(m_context->transport_layer(), block)) return false;
            m_agreement->result().check();
        }
        m_body = m_start(m_context, m_tag);
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
    start_function m_start;
    std::shared_ptr<operation> m_body;
    std::uint32_t m_turn;
};

/// An operation that has nothing to do.
class empty_operation final : public operation {
public:
    auto advance(bool) -> bool override { return true; }
    [[nodiscard]] auto finished() const -> bool override { return true; }
};

/// What `check(level)` says against the arguments of this call; empty: nothing. With agreed checks whatever
/// it throws is exchanged first and thrown by all ranks, else it is thrown here, before anything is sent.
template <class Check>
[[nodiscard]] auto complaint_of(check_level level, Check check) -> std::string {
    if (level != check_level::agreed) {
        check(level);
        return {};
    }
    std::string complaint;
    try {
        check(level);
        return complaint;
    } catch (std::exception const& bad) {
        complaint = bad.what();
    } catch (...) {
        complaint = "papcoll: an exception that is no std::exception";
    }
    return complaint.empty() ? "papcoll: an exception without a message" : complaint;
}

/// The operation of a call: that which executes it, `start(context, tag)`, where nothing has to come before.
/// Its number is taken first: a call that throws here counts as made, so that those after it meet those of
/// the other ranks.
template <transport Transport, class Policy, class Check, class Start>
[[nodiscard]] auto make_call(std::shared_ptr<context<Transport>> const& c,
                             std::shared_ptr<tag_ledger> const& tags, std::string_view operation_name,
                             call_shape const& shape, Policy const& policy, Check check, Start start)
    -> std::shared_ptr<operation> {
    int const tag = c->next_tag(tags);
    bool const is_open = tags == c->open_tags();
    std::string complaint;
    try {
        complaint = complaint_of(c->checks(), check);
        if (is_open && !tags->is_free(tag))
            throw std::logic_error("papcoll: at most " + std::to_string(tags->under_way()) +
                                   " open_ operations of a communicator may be under way at a time");
    } catch (...) {
        if (c->size() > 1) tags->spoil(tag); // the others may have sent what nobody receives here
        throw;
    }
    bool const at_once = c->begins_at_once(*tags, tag);
    tag_lease lease;
    if (at_once || is_open) lease = tag_lease(tags, tag);
    if (at_once) {
        auto begun = start(c, tag);
        begun->keep(std::move(lease));
        return begun;
    }
    std::optional<call_record> record;
    if (c->checks() == check_level::agreed)
        record = record_of(operation_name, shape, policy_hash(policy), complaint);
    auto waiting =
        std::make_shared<call_operation<Transport>>(c, record, tags, tag, is_open, std::move(start));
    if (is_open) waiting->keep(std::move(lease));
    return waiting;
}

/// Begins an operation on this context, which the request keeps alive.
template <transport Transport>
[[nodiscard]] auto begin_operation(std::shared_ptr<context<Transport>> const& c,
                                   std::shared_ptr<operation> op) -> request {
    return {c->engine(), std::move(op), [c] { c->transport_layer().idle(); }};
}

/// Runs an operation on this context to its end; throws what made it fail.
template <transport Transport>
void run_operation(std::shared_ptr<context<Transport>> const& c, std::shared_ptr<operation> const& op) {
    run_to_end(*c->engine(), op, c->transport_layer());
}

} // namespace detail

} // namespace papcoll::inline v0
