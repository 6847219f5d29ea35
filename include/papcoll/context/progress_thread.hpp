// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace papcoll::inline v0 {

/// A thread that takes steps, with pauses, while there is something to do. Made when there first is; it
/// sleeps when a step found nothing to do, until resume().
class progress_thread {
public:
    /// What a look at the operations came to.
    enum class outcome {
        nothing_to_do, ///< and will not be before resume()
        waiting,       ///< nothing could be done now
        progressed
    };
    /// Between two steps: long enough to leave the core to the program, short beside the time of a message
    /// that is worth hiding. After a step that progressed the next one comes sooner, because the messages of
    /// a schedule answer each other.
    static constexpr std::chrono::microseconds pause{200};
    /// How long the thread sleeps between two looks, at first.
    static constexpr std::chrono::microseconds short_pause{50};

    /// `step` must not throw.
    explicit progress_thread(std::function<outcome()> step)
        : m_step(std::move(step)) {}
    progress_thread(progress_thread const&) = delete;
    auto operator=(progress_thread const&) -> progress_thread& = delete;
    ~progress_thread() { stop(); }

    /// There may be something to do. Nothing happens after stop(), nor where the system has no thread to
    /// give: it is an aid, nothing depends on it.
    void resume() {
        std::lock_guard const lock(m_mutex);
        if (m_stopped || m_news) return;
        m_news = true;
        try {
            if (!m_thread.joinable()) m_thread = std::thread([this] { run(); });
        } catch (std::system_error const&) {
            return;
        }
        m_changed.notify_one();
    }
    /// Ends the thread, for ever; waits for the step that it is in.
    void stop() {
        {
            std::lock_guard const lock(m_mutex);
            m_stopped = true;
            m_changed.notify_one();
        }
        if (m_thread.joinable()) m_thread.join();
    }

private:
    void run() {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait(lock, [&] { return m_stopped || m_news; });
            if (m_stopped) return;
            m_news = false;
            lock.unlock();
            auto const result = m_step();
            if (result != outcome::nothing_to_do)
                std::this_thread::sleep_for(result == outcome::progressed ? short_pause : pause);
            lock.lock();
            m_news = m_news || result != outcome::nothing_to_do;
        }
    }

    std::function<outcome()> m_step;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::thread m_thread;
    bool m_news = false; // since the step that found nothing to do
    bool m_stopped = false;
};

} // namespace papcoll::inline v0
