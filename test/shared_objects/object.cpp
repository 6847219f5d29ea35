// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/failures.hpp>
#include <papcoll/context/registry.hpp>
#include <papcoll/executor/message_driver.hpp>
#include <papcoll/transport/mpi_error.hpp>

#include <mpi.h>

#include "objects.hpp"

#define PAPCOLL_TEST_JOIN(a, b) a##b
#define PAPCOLL_TEST_NAME(a, b) PAPCOLL_TEST_JOIN(a, b)

namespace {

auto catches(void (*thrower)()) -> bool {
    try {
        thrower();
    } catch (papcoll::missing_value_error const&) {
        return true;
    } catch (...) {
        return false;
    }
    return false;
}

} // namespace

[[gnu::visibility("default")]] auto PAPCOLL_TEST_NAME(object_, PAPCOLL_TEST_OBJECT)() -> object {
    return {&papcoll::detail::mpi_registry::instance(), &papcoll::detail::message_driver::instance(),
            [] { throw papcoll::missing_value_error(1); }, catches};
}
