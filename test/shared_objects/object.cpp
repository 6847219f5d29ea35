// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/registry.hpp>
#include <papcoll/executor/message_driver.hpp>

// What this shared object sees of papcoll.
extern "C" {
[[gnu::visibility("default")]] auto registry_of_object() -> void const* {
    return &papcoll::detail::mpi_registry::instance();
}
[[gnu::visibility("default")]] auto driver_of_object() -> void const* {
    return &papcoll::detail::message_driver::instance();
}
}
