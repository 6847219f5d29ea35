// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <chrono>

namespace papcoll::inline v0 {

/// std::chrono::steady_clock.
[[nodiscard]] inline auto steady_now() -> ticks {
    return std::chrono::duration_cast<ticks>(std::chrono::steady_clock::now().time_since_epoch());
}

namespace detail {

/// The transport's clock if it has one: a simulated one's time is not the machine's.
template <class Transport>
[[nodiscard]] auto now_of([[maybe_unused]] Transport const& t) -> ticks {
    if constexpr (requires { t.now(); })
        return t.now();
    else
        return steady_now();
}

} // namespace detail

} // namespace papcoll::inline v0
