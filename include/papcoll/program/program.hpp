// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/program/message_windows.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// What a program works on.
enum class memory : std::uint8_t {
    in,      ///< the user's operands, or its part; nothing is written there
    out,     ///< where the user wants the result; of a broadcast the user's data
    scratch, ///< papcoll's own
    node     ///< what the ranks of a node share in one operation; each sees all of it at the same offsets
};
/// How many kinds of memory there are.
inline constexpr std::size_t memory_kinds = 4;

/// A stretch of memory: where it lies, its offset there and its size in elements.
class region {
public:
    region() = default;
    constexpr region(memory where, std::size_t offset, std::size_t size)
        : m_offset(offset)
        , m_size_and_place(size << place_bits | static_cast<std::size_t>(where)) {}

    /// The memory in which it lies.
    [[nodiscard]] constexpr auto where() const -> memory {
        return static_cast<memory>(m_size_and_place & ((1u << place_bits) - 1));
    }
    /// Where it begins there, in elements.
    [[nodiscard]] constexpr auto offset() const -> std::size_t { return m_offset; }
    [[nodiscard]] constexpr auto size() const -> std::size_t { return m_size_and_place >> place_bits; }
    [[nodiscard]] constexpr auto end() const -> std::size_t { return m_offset + size(); }
    /// `count` elements of it from `begin` on.
    [[nodiscard]] constexpr auto part(std::size_t begin, std::size_t count) const -> region {
        return {where(), m_offset + begin, count};
    }
    /// Whether `next` begins where this ends.
    [[nodiscard]] constexpr auto is_followed_by(region const& next) const -> bool {
        return where() == next.where() && end() == next.offset();
    }

    friend constexpr auto operator==(region const&, region const&) -> bool = default;

private:
    static constexpr int place_bits = 2;

    std::size_t m_offset = 0;
    std::size_t m_size_and_place = 0;
};

/// What one rank does in one collective: instructions over the memory of the call. Made by a
/// program_builder, which finds out what each instruction has to wait for; checked by verify.
///
/// An instruction begins when those that it waits for have ended. Sends begin in the order of the program,
/// and so do receives, each kind within its window; combinations and copies begin in any order. Of two ranks
/// the k-th message that one sends to the other is the k-th that this one receives from it.
///
/// What a rank does to the memory of its node before a post is seen by those that await the post. A rank's
/// posts come in the order of the program. Nothing is there at the beginning.
struct program {
    /// Writes the program that is to be executed; kept in place of a long one.
    class source {
    public:
        source() = default;
        source(source const&) = delete;
        auto operator=(source const&) -> source& = delete;
        virtual ~source() = default;
        /// Writes the program.
        [[nodiscard]] virtual auto write() const -> program = 0;
        /// The memory that the source keeps.
        [[nodiscard]] virtual auto held_bytes() const -> std::size_t = 0;
    };

    /// What an instruction does.
    enum class action : std::uint8_t {
        send,    ///< the regions, one behind the other, to the peer
        receive, ///< a message of the peer into the regions
        combine, ///< regions in threes: target ← left ⊕ right; the target is an operand or apart from both
        copy,    ///< regions in pairs: target ← source
        post,    ///< what was done to these regions of the node is done, for the others there
        await,   ///< the peer, on the same node, has come to a certain post, about these regions
        contribution ///< the rank's own data comes into the regions, when the program contributes it
    };
    /// Numbers instructions and regions.
    using index = std::uint32_t;

    /// One thing that a rank does.
    struct instruction {
        /// What it does.
        action what;
        /// Of a combination: in the same bits on all ranks, wherever the operands lie.
        bool alike = false;
        /// Of a message: which windows it goes by.
        std::uint16_t windows = 0;
        /// Of a message or an await: the other rank.
        std::int32_t peer = -1;
        /// The first of its regions among `regions`.
        index first_region;
        /// The first of those it waits for among `waits`.
        index first_wait;
    };

    /// What other ranks give, which may be combined in any order: `count` parts of as many instructions each,
    /// one behind the other, each an await and a combination in turn. Whichever rank has come is taken next:
    /// what its part awaits, and its right operands, stand where those of the next part would.
    struct any_order {
        /// The first instruction of the first part.
        index begin;
        index part;  ///< instructions of each
        index count; ///< how many parts there are
    };

    /// In the order in which they are begun.
    std::vector<instruction> instructions;
    /// Those of all instructions, one after the other.
    std::vector<region> regions;
    /// What each instruction waits for: earlier ones, in ascending order.
    std::vector<index> waits;
    /// Of an uncut program: pairs (earlier, later) of instructions whose order the data does not ask for.
    std::vector<std::pair<index, index>> order;
    /// How its messages are sent; see message_windows.
    std::vector<message_windows> windows;
    /// Of each await, in their order: how many posts of the peer it waits for.
    std::vector<index> posts;
    /// Where it is executed in one go the order may be another one.
    std::vector<any_order> any_orders = {};
    /// Elements of papcoll's own memory.
    std::size_t scratch = 0;
    /// Elements of the node's memory, of all its ranks together.
    std::size_t node = 0;
    /// Equal on the ranks of a node, and different where the calls differ: programs that do not belong
    /// together are found out by it.
    std::uint64_t node_key = 0;
    /// Whether the memory of the node is beside the signs: of every 64 bytes, of one rank, the first 48.
    bool beside_signs = false;
    /// Whether the memory of the node is not that of one call, but the plan's, call after call. Copies
    /// between it and `in` or `out` move nothing where these are a part of it.
    bool keeps_node = false;
    /// Then: which part `in` is; empty: none.
    region in_there = {};
    /// Which part `out` is; empty: none.
    region out_there = {};
    /// Whether `in` and `out` are the same memory: element i of one is element i of the other.
    bool in_place = false;
    /// Whether messages are still to be cut into pieces, see in_pieces().
    bool uncut = false;
    /// Of an uncut program without instructions: who writes them.
    std::shared_ptr<source const> written_by = {};
    /// The MPI library's own routine does it all: there are no instructions.
    bool native = false;

    [[nodiscard]] auto size() const -> index { return static_cast<index>(instructions.size()); }
    /// The regions of instruction i.
    [[nodiscard]] auto regions_of(index i) const -> std::span<region const> {
        auto const begin = instructions[i].first_region;
        auto const end = i + 1 < size() ? instructions[i + 1].first_region : regions.size();
        return std::span(regions).subspan(begin, end - begin);
    }
    /// The instructions that must have ended before instruction i begins.
    [[nodiscard]] auto waits_of(index i) const -> std::span<index const> {
        auto const begin = instructions[i].first_wait;
        auto const end = i + 1 < size() ? instructions[i + 1].first_wait : waits.size();
        return std::span(waits).subspan(begin, end - begin);
    }
    /// Of a message or a contribution, in elements; of a combination or a copy that of its target.
    [[nodiscard]] auto elements_of(index i) const -> std::size_t {
        std::size_t sum = 0;
        auto const all = regions_of(i);
        for (std::size_t r = 0; r < all.size(); r += operands(instructions[i].what)) sum += all[r].size();
        return sum;
    }
    /// How the message of instruction i is sent.
    [[nodiscard]] auto windows_of(index i) const -> message_windows const& {
        return windows[instructions[i].windows];
    }
    /// Whether instruction i sends or receives.
    [[nodiscard]] auto is_message(index i) const -> bool {
        return instructions[i].what == action::send || instructions[i].what == action::receive;
    }
    /// Whether it makes nothing, but orders what is done to the node's memory.
    [[nodiscard]] auto is_sign(index i) const -> bool {
        return instructions[i].what == action::post || instructions[i].what == action::await;
    }
    /// Whether a copy is between two names of the same memory, see keeps_node.
    [[nodiscard]] auto moves_nothing(region const& to, region const& from) const -> bool {
        return keeps_node && place_on_node(to) == place_on_node(from);
    }
    /// How many regions belong together: target and operands.
    [[nodiscard]] static constexpr auto operands(action what) -> std::size_t {
        return what == action::combine ? 3 : what == action::copy ? 2 : 1;
    }
    /// The memory behind it.
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return detail::held_bytes(instructions) + detail::held_bytes(regions) + detail::held_bytes(waits) +
               detail::held_bytes(order) + detail::held_bytes(windows) + detail::held_bytes(posts) +
               detail::held_bytes(any_orders) + (written_by ? written_by->held_bytes() : 0);
    }

private:
    /// Where a region is in the memory of the node, if it is there; else the region.
    [[nodiscard]] auto place_on_node(region const& r) const -> region {
        auto const& there = r.where() == memory::in ? in_there : out_there;
        bool const is_users = r.where() == memory::in || r.where() == memory::out;
        return is_users && there.size() > 0 ? there.part(r.offset(), r.size()) : r;
    }
};

/// The name of what an instruction does.
[[nodiscard]] constexpr auto to_string(program::action what) -> std::string_view {
    switch (what) {
    case program::action::send:
        return "send";
    case program::action::receive:
        return "receive";
    case program::action::combine:
        return "combine";
    case program::action::copy:
        return "copy";
    case program::action::post:
        return "post";
    case program::action::await:
        return "await";
    case program::action::contribution:
        break;
    }
    return "contribution";
}

} // namespace papcoll::inline v0
