// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/message_parts.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// The two streams of messages between ranks. They do not meet: a receive matches messages of its channel
/// alone.
enum class channel {
    data,   ///< blocks
    control ///< credits, agreements, clocks
};

/// A message that has ended: its position in the list that was polled and, of a receive, how many bytes came.
struct completion {
    /// The bytes of a message that was longer than its receive.
    static constexpr std::size_t too_long = std::numeric_limits<std::size_t>::max();

    /// Which of the messages it is.
    int position = 0;
    /// How long the message is.
    std::size_t bytes = 0;
};

/// Point-to-point messages between the ranks of one group. For `T t`, `T const c`:
///
///  1. `c.rank()` is in [0, c.size()), `c.size()` is at least 1; both never change.
///  2. `t.isend(channel, const_message_parts, to, tag)` and `t.irecv(channel, message_parts, from, tag)`
///     return a T::pending, a movable handle. Tags are in [0, tag_count), or [0, c.tags()). Messages of equal
///     (sender, receiver, channel, tag) match in the order in which they are posted. The memory of the parts
///     stays untouched by the caller until completion, their list may go after the call; both ends may cut
///     the same bytes differently. A message is at most `c.max_message_bytes()` long.
///  3. `t.test_some(pendings, done)` makes progress and appends to `done` a `completion` for each that has
///     ended and was not reported before; a reported handle becomes null and is ignored from then on.
///     `t.wait_some(pendings, done)` blocks until there is at least one, or does nothing when all are null. A
///     receive whose message is shorter, or longer, ends as any other: its completion says so.
///  4. `t.idle()` is called when polling found nothing to do: it yields the processor.
///  5. `c.concurrent()` tells whether several threads may call at once; if so nobody blocks in wait_some.
///  6. `t.abandon(receives, sends)` gives up messages after a failure. Afterwards nothing is written to the
///     memory of the receives. True when the memory of the sends may still be read: it then stays allocated.
///  7. `t.attachment()` is a place where papcoll keeps what belongs to this group of ranks. Copies of a
///     transport share it.
///  8. `c.borrowed()` is a copy that does not keep the group's state, attachment included, alive.
///
/// A transport may have more, and does without otherwise:
///
///  9. `c.node()`, a std::uint64_t that is equal on ranks of one node; where it is missing all share one.
///  10. `c.tags()`, how many tags it has where that is more than tag_count; equal on all ranks.
///  11. `t.wait_received(pending)`, which waits for one receive and returns its bytes as in a completion, and
///     `t.wait_sent(pending)`. `t.send` and `t.receive`, with the arguments of isend and irecv, begin a
///     message and wait for it; `receive` returns its bytes likewise. A message that threw has ended.
///  12. `T::most_sends`, an int of at least 1: how many sends of a rank's blocks are under way at most, but
///     those that leave together (message_windows).
///  13. `t.make_segment(bytes, key)`, `t.open_segment(key, bytes)` and `t.forget_segment(key)`, by which
///  ranks
///     of one node share memory: one makes it, of zeros, and sets the segment_key, by which others open it
///     until the first forgets it. The first two return a std::shared_ptr<std::byte>, and throw where there
///     is none. With them comes `t.progress()`, which sees to all messages, for a rank that looks at memory
///     meanwhile.
///
/// Errors are reported by exceptions. Models: mpi_transport, threads::endpoint.
template <class T>
concept transport = std::copyable<T> && std::movable<typename T::pending> &&
    requires(T& t, T const& c, channel ch, const_message_parts out, message_parts in, int peer, int tag,
             std::span<typename T::pending> pendings, std::vector<completion>& done) {
    { c.rank() } -> std::same_as<int>;
    { c.size() } -> std::same_as<int>;
    { t.isend(ch, out, peer, tag) } -> std::same_as<typename T::pending>;
    { t.irecv(ch, in, peer, tag) } -> std::same_as<typename T::pending>;
    { c.max_message_bytes() } -> std::same_as<std::size_t>;
    t.test_some(pendings, done);
    t.wait_some(pendings, done);
    t.idle();
    { t.abandon(pendings, pendings) } -> std::same_as<bool>;
    { c.borrowed() } -> std::convertible_to<T>;
    { c.concurrent() } -> std::same_as<bool>;
    { t.attachment() } -> std::same_as<std::shared_ptr<void>&>;
};

/// Exclusive upper bound of tags: with both channels on one MPI communicator, half of what MPI guarantees.
inline constexpr int tag_count = 16384;
/// The last tags belong to no operation of a context: its own agreements, and clocks and monitors beside it.
inline constexpr int reserved_tags = 2;
/// Whether the tag is one of those that papcoll keeps for attaching.
[[nodiscard]] constexpr auto is_reserved_tag(int tag) -> bool {
    return tag >= tag_count - reserved_tags && tag < tag_count;
}

} // namespace papcoll::inline v0
