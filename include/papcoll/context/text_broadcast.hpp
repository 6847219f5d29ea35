// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/message_set.hpp>
#include <papcoll/transport/transport.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace papcoll::inline v0::detail {

/// Brings a text of rank 0, whose length all ranks know, to every rank along a binomial tree.
template <transport Transport>
class text_broadcast {
public:
    /// `text`: rank 0's, and `bytes` characters long there.
    text_broadcast(std::string text, std::size_t bytes, int tag)
        : m_text(std::move(text))
        , m_tag(tag) {
        m_text.resize(bytes);
    }

    /// True when the text is there and has been passed on.
    auto advance(Transport& t, bool block) -> bool {
        while (m_messages.poll(t, block)) {
            if (m_text.empty() || m_distance >= t.size()) return true;
            start_round(t);
            m_distance *= 2;
        }
        return false;
    }
    /// Gives its messages up, see message_set.
    auto abandon(Transport& t) noexcept -> bool { return m_messages.abandon(t); }
    [[nodiscard]] auto result() -> std::string&& { return std::move(m_text); }

private:
    // In round k the ranks below 2^k send to those 2^k above.
    void start_round(Transport& t) {
        std::span<char> const text(m_text);
        int const rank = t.rank();
        if (rank >= m_distance && rank < 2 * m_distance)
            m_messages.receive(t, channel::data, std::as_writable_bytes(text), rank - m_distance, m_tag);
        if (rank < m_distance && m_distance < t.size() - rank)
            m_messages.send(t, channel::data, std::as_bytes(text), rank + m_distance, m_tag);
    }

    std::string m_text;
    int m_tag;
    int m_distance = 1;
    message_set<Transport> m_messages;
};

} // namespace papcoll::inline v0::detail
