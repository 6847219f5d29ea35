// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/operators/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace papcoll::inline v0::detail {

// One loop per place of the result: two pointers that cannot alias let the compiler vectorise without
// run-time checks, which a general three-pointer loop with a result equal to one operand does not. Arithmetic
// types go by a cache line at a time, since GCC's -O2 vectorises loops of known length alone.

template <class T>
inline constexpr std::size_t together = std::is_arithmetic_v<T> ? 64 / sizeof(T) : 1;

template <class T, class Op>
void combine_into_left(T* __restrict left, T const* __restrict right, std::size_t n, Op& op) {
    for (; n >= together<T>; n -= together<T>, left += together<T>, right += together<T>)
        for (std::size_t i = 0; i < together<T>; ++i) left[i] = static_cast<T>(op(left[i], right[i]));
    for (std::size_t i = 0; i < n; ++i) left[i] = static_cast<T>(op(left[i], right[i]));
}

template <class T, class Op>
void combine_into_right(T const* __restrict left, T* __restrict right, std::size_t n, Op& op) {
    for (; n >= together<T>; n -= together<T>, left += together<T>, right += together<T>)
        for (std::size_t i = 0; i < together<T>; ++i) right[i] = static_cast<T>(op(left[i], right[i]));
    for (std::size_t i = 0; i < n; ++i) right[i] = static_cast<T>(op(left[i], right[i]));
}

template <class T, class Op>
void combine_apart(T const* __restrict left, T const* __restrict right, T* __restrict result, std::size_t n,
                   Op& op) {
    for (; n >= together<T>;
         n -= together<T>, left += together<T>, right += together<T>, result += together<T>)
        for (std::size_t i = 0; i < together<T>; ++i) result[i] = static_cast<T>(op(left[i], right[i]));
    for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<T>(op(left[i], right[i]));
}

/// result[i] = op(left[i], right[i]) for i < n. The result is one of the operands or apart from both; the
/// operands do not overlap.
template <class T, reduction_operator<T> Op>
void combine(T const* left, T const* right, T* result, std::size_t n, Op& op) {
    if (result == left)
        combine_into_left(result, right, n, op);
    else if (result == right)
        combine_into_right(left, result, n, op);
    else
        combine_apart(left, right, result, n, op);
}

/// How many elements combine_alike works on at once: the first-level cache holds them beside the operands.
template <class T>
inline constexpr std::size_t alike_elements = std::max<std::size_t>(1024 / sizeof(T), 1);

/// What combine_alike does with one element, that of all ranks or the last of them: `op` is an Op, the others
/// are of type T.
template <class T, class Op>
[[gnu::noinline]] void combine_one(void* op, void const* left, void const* right, void* result) {
    *static_cast<T*>(result) =
        static_cast<T>((*static_cast<Op*>(op))(*static_cast<T const*>(left), *static_cast<T const*>(right)));
}

/// As combine, and the same bits wherever the result goes. Compilers may swap the operands of a sum, each
/// kernel's in its own way, and of two NaNs the first operand decides the result; in the same way products
/// and sums may be fused. So ranks that must agree combine by one kernel alone, into `work`, which has room
/// for alike_elements<T> or n elements and is aligned alike on all ranks, and from there into the result.
template <class T, reduction_operator<T> Op>
[[gnu::noinline]] void combine_alike(T const* left, T const* right, T* result, std::size_t n, Op& op,
                                     T* work) {
    for (std::size_t i = 0; i < n; i += alike_elements<T>) {
        auto const k = std::min(alike_elements<T>, n - i);
        if (k == 1) {
            combine_one<T, Op>(&op, left + i, right + i, result + i);
            continue;
        }
        combine_apart(left + i, right + i, work, k, op);
        std::move(work, work + k, result + i);
    }
}

} // namespace papcoll::inline v0::detail
