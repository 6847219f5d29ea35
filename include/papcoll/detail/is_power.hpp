// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace papcoll::inline v0::detail {

/// Whether n is base^j for some j; n ≥ 1, base ≥ 2.
[[nodiscard]] inline auto is_power(int n, int base) -> bool {
    while (n % base == 0) n /= base;
    return n == 1;
}

} // namespace papcoll::inline v0::detail
