// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>
#include <papcoll/program/scratch_slots.hpp>
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/order_sign.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// What a schedule is lowered for.
enum class lowering {
    /// Scratch memory is used again, and the blocks of a message are combined by one instruction.
    execution,
    /// As one reasons about schedules: a block that comes has memory of its own, also where the rank has it
    /// already, and is combined by itself. So each waits for nothing but data.
    model
};

/// Where the blocks of a schedule lie on one rank; a region of no elements where it has no place.
struct block_places {
    /// Per block: where the rank has it at first. In a dissemination: if it owns the block.
    std::vector<region> held;
    /// Per block: where its result belongs. In a reduction: if the rank owns the block; in a dissemination:
    /// if it does not.
    std::vector<region> result;
    /// Per block: whether its result belongs to this rank (reduction), or this rank has it at first.
    std::vector<bool> owned;
};

namespace detail {

/// Writes one rank's share of a schedule of blocks into a program.
///
/// In a reduction a block begins as the user's operand. It is given away when it is sent; what arrives next
/// is stored, later arrivals are combined, the operand of the lower rank on the left, so that results repeat
/// to the bit. In a dissemination a block is sent from where it is.
class block_lowering {
public:
    /// `to` writes for this rank.
    block_lowering(program_builder& to, int rank, block_places const& places,
                   lowering what_for = lowering::execution)
        : m_to(to)
        , m_rank(rank)
        , m_models(what_for == lowering::model)
        , m_places(places)
        , m_slots(to)
        , m_blocks(places.owned.size()) {
        m_results_move = m_models;
        for (std::size_t b = 0; b < m_blocks.size(); ++b) m_results_move = m_results_move || moves(b);
    }

    /// For the schedule that follows: its transfers also wait for these signs, and all for `earlier`. Where
    /// there is no data there are none.
    void wait_for(std::span<order_sign const> signs, std::vector<program::index> earlier) {
        m_awaited = std::move(earlier);
        for (std::size_t b = 0; b < m_blocks.size(); ++b)
            if (m_places.held[b].size() + m_places.result[b].size() > 0) m_signs = signs;
    }
    /// The messages with data that it receives.
    [[nodiscard]] auto received() const -> std::vector<program::index> const& { return m_received; }
    void reduce(rank_schedule const& share) {
        check_blocks(share);
        hold_all();
        each_message(share, {});
        deliver();
    }
    void disseminate(rank_schedule const& share) {
        check_blocks(share);
        for (std::size_t b = 0; b < m_blocks.size(); ++b)
            if (m_places.owned[b]) m_blocks[b] = {m_places.held[b], true};
        each_message({}, share);
    }
    /// Both with one numbering of steps: results spread while other blocks are still reduced.
    void spread(rank_schedule const& reduction, rank_schedule const& dissemination) {
        check_blocks(reduction);
        check_blocks(dissemination);
        hold_all();
        m_spreads = true;
        each_message(reduction, dissemination);
        deliver();
    }

private:
    using transfers = std::span<rank_transfer const>;

    struct block_state {
        region at;
        bool there = false;
        bool complete = false; // its result is being spread
        step_type left = std::numeric_limits<step_type>::min();
    };

    static auto index(int block) -> std::size_t { return static_cast<std::size_t>(block); }
    [[nodiscard]] auto size(rank_transfer const& t) const -> std::size_t {
        return std::max(m_places.held[index(t.block)].size(), m_places.result[index(t.block)].size());
    }
    /// In place a block whose result moves may be written over another's operand.
    [[nodiscard]] auto moves(std::size_t b) const -> bool {
        return m_to.in_place() && m_places.owned[b] && m_places.held[b].size() > 0 &&
               m_places.held[b].offset() != m_places.result[b].offset();
    }
    void check_blocks(rank_schedule const& share) const {
        for (auto const* list : {&share.sends, &share.receives})
            for (auto const& t : *list)
                if (t.block < 0 || index(t.block) >= m_blocks.size())
                    reject(list == &share.sends, t, "names a block that the problem does not have");
    }
    [[noreturn]] void reject(bool sends, rank_transfer const& t, char const* why) const {
        transfer const whole{t.step, sends ? m_rank : t.peer, sends ? t.peer : m_rank, t.block};
        throw std::invalid_argument("papcoll: the schedule cannot proceed: " + detail::text_of(whole) + " " +
                                    why);
    }
    void hold_all() {
        for (std::size_t b = 0; b < m_blocks.size(); ++b) m_blocks[b] = {m_places.held[b], true};
    }

    /// One side of a share in the order of steps, message by message.
    class message_list {
    public:
        explicit message_list(std::vector<rank_transfer> list)
            : m_list(std::move(list)) {
            if (!std::is_sorted(m_list.begin(), m_list.end())) std::sort(m_list.begin(), m_list.end());
        }
        [[nodiscard]] auto step() const -> std::optional<step_type> {
            if (m_next == m_list.size()) return std::nullopt;
            return m_list[m_next].step;
        }
        auto take() -> transfers {
            auto const first = m_next;
            auto const& t = m_list[first];
            while (m_next < m_list.size() && m_list[m_next].step == t.step && m_list[m_next].peer == t.peer)
                ++m_next;
            return transfers(m_list).subspan(first, m_next - first);
        }

    private:
        std::vector<rank_transfer> m_list;
        std::size_t m_next = 0;
    };

    void each_message(rank_schedule const& operands, rank_schedule const& results) {
        message_list lists[] = {message_list(operands.sends), message_list(results.sends), // NOLINT
                                message_list(operands.receives), message_list(results.receives)};
        for (;;) {
            std::optional<step_type> step;
            for (auto const& list : lists)
                if (list.step() && (!step || *list.step() < *step)) step = list.step();
            if (!step) return;
            while (is_next_sign(*step, false)) receive_sign();
            while (lists[0].step() == step) send_operands(lists[0].take());
            while (lists[1].step() == step) send_results(lists[1].take());
            while (lists[2].step() == step) receive_operands(lists[2].take());
            while (lists[3].step() == step) receive_results(lists[3].take());
            while (is_next_sign(*step, true)) send_sign();
        }
    }
    [[nodiscard]] auto is_next_sign(step_type step, bool sends) const -> bool {
        return !m_signs.empty() && m_signs.front().step == step && m_signs.front().sends == sends;
    }
    void receive_sign() {
        auto const from = m_signs.front().peer;
        m_signs = m_signs.subspan(1);
        if (from != m_rank) m_awaited.push_back(m_to.receive(from, std::span<region const>()));
    }
    void send_sign() {
        auto const to = m_signs.front().peer;
        m_signs = m_signs.subspan(1);
        if (to == m_rank) return m_awaited.push_back(m_received.back());
        m_to.after(m_received.back());
        m_to.send(to, std::span<region const>());
    }
    /// A message of this rank's, behind what it waits for beside its data.
    auto send(int to) -> program::index {
        for (auto const earlier : m_awaited) m_to.after(earlier);
        m_awaited.clear();
        return m_to.send(to, m_regions);
    }

    void send_operands(transfers message) {
        m_regions.clear();
        for (auto const& t : message) {
            if (size(t) == 0) continue;
            auto& block = m_blocks[index(t.block)];
            if (block.complete) reject(true, t, comes_too_late);
            if (!block.there) reject(true, t, is_not_held);
            m_regions.push_back(block.at);
        }
        if (m_regions.empty()) return;
        auto const i = send(message.front().peer);
        for (auto const& t : message) {
            if (size(t) == 0) continue;
            auto& block = m_blocks[index(t.block)];
            m_slots.leave(block.at, i);
            block.there = false;
            block.left = t.step;
        }
    }
    void receive_operands(transfers message) {
        std::size_t held = 0; // elements that go to scratch memory
        for (auto const& t : message) held += goes_home(t) ? 0 : size(t);
        auto slot = held > 0 ? room_for(held) : region();
        m_regions.clear();
        m_threes.clear();
        std::size_t elements = 0;
        for (auto const& t : message) {
            if (size(t) == 0) continue;
            elements += size(t);
            check_operand(t);
            auto const b = index(t.block);
            bool const home = goes_home(t);
            auto const at = home ? m_places.result[b] : slot.part(0, size(t));
            if (!home) slot = slot.part(size(t), slot.size() - size(t));
            m_regions.push_back(at);
            take_in(t, at);
        }
        if (elements == 0) return;
        m_received.push_back(m_to.receive(message.front().peer, m_regions));
        if (m_threes.empty()) return;
        for (std::size_t n = m_models ? 3 : m_threes.size(), i = 0; i < m_threes.size(); i += n)
            m_to.combine(std::span(m_threes).subspan(i, n));
        for (auto const& left : m_left) m_slots.leave(left, m_to.next() - 1);
        m_left.clear();
    }
    void check_operand(rank_transfer const& t) const {
        auto const& block = m_blocks[index(t.block)];
        if (block.complete) reject(false, t, comes_too_late);
        if (block.left == t.step && !block.there)
            reject(false, t, "is in the step in which its receiver also sends this block");
    }
    auto room_for(std::size_t n) -> region { return m_models ? m_to.scratch(n) : m_slots.take(n); }
    /// Whether a block that arrives is stored where its result belongs.
    [[nodiscard]] auto goes_home(rank_transfer const& t) const -> bool {
        return !m_blocks[index(t.block)].there && m_places.owned[index(t.block)] && !m_results_move;
    }
    /// What arrives at `at` is the block, or is combined with what is there.
    void take_in(rank_transfer const& t, region const& at) {
        auto const b = index(t.block);
        auto& block = m_blocks[b];
        if (!block.there) {
            block = {at, true};
            return;
        }
        auto const target = m_places.owned[b] && !m_results_move ? m_places.result[b] : at;
        bool const from_below = t.peer < m_rank;
        m_threes.insert(m_threes.end(), {target, from_below ? at : block.at, from_below ? block.at : at});
        if (!(target == at)) m_left.push_back(at);
        if (!(target == block.at)) m_left.push_back(block.at);
        block.at = target;
    }

    void send_results(transfers message) {
        m_regions.clear();
        for (auto const& t : message) {
            if (size(t) == 0) continue;
            auto& block = m_blocks[index(t.block)];
            if (!block.there || (m_spreads && !block.complete && !m_places.owned[index(t.block)]))
                reject(true, t, is_not_held);
            block.complete = m_spreads;
            m_regions.push_back(block.at);
        }
        if (!m_regions.empty()) send(message.front().peer);
    }
    void receive_results(transfers message) {
        m_regions.clear();
        for (auto const& t : message) {
            if (size(t) == 0) continue;
            auto const b = index(t.block);
            auto& block = m_blocks[b];
            if (block.there && !m_models) reject(false, t, "delivers a block where it is already");
            block = {block.there ? room_for(size(t)) : m_places.result[b], true, m_spreads};
            m_regions.push_back(block.at);
        }
        if (!m_regions.empty()) m_received.push_back(m_to.receive(message.front().peer, m_regions));
    }

    /// Puts the owned blocks where the user wants them. In ascending order, so that blocks that move down in
    /// place do not meet one that is still to move.
    void deliver() {
        for (std::size_t b = 0; b < m_blocks.size(); ++b)
            if (m_places.owned[b] && m_blocks[b].there) m_to.copy(m_places.result[b], m_blocks[b].at);
    }

    static constexpr char const* is_not_held = "waits for ever: its sender does not hold the block then";
    static constexpr char const* comes_too_late = "is still to be combined when the block is spread already";

    program_builder& m_to;
    int m_rank;
    bool m_models;
    block_places const& m_places;
    scratch_slots m_slots;
    std::vector<block_state> m_blocks;
    std::vector<region> m_regions, m_threes, m_left;
    std::span<order_sign const> m_signs;
    std::vector<program::index> m_awaited; // by the next send
    std::vector<program::index> m_received;
    bool m_results_move = false;
    bool m_spreads = false;
};

} // namespace detail

/// Writes one rank's share of a schedule into a program: a reduction to the owners of the blocks, or a
/// dissemination from them. Blocks without elements are left out. Throws std::invalid_argument for a block
/// that does not exist, and for shares that send what the rank does not have, or deliver what it has.
inline void lower(program_builder& to, schedule_kind kind, rank_schedule const& share, int rank,
                  block_places const& places, lowering what_for = lowering::execution) {
    detail::block_lowering blocks(to, rank, places, what_for);
    if (kind == schedule_kind::reduction)
        blocks.reduce(share);
    else
        blocks.disseminate(share);
}
/// The same for a schedule of which transfers wait for others besides. What the rank sends waits for the
/// messages `received` too; those that it receives are added to them, so that another schedule begins behind
/// this one.
inline void lower(program_builder& to, schedule_kind kind, ordered_schedule const& ordered, int rank,
                  block_places const& places, std::vector<program::index>& received) {
    detail::block_lowering blocks(to, rank, places);
    blocks.wait_for(ordered.signs, received);
    if (kind == schedule_kind::reduction)
        blocks.reduce(ordered.share);
    else
        blocks.disseminate(ordered.share);
    received.insert(received.end(), blocks.received().begin(), blocks.received().end());
}
/// The same for a reduction and a dissemination of the results, with one numbering of steps. Throws
/// std::invalid_argument, too, for a block that is spread on this rank before its reduction is over here.
inline void lower_spread(program_builder& to, rank_schedule const& reduction,
                         rank_schedule const& dissemination, int rank, block_places const& places) {
    detail::block_lowering(to, rank, places).spread(reduction, dissemination);
}

} // namespace papcoll::inline v0
