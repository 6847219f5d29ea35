// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>

namespace papcoll::inline v0::detail {

/// The tuning table that rank 0's environment names.
struct tuning_text {
    bool named = false;
    /// None when rank 0 cannot read it.
    std::optional<std::string> content = {};
};

} // namespace papcoll::inline v0::detail
