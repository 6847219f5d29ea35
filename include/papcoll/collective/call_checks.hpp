// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/argument_checks.hpp>
#include <papcoll/collective/call_description.hpp>
#include <papcoll/executor/execution.hpp>
#include <papcoll/policy/call_shape.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

// What follows from the description of a call: its shape, whether its arguments are good, where its data
// lies.
namespace papcoll::inline v0::detail {

[[nodiscard]] inline auto is_archived(call_description const& call) -> bool {
    return call.elements->type->wire == element_type::format::archived;
}
/// Whether the call has data of all ranks, in parts, on one side.
[[nodiscard]] inline auto has_equal_parts(call_description const& call) -> bool {
    return !call.parts.given() &&
           (call.operation == collective_kind::gather || call.operation == collective_kind::all_gather ||
            call.operation == collective_kind::reduce_scatter ||
            call.operation == collective_kind::all_to_all || call.operation == collective_kind::scatter);
}
[[nodiscard]] inline auto has_root(collective_kind operation) -> bool {
    return operation == collective_kind::broadcast || operation == collective_kind::reduce ||
           operation == collective_kind::gather || operation == collective_kind::scatter;
}
/// Whether the root alone has the parts of all ranks.
[[nodiscard]] inline auto has_parts_at_root(collective_kind operation) -> bool {
    return operation == collective_kind::gather || operation == collective_kind::scatter;
}

/// Whether this rank gets a result, if maybe an empty one.
[[nodiscard]] inline auto fills_output(call_shape const& shape) -> bool {
    return !has_root(shape.operation) || shape.operation == collective_kind::scatter ||
           shape.rank == shape.root;
}

/// Its spans live as long as a copy of the call.
[[nodiscard]] inline auto shape_of(call_description const& call, int ranks, int rank) -> call_shape {
    call_shape shape{.operation = call.operation, .ranks = ranks, .rank = rank, .root = call.root};
    auto const parts = has_equal_parts(call) ? static_cast<std::size_t>(ranks) : 1;
    auto const size = call.elements->type->size;
    if (is_archived(call)) { // n of them are one element: nobody knows before where they could be cut
        shape.count = call.n > 0 ? parts : 0;
        shape.one_piece = true;
        shape.element_bytes = std::max<std::size_t>(call.n, 1) * size;
    } else {
        shape.count = call.parts.given() ? call.parts.total() : call.n * parts;
        shape.element_bytes = size;
        shape.sizes = call.parts.sizes();
        if (call.operation != collective_kind::reduce_scatter)
            shape.displacements = call.parts.displacements();
        if (call.parts.given() && has_parts_at_root(call.operation) && rank != call.root) {
            shape.sizes = call.parts.own(rank);
            shape.displacements = {};
            shape.count = shape.sizes[0];
        }
        if (call.parts.given() && call.operation == collective_kind::all_to_all) {
            shape.leaving_sizes = call.parts.leaving().sizes;
            shape.leaving_displacements = call.parts.leaving().displacements;
        }
    }
    if (call.operator_traits != nullptr) {
        shape.commutative = call.operator_traits->commutative;
        shape.any_order = call.operator_traits->any_order;
        shape.may_throw = call.operator_traits->may_throw;
        shape.exact = call.operation == collective_kind::all_reduce && call.operator_traits->exact;
    }
    shape.in_place = call.in_place;
    shape.late = call.memory.late != nullptr;
    return shape;
}
/// This rank's part, where parts are gathered or scattered.
[[nodiscard]] inline auto own_part(call_description const& call, int rank) -> block_range {
    if (call.parts.given() && has_parts_at_root(call.operation) && rank != call.root)
        return {0, call.parts.own(rank)[0]};
    if (call.parts.given()) return call.parts.part(rank);
    return {call.n * static_cast<std::size_t>(rank), call.n};
}
/// How many elements `in` has on this rank; see call_description.
[[nodiscard]] inline auto in_count(call_description const& call, call_shape const& shape) -> std::size_t {
    auto const all = call.n * static_cast<std::size_t>(shape.ranks);
    bool const is_root = shape.rank == shape.root;
    switch (call.operation) {
    case collective_kind::broadcast:
    case collective_kind::barrier:
        return 0;
    case collective_kind::reduce:
    case collective_kind::all_reduce:
    case collective_kind::scan:
    case collective_kind::exscan:
        return call.n;
    case collective_kind::gather:
    case collective_kind::all_gather:
        return own_part(call, shape.rank).size;
    case collective_kind::reduce_scatter:
        return shape.count;
    case collective_kind::all_to_all:
        return call.parts.given() ? call.parts.leaving().end() : all;
    case collective_kind::scatter:
        if (!is_root) return 0;
        return call.parts.given() ? call.parts.end() : all;
    }
    return 0;
}
/// How many elements `out` has room for on this rank.
[[nodiscard]] inline auto out_count(call_description const& call, call_shape const& shape) -> std::size_t {
    auto const all = call.n * static_cast<std::size_t>(shape.ranks);
    bool const is_root = shape.rank == shape.root;
    switch (call.operation) {
    case collective_kind::barrier:
        return 0;
    case collective_kind::broadcast:
    case collective_kind::all_reduce:
    case collective_kind::scan:
    case collective_kind::exscan:
        return call.n;
    case collective_kind::reduce:
        return is_root ? call.n : 0;
    case collective_kind::gather:
        if (!is_root) return 0;
        [[fallthrough]];
    case collective_kind::all_gather:
    case collective_kind::all_to_all:
        return call.parts.given() ? call.parts.end() : all;
    case collective_kind::reduce_scatter:
    case collective_kind::scatter:
        return own_part(call, shape.rank).size;
    }
    return 0;
}

/// Throws std::invalid_argument for sizes and displacements.
inline void check_sizes(call_description const& call, call_shape const& shape) {
    auto const size = call.elements->type->size;
    auto const kind = call.operation;
    bool const at_root = has_parts_at_root(kind);
    if (at_root && shape.rank != shape.root) return call.parts.check_own(shape.rank, size);
    if (kind == collective_kind::all_to_all)
        call.parts.check_exchange(shape.ranks, shape.rank, size);
    else
        call.parts.check(shape.ranks, size);
    if (auto const own = call.parts.own(shape.rank)[0], listed = call.parts.part(shape.rank).size;
        at_root && own != listed)
        reject("the root's own elements must be sizes[root] (" + std::to_string(listed) + "), but are " +
               std::to_string(own));
    if (kind != collective_kind::reduce_scatter && kind != collective_kind::scatter) call.parts.check_apart();
}
/// Throws std::invalid_argument for arguments other than buffers.
inline void check_shape(call_description const& call, call_shape const& shape) {
    auto const size = call.elements->type->size;
    if (has_root(call.operation) && (shape.root < 0 || shape.root >= shape.ranks))
        reject("root must be a rank (0 to " + std::to_string(shape.ranks - 1) + "), but is " +
               std::to_string(shape.root));
    if (call.parts.given())
        check_sizes(call, shape);
    else
        check_count(call.n, has_equal_parts(call) ? size * static_cast<std::size_t>(shape.ranks) : size);
    bool const scatters = call.operation == collective_kind::scatter;
    // As in Boost.MPI there may be elements behind the last part.
    bool const may_be_longer = scatters || call.in_kind == call_description::input::at_least;
    if (auto const n = in_count(call, shape); call.in_size != call_description::unknown &&
                                              (may_be_longer ? call.in_size < n : call.in_size != n) &&
                                              !(scatters && shape.rank != shape.root)) {
        auto const count = " (" + std::to_string(n) + ")";
        auto const expected = !call.parts.given() ? "n elements for each rank" + count
                              : call.operation == collective_kind::all_gather
                                  ? "sizes[rank]" + count + " elements"
                                  : "as many elements as the sizes say" + count;
        reject("in must have " + expected + ", but has " + std::to_string(call.in_size));
    }
}
/// Throws std::invalid_argument for null or overlapping buffers.
inline void check_buffers(call_description const& call, call_shape const& shape) {
    bool const gathers =
        call.operation == collective_kind::gather || call.operation == collective_kind::all_gather;
    if (has_parts_at_root(call.operation) && call.in_place && shape.rank != shape.root)
        reject(gathers ? "inplace(values) is for the root; other ranks pass their elements"
                       : "inplace(values) is for the root; other ranks say where their elements go");
    if (call.in_kind == call_description::input::of_others && shape.rank == shape.root)
        reject("the root passes `in`, too: without it the call is that of the other ranks");
    if (call.in_place && call.operation == collective_kind::all_to_all && call.parts.given() &&
        !call.parts.exchanges_in_place())
        reject("sizes and displacements must be the same of what comes and of what goes, in place");
    auto const in = call.memory.late ? 0 : in_count(call, shape);
    auto const out = out_count(call, shape);
    bool const lies_in_out = call.in_place && (gathers || out > 0);
    if (in > 0 && call.memory.in == nullptr && !lies_in_out)
        reject("in must not be null when there are elements");
    if (out > 0 && call.out.is_null()) {
        if (call.operation == collective_kind::broadcast)
            reject("values must not be null when there are elements");
        bool const is_roots = has_root(call.operation) && call.operation != collective_kind::scatter;
        reject(is_roots ? "out must not be null at the root when there are elements"
                        : "out must not be null when there are elements");
    }
    auto const size = call.elements->type->size;
    if (in > 0 && fills_output(shape) && !call.in_place &&
        !call.out.is_apart_from(call.memory.in, in * size, out * size))
        reject("in and out overlap; to work in place pass boost::mpi::inplace(values)");
}
/// What a program of the call works on, where nothing is to be resized.
inline void take_memory(call_description& call) {
    call.memory.out = call.out.data();
    if (is_archived(call)) call.memory.unit = std::max<std::size_t>(call.n, 1);
}
/// Resizes the std::vector that a call fills, if there is one; nothing has been sent then. What a program of
/// the call works on is known then, and the place of late data.
inline void make_room(call_description& call, call_shape const& shape) {
    auto const out = out_count(call, shape);
    if (fills_output(shape)) call.out.make_room(out);
    take_memory(call);
    if (!call.memory.late) return;
    auto const own = own_part(call, shape.rank);
    bool const has_target = own.size > 0 && out > 0;
    call.late_target = has_target
                           ? static_cast<std::byte*>(call.out.data()) + own.offset * call.elements->type->size
                           : nullptr;
    call.late_count = own.size;
}

} // namespace papcoll::inline v0::detail
