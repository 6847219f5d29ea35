// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/argument_checks.hpp>

#include <cstddef>
#include <span>
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
        , m_functions(&functions_of<T>) {
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
        auto const held = m_functions->held(m_vector);
        return are_apart(in, n, held.data(), held.size());
    }
    /// Resizes the vector, if this is one, to n elements.
    void make_room(std::size_t n) {
        if (m_vector != nullptr) m_data = m_functions->resize(m_vector, n);
    }

    /// Of a vector: the memory of its n elements; nothing, where there are not as many.
    [[nodiscard]] auto if_it_has(std::size_t n) const -> output {
        if (n == 0) return *this;
        output result;
        result.m_data = m_functions->elements_of(m_vector, n);
        return result;
    }

private:
    struct functions {
        void* (*resize)(void* vector, std::size_t n);
        void* (*elements_of)(void* vector, std::size_t n);      ///< null if they are not as many
        std::span<std::byte const> (*held)(void const* vector); ///< all that it has, used or not
    };
    template <class T>
    static auto held(void const* vector) -> std::span<std::byte const> {
        auto const& elements = *static_cast<std::vector<T> const*>(vector);
        return {reinterpret_cast<std::byte const*>(elements.data()), elements.capacity() * sizeof(T)};
    }
    template <class T>
    static auto resize(void* vector, std::size_t n) -> void* {
        auto& elements = *static_cast<std::vector<T>*>(vector);
        elements.resize(n);
        return elements.data();
    }

    template <class T>
    static auto elements_of(void* vector, std::size_t n) -> void* {
        auto& elements = *static_cast<std::vector<T>*>(vector);
        return elements.size() == n ? elements.data() : nullptr;
    }
    template <class T>
    static constexpr functions functions_of{resize<T>, elements_of<T>, held<T>};

    void* m_data = nullptr;
    void* m_vector = nullptr;
    functions const* m_functions = nullptr;
};

} // namespace papcoll::inline v0::detail
