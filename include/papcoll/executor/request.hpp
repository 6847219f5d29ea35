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
/// Operations progress inside test() and wait() of any request of the process, and while a papcoll collective
/// blocks, whichever communicators they are on; other MPI calls do not progress them, and neither does a
/// blocking collective with the policy `native`, which is one: no rank may wait for a request before it calls
/// what others block in. The destructor waits; a failure that nobody asked for is lost there. A request
/// object is used by one thread at a time.
class [[nodiscard]] request {
public:
    /// A request of nothing, which has ended.
    request() = default;
    request(request&& other) noexcept
        : m_state(std::exchange(other.m_state, {})) {}
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
