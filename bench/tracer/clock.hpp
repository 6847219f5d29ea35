// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>

namespace tracer {

/// At `local` of a rank's clock, rank 0's showed local + offset, up to round_trip / 2. Nanoseconds.
struct clock_reading {
    std::int64_t local = 0;
    std::int64_t offset = 0;
    std::int64_t round_trip = 0;
};

/// The local clock, std::chrono::steady_clock in nanoseconds, which tests can make wrong.
class local_clock {
public:
    /// From now on the clock is `offset` ns ahead and runs `drift` parts per million fast.
    void skew(std::int64_t offset, std::int64_t drift) {
        m_origin = raw();
        m_offset = offset;
        m_drift = drift;
        m_is_skewed = offset != 0 || drift != 0;
    }
    [[nodiscard]] auto now() const -> std::int64_t { return skewed(raw()); }
    /// What this clock shows when the unskewed one shows `time`.
    [[nodiscard]] auto skewed(std::int64_t time) const -> std::int64_t {
        if (!m_is_skewed) return time;
        return time + m_offset + (time - m_origin) / 1000 * m_drift / 1000;
    }

private:
    static auto raw() -> std::int64_t {
        auto const time = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    }

    std::int64_t m_origin = 0;
    std::int64_t m_offset = 0;
    std::int64_t m_drift = 0;
    bool m_is_skewed = false;
};

} // namespace tracer
