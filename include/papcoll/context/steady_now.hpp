// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <chrono>

namespace papcoll::inline v0 {

/// std::chrono::steady_clock.
[[nodiscard]] inline auto steady_now() -> ticks {
    return std::chrono::duration_cast<ticks>(std::chrono::steady_clock::now().time_since_epoch());
}

} // namespace papcoll::inline v0
