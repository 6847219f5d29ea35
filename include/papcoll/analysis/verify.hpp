// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// One bit per (rank, block).
class rank_block_bits {
public:
    rank_block_bits(problem const& p, bool value)
        : m_blocks(static_cast<std::size_t>(p.blocks))
        , m_bits(static_cast<std::size_t>(p.ranks) * m_blocks, value) {}

    [[nodiscard]] auto test(int rank, int block) const -> bool { return m_bits[index(rank, block)]; }
    void set(int rank, int block, bool value = true) { m_bits[index(rank, block)] = value; }

private:
    [[nodiscard]] auto index(int rank, int block) const -> std::size_t {
        return static_cast<std::size_t>(rank) * m_blocks + static_cast<std::size_t>(block);
    }

    std::size_t m_blocks;
    std::vector<bool> m_bits;
};

/// Executes a schedule step by step. A state of one bit per (rank, block) is enough: a reduction moves
/// contributions and a combination unites disjoint sets, so as long as nobody sends what it does not hold,
/// each contribution is in exactly one place. If at the end the owner alone holds a block, it has them all
/// once.
class schedule_verifier {
public:
    using verdict = std::optional<std::string>;

    schedule_verifier(std::span<transfer const> schedule, problem const& p, schedule_kind kind)
        : m_problem(p)
        , m_kind(kind)
        , m_schedule(schedule.begin(), schedule.end())
        , m_held(p, kind == schedule_kind::reduction)
        , m_sending(p, false)
        , m_received(static_cast<std::size_t>(p.ranks)) {
        std::sort(m_schedule.begin(), m_schedule.end());
        if (kind == schedule_kind::dissemination)
            for (int block = 0; block < p.blocks; ++block) m_held.set(p.owner(block), block);
    }

    [[nodiscard]] auto run() -> verdict {
        for (auto first = m_schedule.begin(); first != m_schedule.end();) {
            auto const last = std::find_if(first, m_schedule.end(),
                                           [&](transfer const& t) { return t.step != first->step; });
            if (auto violation = run_step({first, last})) return violation;
            first = last;
        }
        return m_kind == schedule_kind::reduction ? reduction_end() : dissemination_end();
    }

private:
    using step_view = std::span<transfer const>;

    static auto text(int value) -> std::string { return std::to_string(value); }
    static auto in_step(step_type step) -> std::string { return " in step " + std::to_string(step); }

    auto run_step(step_view step) -> verdict {
        for (auto const& t : step)
            if (auto violation = malformed(t, m_problem)) return violation;
        if (auto violation = one_ported(step)) return violation;
        for (auto const& t : step) m_sending.set(t.from, t.block);
        for (auto const& t : step)
            if (auto violation = may_send(t)) return violation;
        for (auto const& t : step) m_sending.set(t.from, t.block, false);
        for (auto const& t : step) {
            if (m_kind == schedule_kind::reduction) m_held.set(t.from, t.block, false);
            if (m_kind == schedule_kind::dissemination && m_held.test(t.to, t.block))
                return "rank " + text(t.to) + " receives block " + text(t.block) + in_step(t.step) +
                       ", which it already has";
            m_held.set(t.to, t.block);
        }
        return {};
    }

    // Transfers of one step come sorted by sender, receiver and block.
    auto one_ported(step_view step) -> verdict {
        for (std::size_t i = 1; i < step.size(); ++i) {
            if (step[i] == step[i - 1]) return text_of(step[i]) + " is there twice";
            if (step[i].from == step[i - 1].from && step[i].to != step[i - 1].to)
                return two_messages(step[i].from, "sends", "to", step[i - 1].to, step[i].to, step[i].step);
        }
        for (auto const& t : step) {
            auto& seen = m_received[static_cast<std::size_t>(t.to)];
            if (seen && seen->step == t.step && seen->from != t.from)
                return two_messages(t.to, "receives", "from", seen->from, t.from, t.step);
            seen = source{t.step, t.from};
        }
        return {};
    }

    static auto two_messages(int rank, char const* does, char const* way, int one, int other, step_type step)
        -> verdict {
        return "rank " + text(rank) + " " + does + " two messages" + in_step(step) + ", " + way + " ranks " +
               text(one) + " and " + text(other);
    }

    [[nodiscard]] auto may_send(transfer const& t) const -> verdict {
        if (m_sending.test(t.to, t.block))
            return "rank " + text(t.to) + " sends and receives block " + text(t.block) + in_step(t.step) +
                   ": a send needs receives of smaller steps";
        if (!m_held.test(t.from, t.block)) return sent_before_held(t);
        return {};
    }

    // Runs once, when the violation is known, and so may search the whole schedule for the reason.
    [[nodiscard]] auto sent_before_held(transfer const& t) const -> std::string {
        std::optional<step_type> given;
        std::optional<step_type> later;
        for (auto const& other : m_schedule) {
            if (other.block != t.block) continue;
            if (other.from == t.from && other.step < t.step) given = other.step;
            if (other.to == t.from && other.step > t.step && !later) later = other.step;
        }
        auto why = "rank " + text(t.from) + " sends block " + text(t.block) + in_step(t.step) +
                   " but does not hold it then";
        if (m_kind == schedule_kind::reduction && given)
            why += ": it gave it away" + in_step(*given) + ", so contributions would be counted twice";
        if (later) why += "; it receives it only" + in_step(*later) + ": dependencies must increase in step";
        return why;
    }

    [[nodiscard]] auto reduction_end() const -> verdict {
        for (int block = 0; block < m_problem.blocks; ++block) {
            int const owner = m_problem.owner(block);
            for (int rank = 0; rank < m_problem.ranks; ++rank)
                if (rank != owner && m_held.test(rank, block)) return misplaced(block, owner, rank);
        }
        return {};
    }

    // Contributions never vanish: what the owner lacks is at another rank.
    [[nodiscard]] auto misplaced(int block, int owner, int holder) const -> std::string {
        int holders = 0;
        for (int rank = 0; rank < m_problem.ranks; ++rank) holders += m_held.test(rank, block) ? 1 : 0;
        if (holders == 1)
            return "block " + text(block) + " ends at rank " + text(holder) + ", but its owner is rank " +
                   text(owner);
        return "contributions to block " + text(block) + " are lost: at the end rank " + text(holder) +
               " still holds some, which never reach its owner, rank " + text(owner);
    }

    [[nodiscard]] auto dissemination_end() const -> verdict {
        for (int block = 0; block < m_problem.blocks; ++block)
            for (int rank = 0; rank < m_problem.ranks; ++rank)
                if (!m_held.test(rank, block))
                    return "rank " + text(rank) + " never receives block " + text(block) + " of owner rank " +
                           text(m_problem.owner(block));
        return {};
    }

    struct source {
        step_type step;
        int from;
    };

    problem m_problem;
    schedule_kind m_kind;
    std::vector<transfer> m_schedule;
    rank_block_bits m_held;
    rank_block_bits m_sending;
    std::vector<std::optional<source>> m_received;
};

} // namespace detail

/// Executes a reduction schedule symbolically: nullopt if it is right, else the first violation in words.
///
/// Checked are, step by step: ranks and blocks are in range, nobody sends to itself, no block is twice in a
/// message, every rank sends at most one message and receives at most one message per step, no rank sends and
/// receives a block in the same step, and every block is held when it is sent, so that dependencies strictly
/// increase in step and no contribution counts twice. At the end each block has the contributions of all
/// ranks at its owner. These are the premises under which the executors neither deadlock nor combine wrongly.
///
/// `schedule` is the global view, in any order. Throws std::invalid_argument if `p` itself is malformed.
/// Cost for T transfers, P ranks, N blocks: O(T log T + P N) time, T transfers and 2 P N bits of memory.
[[nodiscard]] inline auto verify_reduction(std::span<transfer const> schedule, problem const& p)
    -> std::optional<std::string> {
    check(p);
    return detail::schedule_verifier(schedule, p, schedule_kind::reduction).run();
}

/// The same for a dissemination schedule, in which a send copies: at the end every rank has every block,
/// which its owner alone had at the beginning. A block that reaches a rank which already has it is a
/// violation, too: it would be written over data that may be on its way to others.
[[nodiscard]] inline auto verify_dissemination(std::span<transfer const> schedule, problem const& p)
    -> std::optional<std::string> {
    check(p);
    return detail::schedule_verifier(schedule, p, schedule_kind::dissemination).run();
}

} // namespace papcoll::inline v0
