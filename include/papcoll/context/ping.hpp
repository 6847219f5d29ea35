// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/agreement.hpp>
#include <papcoll/context/link_model.hpp>
#include <papcoll/context/message_set.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

namespace papcoll::inline v0::detail {

/// Measures latency and time per byte by ping-pong between the ranks r and r + ⌊P/2⌋, all pairs at once
/// (ranks in the order of hosts are then mostly on different ones).
///
/// Messages of 8 bytes give the latency, by the median, so that busy processors count. The difference between
/// two long ones gives the time per byte, by the fastest of each, free of what a token-bucket shaper or a
/// socket buffer lets pass at once; that between two short ones the time per byte of short data. All pairs
/// have done with short messages before one sends long ones, behind which the others' would queue.
template <transport Transport>
class ping {
public:
    explicit ping(Transport const& t, int tag)
        : m_tag(tag)
        , m_short_ones_done(0, either, tag) {
        int const half = t.size() / 2;
        if (t.rank() < half) m_peer = t.rank() + half;
        if (t.rank() >= half && t.rank() < 2 * half) m_peer = t.rank() - half;
        m_leads = t.rank() < half;
        m_best.fill(std::numeric_limits<double>::infinity());
        for (auto& size : m_sizes) size = std::min(size, t.max_message_bytes());
    }

    /// True when this rank is done.
    auto advance(Transport& t, bool block) -> bool {
        return advance_to(first_long, t, block) && m_short_ones_done.advance(t, block) &&
               advance_to(repetitions.size(), t, block);
    }
    /// Gives its messages up, see message_set.
    auto abandon(Transport& t) noexcept -> bool {
        bool const kept = m_messages.abandon(t);
        return m_short_ones_done.abandon(t) || kept;
    }
    /// Valid on ranks that lead a pair; zero on others.
    [[nodiscard]] auto result() const -> link_model {
        if (!m_leads || m_peer < 0) return {};
        auto small_ones = m_small;
        auto const middle = small_ones.begin() + small_ones.size() / 2;
        std::nth_element(small_ones.begin(), middle, small_ones.end());
        double const small = *middle;
        link_model measured{ticks(static_cast<std::int64_t>(small))};
        if (m_sizes[2] == m_sizes[1]) return measured;
        measured.per_byte = std::max(slope(1, 2), 0.0);
        // A link that lets short data pass at once is not one of which nothing is known.
        if (m_sizes[3] > m_sizes[0]) measured.short_per_byte = std::max(slope(0, 3), 0x1p-10);
        return measured;
    }

private:
    /// The transport's clock if it has one: a simulated one's time is not the machine's.
    [[nodiscard]] static auto now(Transport const& t) -> ticks {
        if constexpr (requires { t.now(); })
            return t.now();
        else
            return std::chrono::steady_clock::now().time_since_epoch();
    }

    std::array<std::size_t, 4> m_sizes = {8, std::size_t(1) << 16, std::size_t(1) << 18,
                                          link_model::short_bytes};
    // The first exchange sets the connection up and is not counted.
    static constexpr std::array<int, 18> repetitions = {-1, 0, 0, 0, 0, 0, 0, 0, 0,
                                                        0,  3, 3, 3, 1, 1, 2, 1, 2};
    static constexpr std::size_t first_long = 13;
    static constexpr int longest = 2;

    static auto either(int a, int) -> int { return a; }
    auto advance_to(std::size_t step, Transport& t, bool block) -> bool {
        while (m_peer >= 0 && m_step < step) {
            if (!m_started) start(t);
            if (!m_messages.poll(t, block)) return false;
            finish(t);
        }
        return true;
    }
    /// Nanoseconds for each byte by which messages of one kind are longer than those of the other.
    [[nodiscard]] auto slope(std::size_t shorter, std::size_t longer) const -> double {
        return (m_best[longer] - m_best[shorter]) / static_cast<double>(m_sizes[longer] - m_sizes[shorter]);
    }

    [[nodiscard]] auto bytes() const -> std::size_t {
        int const kind = repetitions[m_step];
        return kind < 0 ? m_sizes[0] : m_sizes[static_cast<std::size_t>(kind)];
    }
    void start(Transport& t) {
        m_buffer.resize(m_sizes[longest]);
        m_started = true;
        m_begin = now(t);
        if (m_leads) post_send(t);
        m_messages.receive(t, channel::data, std::span(m_buffer).first(bytes()), m_peer, m_tag);
    }
    void post_send(Transport& t) {
        m_out.resize(m_sizes[longest]);
        m_messages.send(t, channel::data, std::span<std::byte const>(m_out).first(bytes()), m_peer, m_tag);
    }
    void finish(Transport& t) {
        if (!m_leads && !m_replied) {
            m_replied = true;
            post_send(t);
            return;
        }
        int const kind = repetitions[m_step];
        if (kind >= 0) {
            auto const time = static_cast<double>((now(t) - m_begin).count()) / 2;
            auto& best = m_best[static_cast<std::size_t>(kind)];
            best = std::min(best, time);
            if (kind == 0) m_small[m_step - 1] = time;
        }
        m_started = m_replied = false;
        ++m_step;
    }

    int m_tag;
    agreement<Transport, int, int (*)(int, int)> m_short_ones_done; // on nothing: all have come so far
    int m_peer = -1;
    bool m_leads = false;
    bool m_started = false;
    bool m_replied = false;
    std::size_t m_step = 0;
    ticks m_begin{0};
    std::array<double, 9> m_small{};
    std::array<double, 4> m_best{};
    std::vector<std::byte> m_buffer, m_out;
    message_set<Transport> m_messages;
};

} // namespace papcoll::inline v0::detail
