// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/failures.hpp>
#include <papcoll/context/progress_thread.hpp>
#include <papcoll/context/tag_ledger.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
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
    /// Called once, when advance threw or MPI ends: gives up the messages under way. Afterwards nothing is
    /// written to the user's memory, but by routines of MPI's. True when buffers that the operation owns may
    /// still be read.
    virtual auto abandon() noexcept -> bool { return false; }

    /// The memory that it keeps between uses.
    [[nodiscard]] virtual auto held_bytes() const -> std::size_t { return 0; }

    /// The operation keeps the tag until it has ended; who drives it in place of the engine gives it back.
    void keep(detail::tag_lease tag) { m_tag = std::move(tag); }
    /// The tag may be used again.
    void give_tag_back() noexcept { m_tag.end(); }
    /// The tag is never used again: messages with it may be left over.
    void spoil_tag() { m_tag.spoil(); }
    /// The name that its failures are given.
    void call_it(detail::operation_name const& name) { m_name = name; }

    /// Marks an operation that its caller runs without an engine.
    class use {
    public:
        explicit use(operation& op)
            : m_op(op) {
            m_op.m_in_use = true;
        }
        use(use const&) = delete;
        auto operator=(use const&) -> use& = delete;
        [[gnu::always_inline]] ~use() {
            m_op.m_in_use = false;
            if (m_op.m_last_owner) auto const ended = std::move(m_op.m_last_owner);
        }

    private:
        operation& m_op;
    };
    /// Whether its caller runs it without an engine now.
    [[nodiscard]] auto is_in_use() const -> bool { return m_in_use; }
    /// Gives up this owner of `op`; an operation that is in use stays until that ends.
    static void release(std::shared_ptr<operation>& op) noexcept {
        if (op && op->m_in_use)
            op->m_last_owner = std::move(op);
        else
            op.reset();
    }

protected:
    /// An operation that has ended and is retired may be begun once more.
    void begin_again() noexcept {
        m_thrown = nullptr;
        m_ended = false;
        m_name = {};
    }

private:
    friend class progress_engine;

    bool m_in_use = false;
    bool m_advances = false;                 // the driving thread is within advance()
    std::shared_ptr<operation> m_last_owner; // of one that is in use
    // The engine's, behind its lock.
    std::exception_ptr m_thrown;
    bool m_ended = false;
    detail::tag_lease m_tag;
    detail::operation_name m_name;
};

/// Drives all operations of one process, or of one rank among threads. They progress together whoever waits,
/// so ranks may wait for their operations in different orders. At any moment one thread drives; the others
/// sleep. Where several threads may drive, one of the engine's own does, with pauses, while operations are
/// under way and nobody waits. What an operation's advance() waits for, as a call that an operator makes,
/// drives all others meanwhile.
class progress_engine {
public:
    /// `concurrent`: whether several threads may drive, one at a time.
    explicit progress_engine(bool concurrent)
        : m_concurrent(concurrent)
        , m_background([this] { return drive_in_background(); }) {}

    /// Begins `op`, without blocking.
    void start(std::shared_ptr<operation> const& op) {
        std::unique_lock lock(m_mutex);
        enter(op);
        if (!m_driving) {
            m_round.push_back({op});
            drive_round(lock, false);
        }
        if (m_concurrent && !op->m_ended) m_background.resume();
    }
    /// From now on `op` progresses with the others.
    void add(std::shared_ptr<operation> const& op) {
        std::lock_guard const lock(m_mutex);
        enter(op);
        if (m_concurrent) m_background.resume();
    }
    /// Progresses all operations without blocking; true when anything was done.
    auto progress() -> bool {
        std::unique_lock lock(m_mutex);
        return may_drive() && drive(lock, false);
    }
    /// Progresses without blocking; true when `op` has ended.
    auto test(operation const& op) -> bool {
        std::unique_lock lock(m_mutex);
        if (!op.m_ended && may_drive()) drive(lock, false);
        return op.m_ended;
    }
    /// Whether `op` has ended; progresses nothing.
    [[nodiscard]] auto ended(operation const& op) -> bool {
        std::lock_guard const lock(m_mutex);
        return op.m_ended;
    }
    /// Progresses all operations until `op` has ended; calls `idle` when nothing could be done.
    template <class Idle>
    void wait(operation const& op, Idle idle) {
        wait_until([&] { return op.m_ended; }, idle);
    }
    /// Runs `op` from its beginning to its end and returns its failure; `idle` as for wait. Nothing needs to
    /// be shared with others where there are none.
    template <class Idle>
    auto run(std::shared_ptr<operation> const& op, Idle idle) -> std::exception_ptr {
        if (!is_idle()) {
            {
                std::lock_guard const lock(m_mutex);
                enter(op);
            }
            wait(*op, idle);
            return retire(*op);
        }
        return run_alone(op, idle);
    }
    /// Keeps an operation that was given up, to the end: its buffers may still be read.
    void keep(std::shared_ptr<operation> op) { m_wrecks.push_back(std::move(op)); }
    /// Whether nothing is under way, and nothing can be begun meanwhile by another thread.
    [[nodiscard]] auto is_idle() const -> bool { return !m_concurrent && m_active.empty(); }
    /// Whether several threads may call at once.
    [[nodiscard]] auto concurrent() const -> bool { return m_concurrent; }
    /// Whether the calling thread is within the advance() of an operation.
    [[nodiscard]] auto is_driven_here() -> bool {
        std::lock_guard const lock(m_mutex);
        return m_driving && may_drive();
    }
    /// Forgets an operation and returns its failure.
    auto retire(operation const& op) -> std::exception_ptr {
        std::lock_guard const lock(m_mutex);
        if (!op.m_ended) forget([&](auto const& o) { return o.get() == &op; });
        return failure_of(op);
    }
    /// Ends the thread, for ever.
    void stop_background() { m_background.stop(); }
    /// After a last look gives up what is still under way, which fails with `why`: MPI ends. True if
    /// anything is. Precondition: no thread drives.
    auto give_up_all(std::exception_ptr const& why) -> bool {
        while (progress()) {
        }
        std::unique_lock lock(m_mutex);
        bool const any = !m_active.empty();
        while (!m_active.empty()) {
            step given_up{m_active.back(), why};
            lock.unlock();
            given_up.wreck = given_up.op->abandon();
            lock.lock();
            end(given_up);
        }
        return any;
    }

private:
    struct step {
        std::shared_ptr<operation> op;
        std::exception_ptr thrown = nullptr;
        bool ended = false;
        bool wreck = false;
    };

    [[nodiscard]] static auto failure_of(operation const& op) -> std::exception_ptr {
        return detail::named(op.m_thrown ? op.m_thrown : op.failure(), op.m_name);
    }
    template <class Idle>
    auto run_alone(std::shared_ptr<operation> const& op, Idle idle) -> std::exception_ptr {
        if (m_wrecks.size() == m_wrecks.capacity()) m_wrecks.reserve(m_wrecks.size() + 1);
        try {
            while (!op->finished()) {
                bool const others = !m_active.empty(); // which an operator has begun
                bool const progressed = op->advance(!others);
                if (!(others && progress()) && !progressed) idle();
            }
        } catch (...) {
            auto thrown = std::current_exception();
            if (op->abandon()) m_wrecks.push_back(op);
            op->m_tag.spoil();
            return detail::named(thrown, op->m_name);
        }
        op->m_tag.end();
        return detail::named(op->failure(), op->m_name);
    }
    // Room for all that driving it may need: nothing throws later.
    void enter(std::shared_ptr<operation> const& op) {
        m_wrecks.reserve(m_wrecks.size() + m_active.size() + 1);
        if (!m_driving) m_round.reserve(m_active.size() + 1);
        m_active.push_back(op);
    }
    template <class Which>
    void forget(Which which) {
        m_active.erase(std::remove_if(m_active.begin(), m_active.end(), which), m_active.end());
    }
    template <class Done, class Idle>
    void wait_until(Done done, Idle idle) {
        struct waiter { // a round may find no memory
            int& all;
            explicit waiter(int& waiters)
                : all(++waiters) {}
            ~waiter() { --all; }
        };
        std::unique_lock lock(m_mutex);
        {
            waiter const here(m_waiters);
            while (!done()) {
                if (!may_drive()) {
                    m_changed.wait(lock);
                } else if (!drive(lock, true) && !done()) {
                    lock.unlock();
                    idle();
                    lock.lock();
                }
            }
        }
        if (m_waiters == 0 && m_concurrent && !m_active.empty()) m_background.resume();
    }

    /// Nobody drives, or this thread does, further out.
    [[nodiscard]] auto may_drive() const -> bool {
        return !m_driving || m_driver == std::this_thread::get_id();
    }
    auto drive(std::unique_lock<std::mutex>& lock, bool may_block) -> bool {
        if (m_driving) return drive_others(lock);
        m_round.reserve(m_active.size()); // what an operator has begun had no room made for it
        for (auto const& op : m_active) m_round.push_back({op});
        return drive_round(lock, may_block);
    }
    // Blocks only where a single operation is under way and no other thread can begin one meanwhile.
    auto drive_round(std::unique_lock<std::mutex>& lock, bool may_block) -> bool {
        m_driving = true;
        m_driver = std::this_thread::get_id();
        bool const block = may_block && !m_concurrent && m_active.size() == 1;
        lock.unlock();
        bool progressed = false;
        for (auto& s : m_round) progressed = take(std::move(s), block, lock) || progressed;
        lock.lock();
        m_round.clear();
        m_driving = false;
        m_changed.notify_all();
        return progressed;
    }
    /// Within the advance() of an operation: all but those that are at it further out.
    auto drive_others(std::unique_lock<std::mutex>& lock) -> bool {
        bool progressed = false;
        for (std::size_t i = 0; i < m_active.size();
             ++i) { // where one ends the next is left for another time
            if (m_active[i]->m_advances) continue;
            step s{m_active[i]};
            lock.unlock();
            progressed = take(std::move(s), false, lock) || progressed;
            lock.lock();
        }
        return progressed;
    }
    /// Takes a step without the lock, and lets the operation go, of which it may be the last owner: what ends
    /// with it may use the engine. One may have been ended by what an operator waited for.
    auto take(step s, bool block, std::unique_lock<std::mutex>& lock) -> bool {
        if (s.op->m_ended) return false;
        bool const progressed = advance(s, block);
        if (s.ended) {
            lock.lock();
            end(s);
            lock.unlock();
        }
        return progressed;
    }
    void end(step const& s) {
        forget([&](auto const& op) { return op == s.op; });
        s.op->m_ended = true;
        s.op->m_thrown = s.thrown;
        if (s.thrown)
            s.op->m_tag.spoil();
        else
            s.op->m_tag.end();
        if (s.wreck) m_wrecks.push_back(s.op);
        m_changed.notify_all();
    }
    auto drive_in_background() -> progress_thread::outcome {
        std::unique_lock lock(m_mutex);
        // Whoever waits drives better than a thread that wakes up now and then beside it.
        if (m_waiters > 0 || m_active.empty()) return progress_thread::outcome::nothing_to_do;
        if (m_driving || !drive(lock, false)) return progress_thread::outcome::waiting;
        return progress_thread::outcome::progressed;
    }
    static auto advance(step& s, bool block) -> bool {
        bool progressed = true;
        s.op->m_advances = true;
        try {
            progressed = s.op->advance(block);
            s.ended = s.op->finished();
        } catch (...) {
            s.thrown = std::current_exception();
            s.wreck = s.op->abandon();
            s.ended = true;
        }
        s.op->m_advances = false;
        return progressed || s.ended;
    }

    bool m_concurrent;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<std::shared_ptr<operation>> m_active; // those that have not ended
    std::vector<step> m_round;                        // used by the driving thread alone
    // Kept to the end: the MPI library may still read the buffers of messages that were given up.
    std::vector<std::shared_ptr<operation>> m_wrecks;
    bool m_driving = false;
    std::thread::id m_driver; // the last one
    int m_waiters = 0;
    progress_thread m_background; // the last member: it ends before the others
};

} // namespace papcoll::inline v0
