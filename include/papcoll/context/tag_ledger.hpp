// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// The tags of a series of operations: two consecutive numbers each, handed out in the order of their calls,
/// round and round. An operation takes its tag when it begins and gives it back when it has ended on this
/// rank. That no other takes it in between is enough: between two ranks the messages of one tag keep their
/// order, so those of the older operation are received before those of the newer one.
class tag_ledger {
public:
    tag_ledger(int first, int operations)
        : m_first(first)
        , m_operations(operations)
        , m_taken((static_cast<std::size_t>(operations) + 63) / 64) {}

    /// The first of the two tags of the next operation.
    auto next() -> int {
        int const tag = m_first + 2 * m_next;
        m_next = (m_next + 1) % m_operations;
        return tag;
    }
    [[nodiscard]] auto is_free(int tag) const -> bool {
        return (word(tag).load(std::memory_order_acquire) & bit(tag)) == 0;
    }
    void take(int tag) { word(tag).fetch_or(bit(tag), std::memory_order_relaxed); }
    void give_back(int tag) { word(tag).fetch_and(~bit(tag), std::memory_order_release); }
    /// How many operations may be under way at a time.
    [[nodiscard]] auto operations() const -> int { return m_operations; }

private:
    using word_type = std::atomic<std::uint64_t>;

    [[nodiscard]] auto number(int tag) const -> std::size_t {
        return static_cast<std::size_t>(tag - m_first) / 2;
    }
    [[nodiscard]] auto bit(int tag) const -> std::uint64_t { return std::uint64_t{1} << (number(tag) % 64); }
    [[nodiscard]] auto word(int tag) -> word_type& { return m_taken[number(tag) / 64]; }
    [[nodiscard]] auto word(int tag) const -> word_type const& { return m_taken[number(tag) / 64]; }

    int m_first;
    int m_operations;
    int m_next = 0;
    std::vector<word_type> m_taken;
};

/// A tag that is taken, until this object ends or lets it go.
class tag_lease {
public:
    tag_lease() = default;
    tag_lease(std::shared_ptr<tag_ledger> ledger, int tag)
        : m_ledger(std::move(ledger))
        , m_tag(tag) {
        m_ledger->take(tag);
    }
    tag_lease(tag_lease&&) noexcept = default;
    auto operator=(tag_lease&& other) noexcept -> tag_lease& {
        end();
        m_ledger = std::move(other.m_ledger);
        m_tag = other.m_tag;
        return *this;
    }
    ~tag_lease() { end(); }

    void end() noexcept {
        if (m_ledger) m_ledger->give_back(m_tag);
        m_ledger.reset();
    }

private:
    std::shared_ptr<tag_ledger> m_ledger;
    int m_tag = 0;
};

} // namespace papcoll::inline v0::detail
