// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

/// What a shared object sees of papcoll.
struct object {
    void const* registry;
    void const* driver;
    void (*throw_missing_value)();
    bool (*catches)(void (*thrower)());
};

auto object_first() -> object;
auto object_second() -> object;
