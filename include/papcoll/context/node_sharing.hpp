// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/agreement.hpp>
#include <papcoll/context/message_set.hpp>
#include <papcoll/context/node_memory.hpp>
#include <papcoll/context/settings.hpp>
#include <papcoll/detail/processors.hpp>
#include <papcoll/transport/shared_segment.hpp>
#include <papcoll/transport/transport.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Gives the ranks of each node memory that they share, or none to any rank where it cannot be had on one
/// node. The lowest rank of a node makes it and tells the others where it is; all look whether they see what
/// it wrote there; then all ranks agree.
template <transport Transport>
class segment_sharing {
public:
    /// `nodes`: equal numbers for ranks of one node. `bytes`: of a segment for so many ranks; 0: none.
    template <class Bytes>
    segment_sharing(Transport const& t, std::vector<int> const& nodes, Bytes bytes, int tag)
        : m_tag(tag) {
        std::vector<int> ranks_there(nodes.size(), 0);
        for (auto const node : nodes) m_any = ++ranks_there[static_cast<std::size_t>(node)] > 1 || m_any;
        auto const mine = nodes[static_cast<std::size_t>(t.rank())];
        for (std::size_t r = 0; r < nodes.size(); ++r)
            if (nodes[r] == mine) m_members.push_back(static_cast<int>(r));
        m_bytes = bytes(m_members.size());
        m_any = m_any && m_bytes > 0 && can_share;
        m_keys.resize(m_members.size());
    }

    auto abandon(Transport& t) noexcept -> bool {
        bool const kept = m_messages.abandon(t);
        if constexpr (can_share)
            if (m_begun && makes(t)) t.forget_segment(m_keys[0].key);
        return (m_agreement && m_agreement->abandon(t)) || kept;
    }
    /// True when it is done.
    auto advance(Transport& t, bool block) -> bool {
        if (!m_any) return true;
        if constexpr (can_share) {
            if (!m_begun) begin(t);
            if (!m_agreement) {
                if (!m_messages.poll(t, block)) return false;
                if (!makes(t) && m_members.size() > 1) open(t);
                m_agreement.emplace(m_good ? 1 : 0, merge, m_tag);
            }
            if (!m_agreement->advance(t, block)) return false;
            if (makes(t)) t.forget_segment(m_keys[0].key);
        }
        return true;
    }
    /// Zeros, but for the first word; null: there is none.
    [[nodiscard]] auto result() const -> std::shared_ptr<std::byte> {
        return is_there() ? m_segment : nullptr;
    }
    /// Whether each node with several ranks has it.
    [[nodiscard]] auto is_there() const -> bool { return m_agreement && m_agreement->result() != 0; }
    /// The ranks of this node, in ascending order.
    [[nodiscard]] auto members() const -> std::vector<int> const& { return m_members; }

private:
    static constexpr bool can_share = requires(Transport & t, segment_key& key) {
        t.make_segment(std::size_t(), key);
        t.open_segment(key, std::size_t());
        t.forget_segment(key);
        t.progress();
    };
    struct key_message {
        segment_key key;
        std::uint64_t written; ///< what is in the first word; 0: there is nothing
    };
    static auto merge(int a, int b) -> int { return a < b ? a : b; }

    [[nodiscard]] auto makes(Transport const& t) const -> bool { return t.rank() == m_members.front(); }
    [[nodiscard]] auto first_word() const -> std::atomic_ref<std::uint64_t> {
        return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(m_segment.get()));
    }
    void begin(Transport& t) {
        m_begun = true;
        if (m_members.size() == 1) return;
        if (!makes(t))
            return m_messages.receive(t, channel::data, std::as_writable_bytes(std::span(m_keys).first(1)),
                                      m_members.front(), m_tag);
        attempt([&] {
            m_segment = t.make_segment(m_bytes, m_keys[0].key);
            m_keys[0].written = std::random_device()() | std::uint64_t{1} << 32U;
            first_word().store(m_keys[0].written);
        });
        for (std::size_t m = 1; m < m_members.size(); ++m) {
            m_keys[m] = m_keys[0];
            m_messages.send(t, channel::data,
                            std::as_bytes(std::span<key_message const>(m_keys).subspan(m, 1)), m_members[m],
                            m_tag);
        }
    }
    void open(Transport& t) {
        m_good = m_keys[0].written != 0;
        if (!m_good) return;
        attempt([&] {
            m_segment = t.open_segment(m_keys[0].key, m_bytes);
            if (first_word().load() != m_keys[0].written) throw std::runtime_error("it is other memory");
        });
    }
    template <class F>
    void attempt(F f) {
        try {
            f();
        } catch (std::exception const& why) {
            m_good = false;
            m_segment.reset();
            if (environment_settings::instance().report())
                std::fprintf(stderr, "papcoll: the ranks of this node share no memory: %s\n", why.what());
        }
    }

    std::size_t m_bytes = 0;
    int m_tag;
    bool m_any = false;
    bool m_begun = false;
    bool m_good = true;
    std::vector<int> m_members;
    std::vector<key_message> m_keys; // one for each message
    std::shared_ptr<std::byte> m_segment;
    message_set<Transport> m_messages;
    std::optional<agreement<Transport, int, int (*)(int, int)>> m_agreement;
};

/// The same of a communicator's memory for its calls.
template <transport Transport>
class node_sharing {
public:
    /// All ranks give the same `bytes_per_rank`, 0 for none.
    node_sharing(Transport const& t, std::vector<int> const& nodes, std::size_t bytes_per_rank, int tag)
        : m_bytes(bytes_per_rank / node_memory::granularity * node_memory::granularity)
        , m_segment(
              t, nodes,
              [this](std::size_t members) {
                  return m_bytes > 0 ? node_memory::segment_bytes(members, m_bytes) : 0;
              },
              tag) {}

    auto abandon(Transport& t) noexcept -> bool { return m_segment.abandon(t); }
    /// True when it is done.
    auto advance(Transport& t, bool block) -> bool { return m_segment.advance(t, block); }
    /// Null: there is none.
    [[nodiscard]] auto result(Transport const& t) const -> std::shared_ptr<node_memory> {
        auto segment = m_segment.result();
        if (!segment) return nullptr;
        auto const& members = m_segment.members();
        return std::make_shared<node_memory>(std::move(segment), m_bytes, members, t.rank(), t.size(),
                                             enough_processors(members.size()));
    }
    /// Whether each node with several ranks has it.
    [[nodiscard]] auto is_there() const -> bool { return m_segment.is_there(); }
    [[nodiscard]] auto bytes_per_rank() const -> std::size_t { return m_bytes; }

private:
    std::size_t m_bytes;
    segment_sharing<Transport> m_segment;
};

} // namespace papcoll::inline v0::detail
