// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/node_memory.hpp>
#include <papcoll/executor/contribution.hpp>
#include <papcoll/executor/elements.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace papcoll::inline v0 {

/// What a program works on in one call.
struct call_memory {
    call_memory() = default;
    explicit call_memory(detail::element_type const* of)
        : type(of) {}

    void const* in = nullptr;
    void* out = nullptr;
    detail::element_type const* type = nullptr;
    /// How many values of the type are one element of the program.
    std::size_t unit = 1;
    /// Of a program that combines.
    detail::combiner op;
    /// Of a program with a contribution; its data, where it has some, becomes `in`.
    std::shared_ptr<contribution const> late;
    /// Of a program that uses the memory of the node, and the number of the call.
    detail::node_memory* shared = nullptr;
    std::uint64_t call = 0;
};

} // namespace papcoll::inline v0
