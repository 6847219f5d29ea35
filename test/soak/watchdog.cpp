// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "watchdog.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace soak {
namespace {

using namespace std::chrono_literals;

auto termination() -> sigset_t {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    return set;
}

} // namespace

void watchdog::claim_signal() {
    auto const set = termination();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

watchdog::watchdog(options const& o, int rank, int ranks)
    : m_options(o)
    , m_rank(rank)
    , m_ranks(ranks)
    , m_thread([this] { watch(); }) {}
watchdog::~watchdog() {
    m_stop = true;
    m_thread.join();
}

void watchdog::enter(std::string doing) {
    std::lock_guard const lock(m_mutex);
    m_doing = std::move(doing);
    m_call.reset();
    moved();
}
void watchdog::enter(char const* doing, std::shared_ptr<drawn_call const> const& call) {
    std::lock_guard const lock(m_mutex);
    m_doing = doing;
    m_call = call;
    moved();
}
void watchdog::begun(std::shared_ptr<drawn_call const> const& call) {
    std::lock_guard const lock(m_mutex);
    m_under_way.push_back(call);
    moved();
}
void watchdog::ended(std::shared_ptr<drawn_call const> const& call) {
    std::lock_guard const lock(m_mutex);
    std::erase(m_under_way, call);
    moved();
}

void watchdog::fail(std::string const& what) {
    say(what);
    std::this_thread::sleep_for(1s); // others may have found something, too
    abort();
}

void watchdog::watch() {
    auto since = clock::now();
    std::uint64_t seen = 0;
    while (!m_stop) {
        if (ended_by_others()) {
            say("ended by another rank");
            std::_Exit(EXIT_FAILURE);
        }
        if (auto const moves = m_moves.load(); moves != seen) {
            seen = moves;
            since = clock::now();
        } else if (clock::now() - since > std::chrono::duration<double>(m_options.patience)) {
            fail("nothing has moved for " + std::to_string(m_options.patience) + " s");
        }
    }
}
/// Waits a little for the signal.
auto watchdog::ended_by_others() const -> bool {
    auto const set = termination();
    timespec const wait{0, 100'000'000};
    return sigtimedwait(&set, nullptr, &wait) == SIGTERM;
}

auto watchdog::standing() -> std::string {
    std::lock_guard const lock(m_mutex);
    auto text = m_doing + (m_call ? ' ' + words(*m_call) : std::string());
    for (auto const& call : m_under_way)
        if (call != m_call) text += "\n    under way: " + words(*call);
    return text;
}
void watchdog::say(std::string const& what) {
    auto const text = "soak: rank " + std::to_string(m_rank) + " of " + std::to_string(m_ranks) + ", seed " +
                      std::to_string(m_options.seed) + ": " + what + "\n  " + standing() + '\n';
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}
void watchdog::abort() {
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    std::_Exit(EXIT_FAILURE);
}

} // namespace soak
