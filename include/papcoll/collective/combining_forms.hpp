// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/operators/operators.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0::detail {

/// The forms of Boost.MPI's all_reduce and scan, each with a policy behind: every rank has n operands and
/// gets n results.
template <collective_kind Operation, bool Blocking>
struct combining_function : collective_forms<Operation, Blocking> {
    using typename collective_forms<Operation, Blocking>::result;

    /// n elements each.
    template <communicator Comm, class T, reduction_operator<T> Op,
              collective_policy<Operation, T, Op> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out, Op op,
                    Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(in, n, out, std::move(op)), policy);
    }
    /// In place.
    template <communicator Comm, in_place_array V, reduction_operator<in_place_array_element<V>> Op,
              collective_policy<Operation, in_place_array_element<V>, Op> Policy = automatic>
    auto operator()(Comm&& comm, V values, std::size_t n, Op op, Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(values, n, std::move(op)), policy);
    }
    /// One element each, in place.
    template <communicator Comm, in_place_value V, reduction_operator<in_place_value_element<V>> Op,
              collective_policy<Operation, in_place_value_element<V>, Op> Policy = automatic>
    auto operator()(Comm&& comm, V value, Op op, Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(value, std::move(op)), policy);
    }
    /// Single values, or std::vectors of equal size on all ranks; `out` is resized.
    template <communicator Comm, argument_value In, reduction_operator<element_of<In>> Op,
              collective_policy<Operation, element_of<In>, Op> Policy = automatic>
    auto operator()(Comm&& comm, In const& in, std::type_identity_t<In>& out, Op op,
                    Policy const& policy = {}) const -> result {
        using of = argument<In>;
        return this->make(
            comm, this->template describe<Policy>(of::data(in), of::size(in), of::place(out), std::move(op)),
            policy);
    }
    /// The same; returns the result.
    template <communicator Comm, argument_value In, reduction_operator<element_of<In>> Op,
              collective_policy<Operation, element_of<In>, Op> Policy = automatic>
    requires Blocking [[nodiscard]] auto operator()(Comm&& comm, In const& in, Op op,
                                                    Policy const& policy = {}) const -> In {
        In out{};
        (*this)(comm, in, out, std::move(op), policy);
        return out;
    }
};

template <collective_kind Operation, class T>
struct plan_combining_function {
    template <communicator Comm, reduction_operator<T> Op, collective_policy<Operation> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Op op, Policy const& policy = {}) const {
        auto call = combining_function<Operation, true>::template described<Policy, T>(std::move(op));
        call.n = n;
        return collective_plan<Comm, T, Operation>(comm, std::move(call), policy);
    }
};

} // namespace papcoll::inline v0::detail
