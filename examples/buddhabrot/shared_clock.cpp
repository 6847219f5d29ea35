// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "shared_clock.hpp"

#include <chrono>

namespace buddhabrot {

namespace {

using papcoll::ticks;

constexpr int questions = 30;

auto local_now() -> ticks {
    return std::chrono::duration_cast<ticks>(std::chrono::steady_clock::now().time_since_epoch());
}

void answer(boost::mpi::communicator const& world, int peer, ticks origin) {
    for (int i = 0; i < questions; ++i) {
        world.recv(peer, 0);
        world.send(peer, 0, (local_now() - origin).count());
    }
}

/// What to add to the local clock to get that of rank 0.
auto ask(boost::mpi::communicator const& world) -> ticks {
    ticks offset{0};
    auto shortest = ticks::max();
    for (int i = 0; i < questions; ++i) {
        auto const asked = local_now();
        world.send(0, 0);
        ticks::rep answered = 0;
        world.recv(0, 0, answered);
        auto const round_trip = local_now() - asked;
        if (round_trip >= shortest) continue;
        shortest = round_trip;
        offset = ticks(answered) - (asked + round_trip / 2);
    }
    return offset;
}

} // namespace

shared_clock::shared_clock(boost::mpi::communicator const& world) {
    if (world.rank() != 0) {
        m_offset = ask(world);
        return;
    }
    auto const origin = local_now();
    for (int peer = 1; peer < world.size(); ++peer) answer(world, peer, origin);
    m_offset = -origin;
}

auto shared_clock::now() const -> ticks { return local_now() + m_offset; }

} // namespace buddhabrot
