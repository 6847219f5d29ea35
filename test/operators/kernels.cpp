// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Compiled, never run: check_vectorised.py reads the machine code.
#include <papcoll/operators/combine.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

/// Unknown to the compiler, so calls of it cannot become vector instructions.
extern "C" auto opaque(float x) -> float;

namespace {

std::plus<> plus;

template <class T>
void into_left(T* left, T const* right, std::size_t n) {
    papcoll::detail::combine(left, right, left, n, plus);
}
template <class T>
void into_right(T const* left, T* right, std::size_t n) {
    papcoll::detail::combine(left, right, right, n, plus);
}

} // namespace

extern "C" {

void addps_into_left(float* left, float const* right, std::size_t n) { into_left(left, right, n); }
void addps_into_right(float const* left, float* right, std::size_t n) { into_right(left, right, n); }
void addps_apart(float const* left, float const* right, float* result, std::size_t n) {
    papcoll::detail::combine_apart(left, right, result, n, plus);
}
void addpd_into_left(double* left, double const* right, std::size_t n) { into_left(left, right, n); }
void paddd_into_left(std::int32_t* left, std::int32_t const* right, std::size_t n) {
    into_left(left, right, n);
}

/// A user's operator that works element by element.
void addps_of_a_lambda(float* left, float const* right, std::size_t n) {
    auto op = [](float a, float b) { return a + b * 0.5F; };
    papcoll::detail::combine(left, right, left, n, op);
}

void scalar_into_left(float* left, float const* right, std::size_t n) {
    auto op = [](float a, float b) { return a + opaque(b); };
    papcoll::detail::combine(left, right, left, n, op);
}

} // extern "C"
