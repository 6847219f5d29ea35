// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/all_gatherv.hpp>
#include <papcoll/collective/open_request.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <class T>
struct open_all_gatherv_call {
    static constexpr auto operation = collective_kind::all_gather;
    using value_type = T;

    all_gatherv_call<T> whole; // in place
    block_range part;          // this rank's; empty where the sizes are wrong
    std::shared_ptr<contribution> own;
    std::shared_ptr<contribution_place<T>> place = std::make_shared<contribution_place<T>>();

    open_all_gatherv_call(output<T> out, rank_sizes sizes, int rank)
        : whole{nullptr, std::move(out), true, std::move(sizes)}
        , part(part_of(whole.parts, rank))
        , own(std::make_shared<contribution>()) {}

    template <class Policy>
    static constexpr void require() {
        require_transportable<T>();
    }
    [[nodiscard]] auto shape(int ranks, int rank) const -> call_shape {
        auto s = whole.shape(ranks, rank);
        s.late = true;
        return s;
    }
    void check_shape(call_shape const& s) const { whole.check_shape(s); }
    void check_buffers(call_shape const& s) const { whole.check_buffers(s); }
    void make_room(call_shape const& s) const {
        whole.make_room(s);
        *place = {part.size > 0 ? whole.out.data() + part.offset : nullptr, part.size};
    }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of_open<T>(whole.out.data(), own); }

private:
    // An empty part lies nowhere: at its displacement it might seem to lie within another rank's.
    static auto part_of(rank_sizes const& parts, int rank) -> block_range {
        auto const r = static_cast<std::size_t>(rank);
        if (r >= parts.sizes().size() || r >= parts.displacements().size() || parts.sizes()[r] == 0)
            return {0, 0};
        return {parts.displacements()[r], parts.sizes()[r]};
    }
};

struct open_all_gatherv_function {
    /// The parts follow each other.
    template <communicator Comm, class T, counts_range Sizes,
              split_phase_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, T* out, Sizes const& sizes, Policy const& policy = {}) const
        -> open_request<T> {
        return begin_open(comm, open_all_gatherv_call<T>{out, sizes_of(sizes), rank_of(comm)}, policy);
    }
    template <communicator Comm, class T, counts_range Sizes, counts_range Displacements,
              split_phase_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, T* out, Sizes const& sizes, Displacements const& displacements,
                                  Policy const& policy = {}) const -> open_request<T> {
        return begin_open(comm, open_all_gatherv_call<T>{out, sizes_of(sizes, displacements), rank_of(comm)},
                          policy);
    }
    /// `out` is resized to hold all parts, which follow each other.
    template <communicator Comm, class T, counts_range Sizes,
              split_phase_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, std::vector<T>& out, Sizes const& sizes,
                                  Policy const& policy = {}) const -> open_request<T> {
        return begin_open(comm, open_all_gatherv_call<T>{out, sizes_of(sizes), rank_of(comm)}, policy);
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
