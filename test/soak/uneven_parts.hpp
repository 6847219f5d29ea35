// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "random_source.hpp"

namespace soak {

/// Where parts of these sizes lie: one behind the other, or in any order and with gaps.
class uneven_parts {
public:
    uneven_parts() = default;
    uneven_parts(std::vector<std::size_t> sizes, bool scattered, random_source& random)
        : m_sizes(std::move(sizes))
        , m_scattered(scattered)
        , m_begins(m_sizes.size()) {
        std::vector<std::size_t> order(m_sizes.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        for (std::size_t i = order.size(); i > 1 && scattered; --i)
            std::swap(order[i - 1], order[random.below(i)]);
        for (auto const r : order) {
            if (scattered) m_end += random.below(4);
            m_begins[r] = m_end;
            m_end += m_sizes[r];
        }
    }

    [[nodiscard]] auto scattered() const -> bool { return m_scattered; }
    [[nodiscard]] auto sizes() const -> std::vector<std::size_t> const& { return m_sizes; }
    [[nodiscard]] auto begins() const -> std::vector<std::size_t> const& { return m_begins; }
    [[nodiscard]] auto size(int r) const -> std::size_t { return m_sizes[static_cast<std::size_t>(r)]; }
    /// Behind the last part.
    [[nodiscard]] auto end() const -> std::size_t { return m_end; }

    /// Writes the part of rank r to its place.
    template <class T>
    void put(int r, std::vector<T> const& part, std::vector<T>& to) const {
        std::copy(part.begin(), part.end(),
                  to.begin() + static_cast<std::ptrdiff_t>(m_begins[static_cast<std::size_t>(r)]));
    }

private:
    std::vector<std::size_t> m_sizes;
    bool m_scattered = false;
    std::vector<std::size_t> m_begins;
    std::size_t m_end = 0;
};

} // namespace soak
