// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <any>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace papcoll::inline v0::detail {

/// The plans that calls of one communicator used last, so that a repeated call does not compute its schedule
/// again.
class plan_cache {
public:
    static auto of(std::any& slot) -> plan_cache& {
        if (!slot.has_value()) slot = plan_cache();
        return std::any_cast<plan_cache&>(slot);
    }

    /// The plan of `policy` for `shape`, computed unless one of the last calls was the same.
    template <block_policy P>
    auto plan(P const& policy, call_shape const& shape, link_model const& link)
        -> std::shared_ptr<execution_plan const> {
        auto const fingerprint = policy.fingerprint();
        if (!fingerprint) return std::make_shared<execution_plan const>(policy.plan(shape, link));
        entry wanted{std::type_index(typeid(P)), key_of(*fingerprint, shape, link), nullptr};
        for (auto const& e : m_entries)
            if (e.type == wanted.type && e.key == wanted.key) return e.plan;
        wanted.plan = std::make_shared<execution_plan const>(policy.plan(shape, link));
        if (m_entries.size() < capacity) {
            m_entries.push_back(wanted);
        } else {
            m_entries[m_oldest] = wanted;
            m_oldest = (m_oldest + 1) % capacity;
        }
        return wanted.plan;
    }

private:
    struct entry {
        std::type_index type;
        std::vector<std::int64_t> key;
        std::shared_ptr<execution_plan const> plan;
    };
    static constexpr std::size_t capacity = 16;

    static auto key_of(std::vector<std::int64_t> key, call_shape const& shape, link_model const& link)
        -> std::vector<std::int64_t> {
        for (auto const n :
             {static_cast<std::int64_t>(shape.operation), static_cast<std::int64_t>(shape.count),
              static_cast<std::int64_t>(shape.element_bytes), static_cast<std::int64_t>(shape.root),
              static_cast<std::int64_t>(shape.exact), static_cast<std::int64_t>(shape.sizes.size()),
              link.latency.count(), std::bit_cast<std::int64_t>(link.per_byte)})
            key.push_back(n);
        for (auto const list : {shape.sizes, shape.displacements})
            for (auto const n : list) key.push_back(static_cast<std::int64_t>(n));
        return key;
    }

    std::vector<entry> m_entries;
    std::size_t m_oldest = 0;
};

} // namespace papcoll::inline v0::detail
