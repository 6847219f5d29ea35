// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/open_request.hpp>
#include <papcoll/collective/sizes.hpp>

#include <utility>

namespace papcoll::inline v0 {

namespace detail {

struct open_all_gatherv_function {
    /// The parts follow each other; `out` is a pointer, or a std::vector that is resized.
    template <communicator Comm, class Out, counts_range Sizes,
              split_phase_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, Out&& out, Sizes const& sizes, Policy const& policy = {}) const
        -> open_request<elements_of_output<Out>> {
        return parts<elements_of_output<Out>>(comm, out, rank_sizes(sizes), policy);
    }
    template <communicator Comm, class T, counts_range Sizes, counts_range Displacements,
              split_phase_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, T* out, Sizes const& sizes, Displacements const& displacements,
                                  Policy const& policy = {}) const -> open_request<T> {
        return parts<T>(comm, out, {sizes, displacements}, policy);
    }

private:
    template <class T, class Comm, class Policy>
    static auto parts(Comm& comm, output const& out, rank_sizes const& sizes, Policy const& policy)
        -> open_request<T> {
        auto call = describe_open<T>(collective_kind::all_gather, out);
        call.parts = sizes;
        return begin_open<T>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Joins an all-gather of sizes[r] elements of each rank r before this rank has its own; see open_all_gather
/// for what that means and who moves the data, all_gatherv for the sizes.
///
///     open_all_gatherv(comm, out, sizes[, displacements][, policy])
///
///     auto gathering = papcoll::open_all_gatherv(world, all, sizes, papcoll::background_circulant{times});
///     compute(mine);
///     gathering.contribute(mine.data());
///     gathering.wait();
///
/// `out` is a pointer, or, without displacements, a std::vector that is resized; the elements of rank r come
/// to out + displacements[r], without displacements one part behind the other. This rank may write its own
/// there and call contribute() without argument. A rank without elements calls contribute() as well, at any
/// time.
///
/// Must agree on all ranks: the sizes, and the policy with all its members. Displacements may differ.
/// background_ring and background_circulant reckon with the largest part for all. Throws as all_gatherv does.
inline constexpr detail::open_all_gatherv_function open_all_gatherv{};

} // namespace papcoll::inline v0
