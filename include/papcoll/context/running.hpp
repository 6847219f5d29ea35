// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <utility>

namespace papcoll::inline v0::detail {

/// A call that a thread runs by itself, without an engine. An operator may free the communicator of the call:
/// what papcoll keeps for it then stays until the outermost of these calls has ended.
class running {
public:
    running() noexcept
        : m_outer(innermost()) {
        innermost() = this;
    }
    running(running const&) = delete;
    auto operator=(running const&) -> running& = delete;
    ~running() {
        innermost() = m_outer;
        while (m_kept != nullptr) delete std::exchange(m_kept, m_kept->next);
    }

    /// Keeps it as long as this thread runs calls, if it does.
    static void keep(std::shared_ptr<void> what) {
        auto* outermost = innermost();
        if (outermost == nullptr) return;
        while (outermost->m_outer != nullptr) outermost = outermost->m_outer;
        outermost->m_kept = new kept{std::move(what), outermost->m_kept};
    }

private:
    struct kept {
        std::shared_ptr<void> what;
        kept* next;
    };

    static auto innermost() noexcept -> running*& {
        thread_local running* call = nullptr;
        return call;
    }

    running* m_outer;
    kept* m_kept = nullptr;
};

} // namespace papcoll::inline v0::detail
