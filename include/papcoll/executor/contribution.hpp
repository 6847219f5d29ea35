// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

namespace papcoll::inline v0 {

/// The part of an operation's data that this rank adds while the operation is under way. One thread gives it,
/// another may look whether it is there.
class contribution {
public:
    /// Once: the data is where the operation expects it, or, if it was begun without a place, at `data`.
    void give(void const* data = nullptr) {
        m_data = data;
        m_there.store(true, std::memory_order_release);
    }
    /// Whether the data is there.
    [[nodiscard]] auto there() const -> bool { return m_there.load(std::memory_order_acquire); }
    /// Valid when it is there.
    [[nodiscard]] auto data() const -> void const* { return m_data; }

private:
    void const* m_data = nullptr;
    std::atomic<bool> m_there = false;
};

} // namespace papcoll::inline v0
