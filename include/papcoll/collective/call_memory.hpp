// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/elements.hpp>
#include <papcoll/executor/execution.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/policy/call_shape.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace papcoll::inline v0::detail {

/// Writes into a shape that there are `parts` times n elements. Where they must be serialized, the n of a
/// part are one element: nobody knows before where they could be cut.
template <class T>
void set_elements(call_shape& shape, std::size_t n, std::size_t parts = 1) {
    shape.count = serializable<T> ? (n > 0 ? parts : 0) : n * parts;
    shape.one_piece = serializable<T>;
    shape.element_bytes = serializable<T> ? std::max<std::size_t>(n, 1) * sizeof(T) : sizeof(T);
}

/// What the program of a call works on; n as for set_elements.
template <class T>
[[nodiscard]] auto memory_of(T const* in, T* out, std::size_t n = 1) -> call_memory {
    return {in, out, &element_type_of<T>(), serializable<T> ? std::max<std::size_t>(n, 1) : 1};
}
template <class T, class Op>
[[nodiscard]] auto memory_of(T const* in, T* out, std::size_t n, Op const& op) -> call_memory {
    auto memory = memory_of<T>(in, out, n);
    memory.op = combiner::of<T>(op);
    return memory;
}

} // namespace papcoll::inline v0::detail
