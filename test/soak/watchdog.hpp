// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "drawn.hpp"
#include "options.hpp"

namespace soak {

/// Knows where this rank stands. When nothing has moved for `patience`, or another rank has ended the
/// program, it says so; a second later it ends the program. Also ends it when something is wrong.
class watchdog {
public:
    /// Before MPI is initialised, so that none of its threads takes the signal by which mpirun ends ranks.
    static void claim_signal();

    watchdog(options const& o, int rank, int ranks);
    watchdog(watchdog const&) = delete;
    auto operator=(watchdog const&) -> watchdog& = delete;
    ~watchdog();

    /// This rank is about to do this.
    void enter(std::string doing);
    /// It begins the call, waits for it, …
    void enter(char const* doing, std::shared_ptr<drawn_call const> const& call);
    /// Something has moved.
    void moved() { ++m_moves; }
    void begun(std::shared_ptr<drawn_call const> const& call);
    void ended(std::shared_ptr<drawn_call const> const& call);

    /// Ends the program on all ranks, with where this one stands.
    [[noreturn]] void fail(std::string const& what);

private:
    using clock = std::chrono::steady_clock;

    void watch();
    [[nodiscard]] auto ended_by_others() const -> bool;
    [[nodiscard]] auto standing() -> std::string;
    void say(std::string const& what);
    [[noreturn]] static void abort();

    options m_options;
    int m_rank;
    int m_ranks;
    std::atomic<std::uint64_t> m_moves = 0;
    std::mutex m_mutex;
    std::string m_doing = "starting";
    std::shared_ptr<drawn_call const> m_call;
    std::vector<std::shared_ptr<drawn_call const>> m_under_way;
    std::atomic<bool> m_stop = false;
    std::thread m_thread;
};

} // namespace soak
