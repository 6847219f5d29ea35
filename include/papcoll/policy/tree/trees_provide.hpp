// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/collective_kind.hpp>

namespace papcoll::inline v0::detail {

/// What trees can do: a value comes up to the root, or goes down from it.
[[nodiscard]] constexpr auto trees_provide(collective_kind operation) -> bool {
    return operation == collective_kind::broadcast || operation == collective_kind::reduce ||
           operation == collective_kind::all_reduce;
}

} // namespace papcoll::inline v0::detail
