// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <algorithm>
#include <any>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

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
        std::type_index const type(typeid(P));
        auto const numbers = numbers_of(shape, link);
        for (auto const& e : m_entries)
            if (e.type == type && e.numbers == numbers && e.fingerprint == *fingerprint && e.has_lists(shape))
                return e.plan;
        auto made = std::make_shared<execution_plan const>(policy.plan(shape, link));
        keep({type,
              numbers,
              *fingerprint,
              {shape.sizes.begin(), shape.sizes.end()},
              {shape.displacements.begin(), shape.displacements.end()},
              made});
        return made;
    }

private:
    using number_list = std::array<std::int64_t, 9>;

    struct entry {
        std::type_index type;
        number_list numbers;
        std::vector<std::int64_t> fingerprint;
        std::vector<std::size_t> sizes, displacements;
        std::shared_ptr<execution_plan const> plan;

        [[nodiscard]] auto has_lists(call_shape const& shape) const -> bool {
            return std::equal(sizes.begin(), sizes.end(), shape.sizes.begin(), shape.sizes.end()) &&
                   std::equal(displacements.begin(), displacements.end(), shape.displacements.begin(),
                              shape.displacements.end());
        }
    };
    static constexpr std::size_t capacity = 16;

    void keep(entry e) {
        if (m_entries.size() < capacity) {
            m_entries.push_back(std::move(e));
        } else {
            m_entries[m_oldest] = std::move(e);
            m_oldest = (m_oldest + 1) % capacity;
        }
    }

    static auto numbers_of(call_shape const& shape, link_model const& link) -> number_list {
        return {static_cast<std::int64_t>(shape.operation),     static_cast<std::int64_t>(shape.count),
                static_cast<std::int64_t>(shape.element_bytes), static_cast<std::int64_t>(shape.root),
                static_cast<std::int64_t>(shape.exact),         static_cast<std::int64_t>(shape.commutative),
                static_cast<std::int64_t>(shape.has_native),    link.latency.count(),
                std::bit_cast<std::int64_t>(link.per_byte)};
    }

    std::vector<entry> m_entries;
    std::size_t m_oldest = 0;
};

} // namespace papcoll::inline v0::detail
