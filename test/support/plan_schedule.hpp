// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/program_pieces.hpp>
#include <papcoll/executor/spread_program.hpp>
#include <papcoll/policy/execution_plan.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

/// What all ranks' plans do together.
namespace plan_schedule {

/// What all ranks' compiled shares do together, as a schedule: its messages are those that travel, cut ones
/// apart, in the order of each rank's sends and of each rank's receives.
struct global_schedule {
    std::vector<papcoll::transfer> transfers = {};
    std::vector<std::size_t> block_elements = {};
    std::vector<int> owners = {};
};

/// Finds that schedule: the k-th message that a rank sends to another is the k-th that this receives from it;
/// a message's step is the longest chain of messages that have to be before it.
class program_merger {
public:
    /// One program per rank.
    explicit program_merger(std::vector<papcoll::message_program const*> programs)
        : m_programs(std::move(programs)) {
        number_messages();
        for (std::size_t rank = 0; rank < m_programs.size(); ++rank) {
            chain(m_sent[rank]);
            chain(m_received[rank]);
            chain_blocks(rank);
        }
        find_steps();
    }
    [[nodiscard]] auto schedule() const -> global_schedule {
        global_schedule result;
        for (auto const& block : m_programs.front()->blocks) result.block_elements.push_back(block.size);
        result.owners.resize(result.block_elements.size());
        for (std::size_t rank = 0; rank < m_programs.size(); ++rank) {
            auto const& program = *m_programs[rank];
            for (std::size_t b = 0; b < result.owners.size(); ++b)
                if (program.owned[b]) result.owners[b] = static_cast<int>(rank);
            for (std::size_t i = 0; i < program.sends.messages.size(); ++i) {
                auto const& m = program.sends.messages[i];
                for (auto const& use : program.sends.uses_of(m))
                    result.transfers.push_back(
                        {m_step[m_sent[rank][i]], static_cast<int>(rank), m.peer, use.block});
            }
        }
        std::sort(result.transfers.begin(), result.transfers.end());
        return result;
    }

private:
    using id = std::size_t;

    void number_messages() {
        std::map<std::pair<int, int>, std::deque<id>> between;
        auto const ranks = m_programs.size();
        m_sent.resize(ranks);
        m_received.resize(ranks);
        id next = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank)
            for (auto const& m : m_programs[rank]->sends.messages) {
                m_sent[rank].push_back(next);
                between[{static_cast<int>(rank), m.peer}].push_back(next++);
            }
        for (std::size_t rank = 0; rank < ranks; ++rank)
            for (auto const& m : m_programs[rank]->receives.messages) {
                auto& expected = between[{m.peer, static_cast<int>(rank)}];
                if (expected.empty()) throw std::logic_error("a message is received that nobody sends");
                m_received[rank].push_back(expected.front());
                expected.pop_front();
            }
        m_later.resize(next);
        m_earlier.resize(next);
        m_step.resize(next);
    }
    void before(id first, id second) {
        if (first == second) throw std::logic_error("a message that waits for itself");
        m_later[first].push_back(second);
        ++m_earlier[second];
    }
    void chain(std::vector<id> const& messages) {
        for (std::size_t i = 1; i < messages.size(); ++i) before(messages[i - 1], messages[i]);
    }
    /// What happens to a block on a rank is in the order of its turns, results last.
    void chain_blocks(std::size_t rank) {
        struct event {
            int turn;
            bool send;
            id message;
        };
        auto const& program = *m_programs[rank];
        std::vector<std::vector<event>> events(program.blocks.size());
        auto const add = [&](papcoll::message_program::side const& side, std::vector<id> const& ids,
                             bool send) {
            for (std::size_t i = 0; i < side.messages.size(); ++i)
                for (auto const& use : side.uses_of(side.messages[i])) {
                    bool const result = use.turn == papcoll::detail::turn_of_result;
                    events[static_cast<std::size_t>(use.block)].push_back(
                        {result ? std::numeric_limits<int>::max() : use.turn, send, ids[i]});
                }
        };
        add(program.receives, m_received[rank], false);
        add(program.sends, m_sent[rank], true);
        for (auto& list : events) {
            std::stable_sort(list.begin(), list.end(),
                             [](event const& a, event const& b) { return a.turn < b.turn; });
            for (std::size_t i = 1; i < list.size(); ++i)
                if (list[i - 1].send != list[i].send) before(list[i - 1].message, list[i].message);
        }
    }
    void find_steps() {
        std::deque<id> ready;
        for (id m = 0; m < m_earlier.size(); ++m)
            if (m_earlier[m] == 0) ready.push_back(m);
        std::size_t done = 0;
        for (; !ready.empty(); ready.pop_front(), ++done)
            for (id const later : m_later[ready.front()]) {
                m_step[later] = std::max(m_step[later], m_step[ready.front()] + 1);
                if (--m_earlier[later] == 0) ready.push_back(later);
            }
        if (done != m_earlier.size()) throw std::logic_error("the messages wait for each other in a circle");
    }

    std::vector<papcoll::message_program const*> m_programs;
    std::vector<std::vector<id>> m_sent, m_received; // per rank
    std::vector<std::vector<id>> m_later;
    std::vector<int> m_earlier;
    std::vector<papcoll::step_type> m_step;
};

/// The schedule of one stage of all ranks' plans, as it is executed.
[[nodiscard]] inline auto schedule_of(std::vector<papcoll::execution_plan> const& plans, std::size_t stage)
    -> global_schedule {
    std::vector<std::shared_ptr<papcoll::message_program const>> executed;
    std::vector<papcoll::message_program const*> programs;
    for (auto const& plan : plans) {
        executed.push_back(papcoll::executable(
            std::make_shared<papcoll::message_program const>(plan.stages[stage].program)));
        programs.push_back(executed.back().get());
    }
    return program_merger(programs).schedule();
}

} // namespace plan_schedule
