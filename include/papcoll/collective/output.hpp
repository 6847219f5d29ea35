// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace papcoll::inline v0::detail {

/// Where a call leaves its result: memory of the user's, or a std::vector that is resized when the arguments
/// are found good. Copies share the vector, so that a copy made before it was resized knows where it is.
template <class T>
class output {
public:
    output(T* data) // NOLINT(google-explicit-constructor): calls take either
        : m_data(data) {}
    output(std::vector<T>& vector) // NOLINT(google-explicit-constructor)
        : m_growing(std::make_shared<growing>(growing{vector, vector.data(), resized})) {
        static_assert(!std::is_same_v<T, bool>, "papcoll: a std::vector<bool> has no elements in memory; "
                                                "pass a pointer to bool, or use another type");
    }

    /// Of a vector: null before make_room.
    [[nodiscard]] auto data() const -> T* { return m_growing ? m_growing->data : m_data; }
    /// Whether there is no memory, and never will be.
    [[nodiscard]] auto is_null() const -> bool { return !m_growing && m_data == nullptr; }
    /// Whether `in` has none of its n elements in the m elements of this output. To resize a vector may free
    /// or overwrite all that it holds.
    [[nodiscard]] auto is_apart_from(T const* in, std::size_t n, std::size_t m) const -> bool {
        if (!m_growing) return are_apart<T>(in, n, m_data, m);
        return are_apart<T>(in, n, m_growing->before, m_growing->vector.capacity());
    }
    /// Resizes the vector, if this is one, to n elements.
    void make_room(std::size_t n) const {
        if (m_growing) m_growing->data = m_growing->resize(m_growing->vector, n);
    }

private:
    struct growing {
        std::vector<T>& vector;
        T const* before;
        T* (*resize)(std::vector<T>&, std::size_t); // elements of other outputs need no default
        T* data = nullptr;
    };

    static auto resized(std::vector<T>& vector, std::size_t n) -> T* {
        vector.resize(n);
        return vector.data();
    }

    T* m_data = nullptr;
    std::shared_ptr<growing> m_growing;
};

} // namespace papcoll::inline v0::detail
