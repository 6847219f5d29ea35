// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdlib>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#endif

namespace test_support {

/// Bytes that this process has allocated; 0 where the C library does not say.
inline auto used_memory() -> double {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    auto const info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

} // namespace test_support
