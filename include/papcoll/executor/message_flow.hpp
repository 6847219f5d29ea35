// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/transport.hpp>

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
    /// Messages of more than `longest_piece` bytes go in pieces, too; 0: only where the transport wants it.
    message_flow(Transport& t, int tag, std::size_t longest_piece = 0)
        : m_transport(t)
        , m_tag(tag)
        , m_longest_piece(longest_piece == 0 ? t.max_message_bytes()
                                             : std::min(longest_piece, t.max_message_bytes())) {}

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

    auto abandon() noexcept -> bool { return m_transport.abandon(m_pending); }

    /// Calls on_complete(label) for each message that has ended; true when there was any. With `block` waits
    /// for the first piece.
    template <class F>
    auto poll(bool block, F on_complete) -> bool {
        if (m_pending.empty()) return false;
        m_done.clear();
        if (block)
            m_transport.wait_some(m_pending, m_done);
        else
            m_transport.test_some(m_pending, m_done);
        m_ended.clear();
        for (int const i : m_done) end_piece(m_entries[static_cast<std::size_t>(i)]);
        std::sort(m_done.begin(), m_done.end(), std::greater<>{});
        for (int const i : m_done) remove(static_cast<std::size_t>(i));
        for (Label const& label : m_ended) on_complete(label);
        return !m_done.empty();
    }

private:
    template <class Byte, class Post>
    void in_pieces(basic_message_parts<Byte> parts, Label label, Post post) {
        auto const pieces = parts.bytes() <= m_longest_piece ? 1 : (parts.bytes() - 1) / m_longest_piece + 1;
        auto const group = begin_group(pieces);
        if (pieces == 1) {
            m_pending.push_back(post(parts));
            m_entries.push_back({label, group});
            return;
        }
        std::vector<std::span<Byte>> list;
        for (std::size_t begin = 0; begin < parts.bytes(); begin += m_longest_piece) {
            auto const count = std::min(parts.bytes() - begin, m_longest_piece);
            m_pending.push_back(post(parts.slice(begin, count, list)));
            m_entries.push_back({label, group});
        }
    }
    static constexpr std::size_t alone = static_cast<std::size_t>(-1);

    auto begin_group(std::size_t pieces) -> std::size_t {
        if (pieces == 1) return alone;
        auto const unused = std::find(m_open_pieces.begin(), m_open_pieces.end(), std::size_t(0));
        auto const group = static_cast<std::size_t>(unused - m_open_pieces.begin());
        if (unused == m_open_pieces.end())
            m_open_pieces.push_back(pieces);
        else
            *unused = pieces;
        return group;
    }
    struct entry {
        Label label;
        std::size_t group;
    };

    void end_piece(entry const& e) {
        if (e.group == alone || --m_open_pieces[e.group] == 0) m_ended.push_back(e.label);
    }
    void remove(std::size_t i) {
        m_pending[i] = std::move(m_pending.back());
        m_pending.pop_back();
        m_entries[i] = m_entries.back();
        m_entries.pop_back();
    }

    Transport& m_transport;
    int m_tag;
    std::size_t m_longest_piece;
    std::vector<std::size_t> m_open_pieces; // of each message that went in several
    std::vector<typename Transport::pending> m_pending;
    std::vector<entry> m_entries;
    std::vector<int> m_done;
    std::vector<Label> m_ended;
};

} // namespace papcoll::inline v0::detail
