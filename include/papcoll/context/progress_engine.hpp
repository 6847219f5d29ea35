// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/progress_thread.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace papcoll::inline v0 {

/// An operation in progress: a state machine that a progress engine drives.
class operation {
public:
    operation() = default;
    operation(operation const&) = delete;
    auto operator=(operation const&) -> operation& = delete;
    virtual ~operation() = default;

    /// Does what can be done now and returns whether anything was. With `block` it may wait for the next
    /// message of this operation. Throws when the operation cannot be completed.
    virtual auto advance(bool block) -> bool = 0;
    /// Nothing is left to do: no message is under way and no buffer is touched any more.
    [[nodiscard]] virtual auto finished() const -> bool = 0;
    /// What went wrong although the communication was completed.
    [[nodiscard]] virtual auto failure() const -> std::exception_ptr { return nullptr; }
    /// Called once when advance threw: gives up the messages under way. True when their buffers, which the
    /// operation owns, may still be touched.
    virtual auto abandon() noexcept -> bool { return false; }
};

/// Drives all operations of one process, or of one rank among threads. They progress together whoever waits,
/// so ranks may wait for their operations in different orders. At any moment one thread drives; the others
/// sleep.
class progress_engine {
public:
    /// `concurrent`: whether several threads may drive, one at a time.
    explicit progress_engine(bool concurrent)
        : m_concurrent(concurrent)
        , m_background([this] { return drive_in_background(); }) {}

    /// Begins `op`, without blocking.
    void start(std::shared_ptr<operation> const& op) {
        add(op);
        test(*op);
    }
    /// From now on `op` progresses with the others.
    void add(std::shared_ptr<operation> const& op) {
        std::lock_guard const lock(m_mutex);
        m_active.push_back({op, nullptr});
    }
    /// Progresses without blocking; true when `op` has ended.
    auto test(operation const& op) -> bool {
        std::unique_lock lock(m_mutex);
        if (!ended(op) && !m_driving) drive(lock, false);
        return ended(op);
    }
    /// Calls `idle` when nothing could be done, until `op` has ended.
    template <class Idle>
    void wait(operation const& op, Idle idle) {
        std::unique_lock lock(m_mutex);
        ++m_waiters;
        while (!ended(op)) {
            if (m_driving) {
                m_changed.wait(lock);
            } else if (!drive(lock, true) && !ended(op)) {
                lock.unlock();
                idle();
                lock.lock();
            }
        }
        if (--m_waiters == 0) m_background.resume();
    }
    /// Runs `op` from its beginning to its end and returns its failure; `idle` as for wait. Nothing needs to
    /// be shared with others where there are none.
    template <class Idle>
    auto run(std::shared_ptr<operation> const& op, Idle idle) -> std::exception_ptr {
        if (m_concurrent || !m_active.empty()) {
            add(op);
            wait(*op, idle);
            return retire(*op);
        }
        entry alone{op, nullptr};
        while (!alone.ended)
            if (!advance(alone, true)) idle();
        if (alone.wreck) m_wrecks.push_back(op);
        return alone.failure ? alone.failure : op->failure();
    }
    /// Whether several threads may call at once.
    [[nodiscard]] auto concurrent() const -> bool { return m_concurrent; }
    /// Forgets an ended operation and returns its failure.
    auto retire(operation const& op) -> std::exception_ptr {
        std::lock_guard const lock(m_mutex);
        auto const found = find(op);
        if (found == m_active.end()) return nullptr;
        auto failure = found->failure ? found->failure : op.failure();
        m_active.erase(found);
        return failure;
    }

    /// As long as the result lives, a thread of the engine's drives the operations under way, with pauses and
    /// only while no user thread waits. Null where one thread alone may drive. Needs an operation to be
    /// there.
    static auto keep_driving(std::shared_ptr<progress_engine> const& engine) -> std::shared_ptr<void> {
        if (!engine->m_concurrent) return nullptr;
        engine->m_background.wanted();
        return {static_cast<void*>(engine.get()), [engine](void*) { engine->m_background.unwanted(); }};
    }
    /// Ends the thread, for ever.
    void stop_background() { m_background.stop(); }

private:
    struct entry {
        std::shared_ptr<operation> op;
        std::exception_ptr failure;
        bool ended = false;
        bool wreck = false;
    };

    auto find(operation const& op) -> std::vector<entry>::iterator {
        return std::find_if(m_active.begin(), m_active.end(),
                            [&](entry const& e) { return e.op.get() == &op; });
    }
    auto ended(operation const& op) -> bool {
        auto const found = find(op);
        return found == m_active.end() || found->ended;
    }

    // Blocks only where a single operation is under way and no other thread can begin one meanwhile.
    auto drive(std::unique_lock<std::mutex>& lock, bool may_block) -> bool {
        m_driving = true;
        m_round.clear();
        for (auto const& e : m_active)
            if (!e.ended) m_round.push_back(e);
        bool const block = may_block && !m_concurrent && m_round.size() == 1;
        lock.unlock();
        bool progressed = false;
        for (auto& e : m_round) progressed = advance(e, block) || progressed;
        lock.lock();
        for (auto const& e : m_round)
            if (e.ended) {
                auto const found = find(*e.op);
                found->ended = true;
                found->failure = e.failure;
                if (e.wreck) m_wrecks.push_back(e.op);
            }
        m_round.clear();
        m_driving = false;
        m_changed.notify_all();
        return progressed;
    }
    auto drive_in_background() -> progress_thread::outcome {
        std::unique_lock lock(m_mutex);
        // Whoever waits drives better than a thread that wakes up now and then beside it.
        if (m_waiters > 0 ||
            std::all_of(m_active.begin(), m_active.end(), [](entry const& e) { return e.ended; }))
            return progress_thread::outcome::nothing_to_do;
        if (m_driving || !drive(lock, false)) return progress_thread::outcome::waiting;
        return progress_thread::outcome::progressed;
    }
    static auto advance(entry& e, bool block) -> bool {
        try {
            bool const progressed = e.op->advance(block);
            e.ended = e.op->finished();
            return progressed || e.ended;
        } catch (...) {
            e.failure = std::current_exception();
            e.wreck = e.op->abandon();
            e.ended = true;
            return true;
        }
    }

    bool m_concurrent;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<entry> m_active;
    std::vector<entry> m_round; // used by the driving thread alone
    // Kept to the end: the MPI library may still write to the buffers of messages that were given up.
    std::vector<std::shared_ptr<operation>> m_wrecks;
    bool m_driving = false;
    int m_waiters = 0;
    progress_thread m_background; // the last member: it ends before the others
};

} // namespace papcoll::inline v0
