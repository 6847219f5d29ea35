// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/message_set.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/monitor/offset_track.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// A clock of one rank: monotonic, of any origin. Called by several threads at once if there are some.
using local_clock = std::function<ticks()>;

namespace detail {

/// On the control channel, beside the tags of operations.
inline constexpr int clock_tag = tag_count - 1;
static_assert(is_reserved_tag(clock_tag));

/// Bounds of an offset at one time of the local clock.
struct offset_sample {
    ticks at{0};
    offset_bounds offset;
};

/// The drifts of all straight lines through the bounds of all samples: [least, most], of which least is
/// greater than most if there is no such line.
inline auto drift_through(std::span<offset_sample const> samples) -> std::pair<double, double> {
    double least = -std::numeric_limits<double>::infinity();
    double most = -least;
    for (std::size_t j = 0; j < samples.size(); ++j)
        for (std::size_t i = 0; i < j; ++i) {
            auto const passed = static_cast<double>((samples[j].at - samples[i].at).count());
            auto const a = samples[i].offset, b = samples[j].offset;
            if (!(passed > 0)) continue;
            least = std::max(least, static_cast<double>((b.least - a.most).count()) / passed);
            most = std::min(most, static_cast<double>((b.most - a.least).count()) / passed);
        }
    return {least, most};
}

/// How a synchronisation asks.
struct clock_questions {
    int pings = 20;  ///< of a group
    ticks span{0};   ///< from the first group to the last; 0: one group, which says nothing of the drift
    int groups = 10; ///< where there is a span
};

/// One rank's share of a synchronisation with rank 0 along a binomial tree: in round k the ranks below 2^k,
/// which know the time, answer the ranks 2^k above them.
template <transport Transport>
class clock_operation final : public operation {
public:
    /// Improves `track`, which maps to the clock of rank 0.
    clock_operation(Transport& t, local_clock const& now, offset_track& track, clock_questions questions)
        : m_transport(t)
        , m_now(now)
        , m_track(track)
        , m_pings(questions.pings)
        , m_groups(questions.span > ticks{0} ? questions.groups : 1)
        , m_pause(questions.span / questions.groups) {
        if (t.rank() == 0) m_track = offset_track::identity();
    }

    auto advance(bool block) -> bool override {
        bool progressed = false;
        while (!m_finished && !pauses() && m_messages.poll(m_transport, block)) {
            proceed();
            progressed = true;
        }
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    auto abandon() noexcept -> bool override { return m_messages.abandon(m_transport); }

private:
    // No message is under way.
    void proceed() {
        int const rank = m_transport.rank(), size = m_transport.size();
        if (m_distance >= size)
            m_finished = true;
        else if (rank >= m_distance && rank < 2 * m_distance)
            ask(rank - m_distance);
        else if (rank < m_distance && m_distance < size - rank)
            answer(rank + m_distance);
        else
            m_distance *= 2;
    }
    void next_round() {
        m_distance *= 2;
        m_step = 0;
    }
    [[nodiscard]] auto questions() const -> int { return m_pings * m_groups; }
    [[nodiscard]] auto pauses() -> bool {
        if (m_resume && m_now() >= *m_resume) m_resume.reset();
        return m_resume.has_value();
    }

    // A question that leaves at t0 and is answered by the peer's time p at t1 says: p − t1 ≤ offset ≤ p − t0,
    // but for the drift in between. The bounds of all questions of a group together are as narrow as the
    // fastest way there and the fastest way back, at most the shortest round trip. The groups, a pause apart,
    // bound the drift.
    void ask(int peer) {
        if (m_asks) {
            learn();
            if (pauses()) return;
        }
        if (m_step < questions()) {
            m_asked = m_now();
            m_question = m_asked.count();
            receive(peer, m_answer);
            send(peer, m_question);
            m_asks = true;
        } else if (m_step == questions()) {
            receive(peer, m_peers_track);
        } else {
            conclude();
            return next_round();
        }
        ++m_step;
    }
    void learn() {
        m_asks = false;
        auto const answered = m_now();
        auto const drifted = static_cast<double>((answered - m_asked).count()) * offset_track::max_drift;
        m_group.observe(answered, {ticks{m_answer} - answered,
                                   ticks{m_answer} - m_asked + ticks{std::llround(std::ceil(drifted))}});
        if (m_step % m_pings != 0) return;
        m_samples.push_back({answered, m_group.at(answered)});
        m_group = offset_track();
        if (m_step < questions()) m_resume = answered + m_pause;
    }
    void conclude() {
        offset_track to_peer;
        for (auto const& sample : m_samples) to_peer.observe(sample.at, sample.offset);
        auto const [least, most] = drift_through(m_samples);
        bool const has_drift = m_groups > 1 && least <= most;
        if (has_drift) to_peer.observe_drift(least, most);
        auto const now = m_now();
        auto const offset = to_peer.at(now);
        m_track.observe(now, {offset.least + m_peers_track.at(now + offset.least).least,
                              offset.most + m_peers_track.at(now + offset.most).most});
        // The peer's clock gains x on this one, rank 0's gains y on the peer's: together x + y + x y.
        auto const on = [](double x, double y) { return x + y + x * y; };
        if (has_drift)
            m_track.observe_drift(on(to_peer.least_drift(), m_peers_track.least_drift()),
                                  on(to_peer.most_drift(), m_peers_track.most_drift()));
    }
    void answer(int peer) {
        bool const asked = m_step % 2 != 0;
        if (m_step == 2 * questions() + 1) return next_round();
        if (m_step == 2 * questions()) {
            m_peers_track = m_track;
            send(peer, m_peers_track);
        } else if (asked) {
            m_answer = m_now().count();
            send(peer, m_answer);
        } else {
            receive(peer, m_question);
        }
        ++m_step;
    }

    template <class T>
    void send(int peer, T const& value) {
        m_messages.send(m_transport, channel::control, std::as_bytes(std::span(&value, 1)), peer, clock_tag);
    }
    template <class T>
    void receive(int peer, T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        m_messages.receive(m_transport, channel::control, std::as_writable_bytes(std::span(&value, 1)), peer,
                           clock_tag);
    }

    Transport& m_transport;
    local_clock const& m_now;
    offset_track& m_track;
    int m_pings;
    int m_groups;
    ticks m_pause;
    int m_distance = 1;
    int m_step = 0;      // of the round
    bool m_asks = false; // a question is under way
    ticks m_asked{0};
    std::optional<ticks> m_resume;
    std::int64_t m_question = 0;
    std::int64_t m_answer = 0;
    offset_track m_group, m_peers_track;
    std::vector<offset_sample> m_samples; // one of each group
    message_set<Transport> m_messages;
    bool m_finished = false;
};

} // namespace detail

} // namespace papcoll::inline v0
