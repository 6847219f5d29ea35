// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/observer.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/context/steady_now.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace papcoll::inline v0::detail {

/// Tells an observer of a call that has ended now: `seen` with everything but the exit.
inline void tell(observer const& told, collective_record seen) {
    seen.exit = steady_now();
    told(seen);
}

/// An operation whose observer is told when it has ended.
class observed_operation final : public operation {
public:
    /// `seen` with everything but the exit.
    observed_operation(std::shared_ptr<operation> body, observer told, collective_record const& seen)
        : m_body(std::move(body))
        , m_told(std::move(told))
        , m_seen(seen) {}

    auto advance(bool block) -> bool override {
        bool progressed = false;
        try {
            progressed = m_body->advance(block);
        } catch (...) { // the engine knows this operation alone, and the tag is the body's
            m_body->spoil_tag();
            tell_end();
            throw;
        }
        if (m_body->finished()) m_body->give_tag_back();
        if (m_body->finished()) tell_end();
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_body->finished(); }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_body->failure(); }
    auto abandon() noexcept -> bool override {
        bool const may_be_read = m_body->abandon();
        try {
            tell_end();
        } catch (...) { // it has failed for another reason
        }
        return may_be_read;
    }

private:
    void tell_end() {
        if (m_told) tell(std::exchange(m_told, nullptr), m_seen);
    }

    std::shared_ptr<operation> m_body;
    observer m_told;
    collective_record m_seen;
};

} // namespace papcoll::inline v0::detail
