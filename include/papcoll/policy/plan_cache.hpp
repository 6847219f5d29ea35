// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/progress_engine.hpp>
#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/executor/execution.hpp>
#include <papcoll/policy/policy_ref.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <any>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

inline auto policy_ref::plan(call_shape const& shape, link_model const& link) const -> program {
    if (!shape.one_piece || shape.operation != collective_kind::all_reduce ||
        !m_functions->reduces_and_broadcasts)
        return m_functions->plan(m_policy, shape, link);
    program_builder both(shape.in_place);
    auto part = shape;
    part.root = 0;
    for (auto const kind : {collective_kind::reduce, collective_kind::broadcast}) {
        part.operation = kind;
        both.append(m_functions->plan(m_policy, part, link));
    }
    return both.finish();
}

/// An execution that is kept to be used again.
class kept_execution {
public:
    kept_execution() = default;
    kept_execution(kept_execution&&) noexcept = default;
    auto operator=(kept_execution&& other) noexcept -> kept_execution& {
        reset();
        m_body = std::move(other.m_body);
        return *this;
    }
    auto operator=(std::shared_ptr<operation> body) noexcept -> kept_execution& {
        reset();
        m_body = std::move(body);
        return *this;
    }
    ~kept_execution() { reset(); }

    /// A call that runs it at this moment, and whose operator let this go, ends as any other.
    void reset() noexcept { operation::release(m_body); }
    /// Null: there is none, or somebody else uses it.
    template <transport Transport>
    [[nodiscard]] auto unused() const -> execution<Transport>* {
        if (m_body.use_count() != 1) return nullptr;
        auto* const body = static_cast<execution<Transport>*>(m_body.get());
        return body->is_reusable() ? body : nullptr;
    }
    /// The same of one that run_in_order will do for.
    template <transport Transport>
    [[nodiscard, gnu::always_inline]] auto ready_for(call_memory const& with) const -> execution<Transport>* {
        if (m_body.use_count() != 1) return nullptr;
        auto* const body = static_cast<execution<Transport>*>(m_body.get());
        return body->is_ready_for(with) ? body : nullptr;
    }
    [[nodiscard]] auto get() const -> std::shared_ptr<operation> const& { return m_body; }

private:
    std::shared_ptr<operation> m_body;
};

/// A plan, and an execution of it to be used again.
struct kept_plan {
    std::shared_ptr<program const> what;
    kept_execution execution;
    /// The memory of the node, of a program that keeps it.
    std::shared_ptr<std::byte> node = {};
};

/// An execution of this plan that is not under way.
template <transport Transport>
[[nodiscard]] auto execution_of(kept_plan& plan, bool concurrent)
    -> std::shared_ptr<papcoll::execution<Transport>> {
    using execution_type = papcoll::execution<Transport>;
    if (plan.execution.template unused<Transport>() != nullptr)
        return std::static_pointer_cast<execution_type>(plan.execution.get());
    if (auto const& kept = plan.execution.get();
        kept && static_cast<execution_type*>(kept.get())->is_given_up() && !kept->is_in_use())
        plan.execution.reset();
    auto made = std::make_shared<execution_type>(plan.what, plan.node);
    // Other threads might still look at it; and what is cut when it is executed may take much memory.
    constexpr std::size_t most_kept_bytes = 1'500'000;
    if (!concurrent && !plan.execution.get() && made->held_bytes() <= most_kept_bytes) plan.execution = made;
    return made;
}

/// The plans that calls of one communicator used last, so that a repeated call does not compute its schedule
/// again: at most 64, which together with the lists in their keys take no more than `most_bytes`.
class plan_cache {
public:
    explicit plan_cache(std::size_t most_bytes = 4'000'000)
        : m_most_bytes(most_bytes) {}

    /// All the memory that its entries take.
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        std::size_t sum = 0;
        for (auto const& e : m_entries) sum += e.held_bytes();
        return sum;
    }
    /// The plan of `policy` for `shape`, computed unless one of the last calls was the same. Valid until the
    /// next call.
    auto plan(policy_ref policy, call_shape const& shape, link_model const& link) -> kept_plan& {
        auto const numbers = numbers_of(shape, link);
        ++m_time;
        for (auto& e : m_entries)
            if (e.numbers == numbers && policy.has_key(e.policy) && e.has_lists(shape)) {
                e.last_used = m_time;
                m_last_key = &e.policy;
                return e.plan;
            }
        ++m_changes;
        m_last_key = nullptr;
        auto key = policy.key();
        if (!key.has_value()) return m_unkept = make(policy, shape, link);
        return keep({numbers,
                     std::move(key),
                     {shape.sizes.begin(), shape.sizes.end()},
                     {shape.displacements.begin(), shape.displacements.end()},
                     {shape.leaving_sizes.begin(), shape.leaving_sizes.end()},
                     {shape.leaving_displacements.begin(), shape.leaving_displacements.end()},
                     make(policy, shape, link),
                     m_time});
    }

    template <block_policy P>
    auto plan(P const& policy, call_shape const& shape, link_model const& link) -> kept_plan& {
        return plan(policy_ref::to(policy), shape, link);
    }

    /// What tells the policy of the last plan from others; null: that plan is not kept.
    [[nodiscard]] auto last_key() const -> std::any const* { return m_last_key; }
    /// Plans that were found, and the keys of their policies, stay where they are until this changes.
    [[nodiscard]] auto changes() const -> std::uint64_t { return m_changes; }

private:
    using number_list = std::array<std::uint64_t, 9>;

    struct entry {
        number_list numbers;
        std::any policy; // or its fingerprint
        std::vector<std::size_t> sizes, displacements, leaving_sizes, leaving_displacements;
        kept_plan plan;
        std::uint64_t last_used;

        [[nodiscard]] auto held_bytes() const -> std::size_t {
            return sizeof(entry) +
                   detail::held_bytes(sizes, displacements, leaving_sizes, leaving_displacements) +
                   plan.what->held_bytes() + (plan.execution.get() ? plan.execution.get()->held_bytes() : 0);
        }
        [[nodiscard]] auto has_lists(call_shape const& shape) const -> bool {
            return std::ranges::equal(sizes, shape.sizes) &&
                   std::ranges::equal(displacements, shape.displacements) &&
                   std::ranges::equal(leaving_sizes, shape.leaving_sizes) &&
                   std::ranges::equal(leaving_displacements, shape.leaving_displacements);
        }
    };
    static constexpr std::size_t capacity = 64;

    static auto make(policy_ref policy, call_shape const& shape, link_model const& link) -> kept_plan {
        return {std::make_shared<program const>(policy.plan(shape, link)), {}};
    }
    auto keep(entry e) -> kept_plan& {
        auto const bytes = e.held_bytes();
        if (bytes > m_most_bytes) return m_unkept = std::move(e.plan);
        while (m_entries.size() == capacity || held_bytes() + bytes > m_most_bytes) drop_least_recent();
        auto& kept = m_entries.emplace_back(std::move(e));
        m_last_key = &kept.policy;
        return kept.plan;
    }
    void drop_least_recent() {
        auto const least =
            std::min_element(m_entries.begin(), m_entries.end(),
                             [](auto const& a, auto const& b) { return a.last_used < b.last_used; });
        m_entries.erase(least);
    }

    static auto numbers_of(call_shape const& shape, link_model const& link) -> number_list {
        auto const flags = (shape.exact ? 1u : 0u) | (shape.commutative ? 2u : 0u) |
                           (shape.has_native ? 4u : 0u) | (shape.in_place ? 8u : 0u) |
                           (shape.late ? 16u : 0u) | (shape.one_piece ? 32u : 0u) |
                           (shape.shared_bytes > 0 ? 64u : 0u) | (shape.own_buffers ? 128u : 0u) |
                           (shape.any_order ? 256u : 0u) | (shape.may_throw ? 512u : 0u);
        auto const kind = static_cast<std::uint64_t>(shape.operation);
        auto const root = static_cast<std::uint32_t>(shape.root);
        return {kind << 32U | shape.candidate << 16U | flags,
                shape.count,
                shape.element_bytes,
                root,
                static_cast<std::uint64_t>(link.latency.count()),
                std::bit_cast<std::uint64_t>(link.per_byte),
                std::bit_cast<std::uint64_t>(link.per_message),
                static_cast<std::uint64_t>(link.of_64_kib.count()),
                static_cast<std::uint64_t>(link.of_256_kib.count())};
    }

    std::size_t m_most_bytes;
    std::uint64_t m_time = 0; // counts the calls
    std::uint64_t m_changes = 0;
    std::any const* m_last_key = nullptr;
    std::vector<entry> m_entries;
    kept_plan m_unkept; // the last one that is not to be kept
};

} // namespace papcoll::inline v0::detail
