// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <string_view>

namespace bench {

/// A row of tables 3 and 4 of paper 4: which algorithm had the least mean elapsed time with delays of up to
/// 0, 1, 5, 10, 50, 100 and 500 ms, and its factor over the best that does not know arrivals.
struct published_gathers {
    int ranks;
    int kilofloats;
    std::array<std::string_view, 7> winners;
};

inline constexpr std::array<int, 7> published_delays_ms{0, 1, 5, 10, 50, 100, 500};

inline constexpr std::array<published_gathers, 60> published_tables{{
    {4, 128, {"RING", "RING", "BDR1.15", "BDR1.17", "BDR1.10", "BDR1.07", "BDR1.02"}},
    {4, 256, {"RING", "RING", "BDR1.05", "BDR1.11", "BDR1.14", "BDR1.09", "BDR1.03"}},
    {4, 512, {"BDR1.01", "RING", "RING", "BDR1.07", "BDR1.16", "BDR1.14", "BDR1.04"}},
    {4, 1024, {"RING", "RING", "RING", "RING", "BDR1.12", "BDR1.17", "BDR1.07"}},
    {4, 2048, {"RING", "RING", "RING", "RING", "BDR1.07", "BDR1.09", "BDR1.09"}},
    {8, 128, {"BSLB1.02", "BSLB1.01", "BSLB1.06", "BSLB1.07", "BDR1.02", "BDR1.04", "BDR1.01"}},
    {8, 256, {"RING", "RING", "BSLB1.11", "BSLB1.16", "BDR1.13", "BDR1.10", "BDR1.03"}},
    {8, 512, {"RING", "RING", "BDR1.03", "BDR1.07", "BDR1.10", "BDR1.13", "BDR1.04"}},
    {8, 1024, {"RING", "RING", "RING", "RING", "BDR1.06", "BDR1.11", "BDR1.08"}},
    {8, 2048, {"RING", "BDR1.01", "BDR1.01", "BDR1.02", "BDR1.08", "BDR1.12", "BDR1.12"}},
    {12, 128, {"RING", "RING", "BDR1.36", "BDR1.23", "BDR1.07", "BDR1.02", "RING"}},
    {12, 256, {"RING", "RING", "BDR1.07", "BDR1.07", "BDR1.13", "BDR1.09", "BDR1.03"}},
    {12, 512, {"RING", "RING", "RING", "BDR1.06", "BSLB1.04", "BDR1.14", "BDR1.04"}},
    {12, 1024, {"RING", "RING", "RING", "BDR1.03", "BDR1.11", "BDR1.13", "BDR1.07"}},
    {12, 2048, {"BDR1.03", "BDR1.02", "BDR1.01", "BDR1.02", "BDR1.07", "BDR1.03", "BDR1.11"}},
    {16, 128, {"RING", "RING", "BDR1.43", "BDR1.32", "BDR1.09", "BDR1.02", "RING"}},
    {16, 256, {"LNBC", "BSLB1.02", "BSLB1.09", "BSLB1.15", "BSLB1.01", "BSLB1.01", "LNBC"}},
    {16, 512, {"LNBC", "LNBC", "BSLB1.05", "BSLB1.35", "BSLB1.17", "BSLB1.09", "BSLB1.02"}},
    {16, 1024, {"RING", "RING", "BDR1.02", "RING", "BSLB1.37", "BSLB1.23", "BSLB1.05"}},
    {16, 2048, {"BDR1.02", "BDR1.01", "RING", "BDR1.03", "BDR1.04", "RING", "BDR1.10"}},
    {20, 128, {"NEX", "NEX", "NEX", "BDR1.01", "BDR1.01", "BDR1.01", "NEX"}},
    {20, 256, {"RING", "RING", "BDR1.84", "BDR1.61", "BDR1.18", "BDR1.03", "BDR1.01"}},
    {20, 512, {"LNBC", "LNBC", "BSLB1.17", "BSLB1.30", "BSLB1.14", "BSLB1.10", "BSLB1.02"}},
    {20, 1024, {"RING", "RING", "BDR1.02", "BDR1.03", "BSLB1.30", "BSLB1.24", "BSLB1.05"}},
    {20, 2048, {"BDR1.01", "BDR1.01", "RING", "BDR1.01", "BDR1.04", "RING", "BDR1.10"}},
    {24, 128, {"NEX", "NEX", "NEX", "NEX", "BDR1.01", "BDR1.01", "NEX"}},
    {24, 256, {"RING", "RING", "BDR1.74", "BDR1.74", "BDR1.21", "BDR1.04", "BDR1.01"}},
    {24, 512, {"RING", "RING", "BDR1.03", "BSLB1.13", "BSLB1.26", "BSLB1.15", "BSLB1.04"}},
    {24, 1024, {"RING", "RING", "BDR1.02", "BDR1.03", "BSLB1.40", "BSLB1.24", "BSLB1.05"}},
    {24, 2048, {"RING", "RING", "BDR1.01", "BDR1.02", "BSLB1.17", "BSLB1.23", "BSLB1.11"}},
    {28, 128, {"NEX", "NEX", "NEX", "NEX", "BDR1.01", "BDR1.01", "NEX"}},
    {28, 256, {"RING", "RING", "BDR1.90", "BDR1.74", "BDR1.24", "BDR1.04", "BDR1.01"}},
    {28, 512, {"RING", "RING", "BDR1.04", "BSLB1.06", "BSLB1.25", "BSLB1.16", "BSLB1.03"}},
    {28, 1024, {"RING", "RING", "BDR1.02", "BDR1.04", "BSLB1.24", "BSLB1.21", "BSLB1.05"}},
    {28, 2048, {"RING", "RING", "BDR1.01", "BDR1.02", "BSLB1.16", "BSLB1.23", "BSLB1.12"}},
    {32, 128, {"NEX", "NEX", "NEX", "NEX", "BDR1.01", "BDR1.01", "NEX"}},
    {32, 256, {"RING", "BDR1.01", "BDR1.58", "BDR1.66", "BDR1.23", "BDR1.04", "BDR1.01"}},
    {32, 512, {"LNBC", "LNBC", "BSLB1.13", "BSLB1.12", "BSLB1.03", "LNBC", "BSLB1.01"}},
    {32, 1024, {"RING", "RING", "BDR1.02", "BDR1.04", "BSLB1.31", "BSLB1.20", "BSLB1.05"}},
    {32, 2048, {"RING", "RING", "BDR1.01", "BDR1.01", "BSLB1.19", "BSLB1.16", "BSLB1.13"}},
    {36, 128, {"NEX", "NEX", "NEX", "NEX", "BDR1.01", "NEX", "NEX"}},
    {36, 256, {"NEX", "NEX", "NEX", "NEX", "BDR1.02", "BDR1.01", "NEX"}},
    {36, 512, {"RING", "RING", "BDR1.40", "BDR1.60", "BDR1.40", "BDR1.08", "BDR1.01"}},
    {36, 1024, {"RING", "RING", "BDR1.02", "BDR1.03", "BSLB1.32", "BSLB1.19", "BSLB1.05"}},
    {36, 2048, {"RING", "RING", "BDR1.01", "RING", "BSLB1.32", "BSLB1.48", "BSLB1.17"}},
    {40, 128, {"NEX", "NEX", "NEX", "NEX", "NEX", "NEX", "NEX"}},
    {40, 256, {"NEX", "NEX", "NEX", "NEX", "BDR1.01", "BDR1.01", "NEX"}},
    {40, 512, {"RING", "RING", "BDR1.40", "BDR1.36", "BDR1.41", "BDR1.09", "BDR1.01"}},
    {40, 1024, {"RING", "RING", "BDR1.02", "BDR1.03", "BSLB1.25", "BSLB1.19", "BSLB1.06"}},
    {40, 2048, {"RING", "RING", "RING", "BDR1.01", "BSLB1.33", "BSLB1.25", "BSLB1.18"}},
    {44, 128, {"NEX", "NEX", "NEX", "NEX", "NEX", "NEX", "NEX"}},
    {44, 256, {"NEX", "NEX", "NEX", "NEX", "BDR1.01", "BDR1.01", "NEX"}},
    {44, 512, {"RING", "BDR1.02", "BSLB1.31", "BDR1.43", "BDR1.40", "BDR1.11", "BDR1.01"}},
    {44, 1024, {"LNBC", "BSLB1.02", "BSLB1.17", "BSLB1.17", "BSLB1.05", "BSLB1.04", "BSLB1.01"}},
    {44, 2048, {"RING", "RING", "BDR1.01", "BDR1.01", "BSLB1.53", "BSLB1.48", "BSLB1.15"}},
    {48, 128, {"NEX", "NEX", "NEX", "NEX", "NEX", "NEX", "NEX"}},
    {48, 256, {"NEX", "NEX", "NEX", "NEX", "NEX", "BDR1.01", "NEX"}},
    {48, 512, {"RING", "BDR1.04", "BDR1.28", "BDR1.39", "BDR1.37", "BDR1.12", "BDR1.01"}},
    {48, 1024, {"RING", "RING", "BDR1.02", "BDR1.03", "BSLB1.67", "BSLB1.41", "BSLB1.12"}},
    {48, 2048, {"RING", "RING", "BDR1.01", "BDR1.01", "BSLB1.52", "BSLB1.46", "BSLB1.20"}},
}};

} // namespace bench
