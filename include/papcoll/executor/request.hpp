// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/progress_engine.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace papcoll::inline v0 {

/// A collective operation under way. Its buffers must stay alive and untouched until it has ended.
///
/// Where MPI was initialised with MPI_THREAD_MULTIPLE all operations progress by themselves: a thread of
/// papcoll's drives them, with pauses, while the program computes or waits elsewhere. It may be the one that
/// calls operators, observers, policies and schedulers.
///
/// Below that level operations progress inside papcoll's calls: test() and wait() of any request, a papcoll
/// collective that blocks, attach, an arrival_monitor's arrivals(), and `progress()`, whichever communicators
/// they are on. MPI's own calls do not progress them, and neither does a blocking collective with the policy
/// `native`, which is one. So a program must not wait by other means than papcoll's for a rank that waits for
/// a request: end the request first, or call `progress()` until the other wait is over:
///
///     auto r = papcoll::iall_reduce(world, in, n, out, op);
///     MPI_Request barrier;
///     MPI_Ibarrier(world, &barrier);
///     for (int over = 0; over == 0; MPI_Test(&barrier, &over, MPI_STATUS_IGNORE)) papcoll::progress();
///     r.wait();
///
/// The destructor waits; a failure that nobody asked for is lost there. What is under way when MPI is
/// finalized fails, and the other ranks of the operation may wait for ever. A request object is used by one
/// thread at a time. See also wait_all, wait_any and test_all.
class [[nodiscard]] request {
public:
    /// A request of nothing, which has ended.
    request() = default;
    request(request&& other) noexcept
        : m_state(std::exchange(other.m_state, {})) {}
    /// Waits for the operation that is replaced.
    auto operator=(request&& other) noexcept -> request& {
        if (this != &other) {
            finish();
            m_state = std::exchange(other.m_state, {});
        }
        return *this;
    }
    request(request const&) = delete;
    auto operator=(request const&) -> request& = delete;
    ~request() { finish(); }

    /// Begins `op`; `idle` is called when there is nothing to do.
    request(std::shared_ptr<progress_engine> engine, std::shared_ptr<operation> op,
            std::function<void()> idle)
        : m_state{std::move(op), std::move(engine), std::move(idle)} {
        m_state.engine->start(m_state.op);
    }

    /// Progresses without blocking. True when the operation has ended; throws what made it fail, once.
    auto test() -> bool {
        if (!m_state.op) return true;
        if (!m_state.engine->test(*m_state.op)) return false;
        retire();
        return true;
    }
    /// Waits until the operation has ended; throws what made it fail, once.
    void wait() {
        if (!m_state.op) return;
        m_state.engine->wait(*m_state.op, m_state.idle);
        retire();
    }

    /// Whether the operation has ended; progresses nothing and throws nothing. test() and wait() then return
    /// at once.
    [[nodiscard]] auto ended() const -> bool { return !m_state.op || m_state.engine->ended(*m_state.op); }
    /// Lets all operations of the process progress once, without blocking; yields where nothing could be
    /// done.
    void progress_or_yield() const {
        if (m_state.op && !m_state.engine->progress()) m_state.idle();
    }

private:
    struct state {
        std::shared_ptr<operation> op;
        std::shared_ptr<progress_engine> engine;
        std::function<void()> idle;
    };

    void retire() {
        auto const ended = std::exchange(m_state, {});
        if (auto const failure = ended.engine->retire(*ended.op)) std::rethrow_exception(failure);
    }
    void finish() noexcept {
        try {
            wait();
        } catch (...) { // documented: the destructor has nobody to tell
        }
    }

    state m_state;
};

} // namespace papcoll::inline v0
