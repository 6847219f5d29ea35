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

/// What is known of the calls of one shape, the same on all ranks but for the times. The first blocking calls
/// try the candidates of their policy in turn: all of them twice, then those that came near the best.
class learned_shape {
public:
    /// Each candidate is tried so often; the first time, when it is planned, does not count.
    static constexpr std::size_t rounds = 5;
    /// All candidates are tried so often. Then those are left out that took longer than the best by `far`,
    /// but for the model's: most of what learning costs is trials of what is slow.
    static constexpr std::size_t first_rounds = 2;
    static constexpr double far = 1.5;
    static constexpr std::size_t most_candidates = 4;
    /// Begin and end of each trial, in nanoseconds: candidate c's in round r is trial rounds c + r.
    using times = std::array<std::int64_t, 2 * rounds * most_candidates>;

    explicit learned_shape(std::vector<automatic_choice> candidates)
        : m_candidates(std::move(candidates)) {
        if (m_candidates.size() > most_candidates) m_candidates.resize(most_candidates);
        m_decided = m_candidates.size() < 2;
        for (std::size_t c = 0; c < m_candidates.size(); ++c) m_tried.push_back(c);
    }

    [[nodiscard]] auto decided() const -> bool { return m_decided; }
    /// Which candidate it is to be, the best first by the model.
    [[nodiscard]] auto winner() const -> std::size_t { return m_winner; }
    [[nodiscard]] auto choice() const -> tuned_choice const& { return m_candidates[m_winner].choice; }
    [[nodiscard]] auto tried() const -> std::size_t { return m_trials; }
    /// Whether it is time to bring the times of all ranks together and to decide.
    [[nodiscard]] auto was_tried_enough() const -> bool {
        return m_trials >= m_before + (m_last_rounds ? rounds - first_rounds : first_rounds) * m_tried.size();
    }

    /// The candidate of the next trial.
    [[nodiscard]] auto next() const -> std::size_t { return m_tried[(m_trials - m_before) % m_tried.size()]; }
    /// Returns which trial it is, for end_trial. One that never ends counts as if it took no time here.
    auto begin_trial(ticks now) -> std::size_t {
        auto const round = (m_trials - m_before) / m_tried.size() + (m_last_rounds ? first_rounds : 0);
        auto const trial = rounds * next() + round;
        m_times[2 * trial] = m_times[2 * trial + 1] = now.count();
        ++m_trials;
        return trial;
    }
    void end_trial(std::size_t trial, ticks now) { m_times[2 * trial + 1] = now.count(); }
    /// The last trial was no call.
    void take_back() { --m_trials; }

    [[nodiscard]] auto own_times() const -> times const& { return m_times; }
    /// `spent(trial)`: what a trial took, the same on all ranks. After the first rounds most often some
    /// candidates are left to be tried; at the end the median counts. Another than the model's must be faster
    /// by a twentieth, and three of its four times must be shorter than any of the model's: short calls
    /// differ by more than the candidates do.
    template <class Spent>
    void decide(Spent spent) {
        if (!m_last_rounds) return leave_out(spent);
        auto const models = sorted_times(0, spent);
        double best = median(models) * 0.95;
        for (auto const c : m_tried) {
            auto const its = sorted_times(c, spent);
            if (c == 0 || median(its) >= best || its[its.size() - 2] >= models[0]) continue;
            best = median(its);
            m_winner = c;
        }
        m_decided = true;
    }

private:
    using counted = std::array<std::int64_t, rounds - 1>;

    template <class Spent>
    void leave_out(Spent spent) {
        auto const time = [&](std::size_t c) { return static_cast<double>(spent(rounds * c + 1)); };
        auto best = time(0);
        for (auto const c : m_tried) best = std::min(best, time(c));
        std::erase_if(m_tried, [&](std::size_t c) { return c > 0 && time(c) > far * best; });
        m_before = m_trials;
        m_last_rounds = true;
        m_decided = m_tried.size() == 1;
    }
    template <class Spent>
    static auto sorted_times(std::size_t candidate, Spent spent) -> counted {
        counted all{};
        for (std::size_t r = 1; r < rounds; ++r) all[r - 1] = spent(rounds * candidate + r);
        std::sort(all.begin(), all.end());
        return all;
    }
    static auto median(counted const& sorted) -> double {
        return (static_cast<double>(sorted[sorted.size() / 2 - 1]) +
                static_cast<double>(sorted[sorted.size() / 2])) /
               2;
    }

    std::vector<automatic_choice> m_candidates;
    std::vector<std::size_t> m_tried; // which of them still are
    times m_times{};
    std::size_t m_trials = 0;
    std::size_t m_before = 0; // trials, when the last rounds began
    bool m_last_rounds = false;
    std::size_t m_winner = 0;
    bool m_decided;
};

/// What the calls of one communicator have learned. Used by the threads that make calls, one at a time.
class learned_calls {
public:
    /// More shapes than this are left to the model.
    static constexpr std::size_t most_shapes = 1000;

    /// Null: there is nothing to learn of this call.
    auto of(call_shape const& shape, policy_ref policy, link_model const& link) -> learned_shape* {
        if (shape.one_piece || shape.late || shape.is_uneven() || shape.ranks == 1) return nullptr;
        auto const key = key_of(shape, policy);
        if (auto const found = m_shapes.find(key); found != m_shapes.end()) return &found->second.known;
        if (m_shapes.size() == most_shapes) return nullptr;
        auto candidates = policy.candidates(shape, link);
        if (candidates.size() < 2) return nullptr;
        entry made{{shape.operation, shape.ranks, shape.bytes(), {}}, learned_shape(std::move(candidates))};
        return &m_shapes.emplace(key, std::move(made)).first->second.known;
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
        learned_shape known;
    };

    /// The same on all ranks.
    static auto key_of(call_shape const& shape, policy_ref policy) -> std::uint64_t {
        std::array const numbers{static_cast<std::uint64_t>(shape.operation),
                                 std::uint64_t{shape.count},
                                 std::uint64_t{shape.element_bytes},
                                 static_cast<std::uint64_t>(shape.root),
                                 std::uint64_t{shape.shared_bytes > 0} * 8 + std::uint64_t{shape.exact} * 4 +
                                     std::uint64_t{shape.commutative} * 2 + std::uint64_t{shape.has_native},
                                 static_cast<std::uint64_t>(policy.hash())};
        return hash_bytes(std::as_bytes(shape.sizes), hash_bytes(std::as_bytes(std::span(numbers))));
    }

    std::map<std::uint64_t, entry> m_shapes;
};

} // namespace papcoll::inline v0::detail
