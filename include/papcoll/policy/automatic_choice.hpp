// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace papcoll::inline v0 {

/// A choice that was found best: the name of a policy and its parameters.
struct tuned_choice {
    /// Its name, as `name()` says it.
    std::string policy;
    /// Size of a block for policies that cut the data; none: their own choice.
    std::optional<std::size_t> block_bytes = {};
    /// k of policies that have a radix, at least 2; none: their own choice.
    std::optional<int> radix = {};

    friend auto operator==(tuned_choice const&, tuned_choice const&) -> bool = default;
};

/// What `automatic` takes for a call.
struct automatic_choice {
    /// The policy, with what it may be told besides.
    tuned_choice choice;
    /// Why, for PAPCOLL_REPORT.
    std::string reason;
};

} // namespace papcoll::inline v0
