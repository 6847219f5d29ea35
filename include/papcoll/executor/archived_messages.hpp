// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/serialization.hpp>
#include <papcoll/executor/stretches.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

/// How serialized values travel: a message is the lengths of its values, on the control channel, and then
/// their contents, one behind the other, on the data channel; without contents there is no second part. A
/// length of its own stands for a value that is missing.
namespace papcoll::inline v0::detail {

inline constexpr std::uint64_t length_of_missing = std::numeric_limits<std::uint64_t>::max();

/// The values of a message that leaves.
class leaving_values {
public:
    /// Forgets them; what was sent must have left.
    void clear() { m_contents.clear(); }
    void add(content value) { m_contents.push_back(std::move(value)); }
    /// To be sent first.
    [[nodiscard]] auto lengths() -> std::span<std::byte const> {
        m_lengths.clear();
        for (auto const& c : m_contents)
            m_lengths.push_back(c.is_missing() ? length_of_missing : c.bytes().size());
        return std::as_bytes(std::span<std::uint64_t const>(m_lengths));
    }
    /// To be sent then, from where the contents are, which `to` lists.
    void list_contents(stretch_list<std::byte const>& to) const {
        to.clear();
        for (auto const& c : m_contents)
            if (!c.bytes().empty()) to.add(std::as_bytes(c.bytes()));
    }

private:
    std::vector<std::uint64_t> m_lengths;
    std::vector<content> m_contents;
};

/// The values of a message that arrives.
class arriving_values {
public:
    /// Where the lengths of n values are received.
    [[nodiscard]] auto expect(std::size_t n) -> std::span<std::byte> {
        m_lengths.assign(n, 0);
        m_taken = m_begin = 0;
        return std::as_writable_bytes(std::span(m_lengths));
    }
    /// The lengths or the contents did not come as they must: all values are missing.
    void lose() { std::fill(m_lengths.begin(), m_lengths.end(), length_of_missing); }
    /// Where the contents are received, once the lengths are there; empty: there are none to come.
    [[nodiscard]] auto make_room() -> std::span<std::byte> {
        auto const sum = std::accumulate(m_lengths.begin(), m_lengths.end(), std::uint64_t(0),
                                         [](auto s, auto n) { return s + (n == length_of_missing ? 0 : n); });
        m_contents = std::make_shared<std::vector<char>>(static_cast<std::size_t>(sum));
        return std::as_writable_bytes(std::span(*m_contents));
    }
    /// The values, one after the other; they keep the memory of the message as long as they live.
    [[nodiscard]] auto take_next() -> content {
        auto const length = m_lengths[m_taken++];
        content value;
        if (length != length_of_missing) {
            value = content(m_contents, m_begin, static_cast<std::size_t>(length));
            m_begin += static_cast<std::size_t>(length);
        }
        if (m_taken == m_lengths.size()) m_contents.reset();
        return value;
    }

private:
    std::vector<std::uint64_t> m_lengths;
    std::shared_ptr<std::vector<char>> m_contents;
    std::size_t m_taken = 0; // values
    std::size_t m_begin = 0; // of the next one's contents
};

} // namespace papcoll::inline v0::detail
