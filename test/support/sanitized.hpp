// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace test_support {

/// Whether the tests are built to be run by the sanitizers. What takes them long and is the same code for
/// many sizes is then tried at some of these: what is computed is checked at all of them by the other builds.
#ifdef PAPCOLL_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

} // namespace test_support
