// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>

namespace test_support {

/// Whether the tests are built to be run by the sanitizers. What takes them long and is the same code for
/// many sizes is then tried at some of these: what is computed is checked at all of them by the other builds.
#ifdef PAPCOLL_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// How far a test goes: to `all`, and with sanitizers to `some`.
template <class T>
constexpr auto at_most(T all, T some) -> T {
    return sanitized ? some : all;
}

/// Numbers of ranks at which collectives are tried on threads. The MPI tests go up to 13.
#ifdef PAPCOLL_TEST_SANITIZED
inline constexpr std::array thread_counts{1, 2, 3, 5};
#else
inline constexpr std::array thread_counts{1, 2, 3, 5, 7, 8};
#endif

} // namespace test_support
