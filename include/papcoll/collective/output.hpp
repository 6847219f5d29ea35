// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/argument_checks.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace papcoll::inline v0::detail {

/// Where a call leaves its result: memory of the user's, or a std::vector that is resized when the arguments
/// are found good.
class output {
public:
    output() = default;
    output(std::nullptr_t) {} // NOLINT(google-explicit-constructor): calls take either
    template <class T>
    output(T* data) // NOLINT(google-explicit-constructor)
        : m_data(data) {}
    template <class T>
    output(std::vector<T>& vector) // NOLINT(google-explicit-constructor)
        : m_vector(&vector)
        , m_resize(resize<T>)
        , m_held(vector.data())
        , m_held_bytes(vector.capacity() * sizeof(T)) {
        static_assert(!std::is_same_v<T, bool>, "papcoll: a std::vector<bool> has no elements in memory; "
                                                "pass a pointer to bool, or use another type");
    }

    /// Of a vector: null before make_room.
    [[nodiscard]] auto data() const -> void* { return m_data; }
    [[nodiscard]] auto is_vector() const -> bool { return m_vector != nullptr; }
    /// Whether there is no memory, and never will be.
    [[nodiscard]] auto is_null() const -> bool { return m_vector == nullptr && m_data == nullptr; }
    /// Whether none of the n bytes at `in` are among the m bytes of this output. To resize a vector may free
    /// or overwrite all that it holds.
    [[nodiscard]] auto is_apart_from(void const* in, std::size_t n, std::size_t m) const -> bool {
        if (m_vector == nullptr) return are_apart(in, n, m_data, m);
        return are_apart(in, n, m_held, m_held_bytes);
    }
    /// Resizes the vector, if this is one, to n elements.
    void make_room(std::size_t n) {
        if (m_vector != nullptr) m_data = m_resize(m_vector, n);
    }

private:
    template <class T>
    static auto resize(void* vector, std::size_t n) -> void* {
        auto& elements = *static_cast<std::vector<T>*>(vector);
        elements.resize(n);
        return elements.data();
    }

    void* m_data = nullptr;
    void* m_vector = nullptr;
    void* (*m_resize)(void*, std::size_t) = nullptr;
    void const* m_held = nullptr;
    std::size_t m_held_bytes = 0;
};

} // namespace papcoll::inline v0::detail
