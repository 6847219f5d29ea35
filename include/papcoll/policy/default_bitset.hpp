// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/scheduler/bitset/simd_bitset.hpp>
#endif

namespace papcoll::inline v0::detail {

#ifdef PAPCOLL_SEPARATE_COMPILATION
/// Stands for the bitset of the processor that <papcoll/impl.hpp> is compiled for, whatever that of other
/// files is.
struct compiled_by_papcoll_impl_hpp_bitset;
using default_bitset = compiled_by_papcoll_impl_hpp_bitset;
#else
using default_bitset = simd_bitset<>;
#endif

} // namespace papcoll::inline v0::detail
