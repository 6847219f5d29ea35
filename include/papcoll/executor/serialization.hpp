// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/failures.hpp>
#include <papcoll/executor/buffers.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// How values travel whose size differs from rank to rank: `save(values, n)` turns n values into a
/// std::vector<char>, `load(std::span<char const>, values, n)` reads them back into values that exist. Both
/// may throw. An `append(values, n, std::vector<char>&)` is taken in place of `save` where there is one,
/// which saves behind what is in the vector. papcoll/papcoll.hpp specialises it, by Boost.Serialization, for
/// default-constructible types without an MPI datatype.
template <class T>
struct archive_format;

/// Types that travel serialized, as one piece.
template <class T>
concept serializable = !transportable<T> && requires(T const* from, T* to, std::span<char const> bytes) {
    { archive_format<T>::save(from, std::size_t(1)) } -> std::same_as<std::vector<char>>;
    archive_format<T>::load(bytes, to, std::size_t(1));
};

namespace detail {

/// Serialized values, or none where a rank has failed. Cheap to copy; what it holds does not change.
class content {
public:
    content() = default;
    explicit content(std::vector<char> bytes)
        : m_holder(std::make_shared<std::vector<char> const>(std::move(bytes)))
        , m_bytes(*m_holder) {}
    content(std::shared_ptr<std::vector<char> const> holder, std::size_t begin, std::size_t count)
        : m_holder(std::move(holder))
        , m_bytes(std::span(*m_holder).subspan(begin, count)) {}

    [[nodiscard]] auto is_missing() const -> bool { return m_holder == nullptr; }
    [[nodiscard]] auto bytes() const -> std::span<char const> { return m_bytes; }

private:
    std::shared_ptr<std::vector<char> const> m_holder;
    std::span<char const> m_bytes;
};

} // namespace detail

} // namespace papcoll::inline v0
