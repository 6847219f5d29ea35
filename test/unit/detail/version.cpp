// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/version.hpp>

#include <doctest/doctest.h>

TEST_CASE("versions are ordered by their three numbers") {
    using v = papcoll::version_number;
    static_assert(v{0, 9, 9} < v{1, 0, 0} && v{1, 2, 9} < v{1, 3, 0} && v{1, 2, 3} < v{1, 2, 4});
    static_assert(v{1, 2, 3} == v{1, 2, 3});
    static_assert(papcoll::version == v{PAPCOLL_VERSION_MAJOR, PAPCOLL_VERSION_MINOR, PAPCOLL_VERSION_PATCH});
    CHECK(papcoll::version >= v{0, 1, 0});
}
