// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/node_memory.hpp>
#include <papcoll/detail/hash.hpp>
#include <papcoll/policy/call_shape.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace papcoll::inline v0::detail {

/// How much of the memory of a node is one rank's, in elements.
class node_stretches {
public:
    explicit node_stretches(call_shape const& shape)
        : m_bytes(shape.shared_bytes)
        , m_element_bytes(shape.element_bytes) {}

    [[nodiscard]] auto shortest() const -> std::size_t { return of(node_memory::short_bytes(m_bytes)); }
    [[nodiscard]] auto longest() const -> std::size_t { return of(node_memory::long_bytes(m_bytes)); }
    /// For so many elements, if a short area has room for them; else the longest.
    [[nodiscard]] auto for_elements(std::size_t n) const -> std::size_t {
        return n <= shortest() ? whole(n) : longest();
    }
    /// For n elements, however many these are.
    [[nodiscard]] auto whole(std::size_t n) const -> std::size_t {
        return (n + step() - 1) / step() * step();
    }

private:
    /// Stretches begin at cache lines.
    [[nodiscard]] auto step() const -> std::size_t { return 64 / std::gcd<std::size_t>(64, m_element_bytes); }
    [[nodiscard]] auto of(std::size_t bytes) const -> std::size_t {
        return bytes / m_element_bytes / step() * step();
    }

    std::size_t m_bytes;
    std::size_t m_element_bytes;
};

/// Equal for calls that belong together, and hardly ever for others.
[[nodiscard]] inline auto key_of(call_shape const& shape, std::span<std::size_t const> sizes)
    -> std::uint64_t {
    std::array const numbers{static_cast<std::uint64_t>(shape.operation), std::uint64_t{shape.count},
                             std::uint64_t{shape.element_bytes}, static_cast<std::uint64_t>(shape.root)};
    if (shape.is_uneven()) // ranks know different sizes
        return hash_bytes(std::as_bytes(std::span(numbers).subspan(2)), 1 + numbers[0]);
    return hash_bytes(std::as_bytes(sizes), hash_bytes(std::as_bytes(std::span(numbers))));
}

} // namespace papcoll::inline v0::detail
