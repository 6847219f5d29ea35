// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "values.hpp"

namespace soak {

/// Where a result comes to. Between guards where papcoll gets a pointer; a vector that papcoll resizes has
/// none.
template <class T>
class result_buffer {
public:
    /// n elements, of which a guarded buffer already has as many.
    void reset(std::vector<T> before, bool guarded) {
        m_guards = guarded ? guard_count : 0;
        m_values = contents<T>(guard_key, m_guards);
        m_values.insert(m_values.end(), before.begin(), before.end());
        auto const behind = contents<T>(guard_key, m_guards);
        m_values.insert(m_values.end(), behind.begin(), behind.end());
    }
    [[nodiscard]] auto data() -> T* { return m_values.data() + m_guards; }
    /// Where there are no guards.
    [[nodiscard]] auto vector() -> std::vector<T>& { return m_values; }
    /// What is there now.
    [[nodiscard]] auto values() const -> std::vector<T> {
        auto const guards = static_cast<std::ptrdiff_t>(m_guards);
        return {m_values.begin() + guards, m_values.end() - guards};
    }
    [[nodiscard]] auto size() const -> std::size_t { return m_values.size() - 2 * m_guards; }

    /// The first element that is not as expected, in words. What is behind the expected ones counts where
    /// `to_the_end`.
    [[nodiscard]] auto complaint(std::vector<T> const& expected, bool to_the_end = true) const
        -> std::string {
        if (size() < expected.size() || (to_the_end && size() > expected.size()))
            return std::to_string(size()) + " elements in place of " + std::to_string(expected.size());
        auto const first = m_values.begin() + static_cast<std::ptrdiff_t>(m_guards);
        auto const wrong = std::mismatch(expected.begin(), expected.end(), first);
        if (wrong.first != expected.end())
            return "element " + std::to_string(wrong.first - expected.begin()) + " of " +
                   std::to_string(expected.size()) + " is " + text_of(*wrong.second) + ", but must be " +
                   text_of(*wrong.first);
        return complaint_of_guards();
    }
    auto spoil() -> bool {
        if (size() == 0) return false;
        *data() = spoilt(*data());
        return true;
    }

private:
    static constexpr std::size_t guard_count = 3;
    static constexpr std::uint64_t guard_key = 0x6a72645f;

    [[nodiscard]] auto complaint_of_guards() const -> std::string {
        auto const guards = contents<T>(guard_key, m_guards);
        if (!std::equal(guards.begin(), guards.end(), m_values.begin()))
            return "memory before the result was written";
        if (!std::equal(guards.rbegin(), guards.rend(), m_values.rbegin()))
            return "memory behind the result was written";
        return {};
    }

    std::vector<T> m_values;
    std::size_t m_guards = 0;
};

} // namespace soak
