// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/block_partition.hpp>

#include <atomic>
#include <cstddef>
#include <memory>

namespace papcoll::inline v0 {

/// The part of an operation's data that this rank adds while the operation is under way. One thread gives it,
/// another may look whether it is there.
template <class T>
class contribution {
public:
    /// Where the part lies in the operation's data.
    explicit contribution(block_range part)
        : m_part(part) {}

    /// Once: the data is where the operation expects it, or, if it was begun without a place, at `data`.
    void give(T const* data = nullptr) {
        m_data = data;
        m_there.store(true, std::memory_order_release);
    }
    [[nodiscard]] auto there() const -> bool { return m_there.load(std::memory_order_acquire); }
    /// Valid when it is there.
    [[nodiscard]] auto data() const -> T const* { return m_data; }
    [[nodiscard]] auto overlaps(block_range const& block) const -> bool {
        return block.offset < m_part.offset + m_part.size && m_part.offset < block.offset + block.size;
    }

private:
    block_range m_part;
    T const* m_data = nullptr;
    std::atomic<bool> m_there = false;
};

/// Null where the data is there from the beginning.
template <class T>
using contribution_pointer = std::shared_ptr<contribution<T> const>;

} // namespace papcoll::inline v0
