// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdexcept>
#include <string>

namespace papcoll::inline v0 {

/// Thrown on a rank that got nothing where it needs something, because the operator, or the saving or loading
/// of a value, threw on another rank on the way; that rank throws what went wrong.
struct missing_value_error : std::runtime_error {
    using std::runtime_error::runtime_error;
    /// `peer` sent nothing.
    explicit missing_value_error(int peer)
        : std::runtime_error("papcoll: rank " + std::to_string(peer) +
                             " had no value to send, because it or a rank behind it failed") {}
};

} // namespace papcoll::inline v0
