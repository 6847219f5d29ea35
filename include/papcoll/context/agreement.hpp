// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/message_set.hpp>
#include <papcoll/transport/transport.hpp>

#include <span>
#include <utility>

namespace papcoll::inline v0::detail {

/// Brings the merge of all ranks' records to every rank in ⌈log2 P⌉ rounds of one message: in round k from
/// the rank 2^k below to the one 2^k above. Record is trivially copyable; merge(a, b) must be associative,
/// commutative and idempotent (a minimum, a maximum), since contributions come by several ways.
template <transport Transport, class Record, class Merge>
class agreement {
public:
    agreement(Record const& mine, Merge merge, int tag)
        : m_record(mine)
        , m_merge(std::move(merge))
        , m_tag(tag) {}

    [[nodiscard]] auto result() const -> Record const& { return m_record; }

    /// Gives its messages up, see message_set.
    auto abandon(Transport& t) noexcept -> bool { return m_messages.abandon(t); }
    /// True when the result is there.
    auto advance(Transport& t, bool block) -> bool {
        for (;;) {
            if (m_started) {
                if (!m_messages.poll(t, block)) return false;
                m_record = m_merge(m_record, m_received);
                m_started = false;
                m_distance *= 2;
            }
            if (m_distance >= t.size()) return true;
            start_round(t);
        }
    }

private:
    void start_round(Transport& t) {
        int const size = t.size();
        auto const distance = static_cast<int>(m_distance);
        m_sent = m_record;
        m_messages.receive(t, channel::data, std::as_writable_bytes(std::span(&m_received, 1)),
                           (t.rank() - distance + size) % size, m_tag);
        m_messages.send(t, channel::data, std::as_bytes(std::span<Record const>(&m_sent, 1)),
                        static_cast<int>((t.rank() + m_distance) % size), m_tag);
        m_started = true;
    }

    Record m_record;
    Record m_sent{};
    Record m_received{};
    Merge m_merge;
    int m_tag;
    long long m_distance = 1;
    bool m_started = false;
    message_set<Transport> m_messages;
};

} // namespace papcoll::inline v0::detail
