// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/node_memory.hpp>
#include <papcoll/executor/program_state.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// Boxes in the memory of the node for short serialized values: in each call a rank has one for every rank of
/// its node, for the first message to it. A message that does not fit leaves a note that it comes through the
/// transport. Later messages of a pair go through the transport.
///
/// Which boxes are filled stands in a word behind the signs of the rank, which it alone writes.
class value_boxes {
public:
    /// On nodes with more ranks the boxes would be too small.
    static constexpr std::size_t most_members = 16;

    /// Whether the calls of a communicator have boxes; the same on all ranks of the node.
    [[nodiscard]] static auto are_in(node_memory const& shared) -> bool {
        return shared.members() <= most_members && box_bytes_in(shared) >= node_memory::line_bytes;
    }
    /// Whether every message of a program, whose data is there when it begins, has a box.
    [[nodiscard]] static auto are_for_all(program const& p, node_memory const& shared) -> bool {
        std::uint64_t sent_to = 0;
        std::uint64_t received_from = 0;
        return std::all_of(p.instructions.begin(), p.instructions.end(), [&](auto const& i) {
            using action = program::action;
            if (i.what != action::send && i.what != action::receive) return i.what != action::contribution;
            if (!shared.is_member(i.peer)) return false;
            auto& met = i.what == action::send ? sent_to : received_from;
            auto const bit = std::uint64_t(1) << shared.member(i.peer);
            bool const is_first = (met & bit) == 0;
            met |= bit;
            return is_first;
        });
    }
    /// For a call of this area, which has been reserved and not been opened. Plans that are executed again
    /// have the same messages.
    void use(node_memory& shared, node_memory::area const& a, program const& p, program_state const& state) {
        use(shared, a);
        if (!m_marked) {
            mark_first(p, state.sends(), m_first_sends);
            mark_first(p, state.receives(), m_first_receives);
            m_marked = true;
        }
    }
    /// The same for a caller who knows which messages go through boxes.
    void use(node_memory& shared, node_memory::area const& a) {
        m_shared = &shared;
        m_area = a;
        m_filled = 0;
    }
    /// There are none in this call.
    void close() { m_shared = nullptr; }
    [[nodiscard]] auto are_used() const -> bool { return m_shared != nullptr; }

    /// See node_memory::open.
    [[nodiscard]] auto open() -> bool {
        if (!m_shared->open_to_post(m_area)) return false;
        node_memory::tell_filled(m_area, 0);
        node_memory::tell_begun(m_area);
        return true;
    }
    /// Whether the message at this place among the sends of the program goes through a box.
    [[nodiscard]] auto has_send(std::size_t position) const -> bool {
        return m_shared != nullptr && m_first_sends[position];
    }
    [[nodiscard]] auto has_receive(std::size_t position) const -> bool {
        return m_shared != nullptr && m_first_receives[position];
    }
    /// Fills the box for rank `peer`; false where the message is to be sent, since it is too long.
    [[nodiscard]] auto put(int peer, std::span<std::byte const> message) -> bool {
        auto const room = room_for(peer);
        bool const fits = message.size() <= room.size();
        if (fits && !message.empty()) std::memcpy(room.data(), message.data(), message.size());
        fill(peer, fits ? message.size() : size_of_long);
        return fits;
    }
    /// Where a message to rank `peer` may be written, before fill().
    [[nodiscard]] auto room_for(int peer) const -> std::span<std::byte> {
        return {my_box_for(m_shared->member(peer)) + sizeof(std::uint64_t),
                box_bytes_in(*m_shared) - sizeof(std::uint64_t)};
    }
    /// So many bytes are there for rank `peer`.
    void fill(int peer, std::uint64_t bytes) {
        auto const to = m_shared->member(peer);
        std::memcpy(my_box_for(to), &bytes, sizeof(bytes));
        m_filled |= std::uint64_t(1) << to;
        node_memory::tell_filled(m_area, m_filled);
    }
    [[nodiscard]] auto look(int peer) const -> node_memory::news {
        return m_shared->look_filled(m_area, peer);
    }
    /// What is in the box of rank `peer`, which has filled it; none: the message comes through the transport.
    /// It stays until the call ends.
    [[nodiscard]] auto get(int peer) const -> std::optional<std::span<std::byte const>> {
        auto const* const box = box_of(m_shared->member(peer), m_shared->member(m_shared->rank()));
        std::uint64_t size = 0;
        std::memcpy(&size, box, sizeof(size));
        if (size == size_of_long) return std::nullopt;
        return std::span<std::byte const>(box + sizeof(size), static_cast<std::size_t>(size));
    }
    /// What an area must have for them.
    [[nodiscard]] static auto bytes_in(node_memory const& shared) -> std::size_t {
        return shared.members() * shared.members() * box_bytes_in(shared);
    }
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return (m_first_sends.capacity() + m_first_receives.capacity()) / 8;
    }

private:
    static constexpr auto size_of_long = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] static auto box_bytes_in(node_memory const& shared) -> std::size_t {
        auto const share = node_memory::short_bytes(shared.bytes_per_rank()) / shared.members();
        return share / node_memory::line_bytes * node_memory::line_bytes;
    }
    [[nodiscard]] auto box_of(std::size_t from, std::size_t to) const -> std::byte* {
        return m_area.data + (from * m_shared->members() + to) * box_bytes_in(*m_shared);
    }
    [[nodiscard]] auto my_box_for(std::size_t to) const -> std::byte* {
        return box_of(m_shared->member(m_shared->rank()), to);
    }
    void mark_first(program const& p, std::vector<program::index> const& messages, std::vector<bool>& first) {
        std::uint64_t met = 0;
        first.assign(messages.size(), false);
        for (std::size_t position = 0; position < messages.size(); ++position) {
            auto const peer = p.instructions[messages[position]].peer;
            if (!m_shared->is_member(peer)) continue;
            auto const bit = std::uint64_t(1) << m_shared->member(peer);
            first[position] = (met & bit) == 0;
            met |= bit;
        }
    }

    node_memory* m_shared = nullptr; // while a call has boxes
    node_memory::area m_area;
    std::uint64_t m_filled = 0; // by this rank, a bit for each member
    bool m_marked = false;
    std::vector<bool> m_first_sends, m_first_receives;
};

} // namespace papcoll::inline v0::detail
