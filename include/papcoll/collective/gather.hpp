// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The forms of Boost.MPI's gather, each with a policy behind.
template <bool Blocking>
struct gather_function : collective_forms<collective_kind::gather, Blocking> {
    using typename collective_forms<collective_kind::gather, Blocking>::result;

    /// n elements each; `out`, a pointer or a std::vector that is resized, counts at the root alone.
    template <communicator Comm, class T, collective_policy<collective_kind::gather, T> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<place_for<T>> out, int root,
                    Policy const& policy = {}) const -> result {
        return to(root, comm, this->template describe<Policy>(in, n, out), policy);
    }
    /// On ranks other than the root.
    template <communicator Comm, class T, collective_policy<collective_kind::gather, T> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, int root, Policy const& policy = {}) const
        -> result {
        return (*this)(comm, in, n, nullptr, root, policy);
    }
    /// At the root, whose elements are at values + root n before.
    template <communicator Comm, in_place_array V,
              collective_policy<collective_kind::gather, in_place_array_element<V>> Policy = automatic>
    auto operator()(Comm&& comm, V values, std::size_t n, int root, Policy const& policy = {}) const
        -> result {
        return to(root, comm, this->template describe<Policy>(values, n), policy);
    }
    /// One element each.
    template <communicator Comm, argument_value T,
              collective_policy<collective_kind::gather, T> Policy = automatic>
    auto operator()(Comm&& comm, T const& in, std::type_identity_t<place_for<T>> out, int root,
                    Policy const& policy = {}) const -> result {
        return (*this)(comm, &in, 1, out, root, policy);
    }
    /// One element, on ranks other than the root.
    template <communicator Comm, argument_value T,
              collective_policy<collective_kind::gather, T> Policy = automatic>
    auto operator()(Comm&& comm, T const& in, int root, Policy const& policy = {}) const -> result {
        return (*this)(comm, &in, 1, nullptr, root, policy);
    }

private:
    template <class Comm, class Policy>
    static auto to(int root, Comm& comm, call_description call, Policy const& policy) -> result {
        call.root = root;
        return gather_function::make(comm, std::move(call), policy);
    }
};

template <class T>
struct plan_gather_function {
    template <communicator Comm, collective_policy<collective_kind::gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, int root,
                                  Policy const& policy = {}) const {
        auto call = gather_function<true>::described<Policy, T>();
        call.n = n;
        call.root = root;
        return collective_plan<Comm, T, collective_kind::gather>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Collects the n elements of every rank at the root: those of rank r at out + r n.
///
///     gather(comm, in, n, out, root[, policy])           n elements; out is a pointer or a std::vector
///     gather(comm, in, n, root[, policy])                the same, on ranks other than the root
///     gather(comm, in, out, root[, policy])              single values
///     gather(comm, in, root[, policy])                   the same, on ranks other than the root
///     gather(comm, inplace(values), n, root[, policy])   at the root, with its own at values + root n
///
/// Must agree on all ranks: n, the root, and the policy with all its members. Elements arrive in place; only
/// the root's own are copied.
///
/// Cost: P − 1 parts over the root's link; with `linear` and `sorted_linear` in as many messages, with
/// `knomial_tree` in fewer, for which inner ranks keep parts of others meanwhile.
///
/// Throws std::invalid_argument, before any message of the operation, for a root that is no rank, null data,
/// a number of elements that memory cannot hold, overlapping buffers and members of the policy that cannot
/// be; with agreed checks on all ranks if it does on any, or if they disagree. A std::vector overlaps `in`
/// where any of its memory does, and is resized as in reduce. Throws mpi_error where MPI fails.
///
///     papcoll::gather(world, mine.data(), mine.size(), all, 0, papcoll::sorted_linear{.arrivals = times});
inline constexpr detail::explained<detail::gather_function<true>> gather{};

/// gather that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::igather(world, mine.data(), n, all.data(), 0);
inline constexpr detail::explained<detail::gather_function<false>> igather{};

/// plan_gather<T>(comm, n, root[, policy]) prepares gathers of n elements of type T per rank, which `run(in,
/// out)`, `run(in)` on ranks other than the root, or `run(inplace(values))` makes. Collective, on an
/// attached `comm` (see attach). Throws as gather does.
///
///     auto collect = papcoll::plan_gather<float>(world, n, 0);
///     collect.run(mine.data(), all.data());
template <class T>
inline constexpr detail::plan_gather_function<T> plan_gather{};

} // namespace papcoll::inline v0
