// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/output.hpp>
#include <papcoll/collective/sizes.hpp>
#include <papcoll/executor/call_memory.hpp>
#include <papcoll/executor/elements.hpp>
#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/executor/native/operator.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/collective_kind.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0::detail {

/// What a call must know of its elements.
struct element_description {
    element_type const* type;
    /// Boost.MPI makes a type's datatype when it is first asked for one, which two threads must not do at
    /// once: it is asked for in the thread that calls. Null where there is none.
    void (*prepare)();
    /// For the MPI library; null where elements travel serialized.
    native_handle (*datatype)();
};
/// What a call must know of its operator beside how to call it.
struct operator_description {
    bool commutative;
    bool exact;
    bool any_order;
    bool may_throw;
    MPI_Op (*known)(); // MPI's own; null: none
};

template <class T>
void prepare_datatype() {
    (void)wire_format<T>::bytes(0);
}
template <class T>
[[nodiscard]] constexpr auto describe_element() -> element_description {
    element_description result{&element_type_of<T>(), nullptr, nullptr};
    if constexpr (transportable<T> && has_native_type<T>) result.datatype = native_type<T>;
    if constexpr (transportable<T> && !travels_as_bytes<T>) result.prepare = prepare_datatype<T>;
    return result;
}
template <class T>
inline constexpr element_description described_element = describe_element<T>();
template <class T, class Op>
inline constexpr operator_description described_operator{
    is_commutative<Op, T>::value, is_exactly_associative<Op, T>::value && !serializable<T>,
    combines_in_any_order<Op, T>::value && !serializable<T>,
    !is_known_operator<T, Op> && !std::is_nothrow_invocable_v<Op&, T const&, T const&>,
    known_operator_of<T, Op>()};

/// What tells a call from others, beside its buffers, its sizes and its policy.
struct call_identity {
    element_description const* elements;
    operator_description const* operator_traits = nullptr; // null: there is none
    std::size_t n = 0;
    collective_kind operation;
    int root = 0;
    bool in_place = false;

    /// In one number, which is compared at once.
    [[nodiscard]] auto kind_and_root() const -> std::uint64_t {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 32U |
               static_cast<std::uint32_t>(operation);
    }
    [[gnu::always_inline]] friend auto operator==(call_identity const& a, call_identity const& b) -> bool {
        return a.elements == b.elements && a.operator_traits == b.operator_traits && a.n == b.n &&
               a.kind_and_root() == b.kind_and_root() && a.in_place == b.in_place;
    }
};

/// One call of a collective on one rank, as its front was given it; whatever type the elements and the
/// operator have, what comes behind works on this.
///
/// The buffers of the collectives, in elements of rank r, of P ranks; `parts` give r's own, its sizes and
/// where they begin, else each rank has n:
///
///                      in                 out
///     broadcast        -                  n
///     reduce           n                  n at the root
///     all_reduce       n                  n
///     gather           own                all parts at the root
///     all_gather       own                all parts
///     reduce_scatter   all parts          own
///     all_to_all       all that leave     all that come
///     scatter          all parts          own
///                      at the root
///     scan, exscan     n                  n
///     barrier          -                  -
///
/// `memory.in` is `in`. In place it is `out`, but where it is gathered: there it is null.
struct call_description : call_identity {
    static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

    /// `out` of it is known once there is room.
    call_memory memory;
    output out;
    rank_sizes parts;
    /// Where `in` is a vector or a value: how many elements it has.
    std::size_t in_size = unknown;
    /// What `in` must be: as long as the call says, at least so long, or, in the form of ranks other than the
    /// root, nothing.
    enum class input : std::uint8_t { exact, at_least, of_others } in_kind = input::exact;
    /// Which of the candidates of its policy it takes, and whether to learn about it; see learned_shape.
    std::size_t candidate = 0;
    bool on_trial = false;
    /// Where data that comes later belongs, once the arguments have been found good.
    void* late_target = nullptr;
    std::size_t late_count = 0;

    // As an aggregate it would be cleared as a whole first, which takes longer than all the rest of it.
    call_description(collective_kind what, element_description const* of_elements)
        : call_identity{.elements = of_elements, .operation = what}
        , memory(of_elements->type) {}
    template <class T>
    [[nodiscard]] static auto of(collective_kind operation) -> call_description {
        return {operation, &described_element<std::remove_const_t<T>>};
    }
    template <class T, class Op>
    [[nodiscard]] static auto of(collective_kind operation, Op op) -> call_description {
        auto call = of<T>(operation);
        call.operator_traits = &described_operator<T, Op>;
        call.memory.op.template set<T>(std::move(op));
        return call;
    }
};

} // namespace papcoll::inline v0::detail
