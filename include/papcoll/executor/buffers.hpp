// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/bytes_of.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace papcoll::inline v0 {

/// How elements travel. Trivially copyable types are their own bytes, unless they have a `serialize` (a
/// member, or free) and neither BOOST_IS_BITWISE_SERIALIZABLE nor BOOST_IS_MPI_DATATYPE says that bytes will
/// do, or are known to be addresses, such as pointers, iterators and views. A specialisation for another type
/// gives `bytes(n)`, the most that n elements take packed, and `pack`, `unpack`; T must be
/// default-constructible.
template <class T>
struct wire_format;

template <detail::byte_copyable T>
struct wire_format<T> {
    static constexpr bool is_bytes = true;
    static constexpr auto bytes(std::size_t n) -> std::size_t { return n * sizeof(T); }
};

template <class T>
concept transportable = requires {
    wire_format<T>::is_bytes;
};

namespace detail {

/// Whether elements need not be constructed before bytes are written over them.
template <class T>
inline constexpr bool travels_as_bytes = false;
template <transportable T>
requires std::is_trivially_copyable_v<T>
inline constexpr bool travels_as_bytes<T> = wire_format<T>::is_bytes;

/// Room for elements that arrive or are combined.
template <class T>
class element_buffer {
public:
    explicit element_buffer(std::size_t n)
        : m_capacity(n) {
        if constexpr (travels_as_bytes<T>)
            m_data = static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignment)));
        else
            m_data = new T[n];
    }
    element_buffer(element_buffer const&) = delete;
    auto operator=(element_buffer const&) -> element_buffer& = delete;
    ~element_buffer() {
        if constexpr (travels_as_bytes<T>)
            ::operator delete(m_data, std::align_val_t(alignment));
        else
            delete[] m_data;
    }

    [[nodiscard]] auto data() -> T* { return m_data; }
    [[nodiscard]] auto capacity() const -> std::size_t { return m_capacity; }

private:
    static constexpr std::size_t alignment = alignof(T) > 64 ? alignof(T) : 64;

    std::size_t m_capacity;
    T* m_data;
};

/// Buffers that are used again when nobody else holds them.
template <class T>
class buffer_pool {
public:
    using pointer = std::shared_ptr<element_buffer<T>>;

    /// Room for n elements or up to twice as many.
    auto acquire(std::size_t n) -> pointer {
        for (auto& buffer : m_buffers)
            if (buffer.use_count() == 1 && buffer->capacity() >= n && buffer->capacity() / 2 <= n)
                return buffer;
        return m_buffers.emplace_back(std::make_shared<element_buffer<T>>(n));
    }

private:
    std::vector<pointer> m_buffers;
};

} // namespace detail

} // namespace papcoll::inline v0
