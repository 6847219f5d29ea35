// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/operators/combine.hpp>
#include <papcoll/operators/operators.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What an executor must know of the type of the elements. Functions that take `n` work on n elements.
struct element_type {
    enum class format {
        bytes,   ///< elements travel as their bytes
        packed,  ///< by wire_format; `most_bytes(n)` is the same on all ranks
        archived ///< by archive_format; only the sender knows how long they are
    };

    std::size_t size;
    std::size_t alignment;
    format wire;
    /// Memory for elements that arrive or are combined. Bytes are not initialised.
    void* (*make)(std::size_t n);
    void (*destroy)(void* elements);
    /// The target may overlap the source from below.
    void (*copy)(void const* from, void* to, std::size_t n);
    std::size_t (*most_bytes)(std::size_t n);
    std::size_t (*pack)(void const* from, std::size_t n, std::span<std::byte> to);
    std::size_t (*unpack)(std::span<std::byte const> from, void* to, std::size_t n);
    /// Appends.
    void (*save)(void const* from, std::size_t n, std::vector<char>& to);
    void (*load)(std::span<char const> from, void* to, std::size_t n);
};

/// The functions of element_type for one size and alignment of elements that are bytes.
template <std::size_t Size, std::size_t Alignment>
struct byte_elements {
    static constexpr auto alignment = std::align_val_t(std::max<std::size_t>(Alignment, 64));

    static auto make(std::size_t n) -> void* { return ::operator new(n* Size, alignment); }
    static void destroy(void* elements) { ::operator delete(elements, alignment); }
    static void copy(void const* from, void* to, std::size_t n) { std::memmove(to, from, n * Size); }

    static constexpr element_type type{.size = Size,
                                       .alignment = Alignment,
                                       .wire = element_type::format::bytes,
                                       .make = make,
                                       .destroy = destroy,
                                       .copy = copy,
                                       .most_bytes = nullptr,
                                       .pack = nullptr,
                                       .unpack = nullptr,
                                       .save = nullptr,
                                       .load = nullptr};
};

/// The same for elements that are more than bytes.
template <class T>
struct object_elements {
    static auto make(std::size_t n) -> void* { return new T[n]; }
    static void destroy(void* elements) { delete[] static_cast<T*>(elements); }
    static void copy(void const* from, void* to, std::size_t n) {
        if constexpr (std::is_copy_assignable_v<T>) {
            std::copy_n(static_cast<T const*>(from), n, static_cast<T*>(to));
        } else if constexpr (serializable<T>) {
            std::vector<char> saved;
            save(from, n, saved);
            load(saved, to, n);
        } else {
            std::vector<std::byte> packed(most_bytes(n));
            pack(from, n, packed);
            unpack(packed, to, n);
        }
    }
    static auto most_bytes(std::size_t n) -> std::size_t { return wire_format<T>::bytes(n); }
    static auto pack(void const* from, std::size_t n, std::span<std::byte> to) -> std::size_t {
        return wire_format<T>::pack(static_cast<T const*>(from), n, to);
    }
    static auto unpack(std::span<std::byte const> from, void* to, std::size_t n) -> std::size_t {
        return wire_format<T>::unpack(from, static_cast<T*>(to), n);
    }
    static void save(void const* from, std::size_t n, std::vector<char>& to) {
        auto const* const values = static_cast<T const*>(from);
        if constexpr (requires { archive_format<T>::append(values, n, to); }) {
            archive_format<T>::append(values, n, to);
        } else {
            auto const saved = archive_format<T>::save(values, n);
            to.insert(to.end(), saved.begin(), saved.end());
        }
    }
    static void load(std::span<char const> from, void* to, std::size_t n) {
        archive_format<T>::load(from, static_cast<T*>(to), n);
    }

    static constexpr auto describe() -> element_type {
        element_type made{.size = sizeof(T),
                          .alignment = alignof(T),
                          .wire = element_type::format::bytes,
                          .make = make,
                          .destroy = destroy,
                          .copy = copy,
                          .most_bytes = nullptr,
                          .pack = nullptr,
                          .unpack = nullptr,
                          .save = nullptr,
                          .load = nullptr};
        if constexpr (serializable<T>) {
            made.wire = element_type::format::archived;
            made.save = save;
            made.load = load;
        } else if constexpr (!wire_format<T>::is_bytes) {
            made.wire = element_type::format::packed;
            made.most_bytes = most_bytes;
            made.pack = pack;
            made.unpack = unpack;
        }
        return made;
    }
    static constexpr element_type type = describe();
};

template <class T>
[[nodiscard]] constexpr auto element_type_of() -> element_type const& {
    if constexpr (travels_as_bytes<T>)
        return byte_elements<sizeof(T), alignof(T)>::type;
    else
        return object_elements<T>::type;
}

/// Memory of papcoll's own for elements.
class element_memory {
public:
    element_memory() = default;
    element_memory(element_memory const&) = delete;
    auto operator=(element_memory const&) -> element_memory& = delete;
    ~element_memory() { release(); }

    /// Room for n elements of a type. What is there is used again for bytes alone: of other elements not all
    /// that they hold may arrive.
    void provide(element_type const& type, std::size_t n) {
        bool const reusable = type.wire == element_type::format::bytes;
        if (n == 0 || (m_type == &type && m_count >= n && reusable)) return;
        release();
        m_data = type.make(n);
        m_type = &type;
        m_count = n;
    }
    void release() noexcept {
        if (m_type != nullptr) m_type->destroy(m_data);
        m_type = nullptr;
        m_data = nullptr;
        m_count = 0;
    }
    [[nodiscard]] auto data() const -> std::byte* { return static_cast<std::byte*>(m_data); }
    [[nodiscard]] auto bytes() const -> std::size_t { return m_type != nullptr ? m_count * m_type->size : 0; }

private:
    element_type const* m_type = nullptr;
    void* m_data = nullptr;
    std::size_t m_count = 0;
};

/// A reduction operator on elements of one type. Small operators are kept in place, others are shared.
class combiner {
public:
    combiner() = default;
    template <class T, reduction_operator<T> Op>
    static auto of(Op op) -> combiner {
        combiner result;
        result.set<T>(std::move(op));
        return result;
    }
    /// Of one that is empty.
    template <class T, reduction_operator<T> Op>
    void set(Op op) {
        m_functions = &functions_of<T, Op>;
        if constexpr (is_small<Op>)
            ::new (static_cast<void*>(m_small.data())) Op(std::move(op));
        else
            m_shared = std::make_shared<Op>(std::move(op));
    }

    /// result[i] = op(left[i], right[i]); see papcoll::detail::combine.
    void operator()(void const* left, void const* right, void* result, std::size_t n) {
        m_functions->combine(target(), left, right, result, n);
    }
    /// See combine_alike.
    void alike(void const* left, void const* right, void* result, std::size_t n, void* work) {
        m_functions->alike(target(), left, right, result, n, work);
    }
    /// The same of one element.
    void one(void const* left, void const* right, void* result) {
        m_functions->one(target(), left, right, result);
    }
    /// With an operator of its own.
    [[nodiscard]] auto copy() const -> combiner {
        auto result = *this;
        if (m_shared) result.m_shared = m_functions->copy(m_shared.get());
        return result;
    }
    /// Frees the operator if it is not kept in place.
    void let_go() noexcept {
        if (m_shared) m_shared.reset();
    }
    /// The elements that `work` has room for.
    [[nodiscard]] auto work_elements() const -> std::size_t {
        return m_functions != nullptr ? m_functions->alike_elements : 0;
    }

private:
    struct functions {
        void (*combine)(void* op, void const* left, void const* right, void* result, std::size_t n);
        void (*alike)(void* op, void const* left, void const* right, void* result, std::size_t n, void* work);
        void (*one)(void* op, void const* left, void const* right, void* result);
        std::shared_ptr<void> (*copy)(void const* op);
        std::size_t alike_elements;
    };
    static constexpr std::size_t small_bytes = 16;
    template <class Op>
    static constexpr bool
        is_small = std::is_trivially_copyable_v<Op>&& std::is_trivially_destructible_v<Op> &&
                   sizeof(Op) <= small_bytes && alignof(Op) <= alignof(std::max_align_t);

    template <class T, class Op>
    static void combine_elements(void* op, void const* left, void const* right, void* result, std::size_t n) {
        combine(static_cast<T const*>(left), static_cast<T const*>(right), static_cast<T*>(result), n,
                *static_cast<Op*>(op));
    }
    template <class T, class Op>
    static void combine_elements_alike(void* op, void const* left, void const* right, void* result,
                                       std::size_t n, void* work) {
        combine_alike(static_cast<T const*>(left), static_cast<T const*>(right), static_cast<T*>(result), n,
                      *static_cast<Op*>(op), static_cast<T*>(work));
    }
    template <class Op>
    static auto copy_of(void const* op) -> std::shared_ptr<void> {
        if constexpr (is_small<Op>)
            return nullptr; // it is copied with the rest
        else
            return std::make_shared<Op>(*static_cast<Op const*>(op));
    }
    template <class T, class Op>
    static constexpr functions functions_of{combine_elements<T, Op>, combine_elements_alike<T, Op>,
                                            combine_one<T, Op>, copy_of<Op>, alike_elements<T>};

    [[nodiscard]] auto target() -> void* { return m_shared ? m_shared.get() : m_small.data(); }

    functions const* m_functions = nullptr;
    alignas(std::max_align_t) std::array<std::byte, small_bytes> m_small{};
    std::shared_ptr<void> m_shared;
};

} // namespace papcoll::inline v0::detail
