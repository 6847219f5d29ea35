// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/agreement.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/monitor/synchronised_clock.hpp>
#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <type_traits>

namespace papcoll::inline v0 {

namespace detail {

/// On the data channel, beside the tags of operations and of the attachment.
inline constexpr int start_tag = tag_count - 2;
static_assert(is_reserved_tag(start_tag) && start_tag != attachment_tag);

} // namespace detail

/// Waits until `clock` shows `when`, and returns how late it was then, at least 0. Sleeps, so that others may
/// have the processor, up to `polled` before; then yields.
inline auto wait_until(synchronised_clock const& clock, ticks when,
                       ticks polled = std::chrono::microseconds(150)) -> ticks {
    for (auto left = when - clock.now(); left > polled; left = when - clock.now())
        std::this_thread::sleep_for(left - polled);
    auto now = clock.now();
    for (; now < when; now = clock.now()) std::this_thread::yield();
    return now - when;
}

/// A time in the near future, the same on all ranks: `margin`, of which the largest counts, after the last
/// rank has called. Collective over `comm`, no messages of papcoll may be under way there; ⌈log2 P⌉ rounds of
/// one small message, which must not take longer than the margin.
template <communicator Comm>
auto agree_on_start(Comm&& comm, synchronised_clock const& clock, ticks margin = std::chrono::milliseconds(4))
    -> ticks {
    auto& transport = transport_of(comm);
    detail::wait_until_ready(transport);
    auto const last = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
    auto const mine = std::int64_t{(clock.now() + margin).count()};
    detail::agreement<std::remove_cvref_t<decltype(transport)>, std::int64_t, decltype(last)> agreement(
        mine, last, detail::start_tag);
    while (!agreement.advance(transport, !transport.concurrent())) transport.idle();
    return ticks{agreement.result()};
}

/// Lets all ranks go on at the same time: they agree on a start and wait for it. Returns how late this rank
/// was, at least 0; more than some microseconds tell that the processor was busy or the margin too small. How
/// far ranks are really apart is the difference of their lateness and of the errors of their clocks.
/// Collective, with the cost of agree_on_start.
template <communicator Comm>
auto harmonize(Comm&& comm, synchronised_clock const& clock, ticks margin = std::chrono::milliseconds(4))
    -> ticks {
    return wait_until(clock, agree_on_start(comm, clock, margin));
}

} // namespace papcoll::inline v0
