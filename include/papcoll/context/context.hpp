// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/context/node_memory.hpp>
#include <papcoll/context/observer.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/context/tag_ledger.hpp>
#include <papcoll/context/tuning_text.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// How much is checked before the messages of an operation leave.
enum class check_level {
    off,   ///< nothing: arguments are trusted
    local, ///< what one rank can see alone
    agreed ///< also that all ranks agree, at the price of ⌈log2 P⌉ small messages per operation
};

/// What attach may be told. Members that are not set are measured, or taken from the environment.
struct attach_options {
    /// The highest level that any rank asks for holds on all of them.
    check_level checks = check_level::local;
    /// Latency and time per byte of a message, when known; else they are measured by a short ping, which
    /// moves 1.3 MB between pairs of ranks. Must be given on all ranks or on none; the maximum counts.
    std::optional<link_model> link = {};
    /// Bytes of memory that each rank shares with the others of its node, if there are any, in place of what
    /// PAPCOLL_NODE_MEMORY says, or 256 KiB; rounded down to a multiple of 8 KiB. The maximum over the
    /// ranks counts.
    std::optional<std::size_t> node_memory = {};
    /// Whether blocking calls with `automatic` learn, as by PAPCOLL_LEARN=1: of each shape (collective,
    /// count, element size, root, sizes, kind of operator) some of the calls from the fifth to the 22nd try
    /// what the model has not far behind its choice. By all-reduces of 448 bytes, two at most, ranks agree on
    /// the fastest, which then stays. What is compared is the time after the last arrival where all ranks
    /// share a node, else that of the slowest rank. Holds on all ranks if any asks for it; `learned(comm)`
    /// tells the result.
    /// A call must then block on all ranks or on none, and one that throws for its arguments on some ranks
    /// alone, without agreed checks, makes later calls of the shape not match. Must agree on all ranks beside
    /// what the call asks for: whether the operator's type commutes, is exactly associative, and is noexcept.
    bool learn = false;
};

namespace detail {

/// On the data channel; no operation has it.
inline constexpr int attachment_tag = tag_count - 1;
static_assert(is_reserved_tag(attachment_tag));
/// How many operations may be under way at a time: two tags each, beside those that are reserved. Those that
/// wait for the program to contribute data have a series of their own: the others all end by themselves.
inline constexpr int open_operations = 512;
inline constexpr int closed_operations = (tag_count - reserved_tags) / 2 - open_operations;

/// How many tags a transport has beyond those that all have.
template <transport Transport>
[[nodiscard]] auto tags_of(Transport const& t) -> int {
    if constexpr (requires { t.tags(); }) return std::max(t.tags(), tag_count);
    return tag_count;
}

/// What all ranks of a group agreed on when papcoll attached to it.
struct agreed_options {
    check_level checks = check_level::local;
    /// What policies choose by: the measured one on a grid, so that noise does not change their choices.
    link_model link;
    link_model measured_link;
    /// A number for each rank, equal where they share a node.
    std::vector<int> nodes;
    tuning_text tuning;
    /// What this rank shares with others on its node; null: it is alone there, or there is none.
    std::shared_ptr<node_memory> shared = {};
    /// What each rank gives, where all nodes with several ranks have it; else 0.
    std::size_t shared_bytes = 0;
    bool learns = false;
};

} // namespace detail

/// What papcoll keeps for one group of ranks: the transport, what the ranks agreed on, the progress engine
/// and the tags. Made by attach. Its state is driven by the operations that need it, under the engine's rule
/// of one driver.
template <transport Transport>
class context {
public:
    context(Transport t, std::shared_ptr<progress_engine> engine)
        : m_transport(std::move(t))
        , m_engine(std::move(engine)) {
        using namespace detail;
        int const more = (tags_of(m_transport) - tag_count) / 2; // behind all others
        bool const has_more = more >= closed_operations;
        int const open = has_more ? more / 8 / open_operations * open_operations : open_operations;
        int const closed = has_more ? more - open : closed_operations;
        int const first = has_more ? tag_count : 0;
        m_open_tags = std::make_shared<tag_ledger>(first, open, open_operations);
        m_tags = std::make_shared<tag_ledger>(first + 2 * open, closed, closed_operations);
    }

    /// A call that its thread runs by itself, without the engine.
    class in_call {
    public:
        explicit in_call(context& of)
            : m_of(of) {
            ++m_of.m_calls;
        }
        in_call(in_call const&) = delete;
        auto operator=(in_call const&) -> in_call& = delete;
        [[gnu::always_inline]] ~in_call() {
            if (--m_of.m_calls == 0 && m_of.m_last_owner) auto const ended = std::move(m_of.m_last_owner);
        }

    private:
        context& m_of;
    };
    /// The communicator is freed, maybe by an operator of such a call: then all stays until that has ended.
    void keep_for_call(Transport const& owner) {
        struct pair {
            Transport owner;
            std::shared_ptr<void> attached;
        };
        if (m_calls == 0) return;
        auto kept = owner;
        auto attached = kept.attachment();
        m_last_owner = std::make_shared<pair>(pair{std::move(kept), std::move(attached)});
    }

    /// What its messages go through.
    [[nodiscard]] auto transport_layer() -> Transport& { return m_transport; }
    /// What drives the operations of this process.
    [[nodiscard]] auto engine() -> std::shared_ptr<progress_engine> const& { return m_engine; }
    [[nodiscard]] auto rank() const -> int { return m_transport.rank(); }
    [[nodiscard]] auto size() const -> int { return m_transport.size(); }
    /// What policies choose by: as it was given, or measured and then quantised (see link_model).
    [[nodiscard]] auto link() const -> link_model const& { return m_agreed.link; }
    /// As it was measured, or given.
    [[nodiscard]] auto measured_link() const -> link_model const& { return m_agreed.measured_link; }
    /// What is checked, as agreed.
    [[nodiscard]] auto checks() const -> check_level { return m_agreed.checks; }
    /// A number for each rank, equal where they share a node.
    [[nodiscard]] auto nodes() const -> std::vector<int> const& { return m_agreed.nodes; }
    /// Rank 0's tuning table, if there is one.
    [[nodiscard]] auto tuning() const -> detail::tuning_text const& { return m_agreed.tuning; }
    /// What this rank shares with others on its node; null: it is alone there, or there is none.
    [[nodiscard]] auto shared() const -> detail::node_memory* { return m_agreed.shared.get(); }
    /// The bytes that each rank shares with the others of its node, the same on all ranks; 0: none does.
    [[nodiscard]] auto shared_bytes() const -> std::size_t { return m_agreed.shared_bytes; }
    /// Takes what the ranks agreed on; no operation is under way.
    void accept(detail::agreed_options agreed) {
        m_agreed = std::move(agreed);
        ++m_attachments;
        m_cache.reset();
        m_learned.reset();
    }
    /// How often the ranks have agreed: plans are made for one of these times.
    [[nodiscard]] auto attachments() const -> std::uint64_t { return m_attachments; }
    /// Who is told of operations that have ended; empty: nobody.
    [[nodiscard]] auto observed_by() -> observer& { return m_observer; }
    /// Where calls keep what the next ones use again.
    [[nodiscard]] auto cache() -> std::shared_ptr<void>& { return m_cache; }
    /// Whether blocking calls learn, and where they keep what they do: used by the threads that call.
    [[nodiscard]] auto learns() const -> bool { return m_agreed.learns; }
    /// What they have learnt; null: nothing yet.
    [[nodiscard]] auto learned() -> std::shared_ptr<void>& { return m_learned; }

    /// The number of the next operation.
    [[nodiscard]] auto sequence() const -> std::uint64_t { return m_sequence; }
    /// The number and the tag of an operation belong to its call, whatever becomes of it: ranks call the
    /// operations of one group in the same order.
    [[gnu::always_inline]] auto next_tag(std::shared_ptr<detail::tag_ledger> const& tags) -> int {
        ++m_sequence;
        return tags->next();
    }
    /// Of operations that end without the program's help, and of those that it contributes to.
    [[nodiscard]] auto tags() -> std::shared_ptr<detail::tag_ledger> const& { return m_tags; }
    /// The tags of the `open_...` calls.
    [[nodiscard]] auto open_tags() -> std::shared_ptr<detail::tag_ledger> const& { return m_open_tags; }

    /// Operations begin their work in the order of their calls, though they may be ready in another.
    auto next_turn() -> std::uint32_t { return m_turns++; }
    /// Whether it is the turn of this operation to begin.
    [[nodiscard]] auto is_turn(std::uint32_t turn) const -> bool { return m_turn == turn; }
    /// The operation of this turn has begun, or never will.
    void pass_turn(std::uint32_t turn) {
        if (turn != m_turn) {
            m_passed.push_back(turn);
            return;
        }
        for (++m_turn; std::erase(m_passed, m_turn) > 0;) ++m_turn;
    }
    /// Whether nothing of the process is under way, and a call has nothing to agree on first.
    [[nodiscard]] auto is_quiet() const -> bool { return is_idle() && checks() != check_level::agreed; }
    /// The same where it is known that calls agree on nothing.
    [[nodiscard]] auto is_idle() const -> bool { return m_engine->is_idle() && m_turn == m_turns; }
    /// Whether an operation with this tag that is called now can begin its work now: nothing is to be agreed
    /// first, none waits for its turn, and none has the tag.
    [[nodiscard]] auto begins_at_once(detail::tag_ledger const& tags, int tag) const -> bool {
        return !m_engine->concurrent() && checks() != check_level::agreed && m_turn == m_turns &&
               tags.is_free(tag);
    }

private:
    Transport m_transport;
    std::shared_ptr<progress_engine> m_engine;
    detail::agreed_options m_agreed;
    std::uint64_t m_attachments = 0;
    std::uint64_t m_sequence = 0;
    std::uint32_t m_turns = 0;
    std::uint32_t m_turn = 0;
    std::vector<std::uint32_t> m_passed; // before their turn came
    std::shared_ptr<void> m_cache, m_learned;
    int m_calls = 0;                    // that run by themselves
    std::shared_ptr<void> m_last_owner; // of this object, for these
    observer m_observer;
    std::shared_ptr<detail::tag_ledger> m_tags, m_open_tags;
};

} // namespace papcoll::inline v0
