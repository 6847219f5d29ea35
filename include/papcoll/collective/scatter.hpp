// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The forms of Boost.MPI's scatter, each with a policy behind.
template <bool Blocking>
struct scatter_function : collective_forms<collective_kind::scatter, Blocking> {
    using typename collective_forms<collective_kind::scatter, Blocking>::result;

    /// n elements each; `in` counts at the root alone. `out` is a pointer or a std::vector that is resized.
    template <communicator Comm, class T, collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::type_identity_t<place_for<T>> out, std::size_t n, int root,
                    Policy const& policy = {}) const -> result {
        return to_all(root, comm, this->template describe<Policy>(in, n, out), policy);
    }
    template <communicator Comm, class T, collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::type_identity_t<place_for<T>> out,
                    std::size_t n, int root, Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy>(in.data(), n, out);
        call.in_size = in.size();
        return to_all(root, comm, std::move(call), policy);
    }
    /// On ranks other than the root.
    template <communicator Comm, class T, std::integral N,
              collective_policy<collective_kind::scatter> Policy = automatic>
    requires(!std::is_const_v<T>) auto operator()(Comm&& comm, T* out, N n, int root,
                                                  Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy, T>(nullptr, static_cast<std::size_t>(n), out);
        call.in_kind = call_description::input::of_others;
        return to_all(root, comm, std::move(call), policy);
    }
    /// At the root, whose elements at values + root n stay there.
    template <communicator Comm, in_place_array V,
              collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, V values, std::size_t n, int root, Policy const& policy = {}) const
        -> result {
        return to_all(root, comm, this->template describe<Policy>(values, n), policy);
    }
    /// One element each.
    template <communicator Comm, class T, collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::type_identity_t<T>& out, int root,
                    Policy const& policy = {}) const -> result {
        return to_all(root, comm, this->template describe<Policy>(in, 1, output(&out)), policy);
    }
    template <communicator Comm, class T, collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::type_identity_t<T>& out, int root,
                    Policy const& policy = {}) const -> result {
        return (*this)(comm, in, &out, 1, root, policy);
    }
    /// One element, on ranks other than the root.
    template <communicator Comm, argument_value T,
              collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, T& out, int root, Policy const& policy = {}) const -> result {
        return (*this)(comm, &out, 1, root, policy);
    }

private:
    template <class Comm, class Policy>
    static auto to_all(int root, Comm& comm, call_description call, Policy const& policy) -> result {
        call.root = root;
        return scatter_function::make(comm, std::move(call), policy);
    }
};

template <class T>
struct plan_scatter_function {
    template <communicator Comm, collective_policy<collective_kind::scatter> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, int root,
                                  Policy const& policy = {}) const {
        auto call = scatter_function<true>::described<Policy, T>();
        call.n = n;
        call.root = root;
        return collective_plan<Comm, T, collective_kind::scatter>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Gives each rank n elements of the root's: those at in + r n to rank r.
///
///     scatter(comm, in, out, n, root[, policy])          n elements; each a pointer or a std::vector
///     scatter(comm, out, n, root[, policy])              the same, on ranks other than the root
///     scatter(comm, in, value, root[, policy])           single values
///     scatter(comm, value, root[, policy])               the same, on ranks other than the root
///     scatter(comm, inplace(values), n, root[, policy])  at the root, whose own stay at values + root n
///
/// Must agree on all ranks: n, the root, and the policy with all its members. Elements arrive in place; only
/// the root's own are copied.
///
/// Cost: P − 1 parts over the root's link; with `linear` in as many messages, with `knomial_tree` in
/// fewer, for which inner ranks keep parts of others meanwhile.
///
/// Throws std::invalid_argument, before any message of the operation, for a root that is no rank, null data,
/// a number of elements that memory cannot hold, overlapping buffers and members of the policy that cannot
/// be; with agreed checks on all ranks if it does on any, or if they disagree. A std::vector overlaps `in`
/// where any of its memory does, and is resized as in reduce. Throws mpi_error where MPI fails.
///
/// Values without an MPI datatype travel serialized, see reduce for which they are.
///
///     papcoll::scatter(world, all.data(), mine.data(), mine.size(), 0);
inline constexpr detail::explained<detail::scatter_function<true>> scatter{};

/// scatter that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::iscatter(world, all.data(), mine.data(), n, 0);
inline constexpr detail::explained<detail::scatter_function<false>> iscatter{};

/// plan_scatter<T>(comm, n, root[, policy]) prepares scatters of n elements of type T for each rank, which
/// `run(in, out)`, `run(out)` on ranks other than the root, or `run(inplace(values))` makes. Collective, on
/// an attached `comm` (see attach). Throws as scatter does.
///
///     auto deal_out = papcoll::plan_scatter<float>(world, n, 0);
///     deal_out.run(all.data(), mine.data());
template <class T>
inline constexpr detail::plan_scatter_function<T> plan_scatter{};

} // namespace papcoll::inline v0
