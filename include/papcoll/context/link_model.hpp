// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

/// What one message costs between two ranks that do nothing else: latency + bytes × per_byte.
/// Agreed by all ranks of a communicator when papcoll attaches to it.
struct link_model {
    ticks latency{0};
    double per_byte = 0.0; ///< nanoseconds

    [[nodiscard]] auto transfer_time(std::size_t bytes) const -> ticks {
        return latency +
               ticks(static_cast<std::int64_t>(std::llround(per_byte * static_cast<double>(bytes))));
    }
};

} // namespace papcoll::inline v0
