// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/transport.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// The messages that one operation has under way, each with a label that says what it is. Messages longer
/// than the transport takes go in pieces and are reported when the last piece is through.
template <transport Transport, class Label>
class message_flow {
public:
    message_flow(Transport& t, int tag)
        : m_transport(t)
        , m_tag(tag) {}

    /// `companion` chooses between the two tags of an operation.
    void send(channel ch, const_message_parts parts, int to, Label label, int companion = 0) {
        in_pieces(parts, label,
                  [&](auto piece) { return m_transport.isend(ch, piece, to, m_tag + companion); });
    }
    void receive(channel ch, message_parts parts, int from, Label label, int companion = 0) {
        in_pieces(parts, label,
                  [&](auto piece) { return m_transport.irecv(ch, piece, from, m_tag + companion); });
    }
    [[nodiscard]] auto empty() const -> bool { return m_pending.empty(); }

    auto abandon() noexcept -> bool {
        bool touched = m_transport.abandon(open_pieces());
        for (auto& e : m_entries) touched = m_transport.abandon(e.later) || touched;
        return touched;
    }

    /// Calls on_complete(label) for each message that has ended; true when there was any. With `block` waits
    /// for the first piece.
    template <class F>
    auto poll(bool block, F on_complete) -> bool {
        if (m_pending.empty()) return false;
        m_done.clear();
        if (block)
            m_transport.wait_some(open_pieces(), m_done);
        else
            m_transport.test_some(open_pieces(), m_done);
        bool const any = !m_done.empty();
        std::erase_if(m_done, [&](int i) { return !end_piece(static_cast<std::size_t>(i)); });
        m_ended.clear();
        for (int const i : m_done) m_ended.push_back(m_entries[static_cast<std::size_t>(i)].label);
        std::sort(m_done.begin(), m_done.end(), std::greater<>{});
        for (int const i : m_done) remove(static_cast<std::size_t>(i));
        for (Label const& label : m_ended) on_complete(label);
        return any;
    }

private:
    using pending = typename Transport::pending;

    struct entry {
        Label label;
        std::vector<pending> later; // pieces behind the one that is polled, the last first
    };

    [[nodiscard]] auto open_pieces() -> std::span<pending> { return {m_pending.data(), m_pending.size()}; }
    // Pieces of a message complete in order, or nearly so: only the first open one is polled.
    template <class Byte, class Post>
    void in_pieces(basic_message_parts<Byte> parts, Label label, Post post) {
        std::size_t const most = m_transport.max_message_bytes();
        if (parts.bytes() <= most) {
            m_pending.push_back(post(parts));
            m_entries.push_back({label, {}});
            return;
        }
        std::vector<pending> pieces;
        std::vector<std::span<Byte>> list;
        for (std::size_t begin = 0; begin < parts.bytes(); begin += most) {
            auto const count = std::min(parts.bytes() - begin, most);
            pieces.push_back(post(parts.slice(begin, count, list)));
        }
        std::reverse(pieces.begin(), pieces.end());
        m_pending.push_back(std::move(pieces.back()));
        pieces.pop_back();
        m_entries.push_back({label, std::move(pieces)});
    }
    /// True when that was the last piece.
    auto end_piece(std::size_t i) -> bool {
        auto& later = m_entries[i].later;
        if (later.empty()) return true;
        m_pending[i] = std::move(later.back());
        later.pop_back();
        return false;
    }
    void remove(std::size_t i) {
        m_pending[i] = std::move(m_pending.back());
        m_pending.pop_back();
        if (i + 1 < m_entries.size()) m_entries[i] = std::move(m_entries.back());
        m_entries.pop_back();
    }

    Transport& m_transport;
    int m_tag;
    boost::container::small_vector<pending, 8> m_pending;
    boost::container::small_vector<entry, 8> m_entries;
    std::vector<int> m_done;
    boost::container::small_vector<Label, 8> m_ended;
};

} // namespace papcoll::inline v0::detail
