// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/transport.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What came in place of a message that was received, or that all is well; sends are always whole.
enum class arrival_of_message {
    whole,
    nothing, ///< an empty one: the sender has failed and has nothing to give
    other    ///< one of another length
};

/// The messages that one operation has under way, each with a label that says what it is. Messages longer
/// than the transport takes go in pieces and are reported when the last piece is through.
template <transport Transport, class Label>
class message_flow {
public:
    message_flow() = default;
    message_flow(Transport& t, int tag) { use(t, tag); }
    /// From now on for messages of this transport and operation; none is under way.
    void use(Transport& t, int tag) {
        m_transport = &t;
        m_tag = tag;
    }
    /// Up to so many messages at a time take no further memory, however their ends meet.
    void reserve(std::size_t messages) {
        m_pending.reserve(messages);
        m_entries.reserve(messages);
        m_done.reserve(messages);
        m_ended.reserve(messages);
    }

    /// `companion` chooses between the two tags of an operation.
    void send(channel ch, const_message_parts parts, int to, Label label, int companion = 0) {
        in_pieces(parts, {label},
                  [&](auto piece) { return m_transport->isend(ch, piece, to, m_tag + companion); });
    }
    /// In place of that message tells the receiver that there is nothing to give.
    void send_nothing(channel ch, const_message_parts parts, int to, Label label, int companion = 0) {
        in_pieces(parts.bytes(), {label}, [&](std::size_t, std::size_t) {
            return m_transport->isend(ch, {}, to, m_tag + companion);
        });
    }
    void receive(channel ch, message_parts parts, int from, Label label, int companion = 0) {
        in_pieces(parts, {label, true, parts.bytes()},
                  [&](auto piece) { return m_transport->irecv(ch, piece, from, m_tag + companion); });
    }
    /// Takes a message of so many bytes from its sender without keeping it; it is not whole.
    void receive_nothing(channel ch, std::size_t bytes, int from, Label label) {
        in_pieces(bytes, {label, true, bytes},
                  [&](std::size_t, std::size_t) { return m_transport->irecv(ch, {}, from, m_tag); });
    }
    [[nodiscard]] auto empty() const -> bool { return m_pending.empty(); }

    auto abandon() noexcept -> bool {
        std::vector<pending> receives, sends;
        for (std::size_t i = 0; i < m_entries.size(); ++i) {
            auto& list = m_entries[i].is_receive ? receives : sends;
            list.push_back(std::move(m_pending[i]));
            for (auto& later : m_entries[i].later) list.push_back(std::move(later));
        }
        m_pending.clear();
        m_entries.clear();
        return m_transport->abandon(receives, sends);
    }

    /// Calls on_complete(label, arrival, bytes) for each message that has ended; true when there was any.
    /// `bytes` is how many of it were received. With `block` waits for the first piece.
    template <class F>
    auto poll(bool block, F on_complete) -> bool {
        if (m_pending.empty()) return false;
        m_done.clear();
        if (block)
            m_transport->wait_some(open_pieces(), m_done);
        else
            m_transport->test_some(open_pieces(), m_done);
        bool const any = !m_done.empty();
        std::erase_if(m_done, [&](completion const& c) { return !end_piece(c); });
        m_ended.clear();
        for (auto const& c : m_done) {
            auto const& e = m_entries[static_cast<std::size_t>(c.position)];
            m_ended.push_back({e.label, e.arrival(), e.came});
        }
        std::sort(m_done.begin(), m_done.end(),
                  [](completion const& a, completion const& b) { return a.position > b.position; });
        for (auto const& c : m_done) remove(static_cast<std::size_t>(c.position));
        for (auto const& [label, arrival, bytes] : m_ended) on_complete(label, arrival, bytes);
        return any;
    }

private:
    using pending = typename Transport::pending;

    struct entry {
        Label label;
        bool is_receive = false;
        std::size_t missing = 0; // bytes that have not come
        std::size_t came = 0;
        bool too_long = false;
        std::vector<pending> later = {}; // pieces behind the one that is polled, the last first

        [[nodiscard]] auto arrival() const -> arrival_of_message {
            if (!is_receive || (missing == 0 && !too_long)) return arrival_of_message::whole;
            return came == 0 && !too_long ? arrival_of_message::nothing : arrival_of_message::other;
        }
    };
    struct ended {
        Label label;
        arrival_of_message arrival;
        std::size_t bytes;
    };

    [[nodiscard]] auto open_pieces() -> std::span<pending> { return {m_pending.data(), m_pending.size()}; }
    template <class Byte, class Post>
    void in_pieces(basic_message_parts<Byte> parts, entry e, Post post) {
        std::vector<std::span<Byte>> list;
        in_pieces(parts.bytes(), std::move(e), [&](std::size_t begin, std::size_t count) {
            return post(count == parts.bytes() ? parts : parts.slice(begin, count, list));
        });
    }
    // Pieces of a message complete in order, or nearly so: only the first open one is polled.
    template <class Post>
    void in_pieces(std::size_t bytes, entry&& e, Post post) {
        std::size_t const most = m_transport->max_message_bytes();
        // Room first: what has been posted is in the lists, whatever throws.
        m_pending.reserve(m_pending.size() + 1);
        m_entries.reserve(m_entries.size() + 1);
        if (bytes <= most) {
            m_pending.push_back(post(0, bytes));
            m_entries.push_back(std::move(e));
            return;
        }
        std::vector<pending> pieces;
        pieces.reserve((bytes - 1) / most + 1);
        try {
            for (std::size_t begin = 0; begin < bytes; begin += most)
                pieces.push_back(post(begin, std::min(bytes - begin, most)));
        } catch (...) {
            enter(pieces, e);
            throw;
        }
        enter(pieces, e);
    }
    void enter(std::vector<pending>& pieces, entry& e) {
        if (pieces.empty()) return;
        std::reverse(pieces.begin(), pieces.end());
        m_pending.push_back(std::move(pieces.back()));
        pieces.pop_back();
        e.later = std::move(pieces);
        m_entries.push_back(std::move(e));
    }
    /// True when that was the last piece.
    auto end_piece(completion const& c) -> bool {
        auto const i = static_cast<std::size_t>(c.position);
        auto& e = m_entries[i];
        if (e.is_receive) {
            e.too_long = e.too_long || c.bytes == completion::too_long;
            if (!e.too_long) e.came += c.bytes, e.missing -= std::min(c.bytes, e.missing);
        }
        auto& later = e.later;
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

    Transport* m_transport = nullptr;
    int m_tag = 0;
    boost::container::small_vector<pending, 8> m_pending;
    boost::container::small_vector<entry, 8> m_entries;
    std::vector<completion> m_done;
    boost::container::small_vector<ended, 8> m_ended;
};

} // namespace papcoll::inline v0::detail
