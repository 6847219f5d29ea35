// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/operators/operators.hpp>

#include <cstddef>

namespace papcoll::inline v0::detail {

// One loop per place of the result: two pointers that cannot alias let the compiler vectorise without
// run-time checks, which a general three-pointer loop with a result equal to one operand does not.

template <class T, class Op>
void combine_into_left(T* __restrict left, T const* __restrict right, std::size_t n, Op& op) {
    for (std::size_t i = 0; i < n; ++i) left[i] = static_cast<T>(op(left[i], right[i]));
}

template <class T, class Op>
void combine_into_right(T const* __restrict left, T* __restrict right, std::size_t n, Op& op) {
    for (std::size_t i = 0; i < n; ++i) right[i] = static_cast<T>(op(left[i], right[i]));
}

template <class T, class Op>
void combine_apart(T const* __restrict left, T const* __restrict right, T* __restrict result, std::size_t n,
                   Op& op) {
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

} // namespace papcoll::inline v0::detail
