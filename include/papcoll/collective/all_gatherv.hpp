// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>
#include <papcoll/collective/output.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/collective/sizes.hpp>

#include <boost/mpi/inplace.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <class T>
struct all_gatherv_call {
    static constexpr auto operation = collective_kind::all_gather;
    using value_type = T;

    T const* in; // in place: null
    output<T> out;
    bool in_place;
    rank_sizes parts;

    template <class Policy>
    static constexpr void require() {
        require_transportable<T>();
    }
    void bind(T const* new_in, T* new_out) {
        in = new_in;
        out = new_out;
        in_place = false;
    }
    void bind(boost::mpi::inplace_t<T*> values) {
        in = nullptr;
        out = values.buffer;
        in_place = true;
    }

    [[nodiscard]] auto shape(int ranks, int rank) const -> call_shape {
        call_shape s{.operation = operation, .ranks = ranks, .rank = rank, .root = 0};
        s.in_place = in_place;
        s.count = parts.total();
        s.element_bytes = sizeof(T);
        s.sizes = parts.sizes();
        s.displacements = parts.displacements();
        return s;
    }
    void check_shape(call_shape const& s) const {
        parts.check(s.ranks, sizeof(T));
        check_parts_apart();
    }
    void check_buffers(call_shape const& s) const {
        if (s.count == 0) return;
        if (out.is_null()) reject("out must not be null when there are elements");
        if (in_place || own_size(s.rank) == 0) return;
        if (in == nullptr) reject("in must not be null when the rank has elements");
        if (!out.is_apart_from(in, own_size(s.rank), parts.end()))
            reject("in and out overlap; to gather in place pass boost::mpi::inplace(values)");
    }
    void make_room(call_shape const&) const { out.make_room(parts.end()); }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of<T>(in, out.data()); }
    [[nodiscard]] auto native_operation(MPI_Comm comm) const -> std::shared_ptr<papcoll::operation> {
        return std::make_shared<native_all_gatherv_operation<T>>(comm, native_in(comm), out.data(),
                                                                 parts.sizes(), parts.displacements());
    }
    void native_blocking(MPI_Comm comm) const {
        native_all_gatherv(comm, native_in(comm), out.data(), parts.sizes(), parts.displacements());
    }

private:
    [[nodiscard]] auto own_size(int rank) const -> std::size_t {
        return parts.sizes()[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] auto own(int rank) const -> T* {
        return out.data() + parts.displacements()[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] auto native_in(MPI_Comm comm) const -> T const* {
        return in_place ? own(rank_of(comm)) : in;
    }
    void check_parts_apart() const {
        std::vector<std::pair<std::size_t, std::size_t>> ranges;
        for (std::size_t r = 0; r < parts.sizes().size(); ++r)
            if (parts.sizes()[r] > 0) ranges.emplace_back(parts.displacements()[r], parts.sizes()[r]);
        std::sort(ranges.begin(), ranges.end());
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i - 1].first + ranges[i - 1].second > ranges[i].first)
                reject(
                    "displacements must keep the parts of the ranks apart, but two parts meet at element " +
                    std::to_string(ranges[i].first));
    }
};

/// The forms of Boost.MPI's all_gatherv, each with a policy behind.
template <bool Blocking>
struct all_gatherv_function : collective_forms<Blocking> {
    using typename collective_forms<Blocking>::result;
    template <class P>
    static constexpr bool accepts = collective_policy<P, collective_kind::all_gather>;

    /// sizes[rank] elements; the parts follow each other.
    template <communicator Comm, class T, counts_range Sizes, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::type_identity_t<T>* out, Sizes const& sizes,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_gatherv_call<T>{in, out, false, sizes_of(sizes)}, policy);
    }
    template <communicator Comm, class T, counts_range Sizes, counts_range Displacements,
              class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::type_identity_t<T>* out, Sizes const& sizes,
                    Displacements const& displacements, Policy const& policy = {}) const -> result {
        return this->call(comm, all_gatherv_call<T>{in, out, false, sizes_of(sizes, displacements)}, policy);
    }
    /// In place: each rank's part is where it belongs before.
    template <communicator Comm, class T, counts_range Sizes, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T*> values, Sizes const& sizes,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_gatherv_call<T>{nullptr, values.buffer, true, sizes_of(sizes)}, policy);
    }
    template <communicator Comm, class T, counts_range Sizes, counts_range Displacements,
              class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T*> values, Sizes const& sizes,
                    Displacements const& displacements, Policy const& policy = {}) const -> result {
        return this->call(
            comm, all_gatherv_call<T>{nullptr, values.buffer, true, sizes_of(sizes, displacements)}, policy);
    }
    /// `in` has sizes[rank] elements; `out` is resized to hold all of them.
    template <communicator Comm, class T, counts_range Sizes, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::vector<T>& out, Sizes const& sizes,
                    Policy const& policy = {}) const -> result {
        auto parts = sizes_of(sizes);
        auto const rank = static_cast<std::size_t>(rank_of(comm));
        if (rank < parts.sizes().size() && in.size() != parts.sizes()[rank])
            parts = parts.with_complaint("in must have sizes[rank] (" + std::to_string(parts.sizes()[rank]) +
                                         ") elements, but has " + std::to_string(in.size()));
        return this->call(comm, all_gatherv_call<T>{in.data(), out, false, std::move(parts)}, policy);
    }
};

template <class T>
struct plan_all_gatherv_function {
    template <communicator Comm, counts_range Sizes, class Policy = automatic>
    requires collective_policy<Policy, collective_kind::all_gather>
    [[nodiscard]] auto operator()(Comm const& comm, Sizes const& sizes, Policy const& policy = {}) const {
        return make_plan(comm, all_gatherv_call<T>{nullptr, nullptr, false, sizes_of(sizes)}, policy);
    }
    template <communicator Comm, counts_range Sizes, counts_range Displacements, class Policy = automatic>
    requires collective_policy<Policy, collective_kind::all_gather>
    [[nodiscard]] auto operator()(Comm const& comm, Sizes const& sizes, Displacements const& displacements,
                                  Policy const& policy = {}) const {
        return make_plan(comm, all_gatherv_call<T>{nullptr, nullptr, false, sizes_of(sizes, displacements)},
                         policy);
    }
};

} // namespace detail

/// Collects sizes[r] elements of each rank r on all ranks, at out + displacements[r]; without displacements
/// the parts follow each other.
///
///     all_gatherv(comm, in, out, sizes[, displacements][, policy])
///     all_gatherv(comm, inplace(values), sizes[, displacements][, policy])
///
/// Must agree on all ranks: the sizes (any contiguous range of integers), and the policy with all its
/// members. Displacements may differ. Sizes of zero are welcome. Elements arrive in place; only the rank's
/// own are copied.
///
/// Cost with `circulant` for m bytes in all: ⌈log2 P⌉ rounds of whole parts, or, where the sizes are so
/// uneven that this is shorter, n − 1 + ⌈log2 P⌉ rounds that move m/n at most, for n blocks of each
/// long part.
///
/// Throws std::invalid_argument, before any message of the operation, for sizes or displacements that are
/// negative or not one per rank, parts that overlap, null data, overlapping buffers and members of the policy
/// that cannot be; with agreed checks on all ranks if it does on any, or if they disagree. Throws mpi_error
/// where MPI fails.
///
///     papcoll::all_gatherv(world, mine.data(), all.data(), sizes, papcoll::circulant{});
inline constexpr detail::all_gatherv_function<true> all_gatherv{};

/// all_gatherv that returns at once; the buffers must stay until the request has ended, sizes and
/// displacements need not.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::all_gatherv_function<false> iall_gatherv{};

/// plan_all_gatherv<T>(comm, sizes[, displacements][, policy]) prepares all-gathers of these sizes, which
/// `run(in, out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach).
/// Throws as all_gatherv does.
template <class T>
inline constexpr detail::plan_all_gatherv_function<T> plan_all_gatherv{};

} // namespace papcoll::inline v0
