// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/monitor/detail/exchange_mail.hpp>
#include <papcoll/monitor/synchronised_clock.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// The protocol by which all ranks get the same predictions for the same call, without waiting for each other
/// except in that call. One rank's share, driven from outside; not thread-safe.
///
/// Every rank *takes* arrivals equally often, takes are numbered. In each round every rank *gives* once: a
/// prediction or nothing, and how often it has taken so far. When all have given, rank 0 sends all
/// predictions to everybody, for the take whose number is the largest given: the first that no rank can have
/// done before it gave, as far as they are about that take. A rank that has given in a round waits for the
/// round's end before it takes again; one that takes in the background waits for a round in any case. So,
/// whoever begins a round and whoever does not, take n is decided alike on all ranks: the round for n if
/// there is one, else all together. Those who have nothing to predict need not take part before somebody
/// waits and, through rank 0, *calls*. They may then still put it off until they come to that take
/// themselves, but no longer: up to there they depend on nobody who waits.
///
/// The first rank that leaves ends the protocol for all: rank 0 tells everybody that no further round will
/// end, and leaves without waiting, as all others do. Between two ranks nothing is sent afterwards.
///
/// Rank 0 decides all, and so a rank may leave at any moment without being missed. Cost: per round 2 (P − 1)
/// messages, all of which rank 0 sends or receives, and P (P − 1) numbers; up to P more if somebody calls.
template <transport Transport>
class arrival_exchange {
public:
    arrival_exchange(Transport const& t, synchronised_clock& clock)
        : m_mail(t)
        , m_clock(clock)
        , m_given(static_cast<std::size_t>(t.size())) {}

    /// Whether this rank may begin a round, or take part in one before it is called: it has not given in this
    /// one, and has taken what the last one decided.
    [[nodiscard]] auto may_begin() const -> bool {
        return may_give() && (m_decided.empty() || m_decided.back().take < m_takes);
    }
    /// Somebody waits for this rank to give.
    [[nodiscard]] auto is_called() const -> bool { return may_give() && m_called; }
    /// And waits in a take that is behind this rank, which must not let it wait: it may itself need the other
    /// in the collective that followed.
    [[nodiscard]] auto is_urgent() const -> bool { return is_called() && m_takes > m_called_take; }
    /// A round is under way.
    [[nodiscard]] auto is_open() const -> bool {
        return m_has_given || m_called || m_missing < m_mail.size();
    }
    [[nodiscard]] auto has_left() const -> bool { return m_left; }
    /// Nobody gives or waits any more.
    [[nodiscard]] auto is_closed() const -> bool { return m_closed; }
    /// No message to or from this rank is under way, and none will be.
    [[nodiscard]] auto is_quiet() const -> bool { return m_mail.is_quiet(); }

    /// Gives a prediction, in global time, or none; requires may_begin() or is_called().
    void give(std::optional<ticks> prediction) {
        m_has_given = true;
        given const mine{prediction.value_or(nothing).count(), m_takes, m_clock.local_now().count()};
        m_gave_at = ticks{mine.sent};
        if (is_root())
            accept(0, mine);
        else
            m_mail.send_up({upward::kind::give, m_round, mine});
    }
    /// This rank waits: the others shall give what they have.
    void call() {
        if (m_has_called || m_closed || m_left) return;
        m_has_called = true;
        if (is_root())
            call_missing(m_takes);
        else
            m_mail.send_up({upward::kind::call, m_round, {0, m_takes, 0}});
    }
    /// Whether a round has decided what the next take gets, or none ever will.
    [[nodiscard]] auto has_outcome() -> bool {
        while (!m_decided.empty() && m_decided.front().take < m_takes) m_decided.pop_front();
        return !m_decided.empty() || m_closed;
    }
    /// The same, or this rank has given nothing: taking now it gives no other a reason to wait, and all get
    /// nothing.
    [[nodiscard]] auto is_decided() -> bool { return has_outcome() || !m_has_given; }
    /// What all ranks get in this take; requires is_decided().
    auto take() -> arrival_source {
        arrival_source result;
        if (!m_decided.empty() && m_decided.front().take == m_takes) result = m_decided.front().arrivals;
        ++m_takes;
        return result;
    }
    /// Ends the protocol.
    void leave() {
        if (m_left) return;
        m_left = true;
        if (is_root())
            close();
        else
            m_mail.send_up({upward::kind::farewell, m_round, {}});
    }
    /// Receives what has come; true if there was anything.
    auto drive() -> bool {
        return m_mail.drive(
            [this](int from, upward const& m) { receive(from, m); },
            [this](downward const& m, std::vector<std::int64_t> const& times) { receive(m, times); });
    }
    /// Lets go of the messages under way. True when the transport may still touch their memory.
    auto abandon() noexcept -> bool { return m_mail.abandon(); }

private:
    struct decision {
        std::int64_t take;
        arrival_source arrivals;
    };
    // Rank 0's record of what a rank gave.
    struct entry {
        given what;
        ticks received{0};
        bool there = false;
    };

    static constexpr ticks nothing = ticks::min();

    [[nodiscard]] auto is_root() const -> bool { return m_mail.rank() == 0; }
    [[nodiscard]] auto may_give() const -> bool { return !m_has_given && !m_closed && !m_left; }

    // Rank 0, from the others.
    void receive(int from, upward const& message) {
        using kind = upward::kind;
        if (message.what == kind::farewell) close();
        if (m_closed) return;
        if (message.what == kind::give) accept(from, message.gift);
        // A call may cross the end of its round.
        if (message.what == kind::call && message.round == m_round) call_missing(message.gift.takes);
    }
    void accept(int from, given const& what) {
        m_given[static_cast<std::size_t>(from)] = {what, m_clock.local_now(), true};
        if (--m_missing == 0) end_round();
    }
    // Again when somebody waits further behind.
    void call_missing(std::int64_t take) {
        if (m_called && take >= m_called_take) return;
        m_called = true;
        m_called_take = take;
        for (int r = 1; r < m_mail.size(); ++r)
            if (!m_given[static_cast<std::size_t>(r)].there)
                m_mail.send_down(r, {downward::kind::call, {take, 0, 0, 0}});
    }
    void end_round() {
        std::int64_t take = 0;
        for (auto const& e : m_given) take = std::max(take, e.what.takes);
        auto const times = resolved(take);
        for (int r = 1; r < m_mail.size(); ++r) {
            outcome const end{take, m_given[static_cast<std::size_t>(r)].received.count(),
                              m_clock.local_now().count(), static_cast<std::int64_t>(times->size())};
            m_mail.send_down(r, {downward::kind::result, end}, times);
        }
        decide(take, *times);
        m_given.assign(m_given.size(), {});
        m_missing = m_mail.size();
    }
    // A rank of which nothing is known is taken to arrive with the last of the others; nothing known of any
    // rank: an empty list. What a rank said of an earlier take is over by then: nothing is known of it.
    [[nodiscard]] auto resolved(std::int64_t take) const -> std::shared_ptr<std::vector<std::int64_t> const> {
        auto const known = [&](entry const& e) {
            return e.what.takes == take ? e.what.prediction : nothing.count();
        };
        auto last = nothing.count();
        for (auto const& e : m_given) last = std::max(last, known(e));
        std::vector<std::int64_t> times;
        for (auto const& e : m_given)
            if (last != nothing.count()) times.push_back(known(e) == nothing.count() ? last : known(e));
        return std::make_shared<std::vector<std::int64_t> const>(std::move(times));
    }
    void close() {
        if (m_closed) return;
        m_closed = true;
        for (int r = 1; r < m_mail.size(); ++r) m_mail.send_down(r, {downward::kind::closed, {}});
    }

    // The others, from rank 0.
    void receive(downward const& message, std::vector<std::int64_t> const& times) {
        using kind = downward::kind;
        if (message.what == kind::call) {
            m_called = true;
            m_called_take = message.end.take;
        }
        if (message.what == kind::closed) m_closed = true;
        if (message.what != kind::result) return;
        observe_clock(message.end, m_clock.local_now());
        decide(message.end.take, times);
    }
    // What was given left here at g and was there at r, so offset(g) ≤ r − g; the result left there at s and
    // is here now, so s − now ≤ offset(now). In between the offset moves with the drift.
    void observe_clock(outcome const& end, ticks now) {
        auto const elapsed = static_cast<double>((now - m_gave_at).count());
        auto const& track = m_clock.track();
        auto const drifted = elapsed * (track.drift() + track.drift_error());
        auto const most = ticks{end.received} - m_gave_at + ticks{std::llround(std::ceil(drifted))};
        m_clock.observe(now, {ticks{end.sent} - now, most});
    }

    void decide(std::int64_t take, std::vector<std::int64_t> const& times) {
        std::vector<ticks> arrivals;
        arrivals.reserve(times.size());
        for (auto const time : times) arrivals.emplace_back(time);
        m_decided.push_back(
            {take, arrivals.empty() ? arrival_source() : arrival_source(std::move(arrivals))});
        ++m_round;
        m_has_given = m_called = m_has_called = false;
    }

    exchange_mail<Transport> m_mail;
    synchronised_clock& m_clock;
    std::deque<decision> m_decided;
    std::int64_t m_takes = 0;
    std::int64_t m_round = 0;
    ticks m_gave_at{0};
    bool m_has_given = false;
    bool m_called = false; // rank 0: has called, others: were called
    std::int64_t m_called_take = 0;
    bool m_has_called = false; // waits itself
    bool m_closed = false;
    bool m_left = false;
    std::vector<entry> m_given; // rank 0
    int m_missing = m_mail.size();
};

} // namespace papcoll::inline v0::detail
