// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/message_set.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// Tells every rank on which node each of them is, in ⌈log2 P⌉ rounds of one message, 8 bytes per rank in
/// all: in round k a rank sends the keys of 2^k ranks from itself on to the one 2^k below. A transport
/// without `node()` has one node, and nothing is sent.
template <transport Transport>
class node_agreement {
public:
    node_agreement(Transport const& t, int tag)
        : m_keys(static_cast<std::size_t>(t.size()))
        , m_tag(tag) {
        if constexpr (requires { t.node(); })
            m_keys[0] = t.node();
        else
            m_known = m_keys.size();
    }

    /// Gives its messages up, see message_set.
    auto abandon(Transport& t) noexcept -> bool { return m_messages.abandon(t); }
    /// True when the result is there.
    auto advance(Transport& t, bool block) -> bool {
        for (;;) {
            if (m_started) {
                if (!m_messages.poll(t, block)) return false;
                m_known += m_count;
                m_started = false;
            }
            if (m_known >= m_keys.size()) return true;
            start_round(t);
        }
    }
    /// A number for each rank, equal where they share a node: of the first rank there.
    [[nodiscard]] auto result(int rank) const -> std::vector<int> {
        std::size_t const p = m_keys.size();
        auto const own = static_cast<std::size_t>(rank);
        std::vector<int> order(p), nodes(p);
        auto const key = [&](std::size_t r) { return m_keys[r >= own ? r - own : r + p - own]; };
        for (std::size_t r = 0; r < p; ++r) order[r] = static_cast<int>(r);
        auto const key_of = [&](int r) { return key(static_cast<std::size_t>(r)); };
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key_of(a) < key_of(b); });
        for (std::size_t i = 0; i < p; ++i) {
            bool const same = i > 0 && key_of(order[i]) == key_of(order[i - 1]);
            nodes[static_cast<std::size_t>(order[i])] =
                same ? nodes[static_cast<std::size_t>(order[i - 1])] : order[i];
        }
        return nodes;
    }

private:
    void start_round(Transport& t) {
        int const size = t.size();
        auto const distance = static_cast<int>(m_known);
        m_count = std::min(m_known, m_keys.size() - m_known);
        std::span<std::uint64_t> const keys(m_keys);
        auto const above = static_cast<int>((std::int64_t{t.rank()} + distance) % size);
        m_messages.receive(t, channel::data, std::as_writable_bytes(keys.subspan(m_known, m_count)), above,
                           m_tag);
        m_messages.send(t, channel::data, std::as_bytes(std::span<std::uint64_t const>(keys.first(m_count))),
                        (t.rank() - distance + size) % size, m_tag);
        m_started = true;
    }

    std::vector<std::uint64_t> m_keys; // of the ranks from this one on, modulo P
    std::size_t m_known = 1;
    std::size_t m_count = 0;
    int m_tag;
    bool m_started = false;
    message_set<Transport> m_messages;
};

} // namespace papcoll::inline v0::detail
