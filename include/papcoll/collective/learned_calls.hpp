// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/hash.hpp>
#include <papcoll/policy/automatic_choice.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/policy_ref.hpp>
#include <papcoll/policy/tuning_table.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What is known of the calls of one shape, the same on all ranks but for the times. Of the first blocking
/// calls some try the candidates of their policy.
class learned_shape {
public:
    /// So many calls are the model's: a shape that occurs few times tries nothing else.
    static constexpr std::size_t first_calls = 4;
    /// Each other candidate is tried twice. Those are left out whose shorter time is longer than the model's
    /// shortest by this factor: most of what learning costs is trials of what is slow.
    static constexpr std::size_t first_rounds = 2;
    static constexpr double far = 1.25;
    /// Then those that are left take turns with the model's.
    static constexpr std::size_t last_rounds = 3;
    static constexpr std::size_t most_trials = first_calls + last_rounds; // of one candidate
    static constexpr std::size_t most_candidates = 4;
    /// Begin and end of each trial, in nanoseconds: candidate c's i-th is trial most_trials c + i.
    using times = std::array<std::int64_t, 2 * most_trials * most_candidates>;

    explicit learned_shape(std::vector<automatic_choice> candidates)
        : m_candidates(std::move(candidates)) {
        if (m_candidates.size() > most_candidates) m_candidates.resize(most_candidates);
        m_decided = m_candidates.size() < 2;
        for (std::size_t c = 1; c < m_candidates.size(); ++c) m_left.push_back(c);
        m_turns.assign(first_calls, 0);
        take_turns(first_rounds, 0);
    }

    [[nodiscard]] auto decided() const -> bool { return m_decided; }
    /// Which candidate it is to be, the best first by the model.
    [[nodiscard]] auto winner() const -> std::size_t { return m_winner; }
    [[nodiscard]] auto choice() const -> tuned_choice const& { return m_candidates[m_winner].choice; }
    [[nodiscard]] auto tried() const -> std::size_t { return m_trials; }
    /// Whether it is time to bring the times of all ranks together and to decide.
    [[nodiscard]] auto was_tried_enough() const -> bool { return m_trials == m_turns.size(); }

    /// The candidate of the next trial.
    [[nodiscard]] auto next() const -> std::size_t { return m_turns[m_trials]; }
    /// Returns which trial it is, for end_trial. One that never ends counts as if it took no time here.
    auto begin_trial(ticks now) -> std::size_t {
        auto const c = next();
        auto const trial = most_trials * c + m_made[c]++;
        m_times[2 * trial] = m_times[2 * trial + 1] = now.count();
        ++m_trials;
        return trial;
    }
    void end_trial(std::size_t trial, ticks now) { m_times[2 * trial + 1] = now.count(); }
    /// The last trial was no call.
    void take_back() { --m_made[m_turns[--m_trials]]; }

    [[nodiscard]] auto own_times() const -> times const& { return m_times; }
    /// `spent(trial)`: what a trial took, the same on all ranks. After the first rounds most often no other
    /// is left, or some are to be tried again; at the end another than the model's must be faster by a
    /// twentieth.
    template <class Spent>
    void decide(Spent spent) {
        if (m_made[0] == first_calls) return leave_out(spent);
        double best = 0.95 * lower_third(0, spent);
        for (auto const c : m_left)
            if (double const its = lower_third(c, spent); its < best) {
                best = its;
                m_winner = c;
            }
        m_decided = true;
    }

private:
    template <class Spent>
    void leave_out(Spent spent) {
        double const limit = far * static_cast<double>(sorted_times(0, spent).front());
        std::erase_if(m_left, [&](std::size_t c) {
            return static_cast<double>(sorted_times(c, spent).front()) > limit;
        });
        m_decided = m_left.empty();
        if (!m_decided) take_turns(last_rounds, 1);
    }
    /// In each round so many trials of the model's, then one of each other.
    void take_turns(std::size_t rounds, std::size_t of_models) {
        for (std::size_t r = 0; r < rounds; ++r) {
            m_turns.insert(m_turns.end(), of_models, 0);
            m_turns.insert(m_turns.end(), m_left.begin(), m_left.end());
        }
    }
    template <class Spent>
    [[nodiscard]] auto sorted_times(std::size_t candidate, Spent spent, std::size_t first = 0) const
        -> std::vector<std::int64_t> {
        std::vector<std::int64_t> all;
        for (auto i = first; i < m_made[candidate]; ++i) all.push_back(spent(most_trials * candidate + i));
        std::sort(all.begin(), all.end());
        return all;
    }
    /// What two thirds of the trials exceed, without the first, which plans: more than half may be disturbed.
    template <class Spent>
    [[nodiscard]] auto lower_third(std::size_t candidate, Spent spent) const -> double {
        auto const all = sorted_times(candidate, spent, 1);
        return static_cast<double>(all[all.size() / 3]);
    }

    std::vector<automatic_choice> m_candidates;
    std::vector<std::size_t> m_left;                   // that may still be faster than the model's
    std::vector<std::size_t> m_turns;                  // the candidates of all trials
    std::array<std::size_t, most_candidates> m_made{}; // trials of each
    times m_times{};
    std::size_t m_trials = 0;
    std::size_t m_winner = 0;
    bool m_decided;
};

/// What the calls of one communicator have learned. Used by the threads that make calls, one at a time.
class learned_calls {
public:
    /// More shapes than this are left to the model.
    static constexpr std::size_t most_shapes = 1000;

    /// What is known of such calls; null: nothing yet, or there is nothing to learn.
    [[nodiscard]] auto find(call_shape const& shape, policy_ref policy) -> learned_shape* {
        if (!may_learn(shape)) return nullptr;
        auto const hash = policy.hash();
        auto const [first, last] = m_shapes.equal_range(key_of(shape));
        for (auto i = first; i != last; ++i)
            if (i->second.policy == hash) return &i->second.known;
        return nullptr;
    }
    /// The same, which begins to learn; null: there is nothing to learn of this call.
    auto of(call_shape const& shape, policy_ref policy, link_model const& link) -> learned_shape* {
        if (auto* const known = find(shape, policy)) return known;
        if (m_shapes.size() == most_shapes || !may_learn(shape)) return nullptr;
        auto candidates = policy.candidates(shape, link);
        if (candidates.empty()) return nullptr; // others decide
        entry made{{shape.operation, shape.ranks, shape.bytes(), {}},
                   policy.hash(),
                   learned_shape(std::move(candidates))};
        return &m_shapes.emplace(key_of(shape), std::move(made))->second.known;
    }
    /// As if there had been no such call.
    void forget(learned_shape const& shape) {
        std::erase_if(m_shapes, [&](auto const& e) { return &e.second.known == &shape; });
    }
    /// What trials have decided.
    [[nodiscard]] auto table() const -> tuning_table {
        std::vector<tuning_table::entry> entries;
        for (auto const& [key, e] : m_shapes)
            if (e.known.decided() && e.known.tried() > 0) {
                entries.push_back(e.about);
                entries.back().choice = e.known.choice();
            }
        return tuning_table(std::move(entries));
    }

    static auto of(std::shared_ptr<void>& slot) -> learned_calls& {
        if (!slot) slot = std::make_shared<learned_calls>();
        return *static_cast<learned_calls*>(slot.get());
    }

private:
    struct entry {
        tuning_table::entry about;
        std::int64_t policy; // its hash, the same on all ranks
        learned_shape known;
    };

    using shape_key = std::array<std::uint64_t, 5>;

    static auto may_learn(call_shape const& shape) -> bool {
        return !shape.one_piece && !shape.late && !shape.is_uneven() && shape.ranks > 1;
    }
    /// The same on all ranks.
    static auto key_of(call_shape const& shape) -> shape_key {
        auto const flags = (shape.may_throw ? 16U : 0U) | (shape.shared_bytes > 0 ? 8U : 0U) |
                           (shape.exact ? 4U : 0U) | (shape.commutative ? 2U : 0U) |
                           (shape.has_native ? 1U : 0U);
        auto const kind = static_cast<std::uint64_t>(shape.operation);
        return {kind << 32U | flags, shape.count, shape.element_bytes, static_cast<std::uint64_t>(shape.root),
                hash_bytes(std::as_bytes(shape.sizes))};
    }

    std::multimap<shape_key, entry> m_shapes;
};

} // namespace papcoll::inline v0::detail
