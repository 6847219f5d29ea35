// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/executor/stretches.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

/// How serialized values travel: the first part of a message, on the control channel, is a word with the
/// number of values and whether their contents follow, the length of each value, and the contents one behind
/// the other where they are short; long contents are a second part, on the data channel. A length of its own
/// stands for a value that is missing.
namespace papcoll::inline v0::detail {

/// The layout of the first part.
struct first_part {
    using word = std::uint64_t;
    static constexpr word length_of_missing = std::numeric_limits<word>::max();

    [[nodiscard]] static auto head(std::size_t values, bool contents_follow) -> word {
        return static_cast<word>(values) << 1U | (contents_follow ? 1U : 0U);
    }
    /// The bytes before the contents.
    [[nodiscard]] static auto lengths_end(std::size_t values) -> std::size_t {
        return (1 + values) * sizeof(word);
    }
    /// Contents up to so many bytes travel with the lengths: both ends expect the same number of messages of
    /// at most `most_message` bytes.
    [[nodiscard]] static auto most_contents(std::size_t values, std::size_t most_message) -> std::size_t {
        return std::min<std::size_t>(1024, most_message - std::min(lengths_end(values), most_message));
    }
    /// Returns what is behind it.
    static auto write(std::byte* to, word w) -> std::byte* {
        std::memcpy(to, &w, sizeof(w));
        return to + sizeof(w);
    }
    /// The word at the beginning.
    [[nodiscard]] static auto read(std::span<std::byte const> from) -> word {
        word w = 0;
        std::memcpy(&w, from.data(), sizeof(w));
        return w;
    }
};

/// The values of a message that leaves.
class leaving_values {
public:
    /// Forgets them; what was sent must have left.
    void clear() { m_contents.clear(); }
    void add(content value) { m_contents.push_back(std::move(value)); }
    /// To be sent first, by a transport whose messages have at most `most_message` bytes.
    [[nodiscard]] auto make_first(std::size_t most_message) -> std::span<std::byte const> {
        auto const begin = first_part::lengths_end(m_contents.size());
        auto const sum = contents_bytes();
        m_follow = sum > first_part::most_contents(m_contents.size(), most_message);
        m_first.resize(begin + (m_follow ? 0 : sum));
        auto* to = first_part::write(m_first.data(), first_part::head(m_contents.size(), m_follow));
        for (auto const& c : m_contents)
            to = first_part::write(to, c.is_missing() ? first_part::length_of_missing : c.bytes().size());
        if (!m_follow)
            for (auto const& c : m_contents) to = std::ranges::copy(std::as_bytes(c.bytes()), to).out;
        return m_first;
    }
    /// Whether contents are to be sent then, from where they are.
    [[nodiscard]] auto contents_follow() const -> bool { return m_follow; }
    void list_contents(stretch_list<std::byte const>& to) const {
        to.clear();
        for (auto const& c : m_contents)
            if (!c.bytes().empty()) to.add(std::as_bytes(c.bytes()));
    }
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return m_first.capacity() + m_contents.capacity() * sizeof(content);
    }

private:
    [[nodiscard]] auto contents_bytes() const -> std::size_t {
        std::size_t sum = 0;
        for (auto const& c : m_contents) sum += c.bytes().size();
        return sum;
    }

    std::vector<std::byte> m_first;
    std::vector<content> m_contents;
    bool m_follow = false;
};

/// The values of a message that arrives.
class arriving_values {
public:
    /// Where the first part of a message of n values is received, which may be shorter; `most_message` as for
    /// the sender.
    [[nodiscard]] auto expect(std::size_t n, std::size_t most_message) -> std::span<std::byte> {
        m_count = n;
        m_taken = 0;
        // Values of an earlier message may still be held.
        if (!m_contents || m_contents.use_count() > 1) m_contents = std::make_shared<std::vector<char>>();
        m_contents->resize(first_part::lengths_end(n) + first_part::most_contents(n, most_message));
        m_lengths.assign(n, first_part::length_of_missing);
        return std::as_writable_bytes(std::span(*m_contents));
    }
    /// So many bytes of it have come. All values are missing where it is not as it must be.
    void take_first(std::size_t bytes) {
        auto const begin = first_part::lengths_end(m_count);
        m_begin = begin;
        m_follow_bytes = 0;
        if (bytes < begin) return;
        auto const head = read(0);
        bool const follow = head == first_part::head(m_count, true);
        if (!follow && head != first_part::head(m_count, false)) return;
        for (std::size_t v = 0; v < m_count; ++v) m_lengths[v] = read((1 + v) * sizeof(first_part::word));
        auto const sum = lengths_sum();
        if (follow)
            m_follow_bytes = static_cast<std::size_t>(sum);
        else if (sum != bytes - begin)
            lose();
    }
    /// How many bytes of contents follow.
    [[nodiscard]] auto follow_bytes() const -> std::size_t { return m_follow_bytes; }
    /// Where they are received; empty: none follow.
    [[nodiscard]] auto make_room() -> std::span<std::byte> {
        if (m_follow_bytes == 0) return {};
        if (!m_kept || m_kept.use_count() > 1) m_kept = std::make_shared<std::vector<char>>();
        m_kept->resize(m_follow_bytes);
        m_contents = m_kept;
        m_begin = 0;
        return std::as_writable_bytes(std::span(*m_contents));
    }
    /// Receives the contents that follow. Their length is news to this rank; where it has no memory for them,
    /// they are taken from their sender all the same, which waits for that, and all values are missing.
    template <class Flow, class Label>
    void receive_contents(Flow& flow, int from, Label const& label, first_failure& failure) {
        std::span<std::byte> room;
        try {
            room = make_room();
        } catch (...) {
            failure.note(std::current_exception());
            lose();
            return flow.receive_nothing(channel::data, m_follow_bytes, from, label);
        }
        flow.receive(channel::data, room, from, label);
    }
    /// The contents did not come as they must: all values are missing.
    void lose() { std::ranges::fill(m_lengths, first_part::length_of_missing); }
    /// The values, one after the other; they keep the memory of the message as long as they live.
    [[nodiscard]] auto take_next() -> content {
        auto const length = m_lengths[m_taken++];
        if (length == first_part::length_of_missing) return {};
        content value(m_contents, m_begin, static_cast<std::size_t>(length));
        m_begin += static_cast<std::size_t>(length);
        return value;
    }
    /// All have been taken: long contents live as long as the values, but for memory that is not more than
    /// `most_kept` bytes, which the next ones find.
    void let_go(std::size_t most_kept = 0) {
        if (m_follow_bytes > 0) m_contents.reset();
        if (m_kept && m_kept->capacity() > most_kept) m_kept.reset();
    }
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return m_lengths.capacity() * sizeof(first_part::word) + (m_contents ? m_contents->capacity() : 0) +
               (m_kept ? m_kept->capacity() : 0);
    }

private:
    [[nodiscard]] auto read(std::size_t at) const -> first_part::word {
        return first_part::read(std::as_bytes(std::span(*m_contents)).subspan(at));
    }
    [[nodiscard]] auto lengths_sum() const -> first_part::word {
        return std::accumulate(m_lengths.begin(), m_lengths.end(), first_part::word(0), [](auto s, auto n) {
            return s + (n == first_part::length_of_missing ? 0 : n);
        });
    }

    std::shared_ptr<std::vector<char>> m_contents; // behind the lengths, while it is the first part
    std::shared_ptr<std::vector<char>> m_kept;     // for long contents
    std::vector<first_part::word> m_lengths;
    std::size_t m_count = 0;
    std::size_t m_taken = 0; // values
    std::size_t m_begin = 0; // of the next one's contents
    std::size_t m_follow_bytes = 0;
};

} // namespace papcoll::inline v0::detail
