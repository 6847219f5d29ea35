// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Compiled, never run: check_vectorised.py reads the machine code.
#include <papcoll/operators/combine.hpp>

#include <cstddef>
#include <cstdint>

/// Unknown to the compiler, so calls of it cannot become vector instructions.
extern "C" auto opaque(float x) -> float;

namespace {

/// Each kernel has a type of its own, so that it is compiled where it is used.
template <int Kernel>
struct plus_of {
    template <class T>
    auto operator()(T a, T b) const -> T {
        return a + b;
    }
};

template <int Kernel, class T>
void into_left(T* left, T const* right, std::size_t n) {
    plus_of<Kernel> plus;
    papcoll::detail::combine_into_left(left, right, n, plus);
}
template <int Kernel, class T>
void into_right(T const* left, T* right, std::size_t n) {
    plus_of<Kernel> plus;
    papcoll::detail::combine_into_right(left, right, n, plus);
}

} // namespace

extern "C" {

void addps_into_left(float* left, float const* right, std::size_t n) { into_left<0>(left, right, n); }
void addps_into_right(float const* left, float* right, std::size_t n) { into_right<1>(left, right, n); }
void addps_apart(float const* left, float const* right, float* result, std::size_t n) {
    plus_of<2> plus;
    papcoll::detail::combine_apart(left, right, result, n, plus);
}
void addpd_into_left(double* left, double const* right, std::size_t n) { into_left<3>(left, right, n); }
void paddd_into_left(std::int32_t* left, std::int32_t const* right, std::size_t n) {
    into_left<4>(left, right, n);
}

/// A user's operator that works element by element.
void addps_of_a_lambda(float* left, float const* right, std::size_t n) {
    auto op = [](float a, float b) { return a + b * 0.5F; };
    papcoll::detail::combine_into_left(left, right, n, op);
}

/// Each addition needs the one before it.
void scalar_prefix(float* left, float const* right, std::size_t n) {
    float sum = 0;
    auto op = [&](float a, float b) { return sum += a * opaque(b); };
    papcoll::detail::combine_into_left(left, right, n, op);
}

} // extern "C"
