// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>

// The version of papcoll. It is written here and nowhere else: CMake and the recipes for packages read it
// from this file.

#define PAPCOLL_VERSION_MAJOR 0 ///< Before 1.0 a higher minor version may break programs.
#define PAPCOLL_VERSION_MINOR 1 ///< Raised by what is added.
#define PAPCOLL_VERSION_PATCH 0 ///< Raised by what is mended.

namespace papcoll::inline v0 {

/// Three numbers, ordered as versions are.
struct version_number {
    /// PAPCOLL_VERSION_MAJOR; glibc has a macro `major`.
    int major_number;
    /// PAPCOLL_VERSION_MINOR.
    int minor_number;
    /// PAPCOLL_VERSION_PATCH.
    int patch_number;

    friend constexpr auto operator<=>(version_number const&, version_number const&) = default;
};

/// The version of these headers.
///
///     static_assert(papcoll::version >= papcoll::version_number{0, 1, 0});
inline constexpr version_number version{PAPCOLL_VERSION_MAJOR, PAPCOLL_VERSION_MINOR, PAPCOLL_VERSION_PATCH};

} // namespace papcoll::inline v0
