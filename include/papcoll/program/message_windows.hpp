// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace papcoll::inline v0 {

/// How many messages of a program are under way on one rank at a time, and how they are admitted.
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
    /// A message of more elements than this is cut into pieces of equal size, each a message of its own; 0:
    /// none is. Pieces leave both directions of a link alone, and are sent on before those behind them are
    /// in. A library whose rendezvous needs answers lets these queue behind the data that goes the other way
    /// between the same two ranks; short messages go without.
    std::size_t longest_elements = 0;
    /// Of the messages that are admitted in general, those of at most this many elements are not: the blocks
    /// of a pipeline, which pass in less time than admission takes. `unadmitted` of them may be under way.
    std::size_t unadmitted_elements = 0;
    /// How many messages of those that ask for no leave may be under way.
    int unadmitted = 8;
    /// Whether the messages under way are those of one round, of which none is more urgent than another, so
    /// that they may share the link even where a transport sends one at a time, see transport.
    bool together = false;

    /// Whether messages of so many elements are admitted.
    [[nodiscard]] auto admits(std::size_t elements) const -> bool {
        return admission && elements > unadmitted_elements;
    }
    /// How many messages of so many elements may be under way, where `admitted` that are admitted may.
    [[nodiscard]] auto limit(std::size_t elements, int admitted) const -> int {
        return admission && !admits(elements) ? unadmitted : admitted;
    }

    friend auto operator==(message_windows const&, message_windows const&) -> bool = default;
};

} // namespace papcoll::inline v0
