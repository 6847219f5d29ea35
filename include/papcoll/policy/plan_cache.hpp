// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/progress_engine.hpp>
#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/executor/execution.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/program/program.hpp>

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

/// A plan, and an execution of it to be used again.
struct kept_plan {
    std::shared_ptr<program const> what;
    std::shared_ptr<operation> execution;
};

/// An execution of this plan that is not under way.
template <transport Transport>
[[nodiscard]] auto execution_of(kept_plan& plan, bool concurrent)
    -> std::shared_ptr<papcoll::execution<Transport>> {
    using execution_type = papcoll::execution<Transport>;
    if (plan.execution && plan.execution.use_count() == 1)
        if (auto kept = std::static_pointer_cast<execution_type>(plan.execution); kept->is_reusable())
            return kept;
    if (plan.execution && !std::static_pointer_cast<execution_type>(plan.execution)->is_reusable() &&
        plan.execution.use_count() == 1)
        plan.execution.reset(); // it was given up
    auto made = std::make_shared<execution_type>(plan.what);
    // Other threads might still look at it; and what is cut when it is executed takes much memory.
    if (!concurrent && !plan.what->uncut && !plan.execution) plan.execution = made;
    return made;
}

/// Whether policies of a type make equal plans where they are equal, which they then say by a member
/// `equality_tells`; others are told from each other by their fingerprints.
template <class P>
concept equality_tells = std::equality_comparable<P> && requires {
    requires P::equality_tells;
};

/// How one policy is told from others.
template <block_policy P>
class policy_key {
public:
    explicit policy_key(P const& policy)
        : m_policy(policy) {
        if constexpr (!equality_tells<P>) m_fingerprint = policy.fingerprint();
    }
    [[nodiscard]] auto can_tell() const -> bool { return equality_tells<P> || m_fingerprint.has_value(); }
    [[nodiscard]] auto equals(std::any const& kept) const -> bool {
        if constexpr (equality_tells<P>) {
            auto const* const policy = std::any_cast<P>(&kept);
            return policy != nullptr && *policy == m_policy;
        } else {
            auto const* const known = std::any_cast<fingerprint_of_type>(&kept);
            return known != nullptr && known->numbers == *m_fingerprint;
        }
    }
    [[nodiscard]] auto kept() const -> std::any {
        if constexpr (equality_tells<P>)
            return m_policy;
        else
            return fingerprint_of_type{*m_fingerprint};
    }

private:
    struct fingerprint_of_type {
        std::vector<std::int64_t> numbers;
    };

    P const& m_policy;
    std::optional<std::vector<std::int64_t>> m_fingerprint;
};

/// The plans that calls of one communicator used last, so that a repeated call does not compute its schedule
/// again: at most 16, which together with the lists in their keys take no more than `most_bytes`.
class plan_cache {
public:
    explicit plan_cache(std::size_t most_bytes = 4'000'000)
        : m_most_bytes(most_bytes) {}

    static auto of(std::any& slot) -> plan_cache& {
        if (!slot.has_value()) slot = plan_cache();
        return std::any_cast<plan_cache&>(slot);
    }

    /// All the memory that its entries take.
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        std::size_t sum = 0;
        for (auto const& e : m_entries) sum += e.held_bytes();
        return sum;
    }
    /// The plan of `policy` for `shape`, computed unless one of the last calls was the same. Valid until the
    /// next call.
    template <block_policy P>
    auto plan(P const& policy, call_shape const& shape, link_model const& link) -> kept_plan& {
        policy_key<P> const key(policy);
        if (!key.can_tell()) return m_unkept = make(policy, shape, link);
        auto const numbers = numbers_of(shape, link);
        ++m_time;
        for (auto& e : m_entries)
            if (e.numbers == numbers && key.equals(e.policy) && e.has_lists(shape)) {
                e.last_used = m_time;
                return e.plan;
            }
        return keep({numbers,
                     key.kept(),
                     {shape.sizes.begin(), shape.sizes.end()},
                     {shape.displacements.begin(), shape.displacements.end()},
                     make(policy, shape, link),
                     m_time});
    }

private:
    using number_list = std::array<std::uint64_t, 6>;

    struct entry {
        number_list numbers;
        std::any policy; // or its fingerprint
        std::vector<std::size_t> sizes, displacements;
        kept_plan plan;
        std::uint64_t last_used;

        [[nodiscard]] auto held_bytes() const -> std::size_t {
            return sizeof(entry) + detail::held_bytes(sizes, displacements) + plan.what->held_bytes() +
                   (plan.execution ? plan.execution->held_bytes() : 0);
        }
        [[nodiscard]] auto has_lists(call_shape const& shape) const -> bool {
            return std::equal(sizes.begin(), sizes.end(), shape.sizes.begin(), shape.sizes.end()) &&
                   std::equal(displacements.begin(), displacements.end(), shape.displacements.begin(),
                              shape.displacements.end());
        }
    };
    static constexpr std::size_t capacity = 16;

    template <block_policy P>
    static auto make(P const& policy, call_shape const& shape, link_model const& link) -> kept_plan {
        return {std::make_shared<program const>(plan_of(policy, shape, link)), {}};
    }
    auto keep(entry e) -> kept_plan& {
        auto const bytes = e.held_bytes();
        if (bytes > m_most_bytes) return m_unkept = std::move(e.plan);
        while (m_entries.size() == capacity || held_bytes() + bytes > m_most_bytes) drop_least_recent();
        return m_entries.emplace_back(std::move(e)).plan;
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
                           (shape.late ? 16u : 0u) | (shape.one_piece ? 32u : 0u);
        auto const kind = static_cast<std::uint64_t>(shape.operation);
        auto const root = static_cast<std::uint32_t>(shape.root);
        return {kind << 8U | flags,
                shape.count,
                shape.element_bytes,
                root,
                static_cast<std::uint64_t>(link.latency.count()),
                std::bit_cast<std::uint64_t>(link.per_byte)};
    }

    std::size_t m_most_bytes;
    std::uint64_t m_time = 0; // counts the calls
    std::vector<entry> m_entries;
    kept_plan m_unkept; // the last one that is not to be kept
};

} // namespace papcoll::inline v0::detail
