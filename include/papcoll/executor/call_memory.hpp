// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/contribution.hpp>
#include <papcoll/executor/elements.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace papcoll::inline v0 {

namespace detail {

class node_memory; // see context/node_memory.hpp

} // namespace detail

/// What a program works on in one call.
struct call_memory {
    call_memory() = default;
    /// Elements of this type, which must stay.
    explicit call_memory(detail::element_type const* of)
        : type(of) {}

    /// The data that this rank gives.
    void const* in = nullptr;
    /// Where the result goes.
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
    /// The number of the call on its communicator.
    std::uint64_t call = 0;
    /// Of serialized values: calls that belong together have the same.
    std::uint64_t key = 0;
};

namespace detail {

/// Throws unless a program that uses the memory of the node can be executed for this call.
inline void check_shared(call_memory const& with) {
    if (with.shared == nullptr)
        throw std::logic_error("papcoll: the plan needs memory that the ranks of a node share");
    if (with.type->wire != element_type::format::bytes)
        throw std::logic_error("papcoll: the policy's plan shares elements that are more than their bytes");
}

} // namespace detail

} // namespace papcoll::inline v0
