// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/agreement.hpp>
#include <papcoll/context/link_model.hpp>
#include <papcoll/context/message_set.hpp>
#include <papcoll/context/steady_now.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// Measures latency, time per byte and time per message by ping-pong between pairs of ranks, all at once: in
/// the order of their nodes, between the places i and i + ⌈P/2⌉. So of several nodes some pairs are on
/// different ones, wherever the ranks were placed.
///
/// Messages of 8 bytes give the latency, by the median, so that busy processors count; several of them at
/// once, answered by one, what each further one takes, in the same way; the difference between two long ones
/// the time per byte, by the fastest of each, free of what a token-bucket shaper or a socket buffer lets pass
/// at once. All pairs have done with short messages before one sends long ones, behind which the others'
/// would queue.
template <transport Transport>
class ping {
public:
    /// `nodes`: a number for each rank, equal where they share a node.
    ping(Transport const& t, std::span<int const> nodes, int tag)
        : m_tag(tag)
        , m_short_ones_done(0, either, tag) {
        std::vector<int> order(nodes.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](int r) { return nodes[static_cast<std::size_t>(r)]; });
        auto const half = static_cast<std::ptrdiff_t>(order.size() / 2);
        auto const own = std::ranges::find(order, t.rank()) - order.begin();
        auto const apart = std::ssize(order) - half; // of an odd number the middle one has none
        m_leads = own < half;
        if (m_leads) m_peer = order.begin()[own + apart];
        if (own >= apart) m_peer = order.begin()[own - apart];
        for (auto& size : m_sizes) size = std::min(size, t.max_message_bytes());
    }

    /// True when this rank is done.
    auto advance(Transport& t, bool block) -> bool {
        return advance_to(first_long, t, block) && m_short_ones_done.advance(t, block) &&
               advance_to(exchanges.size(), t, block);
    }
    /// Gives its messages up, see message_set.
    auto abandon(Transport& t) noexcept -> bool {
        bool const kept = m_messages.abandon(t);
        return m_short_ones_done.abandon(t) || kept;
    }
    /// Valid on ranks that lead a pair; zero on others.
    [[nodiscard]] auto result() const -> link_model {
        if (!m_leads || m_peer < 0) return {};
        double const one = median(m_times[short_one]), several = median(m_times[several_short]);
        link_model measured{ticks(static_cast<std::int64_t>(one / 2))};
        // It is measured, if too short to be seen: 0 would say that nothing is known of it.
        measured.per_message = std::max((several - one) / static_cast<double>(at_once - 1), 1.0);
        auto const best = [&](kind what) {
            return *std::min_element(m_times[what].begin(), m_times[what].end());
        };
        if (m_sizes[longer] == longest) {
            measured.of_64_kib = ticks(static_cast<std::int64_t>(best(long_one) / 2));
            measured.of_256_kib = ticks(static_cast<std::int64_t>(best(longer) / 2));
        }
        if (m_sizes[longer] > m_sizes[long_one])
            measured.per_byte = std::max((best(longer) - best(long_one)) / 2 /
                                             static_cast<double>(m_sizes[longer] - m_sizes[long_one]),
                                         0.0);
        return measured;
    }

private:
    enum kind : std::size_t { short_one, several_short, long_one, longer, kinds };
    static constexpr std::size_t at_once = 8;
    static constexpr std::size_t longest = std::size_t(1) << 18;
    // The first exchange sets the connection up and is not counted.
    static constexpr std::array<kind, 20> exchanges = {
        short_one,     short_one, short_one, short_one,     short_one,     short_one,     short_one,
        short_one,     short_one, short_one, several_short, several_short, several_short, several_short,
        several_short, long_one,  long_one,  longer,        long_one,      longer};

    static constexpr std::size_t first_long = 15;
    static_assert(exchanges[first_long - 1] == several_short && exchanges[first_long] == long_one);

    static auto either(int a, int) -> int { return a; }
    auto advance_to(std::size_t step, Transport& t, bool block) -> bool {
        while (m_peer >= 0 && m_step < step) {
            if (!m_started) start(t);
            if (!m_messages.poll(t, block)) return false;
            finish(t);
        }
        return true;
    }
    [[nodiscard]] static auto median(std::vector<double> times) -> double {
        auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        return *middle;
    }
    /// The leader's messages of this exchange; the other answers by one.
    [[nodiscard]] auto messages() const -> std::size_t {
        return exchanges[m_step] == several_short ? at_once : 1;
    }
    [[nodiscard]] auto bytes() const -> std::size_t { return m_sizes[exchanges[m_step]]; }

    void start(Transport& t) {
        m_buffer.resize(std::max(m_sizes[longer], at_once * m_sizes[several_short]));
        m_out.resize(m_sizes[longer]);
        m_started = true;
        m_begin = now_of(t);
        for (std::size_t i = 0; i < messages(); ++i)
            if (m_leads)
                send(t);
            else
                receive(t, i);
        if (m_leads) receive(t, 0);
    }
    void receive(Transport& t, std::size_t i) {
        auto const begin = i * m_sizes[several_short];
        m_messages.receive(t, channel::data, std::span(m_buffer).subspan(begin, bytes()), m_peer, m_tag);
    }
    void send(Transport& t) {
        m_messages.send(t, channel::data, std::span<std::byte const>(m_out).first(bytes()), m_peer, m_tag);
    }
    void finish(Transport& t) {
        if (!m_leads && !m_replied) {
            m_replied = true;
            return send(t);
        }
        if (m_step > 0)
            m_times[exchanges[m_step]].push_back(static_cast<double>((now_of(t) - m_begin).count()));
        m_started = m_replied = false;
        ++m_step;
    }

    std::array<std::size_t, kinds> m_sizes = {8, 8, std::size_t(1) << 16, longest};
    int m_tag;
    agreement<Transport, int, int (*)(int, int)> m_short_ones_done; // on nothing: all have come so far
    int m_peer = -1;
    bool m_leads = false;
    bool m_started = false;
    bool m_replied = false;
    std::size_t m_step = 0;
    ticks m_begin{0};
    std::array<std::vector<double>, kinds> m_times; // of exchanges, there and back
    std::vector<std::byte> m_buffer, m_out;
    message_set<Transport> m_messages;
};

} // namespace papcoll::inline v0::detail
