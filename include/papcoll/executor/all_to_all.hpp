// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/staging.hpp>
#include <papcoll/executor/stretches.hpp>
#include <papcoll/schedule/block_exchange.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The user's memory in an all-to-all: a block for each rank, and room for one from each. In place the blocks
/// that leave are copied first, since others arrive where they are.
template <transportable T>
class exchanged_blocks {
public:
    exchanged_blocks(T const* in, T* out, std::size_t block, int rank, int ranks)
        : m_in(in)
        , m_out(out)
        , m_block(block)
        , m_rank(rank)
        , m_ranks(ranks) {
        if (block == 0) return;
        if (in != out) {
            std::copy_n(to(rank), block, from(rank));
        } else if (ranks > 1) {
            auto const all = block * static_cast<std::size_t>(ranks);
            m_leaving.emplace(all);
            std::copy_n(in, all, m_leaving->data());
            m_in = m_leaving->data();
        }
    }

    [[nodiscard]] auto rank() const -> int { return m_rank; }
    [[nodiscard]] auto ranks() const -> int { return m_ranks; }
    /// Elements of a block.
    [[nodiscard]] auto block() const -> std::size_t { return m_block; }
    [[nodiscard]] auto to(int rank) const -> T const* { return m_in + offset(rank); }
    [[nodiscard]] auto from(int rank) const -> T* { return m_out + offset(rank); }
    [[nodiscard]] auto above(int distance) const -> int { return (m_rank + distance) % m_ranks; }
    [[nodiscard]] auto below(int distance) const -> int { return (m_rank - distance + m_ranks) % m_ranks; }

private:
    [[nodiscard]] auto offset(int rank) const -> std::size_t {
        return static_cast<std::size_t>(rank) * m_block;
    }

    T const* m_in;
    T* m_out;
    std::size_t m_block;
    int m_rank;
    int m_ranks;
    std::optional<element_buffer<T>> m_leaving;
};

} // namespace detail

/// Executes an all-to-all in which each block goes to its rank itself: to the rank at distance 1 above and
/// from the one at distance 1 below, then those at distance 2, and so on, a window of them at a time.
///
/// No deadlock: sends and receives are posted in order of distance and have windows of their own, or come in
/// steps that have the same distances on all ranks, so the pending message of smallest distance can proceed.
template <transport Transport, transportable T>
class direct_exchange_operation final : public operation {
public:
    /// Blocks of n elements; `in` may equal `out`.
    direct_exchange_operation(std::shared_ptr<context<Transport>> c, block_exchange const& how, int tag,
                              T const* in, T* out, std::size_t n)
        : m_context(std::move(c))
        , m_how(how)
        , m_flow(m_context->transport_layer(), tag)
        , m_blocks(in, out, n, m_context->rank(), m_context->size())
        , m_staging(wire_format<T>::is_bytes ? 0 : 2 * static_cast<std::size_t>(m_blocks.ranks()))
        , m_finished(n == 0 || m_blocks.ranks() == 1) {}

    auto advance(bool block) -> bool override {
        if (m_finished) return false;
        bool progressed = issue();
        if (m_flow.poll(block, [this](label const& what, auto arrival) { complete(what, arrival); })) {
            issue();
            progressed = true;
        }
        m_finished = m_flow.empty();
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_failure.get(); }
    auto abandon() noexcept -> bool override { return m_flow.abandon(); }

private:
    struct label {
        bool is_send;
        int distance;
    };

    auto issue() -> bool {
        if (m_how.way == block_exchange::route::in_steps && !m_flow.empty()) return false;
        bool any = false;
        for (; m_receives.may_begin(m_how.window, m_blocks.ranks()); any = true) receive(m_receives.begin());
        for (; m_sends.may_begin(m_how.window, m_blocks.ranks()); any = true) send(m_sends.begin());
        return any;
    }
    void receive(int distance) {
        int const from = m_blocks.below(distance);
        m_flow.receive(
            channel::data,
            detail::bytes_to_receive(m_blocks.from(from), m_blocks.block(), staging({false, distance})), from,
            {false, distance});
    }
    void send(int distance) {
        int const to = m_blocks.above(distance);
        m_flow.send(channel::data,
                    detail::bytes_to_send(m_blocks.to(to), m_blocks.block(), staging({true, distance})), to,
                    {true, distance});
    }
    void complete(label const& what, detail::arrival_of_message arrival) {
        int const from = m_blocks.below(what.distance);
        if (!what.is_send && m_failure.check(arrival, from))
            detail::received(m_blocks.from(from), m_blocks.block(), staging(what));
        staging(what) = {};
        --(what.is_send ? m_sends : m_receives).open;
    }
    auto staging(label const& what) -> std::vector<std::byte>& {
        if (m_staging.empty()) return m_no_staging;
        return m_staging[2 * static_cast<std::size_t>(what.distance) + (what.is_send ? 1 : 0)];
    }

    struct side {
        int next = 1; // distance
        int open = 0;

        [[nodiscard]] auto may_begin(int window, int ranks) const -> bool {
            return next < ranks && open < window;
        }
        auto begin() -> int {
            ++open;
            return next++;
        }
    };

    std::shared_ptr<context<Transport>> m_context;
    block_exchange m_how;
    detail::message_flow<Transport, label> m_flow;
    detail::exchanged_blocks<T> m_blocks;
    std::vector<std::vector<std::byte>> m_staging; // of each send and receive, where elements are packed
    std::vector<std::byte> m_no_staging;
    side m_sends, m_receives;
    detail::first_failure m_failure;
    bool m_finished;
};

/// Executes the modified Bruck all-to-all: in round k every rank sends to the rank 2^k above it all blocks
/// that still have to go a distance with bit k set.
///
/// A block that has to go the distance i in all makes one hop for each bit of i. It has the same place on
/// every rank r on its way, that of the block from rank r − i, which is where it must end. Every other hop
/// goes to a second buffer instead, so that a round does not receive what it sends, the last one always to
/// the user's memory; the first one leaves from the user's memory. So no block is copied or rotated.
template <transport Transport, transportable T>
class relayed_exchange_operation final : public operation {
public:
    /// Blocks of n elements; `in` may equal `out`.
    relayed_exchange_operation(std::shared_ptr<context<Transport>> c, int tag, T const* in, T* out,
                               std::size_t n)
        : m_context(std::move(c))
        , m_flow(m_context->transport_layer(), tag)
        , m_blocks(in, out, n, m_context->rank(), m_context->size())
        , m_between(m_blocks.ranks() > 3 ? n * static_cast<std::size_t>(m_blocks.ranks()) : 0) {}

    auto advance(bool block) -> bool override {
        bool progressed = false;
        while (!m_finished) {
            if (m_flow.empty())
                next_round();
            else if (!m_flow.poll(block, [this](int peer, auto how) { m_failure.check(how, peer); }))
                break;
            progressed = true;
        }
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_failure.get(); }
    auto abandon() noexcept -> bool override { return m_flow.abandon(); }

private:
    using blocks_of_round = std::vector<std::pair<T const*, T*>>; // what leaves, where the same arrives

    void next_round() {
        unpack_received();
        int const hop = 1 << m_round;
        if (m_blocks.block() == 0 || hop >= m_blocks.ranks()) {
            m_finished = true;
            return;
        }
        m_moving.clear();
        for (int i = hop; i < m_blocks.ranks(); ++i)
            if ((i & hop) != 0) m_moving.emplace_back(leaves(i), arrives(i));
        ++m_round;
        detail::stretch_list<std::byte> arriving;
        detail::stretch_list<std::byte const> leaving;
        int const from = m_blocks.below(hop), to = m_blocks.above(hop);
        m_flow.receive(channel::data, room(arriving), from, from);
        auto const bytes = content(leaving);
        if (m_failure)
            m_flow.send_nothing(channel::data, bytes, to, to);
        else
            m_flow.send(channel::data, bytes, to, to);
    }
    [[nodiscard]] auto leaves(int i) -> T const* {
        bool const first_hop = (i & ((1 << m_round) - 1)) == 0;
        return first_hop ? m_blocks.to(m_blocks.above(i)) : place(i, m_round);
    }
    [[nodiscard]] auto arrives(int i) -> T* { return place(i, m_round + 1); }
    /// Of a block with the distance i between two rounds: by how many hops are left.
    [[nodiscard]] auto place(int i, int round) -> T* {
        if (std::popcount(static_cast<unsigned>(i) >> static_cast<unsigned>(round)) % 2 == 0)
            return m_blocks.from(m_blocks.below(i));
        return m_between.data() + static_cast<std::size_t>(i) * m_blocks.block();
    }

    auto room([[maybe_unused]] detail::stretch_list<std::byte>& list) -> message_parts {
        if constexpr (wire_format<T>::is_bytes) {
            for (auto const& [from, to] : m_moving)
                list.add(std::as_writable_bytes(std::span(to, m_blocks.block())));
            return list.parts();
        } else {
            m_arriving.resize(m_moving.size() * wire_format<T>::bytes(m_blocks.block()));
            return std::span<std::byte>(m_arriving);
        }
    }
    auto content([[maybe_unused]] detail::stretch_list<std::byte const>& list) -> const_message_parts {
        if constexpr (wire_format<T>::is_bytes) {
            for (auto const& [from, to] : m_moving)
                list.add(std::as_bytes(std::span(from, m_blocks.block())));
            return list.parts();
        } else {
            auto const bytes = wire_format<T>::bytes(m_blocks.block());
            m_leaving.resize(m_moving.size() * bytes);
            for (std::size_t b = 0; b < m_moving.size(); ++b)
                wire_format<T>::pack(m_moving[b].first, m_blocks.block(),
                                     std::span(m_leaving).subspan(b * bytes, bytes));
            return std::span<std::byte const>(m_leaving); // each with its slack: both ends find them
        }
    }
    void unpack_received() {
        if constexpr (!wire_format<T>::is_bytes) {
            auto const bytes = wire_format<T>::bytes(m_blocks.block());
            for (std::size_t b = 0; b < m_moving.size() && !m_failure; ++b)
                wire_format<T>::unpack(std::span<std::byte const>(m_arriving).subspan(b * bytes, bytes),
                                       m_moving[b].second, m_blocks.block());
        }
    }

    std::shared_ptr<context<Transport>> m_context;
    detail::message_flow<Transport, int> m_flow;
    detail::exchanged_blocks<T> m_blocks;
    detail::element_buffer<T> m_between;
    blocks_of_round m_moving;
    std::vector<std::byte> m_arriving, m_leaving;
    int m_round = 0;
    detail::first_failure m_failure;
    bool m_finished = false;
};

} // namespace papcoll::inline v0
