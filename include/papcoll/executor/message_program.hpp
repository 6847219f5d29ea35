// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// How many messages an executor keeps under way on one rank.
struct message_windows {
    /// Receives posted of which the head has not arrived.
    int receives = 1;
    /// Sends issued of which the head is not known to have arrived.
    int sends = 1;
    /// Whether the receiver admits each message, when it posts the receive, and tells its sender when the
    /// head of it has arrived. Windows of one then give each transfer both its links alone, as a schedule
    /// assumes; otherwise transfers that meet share a link and delay each other. Also bounds what the MPI
    /// library has to buffer.
    bool admission = true;
    /// How much of an admitted message travels behind its head, three eighths of it at most: enough to keep
    /// the link busy while the head's arrival is told and the next message is admitted. 0: none.
    std::size_t tail_bytes = 0;
    /// The blocks that two ranks exchange in one step are one message, or, where they are more than this,
    /// several of whole blocks; 0: one. One at a time leaves both directions of a link alone, and lets blocks
    /// be sent on before those behind them are in. A library whose rendezvous needs answers lets these queue
    /// behind the data that goes the other way between the same two ranks; short messages go without.
    std::size_t longest_elements = 0;
    /// Of the messages that are admitted in general, those of at most this many elements are not: the blocks
    /// of a pipeline, which pass in less time than admission takes. `unadmitted` of them may be under way.
    std::size_t unadmitted_elements = 0;
    int unadmitted = 8;
};

/// One rank's share of a schedule, compiled for execution: transfers of equal (step, peer) are one message,
/// cut where the windows say, empty blocks are left out, and for each block the order of what happens to it
/// here is known. Plans keep it, long messages uncut where it would become too large; see cut().
struct message_program {
    struct block_use {
        int block;
        /// What comes before this on this rank: in a reduction the number of sends and receives of the block,
        /// in a dissemination the number of its receives.
        int turn;
    };
    struct message {
        int peer;
        int first_use;
        int use_count;
        std::size_t elements;
    };
    struct side {
        std::vector<message> messages;
        std::vector<block_use> uses;

        [[nodiscard]] auto uses_of(message const& m) const -> std::span<block_use const> {
            return std::span(uses).subspan(static_cast<std::size_t>(m.first_use),
                                           static_cast<std::size_t>(m.use_count));
        }
    };

    schedule_kind kind = schedule_kind::reduction;
    /// Where the blocks lie in the user's data.
    std::vector<block_range> blocks;
    /// Per block: whether its result belongs to this rank (reduction), or this rank has it at first.
    std::vector<bool> owned;
    side sends, receives;
    message_windows windows;
    /// Not 0: nothing is cut yet. Before it is executed, blocks of more than this many elements are cut, and
    /// then messages as the windows say.
    std::size_t piece_elements = 0;
    /// Not 0: the blocks that this rank does not own are only passed on. They lie at their offsets in so many
    /// elements of papcoll's own, and not in the user's data.
    std::size_t scratch = 0;

    [[nodiscard]] auto size(int block) const -> std::size_t {
        return blocks[static_cast<std::size_t>(block)].size;
    }
    [[nodiscard]] auto offset(int block) const -> std::size_t {
        return blocks[static_cast<std::size_t>(block)].offset;
    }
    [[nodiscard]] auto is_owned(int block) const -> bool { return owned[static_cast<std::size_t>(block)]; }
    /// The memory behind it.
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return detail::held_bytes(blocks) + detail::held_bytes(owned) +
               detail::held_bytes(sends.messages, receives.messages) +
               detail::held_bytes(sends.uses, receives.uses);
    }
};

} // namespace papcoll::inline v0
