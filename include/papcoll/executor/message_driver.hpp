// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace papcoll::inline v0::detail {

/// A thread that lets the MPI library see to its messages while the thread that drives the operations is in
/// an operator which takes long and cannot be interrupted. It touches no operation. Made when it is first
/// needed; it sleeps at all other times.
class __attribute__((visibility("default"))) message_driver {
public:
    /// Between two looks.
    static constexpr std::chrono::microseconds pause{50};

    message_driver() = default;
    message_driver(message_driver const&) = delete;
    auto operator=(message_driver const&) -> message_driver& = delete;
    ~message_driver() {
        {
            std::lock_guard const lock(m_mutex);
            m_stopped = true;
            m_changed.notify_one();
        }
        if (m_thread.joinable()) m_thread.join();
    }
    /// The process's own.
    static auto instance() -> message_driver& {
        static message_driver driver;
        return driver;
    }

    /// Calls f(), and look() again and again meanwhile, from the thread. Nobody calls look() any more when it
    /// returns or throws. Of several callers one is served. `look` must not throw.
    template <class F>
    void during(std::function<void()> look, F f) {
        bool const mine = begin(std::move(look));
        struct at_end {
            message_driver* driver;
            ~at_end() {
                if (driver != nullptr) driver->end();
            }
        } const guard{mine ? this : nullptr};
        f();
    }

private:
    auto begin(std::function<void()> look) -> bool {
        std::lock_guard const lock(m_mutex);
        if (m_look) return false;
        try {
            if (!m_thread.joinable()) m_thread = std::thread([this] { run(); });
        } catch (std::system_error const&) {
            return false; // it is an aid, nothing depends on it
        }
        m_look = std::move(look);
        m_changed.notify_one();
        return true;
    }
    void end() {
        std::lock_guard const lock(m_mutex);
        m_look = nullptr;
    }
    void run() {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait(lock, [&] { return m_stopped || m_look; });
            if (m_stopped) return;
            m_look();
            m_changed.wait_for(lock, pause, [&] { return m_stopped; });
        }
    }

    std::mutex m_mutex; // held while it looks
    std::condition_variable m_changed;
    std::thread m_thread;
    std::function<void()> m_look;
    bool m_stopped = false;
};

} // namespace papcoll::inline v0::detail
