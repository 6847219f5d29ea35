// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/monitor/synchronised_clock.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>

namespace test_support {

/// The steady clock made wrong: ahead by an offset and too fast by a drift. Its origin is the start of the
/// program, so that doubles are exact enough and clocks of one process can be compared.
struct wrong_clock {
    papcoll::ticks offset{0};
    double drift = 0;

    /// What it shows at a time of the steady clock.
    [[nodiscard]] auto at(papcoll::ticks real) const -> papcoll::ticks {
        auto const gained = drift * static_cast<double>((real - origin()).count());
        return real + offset + papcoll::ticks{static_cast<std::int64_t>(std::llround(gained))};
    }
    [[nodiscard]] auto operator()() const -> papcoll::ticks { return at(papcoll::steady_now()); }

    /// Other seconds and up to ±50 ppm on every rank.
    [[nodiscard]] static auto of_rank(int rank) -> wrong_clock {
        return {std::chrono::seconds(rank % 2 == 0 ? -rank : rank), (rank * 37 % 101 - 50) * 1e-6};
    }

private:
    static auto origin() -> papcoll::ticks {
        static auto const start = papcoll::steady_now();
        return start;
    }
};

} // namespace test_support
