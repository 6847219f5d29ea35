// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/looking.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
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
/// The number of a call says where its signs are, and its area: data lies beside the signs, or in one of the
/// tiny areas, or of the short ones, or in the long one. So ranks find both without a word. A rank may be as
/// many calls ahead of the slowest as there are areas of the kind: before it uses one it looks whether all
/// ranks have ended the calls up to the one that had it before. Every word is written by one rank alone.
///
/// Driven by one thread of a rank at a time.
class node_memory {
public:
    /// Of so many calls in a row each has its own signs, a cache line of each rank.
    static constexpr std::uint64_t sign_lines = 64;
    static constexpr std::size_t line_bytes = 64;
    /// What is behind the signs of a rank and a call.
    static constexpr std::size_t line_room = 48;
    static constexpr std::uint64_t tiny_areas = 32;
    static constexpr std::uint64_t short_areas = 16;
    /// What a rank gives is a multiple of this.
    static constexpr std::size_t granularity = std::size_t(64) * 128;
    /// The bytes of one rank in an area, where each gives so many: whole cache lines. The tiny areas take a
    /// sixteenth, if that is enough, the short ones a quarter, and the long one is the rest.
    [[nodiscard]] static constexpr auto tiny_bytes(std::size_t bytes_per_rank) -> std::size_t {
        return bytes_per_rank / 16 / tiny_areas / line_bytes * line_bytes;
    }
    [[nodiscard]] static constexpr auto short_bytes(std::size_t bytes_per_rank) -> std::size_t {
        return bytes_per_rank / 4 / short_areas;
    }
    [[nodiscard]] static constexpr auto long_bytes(std::size_t bytes_per_rank) -> std::size_t {
        return bytes_per_rank - tiny_areas * tiny_bytes(bytes_per_rank) -
               short_areas * short_bytes(bytes_per_rank);
    }

    /// What one call uses.
    struct area {
        std::byte* data = nullptr;
        std::uint64_t call = 0;
        std::uint64_t key = 0;
        std::uint64_t* signs = nullptr; ///< the line of the first member
        std::uint64_t* mine = nullptr;  ///< this rank's
        std::uint64_t begun = 0;        ///< the sign of a rank that has posted nothing
        std::uint64_t sign = 0;         ///< what this rank has posted
        std::uint64_t depth = 0;        ///< how many calls this one may be ahead of others
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
        , m_tiny_area(m_members * tiny_bytes(bytes_per_rank))
        , m_short_area(m_members * short_bytes(bytes_per_rank))
        , m_data(m_segment.get() + header_bytes(m_members))
        , m_signs(line_at(1 + 2 * m_members))
        , m_line_words(m_members * words_per_line)
        , m_member_of(static_cast<std::size_t>(ranks), nobody)
        , m_looking(own_processors) {
        for (std::size_t m = 0; m < members.size(); ++m)
            m_member_of[static_cast<std::size_t>(members[m])] = static_cast<std::uint32_t>(m);
        m_rank = rank;
        m_me = member(rank);
        m_my_words = m_me * words_per_line;
        m_done_word = line_at(1 + 2 * m_me);
        m_others.reserve(8);
    }

    /// Waits until ready(), which looks at this memory.
    template <class Transport, class Ready>
    void wait(Transport& t, Ready const& ready) {
        m_looking.until(t, ready);
    }
    /// Calls that need not wait let the transport's messages progress now and then, too.
    template <class Transport>
    [[gnu::always_inline]] static void progress_sometimes(Transport& t, std::uint64_t call) {
        if (call % 128 == 0) t.progress();
    }

    /// This rank, and how many there are on the node.
    [[nodiscard]] auto rank() const -> int { return m_rank; }
    [[nodiscard]] auto members() const -> std::size_t { return m_members; }
    /// What each rank gives.
    [[nodiscard]] auto bytes_per_rank() const -> std::size_t { return m_bytes; }

    /// The area of a call, numbered from 1 in the order of the calls of the communicator, for `bytes` of all
    /// ranks together. Throws std::length_error where there is not so much. `key`: calls that belong together
    /// have the same.
    [[nodiscard]] auto reserve(std::uint64_t call, std::uint64_t key, std::size_t bytes) -> area {
        if (bytes > m_members * long_bytes(m_bytes))
            throw std::length_error("papcoll: a program wants more memory than the ranks of the node share");
        auto a = reserve_line(call, key);
        auto* const short_ones = m_data + tiny_areas * m_tiny_area;
        if (bytes <= m_tiny_area) {
            a.data = m_data + call % tiny_areas * m_tiny_area;
            a.depth = tiny_areas;
        } else if (bytes <= m_short_area) {
            a.data = short_ones + call % short_areas * m_short_area;
            a.depth = short_areas;
        } else {
            a.data = short_ones + short_areas * m_short_area;
            a.depth = 1;
        }
        return a;
    }
    /// The same of a call whose data is beside the signs: `line_room` bytes of each rank, one every
    /// `line_bytes`.
    [[nodiscard, gnu::always_inline]] auto reserve_line(std::uint64_t call, std::uint64_t key) -> area {
        if (m_one != 0) {
            begin_among_others(call);
        } else {
            tell_done(call - 1);
            m_one = call;
        }
        return line_of(call, key);
    }
    /// The area that reserve_line gave, and what has been posted there.
    [[nodiscard]] auto line_again(std::uint64_t call, std::uint64_t key) const -> area {
        auto a = line_of(call, key);
        auto const told = word(*a.mine).load(std::memory_order_relaxed); // no other rank writes it
        if (is_of(told, a)) a.sign = told;
        return a;
    }
    /// This rank is at this call, and those before have begun: they have ended unless they have areas.
    void pass_to(std::uint64_t call) {
        m_passed = std::max(m_passed, call - 1);
        if (m_one == 0) tell_done(m_passed);
    }
    /// Whether it is a call of this rank's own that has the area, or the line.
    [[nodiscard]] auto waits_for_itself(area const& a) const -> bool { return a.call - m_done > a.depth; }
    /// Whether nobody uses it any more for an earlier call; then it is this call's, and the others may see
    /// that this rank has come to it.
    [[nodiscard]] auto open(area const& a) -> bool {
        if (!open_to_post(a)) return false;
        tell_begun(a);
        return true;
    }
    /// The same of a rank that posts before it awaits anything: they see it then.
    [[nodiscard, gnu::always_inline]] auto open_to_post(area const& a) -> bool {
        if (a.call > m_all_done + a.depth && !all_have_done(a.call - a.depth)) return false;
        word(a.mine[1]).store(a.key, std::memory_order_relaxed);
        return true;
    }
    /// Calls wait(), which waits until nobody uses the area any more, unless that would be for ever: throws
    /// std::logic_error then. Where it throws the call has ended.
    template <class Wait>
    void wait_for(area const& a, Wait const& wait) {
        try {
            if (waits_for_itself(a))
                throw std::logic_error("papcoll: an operator makes too many calls on the communicator of its "
                                       "own call; use another one for some of them");
            wait();
        } catch (...) {
            end(a.call);
            throw;
        }
    }
    [[gnu::always_inline]] static void tell_begun(area const& a) {
        word(a.mine[0]).store(a.sign, std::memory_order_release);
    }
    /// The next post of this rank. What it did before is seen by those who find it.
    void post(area& a, bool failed) {
        if (a.sign == state(a.call, most_posts, false))
            throw std::length_error("papcoll: a program makes too many posts");
        a.sign += one_post;
        word(*a.mine).store(a.sign | (failed ? 1U : 0U), std::memory_order_release);
    }
    /// The same of one that has not failed, and of few.
    [[gnu::always_inline]] static void post_next(area& a) {
        a.sign += one_post;
        word(*a.mine).store(a.sign, std::memory_order_release);
    }
    /// Whether a rank is on this node.
    [[nodiscard]] auto is_member(int rank) const -> bool {
        return m_member_of[static_cast<std::size_t>(rank)] != nobody;
    }
    /// Which of the members a rank is. Throws std::logic_error for one of another node.
    [[nodiscard]] auto member(int rank) const -> std::size_t {
        auto const m = m_member_of[static_cast<std::size_t>(rank)];
        if (m == nobody) throw std::logic_error("papcoll: a program awaits a rank of another node");
        return m;
    }
    /// Whether a member has come to its post of that number, which has not failed.
    [[nodiscard, gnu::always_inline]] static auto is_there(area const& a, std::size_t m, std::uint64_t posts)
        -> bool {
        auto* const there = line(a, m);
        auto const seen = word(there[0]).load(std::memory_order_acquire);
        // Other calls that have the line are further away.
        auto const ahead = std::rotr(seen - (a.begun + one_post * posts), 1); // large where it has failed
        return ahead <= most_posts && word(there[1]).load(std::memory_order_relaxed) == a.key;
    }
    /// What a rank has told of its post of that number.
    [[nodiscard]] auto look(area const& a, int rank, std::uint64_t posts) const -> news {
        auto const m = member(rank);
        auto* const there = line(a, m);
        auto const seen = word(there[0]).load(std::memory_order_acquire);
        if (!is_of(seen, a)) return has_left_out(a, m) ? news::different : news::none;
        if (word(there[1]).load(std::memory_order_relaxed) != a.key) return news::different;
        if (seen < state(a.call, posts, false)) return news::none;
        return (seen & 1U) != 0 ? news::failed : news::there;
    }
    /// For whom of the members this rank has filled something, a bit for each; what it did before is seen by
    /// those who find their bit. There are none before the area is opened.
    static void tell_filled(area& a, std::uint64_t members) {
        word(a.mine[2]).store(members, std::memory_order_release);
    }
    /// Whether a rank, which fills something for this one in that call, has done so.
    [[nodiscard]] auto look_filled(area const& a, int rank) const -> news {
        auto const seen = look(a, rank, 0);
        if (seen == news::none || seen == news::different) return seen;
        auto const m = member(rank);
        bool const has_ended = done_word(m).load(std::memory_order_acquire) >= a.call;
        if ((word(line(a, m)[2]).load(std::memory_order_acquire) >> m_me & 1U) != 0) return news::there;
        if (seen == news::failed) return seen;
        return has_ended ? news::different : news::none;
    }
    /// This rank does nothing more to the area of a call.
    [[gnu::always_inline]] void end(std::uint64_t call) {
        if (m_are_several) return end_among_others(call);
        m_one = 0; // it was this one
        tell_done(std::max(call, m_passed));
    }
    /// This rank gives the call up, which has been opened: to the others all its posts have failed.
    void abandon(area const& a) {
        word(*a.mine).store(state(a.call, most_posts, true), std::memory_order_release);
        end(a.call);
    }

private:
    static constexpr unsigned post_bits = 24;
    static constexpr std::uint64_t most_posts = (std::uint64_t{1} << post_bits) - 1;
    static constexpr std::uint64_t one_post = 2;
    static constexpr std::size_t words_per_line = 8;
    static constexpr auto nobody = static_cast<std::uint32_t>(-1);
    using word_type = std::atomic_ref<std::uint64_t>;
    static_assert(word_type::is_always_lock_free);
    static_assert(sign_lines >= tiny_areas && sign_lines >= short_areas);

    static constexpr auto state(std::uint64_t call, std::uint64_t posts, bool failed) -> std::uint64_t {
        return (call << post_bits | posts) << 1U | (failed ? 1U : 0U);
    }
    /// Whether it is a sign of the call that has this area. Signs hold the last bits of the call's number.
    static constexpr auto is_of(std::uint64_t sign, area const& a) -> bool {
        return (sign ^ a.begun) >> (post_bits + 1) == 0;
    }
    [[nodiscard, gnu::always_inline]] auto line_of(std::uint64_t call, std::uint64_t key) const -> area {
        auto* const signs = m_signs + call % sign_lines * m_line_words;
        return {.data = reinterpret_cast<std::byte*>(signs + 2),
                .call = call,
                .key = key,
                .signs = signs,
                .mine = signs + m_my_words,
                .begun = state(call, 0, false),
                .sign = state(call, 0, false),
                .depth = sign_lines};
    }
    /// Whether a rank that has not begun this call has ended it: it made another one, or none that is made by
    /// memory.
    [[nodiscard]] auto has_left_out(area const& a, std::size_t m) const -> bool {
        return done_word(m).load(std::memory_order_acquire) >= a.call &&
               !is_of(word(*line(a, m)).load(std::memory_order_acquire), a);
    }
    [[nodiscard, gnu::noinline]] auto all_have_done(std::uint64_t needed) -> bool {
        std::uint64_t least = m_done;
        for (std::size_t m = 0; m < m_members; ++m)
            if (m != m_me) least = std::min(least, done_word(m).load(std::memory_order_acquire));
        m_all_done = std::max(m_all_done, least);
        return m_all_done >= needed;
    }
    [[gnu::noinline]] void begin_among_others(std::uint64_t call) {
        m_are_several = true;
        m_others.push_back(call);
        tell_done(oldest() - 1);
    }
    /// Until none has an area.
    [[gnu::noinline]] void end_among_others(std::uint64_t call) {
        m_last = std::max(m_last, call);
        if (m_one == call) m_one = m_others.empty() ? 0 : std::exchange(m_others.back(), call);
        std::erase(m_others, call);
        m_are_several = m_one != 0;
        tell_done(m_are_several ? oldest() - 1 : std::max(m_last, m_passed));
    }
    /// Two lines each for how far a rank has come, and those of the calls, behind one for who makes it.
    static constexpr auto header_bytes(std::size_t members) -> std::size_t {
        auto const lines = 1 + members * (2 + sign_lines);
        return (lines * words_per_line * sizeof(std::uint64_t) + 4095) / 4096 * 4096;
    }
    static auto word(std::uint64_t& at) -> word_type { return word_type(at); }
    /// The first word of a line.
    [[nodiscard]] auto line_at(std::size_t l) const -> std::uint64_t* {
        return reinterpret_cast<std::uint64_t*>(m_segment.get()) + l * words_per_line;
    }
    [[nodiscard]] auto done_word(std::size_t m) const -> word_type { return word(*line_at(1 + 2 * m)); }
    static auto line(area const& a, std::size_t m) -> std::uint64_t* { return a.signs + m * words_per_line; }
    /// Of those that have an area.
    [[nodiscard]] auto oldest() const -> std::uint64_t {
        if (m_others.empty()) return m_one;
        return std::min(m_one, *std::min_element(m_others.begin(), m_others.end()));
    }
    [[gnu::always_inline]] void tell_done(std::uint64_t call) {
        if (call <= m_done) return;
        m_done = call;
        word(*m_done_word).store(call, std::memory_order_release);
    }

    std::shared_ptr<std::byte> m_segment;
    std::size_t m_bytes;
    std::size_t m_members;
    std::size_t m_tiny_area; // bytes
    std::size_t m_short_area;
    std::byte* m_data;        // the areas
    std::uint64_t* m_signs;   // the lines of the calls
    std::size_t m_line_words; // of those of one call
    int m_rank = 0;
    std::size_t m_me = 0;
    std::size_t m_my_words = 0;
    std::vector<std::uint32_t> m_member_of; // by rank
    std::uint64_t* m_done_word = nullptr;   // this rank's
    std::uint64_t m_one = 0;                // a call that has an area; 0: none
    std::vector<std::uint64_t> m_others;    // that have one, too
    bool m_are_several = false;             // or were, and one is left
    std::uint64_t m_last = 0;               // the latest of several that has ended
    std::uint64_t m_passed = 0;             // all up to it have areas, or never will
    std::uint64_t m_done = 0;               // up to where all have
    std::uint64_t m_all_done = 0;           // on all ranks, as far as was looked
    looking m_looking;
};

} // namespace papcoll::inline v0::detail
