// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace papcoll::inline v0::detail {

/// A take that was asked for; its answer is written once, before `there`.
struct asked_take {
    std::int64_t computation = 0; // how many computations had ended before
    bool is_second = false;       // another take of this computation comes before it
    bool at_once = false;         // a rank that has given nothing waits for nothing
    bool has_arrived = false;     // the rank has its data
    std::atomic<bool> there = false;
    arrival_source answer;
};

/// The takes of a rank that are not answered yet, in their order, and the computations they are about. A
/// computation is predicted for one take: a second one that is asked for while it lasts gets nothing, as all
/// ranks come together to it. Not thread-safe but for asked_take::there.
class asked_takes {
public:
    auto ask() -> std::shared_ptr<asked_take> {
        auto take = std::make_shared<asked_take>();
        take->computation = m_ended;
        take->is_second = std::exchange(m_last_asked, m_ended) == m_ended;
        return m_asked.emplace_back(std::move(take));
    }
    void computation_begins() { m_begun = m_ended; }
    void computation_ends() { ++m_ended; }
    /// This rank has its data for this take; so the computation it is about has ended.
    void arrive(asked_take& take) {
        take.has_arrived = true;
        m_ended = std::max(m_ended, take.computation + 1);
    }
    /// This take and those before it wait for nothing that this rank has not given.
    void hurry(asked_take const& last) {
        if (last.there) return;
        for (auto const& take : m_asked) {
            take->at_once = true;
            if (take.get() == &last) return;
        }
    }

    /// Whether there are no others than those that are answered.
    [[nodiscard]] auto empty() const -> bool { return m_asked.empty(); }
    /// Whether nobody asks for those that are left.
    [[nodiscard]] auto forgotten() const -> bool {
        return std::ranges::all_of(m_asked, [](auto const& take) { return take->at_once; });
    }
    /// Whether the next to be answered waits for nothing that this rank has not given.
    [[nodiscard]] auto first_waits_for_nothing() const -> bool {
        return !m_asked.empty() && m_asked.front()->at_once;
    }
    /// Whether this rank has data for one of them, and so waits.
    [[nodiscard]] auto has_arrived() const -> bool {
        return std::ranges::any_of(m_asked, [](auto const& take) { return take->has_arrived; });
    }
    /// The same, of those that wait for a round whether this rank has given or not.
    [[nodiscard]] auto needs_round() const -> bool {
        return std::ranges::any_of(m_asked,
                                   [](auto const& take) { return take->has_arrived && !take->at_once; });
    }
    /// Whether the computation that began last has not been predicted for a take that is answered.
    [[nodiscard]] auto is_current() const -> bool { return m_begun > m_answered; }

    /// Answers what is decided; true if there was anything. `has_given`: this rank has given all that it has
    /// to give now.
    template <class Exchange>
    auto answer(Exchange& exchange, bool has_given) -> bool {
        auto const is_decided = [&](asked_take const& take) {
            return take.is_second || (take.at_once && has_given) ? exchange.is_decided()
                                                                 : exchange.has_outcome();
        };
        bool any = false;
        for (; !m_asked.empty() && is_decided(*m_asked.front()); m_asked.pop_front()) {
            auto& take = *m_asked.front();
            take.answer = exchange.take();
            m_answered = std::max(m_answered, take.computation);
            take.there = true;
            any = true;
        }
        return any;
    }

private:
    std::deque<std::shared_ptr<asked_take>> m_asked;
    std::int64_t m_ended = 0;       // computations
    std::int64_t m_begun = 0;       // the number of the one that began last
    std::int64_t m_answered = -1;   // the last one that a take was answered about
    std::int64_t m_last_asked = -1; // and asked
};

/// The arrivals of a take, for an arrival_source. The monitor may go before it.
template <class State>
class asked_arrivals final : public arrival_answer {
public:
    asked_arrivals(std::shared_ptr<State> const& state, std::shared_ptr<asked_take> take)
        : m_state(state)
        , m_take(std::move(take))
        , m_ranks(static_cast<std::size_t>(state->ranks())) {}
    /// Nobody asks any more.
    ~asked_arrivals() override {
        if (auto const state = waiting()) state->forget(*m_take);
    }

    [[nodiscard]] auto ranks() const -> std::size_t override { return m_ranks; }
    [[nodiscard]] auto is_known() const -> bool override { return waiting() == nullptr; }
    void look() override {
        if (auto const state = waiting()) state->look();
    }
    void stay_in_background() override { m_in_background = true; }
    void arrive() override {
        if (auto const state = m_state.lock()) state->arrive(*m_take);
    }
    [[nodiscard]] auto times() -> std::optional<std::span<ticks const>> override {
        if (!m_in_background || !m_take->there)
            if (auto const state = m_state.lock()) finish(*state);
        return known_times();
    }
    [[nodiscard]] auto known_times() const -> std::optional<std::span<ticks const>> override {
        if (!m_take->there || !m_take->answer.given()) return std::nullopt;
        return m_take->answer.times();
    }

private:
    // A plan is made while an operation advances, by a cache that others must not use meanwhile.
    void finish(State& state) {
        if (state.is_driving())
            throw std::logic_error("papcoll: a policy asks an arrival_monitor for its arrivals inside an "
                                   "operation under way; give the policy a member function "
                                   "pending_arrivals() that returns its arrival_source, or ask "
                                   "given() of this before the call");
        m_in_background = true;
        state.finish(*m_take);
    }
    // Null: it is answered, or never will be.
    [[nodiscard]] auto waiting() const -> std::shared_ptr<State> {
        return m_take->there ? nullptr : m_state.lock();
    }

    std::weak_ptr<State> m_state;
    std::shared_ptr<asked_take> m_take;
    std::size_t m_ranks;
    std::atomic<bool> m_in_background = false; // or the computation was ended for it
};

} // namespace papcoll::inline v0::detail
