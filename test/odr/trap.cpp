// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Two definitions that must not be shared, for check_symbols.py to find: one calls another function in each
// translation unit, one uses other registers.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace papcoll_trap {

template <int Bytes>
struct arch {
    static auto lanes() -> int { return Bytes; }
};

#if defined(__AVX2__)
using default_arch = arch<32>;
#else
using default_arch = arch<16>;
#endif

inline auto lanes() -> int { return default_arch::lanes(); }

inline void fill([[maybe_unused]] float* values) {
#if defined(__AVX2__)
    _mm256_storeu_ps(values, _mm256_set1_ps(1.0F));
#endif
}

} // namespace papcoll_trap

namespace PAPCOLL_TEST_VARIANT {

auto use(float* values) -> int;
auto use(float* values) -> int {
    papcoll_trap::fill(values);
    return papcoll_trap::lanes();
}

} // namespace PAPCOLL_TEST_VARIANT
