// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/default_bitset.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>

namespace papcoll::inline v0::detail {

template <class Bits>
struct bitset_in_use {
    using type = Bits;
};
#ifdef PAPCOLL_SEPARATE_COMPILATION
template <>
struct bitset_in_use<compiled_by_papcoll_impl_hpp_bitset> {
    using type = simd_bitset<>;
};
#endif

} // namespace papcoll::inline v0::detail
