// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/progress_engine.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace papcoll::inline v0 {

/// Several operations one after the other. They may use the same tags: per pair of ranks, messages of an
/// earlier stage are posted before those of a later one at both ends. After a failure without loss of
/// communication the rest is still carried out, since other ranks count on it; it begins failed.
class staged_operation final : public operation {
public:
    /// `begin(i)` makes the i-th of `stages` operations when those before have finished.
    staged_operation(std::size_t stages, std::function<std::shared_ptr<operation>(std::size_t)> begin)
        : m_stages(stages)
        , m_begin(std::move(begin))
        , m_current(m_begin(0)) {}

    auto advance(bool block) -> bool override {
        bool progressed = m_current->advance(block);
        while (m_current->finished() && m_index + 1 < m_stages) {
            if (!m_failure) m_failure = m_current->failure();
            m_current = m_begin(++m_index);
            if (m_failure) m_current->fail(m_failure);
            progressed = m_current->advance(block) || progressed;
        }
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override {
        return m_index + 1 == m_stages && m_current->finished();
    }
    void fail(std::exception_ptr const& why) override { m_current->fail(why); }
    [[nodiscard]] auto failure() const -> std::exception_ptr override {
        return m_failure ? m_failure : m_current->failure();
    }
    auto abandon() noexcept -> bool override { return m_current->abandon(); }

private:
    std::size_t m_stages;
    std::function<std::shared_ptr<operation>(std::size_t)> m_begin;
    std::size_t m_index = 0;
    std::shared_ptr<operation> m_current;
    std::exception_ptr m_failure;
};

} // namespace papcoll::inline v0
