// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/cost_model.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace papcoll::inline v0::detail {

/// Who waits for whom in a schedule. Every transfer is used twice, by its sender and by its receiver; the
/// uses of one block on one rank follow each other in step order. Transfers, messages and uses are numbered
/// in the order (step, from, to, block), in which each depends on earlier ones alone.
class schedule_graph {
public:
    static constexpr int none = -1;

    struct message {
        int from;
        int to;
        int first; ///< of its transfers
        int count;
        int next_send = none; ///< the next message of the same sender
        int next_receive = none;
    };
    /// What one end does with a block.
    struct use {
        int next = none;   ///< of the same block on the same rank
        bool first = true; ///< waits for no other use, and not for the arrival
        bool combines = false;
    };

    /// With `data_later` a use of what a rank has at the beginning waits for its arrival.
    schedule_graph(std::span<transfer const> schedule, problem const& p, schedule_kind kind,
                   block_sizes const& bytes, bool data_later)
        : m_first_send(static_cast<std::size_t>(p.ranks), none)
        , m_first_receive(static_cast<std::size_t>(p.ranks), none) {
        constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max() / 2);
        if (schedule.size() > most)
            throw std::length_error("papcoll: too many transfers to simulate: " +
                                    std::to_string(schedule.size()));
        m_transfers.reserve(schedule.size());
        for (auto const& t : schedule) {
            require_well_formed(t, p);
            if (bytes[t.block] > 0) m_transfers.push_back(t);
        }
        if (!std::is_sorted(m_transfers.begin(), m_transfers.end()))
            std::sort(m_transfers.begin(), m_transfers.end());
        group();
        m_uses.resize(2 * m_transfers.size());
        chain_uses(p, kind, data_later);
    }

    [[nodiscard]] auto transfers() const -> std::vector<transfer> const& { return m_transfers; }
    [[nodiscard]] auto messages() const -> std::vector<message> const& { return m_messages; }
    [[nodiscard]] auto message_of(int transfer) const -> int { return m_message_of[index(transfer)]; }
    [[nodiscard]] auto use_of(int number) const -> use const& { return m_uses[index(number)]; }
    [[nodiscard]] auto first_send(int rank) const -> int { return m_first_send[index(rank)]; }
    [[nodiscard]] auto first_receive(int rank) const -> int { return m_first_receive[index(rank)]; }

    /// The uses that wait for the arrival of `rank`, one for each block of them.
    [[nodiscard]] auto initial_uses(int rank) const -> std::span<int const> {
        auto const begin = m_begin_initial[index(rank)];
        return std::span(m_initial).subspan(begin, m_begin_initial[index(rank) + 1] - begin);
    }

    static constexpr auto sending(int transfer) -> int { return 2 * transfer; }
    static constexpr auto receiving(int transfer) -> int { return 2 * transfer + 1; }
    static constexpr auto is_send(int number) -> bool { return number % 2 == 0; }
    static constexpr auto transfer_of(int number) -> int { return number / 2; }
    static constexpr auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }

private:
    [[noreturn]] static void reject(transfer const& t, std::string const& why) {
        throw std::invalid_argument("papcoll: the schedule cannot proceed: the transfer of block " +
                                    std::to_string(t.block) + " from rank " + std::to_string(t.from) +
                                    " to rank " + std::to_string(t.to) + " in step " +
                                    std::to_string(t.step) + " " + why);
    }
    static void require_well_formed(transfer const& t, problem const& p) {
        for (int const rank : {t.from, t.to})
            if (rank < 0 || rank >= p.ranks)
                reject(t, "names a rank that is not among the " + std::to_string(p.ranks));
        if (t.block < 0 || t.block >= p.blocks)
            reject(t, "names a block that is not among the " + std::to_string(p.blocks));
        if (t.from == t.to) reject(t, "goes from a rank to itself");
    }

    void group() {
        std::vector<int> last_send = m_first_send;
        std::vector<int> last_receive = m_first_send;
        transfer const* previous = nullptr;
        m_message_of.reserve(m_transfers.size());
        for (auto const& t : m_transfers) {
            auto const i = static_cast<int>(m_message_of.size());
            auto const m = static_cast<int>(m_messages.size());
            bool const same = previous != nullptr && previous->step == t.step && previous->from == t.from &&
                              previous->to == t.to;
            if (same && previous->block == t.block) reject(t, "is there twice");
            if (!same) {
                m_messages.push_back({.from = t.from, .to = t.to, .first = i, .count = 0});
                follow(last_send[index(t.from)], m_first_send[index(t.from)], &message::next_send, m);
                follow(last_receive[index(t.to)], m_first_receive[index(t.to)], &message::next_receive, m);
            }
            ++m_messages.back().count;
            m_message_of.push_back(same ? m - 1 : m);
            previous = &t;
        }
    }
    void follow(int& last, int& first, int message::*next, int m) {
        (last == none ? first : m_messages[index(last)].*next) = m;
        last = m;
    }

    /// All uses, those of rank 0 first, each rank's in step order; and where each rank's begin.
    [[nodiscard]] auto uses_by_rank(int ranks, std::vector<std::size_t>& begins) const -> std::vector<int> {
        begins.assign(index(ranks) + 1, 0);
        for (auto const& t : m_transfers) {
            ++begins[index(t.from) + 1];
            ++begins[index(t.to) + 1];
        }
        for (std::size_t r = 1; r < begins.size(); ++r) begins[r] += begins[r - 1];
        std::vector<int> uses(2 * m_transfers.size());
        auto at = begins;
        for (int i = 0; i < static_cast<int>(m_transfers.size()); ++i) {
            auto const& t = m_transfers[index(i)];
            uses[at[index(t.from)]++] = sending(i);
            uses[at[index(t.to)]++] = receiving(i);
        }
        return uses;
    }

    struct block_state {
        int rank = none; ///< whose state this is
        int last_use = none;
        bool held = false;
    };

    void chain_uses(problem const& p, schedule_kind kind, bool data_later) {
        std::vector<std::size_t> begins;
        auto const order = uses_by_rank(p.ranks, begins);
        std::vector<block_state> blocks(index(p.blocks)); // shared by the ranks, one after another
        for (int rank = 0; rank < p.ranks; ++rank) {
            m_begin_initial.push_back(m_initial.size());
            for (auto i = begins[index(rank)]; i < begins[index(rank) + 1]; ++i) {
                auto const& t = m_transfers[index(transfer_of(order[i]))];
                auto& state = blocks[index(t.block)];
                if (state.rank != rank) {
                    state = {rank, none, kind == schedule_kind::reduction || p.owner(t.block) == rank};
                    if (data_later && state.held) m_initial.push_back(order[i]);
                }
                chain(state, order[i], kind);
            }
        }
        m_begin_initial.push_back(m_initial.size());
        for (int const number : m_initial) m_uses[index(number)].first = false;
    }
    void chain(block_state& state, int number, schedule_kind kind) {
        auto const& t = m_transfers[index(transfer_of(number))];
        if (state.last_use != none) {
            auto const& before = m_transfers[index(transfer_of(state.last_use))];
            if (before.step == t.step && is_send(number) != is_send(state.last_use))
                reject(t, "is in the step in which rank " + std::to_string(state.rank) + " also " +
                              (is_send(number) ? "receives" : "sends") + " this block");
            m_uses[index(state.last_use)].next = number;
            m_uses[index(number)].first = false;
        }
        bool const reduction = kind == schedule_kind::reduction;
        if (is_send(number) && !state.held)
            reject(t, "waits for ever: its sender does not hold the block then");
        m_uses[index(number)].combines = !is_send(number) && reduction && state.held;
        state.held = !is_send(number) || !reduction;
        state.last_use = number;
    }

    std::vector<transfer> m_transfers;
    std::vector<message> m_messages;
    std::vector<int> m_message_of;
    std::vector<use> m_uses;
    std::vector<int> m_first_send; // per rank
    std::vector<int> m_first_receive;
    std::vector<int> m_initial; // those of rank 0 first
    std::vector<std::size_t> m_begin_initial;
};

} // namespace papcoll::inline v0::detail
