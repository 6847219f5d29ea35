// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/open_request.hpp>

#include <cstddef>
#include <utility>

namespace papcoll::inline v0 {

namespace detail {

struct open_all_gather_function {
    /// n elements each; `out` is a pointer, or a std::vector that is resized.
    template <communicator Comm, class Out,
              split_phase_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, Out&& out, std::size_t n, Policy const& policy = {}) const
        -> open_request<elements_of_output<Out>> {
        using element = elements_of_output<Out>;
        auto call = describe_open<element>(collective_kind::all_gather, out);
        call.n = n;
        return begin_open<element>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Joins an all-gather of n elements per rank before this rank has its own. The MPI standard has no such
/// call: there a rank takes part from its call on, and calls with its data in hand. Here data of ranks that
/// are early passes through those that still compute:
///
///     auto gathering = papcoll::open_all_gather(world, all, n, papcoll::background_ring{.arrivals = times});
///     compute(mine);                        // meanwhile the parts of ranks that are ready arrive in `all`
///     gathering.contribute(mine.data());    // now this rank is ready, too
///     gathering.wait();                     // `all` is complete
///
/// Arrivals may also come from an arrival_monitor, by `.arrivals = monitor`: called at the beginning of an
/// iteration, the all-gather waits in the background until all ranks have predicted their arrivals of this
/// iteration, and plans then. Neither this call nor the question ends the computation that the monitor
/// watches; contribute() does. Only a policy's member of the name `arrivals` is waited for in this way.
///
/// `out` (a pointer, or a std::vector that is resized) has n elements of each rank, those of rank r at
/// out + r n. This rank may write its own there and call contribute() without argument. All else in `out`
/// must be left alone from this call to the end.
///
/// Must agree on all ranks: n, and the policy with all its members, arrivals included, or the monitor. It
/// counts as one collective in the order of those on `comm`, at this call; others may be called meanwhile. A
/// rank may wait for others before it contributes as little as anywhere else: no rank can end before all have
/// contributed.
///
/// Progress before contribute(): with MPI_THREAD_MULTIPLE a thread of papcoll's looks for messages, about
/// every 0.2 ms, while such an operation is under way, and sleeps in between; it ends with MPI. At lower
/// levels, and over other transports, messages move while the program is in test() or wait() of any papcoll
/// request: call test() now and then. Either way the result is the same, and ranks may differ in it.
///
/// All policies for all-gathers but `native` will do. background_ring, background_circulant and sorted_linear
/// are made for it. Cost: that of the policy; the thread costs a computing program some microseconds per
/// look.
///
/// Throws as all_gather does.
inline constexpr detail::open_all_gather_function open_all_gather{};

} // namespace papcoll::inline v0
