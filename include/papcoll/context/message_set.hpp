// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/transport.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// A handful of messages under way that are waited for together.
template <transport Transport>
class message_set {
public:
    void send(Transport& t, channel ch, std::span<std::byte const> bytes, int to, int tag) {
        make_room();
        m_pending.push_back(t.isend(ch, bytes, to, tag));
        m_is_send.push_back(true);
        ++m_open;
    }
    void receive(Transport& t, channel ch, std::span<std::byte> bytes, int from, int tag) {
        make_room();
        m_pending.push_back(t.irecv(ch, bytes, from, tag));
        m_is_send.push_back(false);
        ++m_open;
    }
    /// True when all have ended.
    auto poll(Transport& t, bool block) -> bool {
        if (m_open == 0) return true;
        m_done.clear();
        if (block)
            t.wait_some(m_pending, m_done);
        else
            t.test_some(m_pending, m_done);
        m_open -= static_cast<int>(m_done.size());
        if (m_open == 0) forget();
        return m_open == 0;
    }
    /// Gives them up. True when the memory of sends may still be read.
    auto abandon(Transport& t) noexcept -> bool {
        std::vector<typename Transport::pending> receives, sends;
        for (std::size_t i = 0; i < m_pending.size(); ++i)
            (m_is_send[i] ? sends : receives).push_back(std::move(m_pending[i]));
        forget();
        return t.abandon(receives, sends);
    }

private:
    // What has been posted is in the lists, whatever throws.
    void make_room() {
        m_pending.reserve(m_pending.size() + 1);
        m_is_send.reserve(m_is_send.size() + 1);
    }
    void forget() {
        m_pending.clear();
        m_is_send.clear();
        m_open = 0;
    }

    std::vector<typename Transport::pending> m_pending;
    std::vector<bool> m_is_send;
    std::vector<completion> m_done;
    int m_open = 0;
};

} // namespace papcoll::inline v0::detail
