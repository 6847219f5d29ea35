// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/threads.hpp>

namespace test_support {

/// An endpoint that several threads may use, though one at a time: its engine has a thread of its own.
struct shared_endpoint : papcoll::threads::endpoint {
    explicit shared_endpoint(endpoint const& e)
        : endpoint(e) {}
    [[nodiscard]] static auto concurrent() -> bool { return true; }
    [[nodiscard]] auto borrowed() const -> shared_endpoint { return shared_endpoint(endpoint::borrowed()); }
};
static_assert(papcoll::transport<shared_endpoint>);

} // namespace test_support
