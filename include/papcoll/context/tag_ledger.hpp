// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// The tags of a series of operations: two consecutive numbers each, handed out in the order of their calls,
/// round and round. At most `under_way()` operations in a row have begun and not ended on this rank; one that
/// is further ahead waits. So no tag is used by two operations at a time, and that is enough: between two
/// ranks the messages of one tag keep their order, those of the older operation are received before those of
/// the newer one.
///
/// Where an operation failed on this rank alone, messages may stay behind that nobody receives. Its tag is
/// spoilt: when it comes round, next() throws in place of mistaking these messages for others. That is after
/// as many operations as there are tags, of which an eighth are the open_ operations': hundreds of millions
/// with Open MPI's and MPICH's own networks, two million with UCX, some thousands with the fewest that MPI
/// allows.
class tag_ledger {
public:
    /// `operations` tags from `first` on, of which `under_way` are in use at a time.
    tag_ledger(int first, int operations, int under_way)
        : m_first(first)
        , m_operations(operations)
        , m_under_way(under_way)
        , m_taken((static_cast<std::size_t>(under_way) + 63) / 64) {}

    /// The first of the two tags of the next operation.
    [[gnu::always_inline]] auto next() -> int {
        int const tag = m_first + 2 * m_next;
        if (++m_next == m_operations) m_next = 0;
        if (m_any_spoilt.load(std::memory_order_acquire)) refuse_spoilt(tag);
        return tag;
    }
    [[nodiscard]] auto is_free(int tag) const -> bool {
        return (word(tag).load(std::memory_order_acquire) & bit(tag)) == 0;
    }
    void take(int tag) { word(tag).fetch_or(bit(tag), std::memory_order_relaxed); }
    void give_back(int tag) { word(tag).fetch_and(~bit(tag), std::memory_order_release); }
    /// The operation of this tag has failed on this rank alone.
    void spoil(int tag) {
        std::lock_guard const lock(m_mutex);
        m_spoilt.insert(std::upper_bound(m_spoilt.begin(), m_spoilt.end(), tag), tag);
        m_any_spoilt.store(true, std::memory_order_release);
    }
    /// Whether next() will throw when it comes round.
    [[nodiscard]] auto has_spoilt() const -> bool { return m_any_spoilt.load(std::memory_order_acquire); }
    [[nodiscard]] auto operations() const -> int { return m_operations; }
    [[nodiscard]] auto under_way() const -> int { return m_under_way; }

private:
    [[gnu::cold, gnu::noinline]] void refuse_spoilt(int tag) {
        std::lock_guard const lock(m_mutex);
        if (std::binary_search(m_spoilt.begin(), m_spoilt.end(), tag))
            throw std::logic_error(
                "papcoll: this rank alone failed in an earlier operation, whose messages may be "
                "left over; free the communicator and make another");
    }

    using word_type = std::atomic<std::uint64_t>;

    [[nodiscard]] auto place(int tag) const -> std::size_t {
        return static_cast<std::size_t>((tag - m_first) / 2 % m_under_way);
    }
    [[nodiscard]] auto bit(int tag) const -> std::uint64_t { return std::uint64_t{1} << (place(tag) % 64); }
    [[nodiscard]] auto word(int tag) -> word_type& { return m_taken[place(tag) / 64]; }
    [[nodiscard]] auto word(int tag) const -> word_type const& { return m_taken[place(tag) / 64]; }

    int m_first;
    int m_operations;
    int m_under_way;
    int m_next = 0;
    std::vector<word_type> m_taken;
    std::mutex m_mutex;
    std::vector<int> m_spoilt; // in order
    std::atomic<bool> m_any_spoilt = false;
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
    /// Ends it for an operation that failed on this rank alone.
    void spoil() {
        if (m_ledger) m_ledger->spoil(m_tag);
        end();
    }

private:
    std::shared_ptr<tag_ledger> m_ledger;
    int m_tag = 0;
};

} // namespace papcoll::inline v0::detail
