// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/agreement.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/monitor/synchronised_clock.hpp>
#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>

namespace papcoll::inline v0 {

namespace detail {

/// On the data channel, beside the tags of operations and of the attachment.
inline constexpr int start_tag = tag_count - 2;
static_assert(is_reserved_tag(start_tag) && start_tag != attachment_tag);

template <transport Transport>
class start_agreement final : public operation {
public:
    start_agreement(Transport& t, ticks mine)
        : m_transport(t)
        , m_agreement(mine.count(), last, start_tag) {}

    auto advance(bool block) -> bool override { return m_finished = m_agreement.advance(m_transport, block); }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    auto abandon() noexcept -> bool override { return m_agreement.abandon(m_transport); }
    [[nodiscard]] auto result() const -> ticks { return ticks{m_agreement.result()}; }

private:
    static auto last(std::int64_t a, std::int64_t b) -> std::int64_t { return std::max(a, b); }

    Transport& m_transport;
    agreement<Transport, std::int64_t, std::int64_t (*)(std::int64_t, std::int64_t)> m_agreement;
    bool m_finished = false;
};

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
/// rank has called. Collective over `comm`; papcoll's other operations progress meanwhile. ⌈log2 P⌉ rounds of
/// one small message, which must not take longer than the margin.
template <communicator Comm>
auto agree_on_start(Comm&& comm, synchronised_clock const& clock, ticks margin = std::chrono::milliseconds(4))
    -> ticks {
    auto& transport = detail::usable_transport(comm);
    using agreement = detail::start_agreement<std::remove_cvref_t<decltype(transport)>>;
    auto const op = std::make_shared<agreement>(transport, clock.now() + margin);
    detail::run_to_end(*detail::engine_in(transport), op, transport);
    return op->result();
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
