// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/looking.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Memory that the ranks of a communicator which are on one node share, and the signs by which they tell each
/// other what they have done there.
///
/// Each call has an area in it: one of 16 short ones, by the number of the call, so that ranks find it
/// without a word, or the long one. A rank may be as many calls ahead of the slowest as there are areas of
/// the kind: before it uses one it looks whether all ranks have ended the calls up to the one that had it
/// before. Every word is written by one rank alone.
///
/// Driven by one thread of a rank at a time.
class node_memory {
public:
    static constexpr std::uint64_t short_areas = 16;
    /// What a rank gives is a multiple of this.
    static constexpr std::size_t granularity = std::size_t(64) * 128;
    /// The part of an area that is of one rank, where each gives so many bytes; the short areas take a
    /// quarter.
    [[nodiscard]] static constexpr auto short_bytes(std::size_t bytes_per_rank) -> std::size_t {
        return bytes_per_rank / 4 / short_areas;
    }
    [[nodiscard]] static constexpr auto long_bytes(std::size_t bytes_per_rank) -> std::size_t {
        return bytes_per_rank / 4 * 3;
    }

    /// What one call uses.
    struct area {
        std::byte* data = nullptr;
        std::uint64_t call = 0;
        std::uint64_t key = 0;
        std::size_t line = 0;
        std::uint64_t posts = 0; ///< of this rank
        std::uint64_t depth = 0; ///< how many calls this one may be ahead of others
    };
    /// What a rank has told of a call.
    enum class news {
        none,     ///< it has not come so far
        there,    ///< it has
        failed,   ///< it has, but could not do what it should
        different ///< it makes another call
    };

    /// How long the segment must be, which is zero at first.
    [[nodiscard]] static auto segment_bytes(std::size_t members, std::size_t bytes_per_rank) -> std::size_t {
        return header_bytes(members) + members * bytes_per_rank;
    }

    /// `members`: the ranks on this node, in ascending order, of a communicator of `ranks`; `own_processors`:
    /// see looking.
    node_memory(std::shared_ptr<std::byte> segment, std::size_t bytes_per_rank,
                std::vector<int> const& members, int rank, int ranks, bool own_processors)
        : m_segment(std::move(segment))
        , m_bytes(bytes_per_rank)
        , m_members(members.size())
        , m_member_of(static_cast<std::size_t>(ranks), nobody)
        , m_looking(own_processors) {
        for (std::size_t m = 0; m < members.size(); ++m)
            m_member_of[static_cast<std::size_t>(members[m])] = static_cast<std::uint32_t>(m);
        m_me = member(rank);
        m_active.reserve(8);
    }

    /// Waits until ready(), which looks at this memory.
    template <class Transport, class Ready>
    void wait(Transport& t, Ready const& ready) {
        m_looking.until(t, ready);
    }
    /// Calls that need not wait let the transport's messages progress now and then, too.
    template <class Transport>
    void progress_sometimes(Transport& t) {
        if (++m_uses % 128 == 0) t.progress();
    }

    /// What each rank gives.
    [[nodiscard]] auto bytes_per_rank() const -> std::size_t { return m_bytes; }

    /// The area of a call, numbered from 1 in the order of the calls of the communicator, for `bytes` of all
    /// ranks together. Throws std::length_error where there is not so much. `key`: calls that belong together
    /// have the same.
    [[nodiscard]] auto reserve(std::uint64_t call, std::uint64_t key, std::size_t bytes) -> area {
        area a{.call = call, .key = key};
        auto const each = m_members * short_bytes(m_bytes);
        bool const is_short = bytes <= each;
        if (bytes > m_members * long_bytes(m_bytes))
            throw std::length_error("papcoll: a program wants more memory than the ranks of the node share");
        a.depth = is_short ? short_areas : 1;
        a.line = static_cast<std::size_t>(call % short_areas);
        a.data = m_segment.get() + header_bytes(m_members) + (is_short ? a.line : short_areas) * each;
        m_active.push_back(call);
        tell_done((m_active.size() == 1 ? call : oldest()) - 1);
        return a;
    }
    /// This rank is at this call, and those before have begun: they have ended unless they have areas.
    void pass_to(std::uint64_t call) {
        if (m_active.empty()) tell_done(call - 1);
    }
    /// Whether it is a call of this rank's own that has the area, or the line.
    [[nodiscard]] auto waits_for_itself(area const& a) const -> bool { return a.call - m_done > a.depth; }
    /// Whether nobody uses it any more for an earlier call; then it is this call's.
    [[nodiscard]] auto open(area const& a) -> bool {
        if (a.call > a.depth && !all_have_done(a.call - a.depth)) return false;
        auto const mine = line(a, m_me);
        word(mine + 1).store(a.key, std::memory_order_relaxed);
        word(mine).store(state(a.call, 0, false), std::memory_order_release);
        return true;
    }
    /// The next post of this rank. What it did before is seen by those who find it.
    void post(area& a, bool failed) {
        if (a.posts == most_posts) throw std::length_error("papcoll: a program makes too many posts");
        word(line(a, m_me)).store(state(a.call, ++a.posts, failed), std::memory_order_release);
    }
    /// Whether a rank has come to its post of that number.
    [[nodiscard]] auto look(area const& a, int rank, std::uint64_t posts) const -> news {
        auto const m = member(rank);
        auto const at = line(a, m);
        auto const seen = word(at).load(std::memory_order_acquire);
        if (call_of(seen) != a.call) return has_left_out(a, m) ? news::different : news::none;
        if (word(at + 1).load(std::memory_order_relaxed) != a.key) return news::different;
        if (seen < state(a.call, posts, false)) return news::none;
        return (seen & 1U) != 0 ? news::failed : news::there;
    }
    /// This rank does nothing more to the area.
    void end(area const& a) {
        m_last = std::max(m_last, a.call);
        if (m_active.size() == 1)
            m_active.clear(); // it was this one
        else
            m_active.erase(std::remove(m_active.begin(), m_active.end(), a.call), m_active.end());
        tell_done(m_active.empty() ? m_last : oldest() - 1);
    }
    /// This rank gives the call up, which has been opened: to the others all its posts have failed.
    void abandon(area const& a) {
        word(line(a, m_me)).store(state(a.call, most_posts, true), std::memory_order_release);
        end(a);
    }

private:
    static constexpr unsigned post_bits = 24;
    static constexpr std::uint64_t most_posts = (std::uint64_t{1} << post_bits) - 1;
    static constexpr std::size_t words_per_line = 8;
    static constexpr auto nobody = static_cast<std::uint32_t>(-1);
    using word_type = std::atomic_ref<std::uint64_t>;
    static_assert(word_type::is_always_lock_free);

    static constexpr auto state(std::uint64_t call, std::uint64_t posts, bool failed) -> std::uint64_t {
        return (call << post_bits | posts) << 1U | (failed ? 1U : 0U);
    }
    static constexpr auto call_of(std::uint64_t seen) -> std::uint64_t { return seen >> (post_bits + 1); }
    /// Whether a rank that has not begun this call has ended it: it made another one, or none that is made by
    /// memory.
    [[nodiscard]] auto has_left_out(area const& a, std::size_t m) const -> bool {
        return word(done_word(m)).load(std::memory_order_acquire) >= a.call &&
               call_of(word(line(a, m)).load(std::memory_order_acquire)) != a.call;
    }
    [[nodiscard]] auto all_have_done(std::uint64_t needed) -> bool {
        if (m_all_done >= needed) return true;
        std::uint64_t least = m_done;
        for (std::size_t m = 0; m < m_members; ++m)
            if (m != m_me) least = std::min(least, word(done_word(m)).load(std::memory_order_acquire));
        m_all_done = std::max(m_all_done, least);
        return m_all_done >= needed;
    }
    /// Two lines each for how far a rank has come, and those of the calls, behind one for who makes it.
    static constexpr auto header_bytes(std::size_t members) -> std::size_t {
        auto const lines = 1 + members * (2 + short_areas);
        return (lines * words_per_line * sizeof(std::uint64_t) + 4095) / 4096 * 4096;
    }
    [[nodiscard]] auto member(int rank) const -> std::size_t {
        auto const m = m_member_of[static_cast<std::size_t>(rank)];
        if (m == nobody) throw std::logic_error("papcoll: a program awaits a rank of another node");
        return m;
    }
    [[nodiscard]] auto word(std::size_t i) const -> word_type {
        return word_type(reinterpret_cast<std::uint64_t*>(m_segment.get())[i]);
    }
    [[nodiscard]] static auto done_word(std::size_t m) -> std::size_t { return (1 + 2 * m) * words_per_line; }
    [[nodiscard]] auto line(area const& a, std::size_t m) const -> std::size_t {
        return (1 + (2 + a.line) * m_members + m) * words_per_line;
    }
    [[nodiscard]] auto oldest() const -> std::uint64_t {
        return *std::min_element(m_active.begin(), m_active.end());
    }
    void tell_done(std::uint64_t call) {
        if (call <= m_done) return;
        m_done = call;
        word(done_word(m_me)).store(call, std::memory_order_release);
    }

    std::shared_ptr<std::byte> m_segment;
    std::size_t m_bytes;
    std::size_t m_members;
    std::size_t m_me = 0;
    std::vector<std::uint32_t> m_member_of; // by rank
    std::vector<std::uint64_t> m_active;    // calls that have an area
    std::uint64_t m_last = 0;               // the latest call that has ended
    std::uint64_t m_done = 0;               // up to where all have
    std::uint64_t m_all_done = 0;           // on all ranks, as far as was looked
    std::uint32_t m_uses = 0;
    looking m_looking;
};

} // namespace papcoll::inline v0::detail
