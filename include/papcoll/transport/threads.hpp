// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/shared_segment.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

/// Ranks as threads of one process: no MPI needed.
namespace papcoll::inline v0::threads {

/// How the messages between the threads behave.
struct options {
    /// Messages up to this size complete at the sender at once; longer ones when they are received. 0 forces
    /// a rendezvous for all but empty messages.
    std::size_t eager_limit = std::size_t(1) << 16;
    /// Not 0: matched messages are delivered late and in an order drawn from this seed, and ranks that wait
    /// sleep now and then.
    std::uint64_t seed = 0;
    /// The longest message; longer blocks are cut. Small values try the cutting out.
    std::size_t max_message_bytes = std::size_t(1) << 30;
    /// Of each rank, equal where ranks share a node; empty: all share one.
    std::vector<int> nodes = {};
};

/// Thrown out of a wait when another rank of the group ended by an exception.
struct aborted : std::runtime_error {
    aborted()
        : std::runtime_error("papcoll: another rank of the thread group failed") {}
};

namespace detail {

struct message {
    int from = 0;
    int to = 0;
    std::vector<std::span<std::byte const>> sources;
    std::vector<std::byte> copy;
    std::vector<std::span<std::byte>> targets;
    std::size_t bytes = 0;
    std::size_t capacity = 0;
    bool sent_eagerly = false;
    bool matched = false;
    bool delivered = false;
    bool abandoned = false; // by one side: its memory is gone

    [[nodiscard]] auto fits() const -> bool { return bytes <= capacity; }
};

using message_pointer = std::shared_ptr<message>;

template <class Byte>
[[nodiscard]] auto stretches_of(basic_message_parts<Byte> const& parts) -> std::vector<std::span<Byte>> {
    if (parts.contiguous()) return {parts.one()};
    return {parts.several().begin(), parts.several().end()};
}
/// Copies all bytes of the sources to the targets, which have room for them.
inline void copy_stretches(std::vector<std::span<std::byte const>> const& sources,
                           std::vector<std::span<std::byte>> const& targets) {
    auto target = targets.begin();
    std::size_t used = 0;
    for (auto source : sources)
        while (!source.empty()) {
            for (; used == target->size(); ++target) used = 0;
            auto const n = std::min(source.size(), target->size() - used);
            std::memcpy(target->data() + used, source.data(), n);
            source = source.subspan(n);
            used += n;
        }
}

/// The mailboxes of all ranks behind one lock: the plain reference among the transports, built to be
/// obviously right rather than fast.
class world {
public:
    world(int ranks, options const& o)
        : m_ranks(ranks)
        , m_options(o)
        , m_random(o.seed)
        , m_changed(static_cast<std::size_t>(ranks))
        , m_attachments(static_cast<std::size_t>(ranks)) {}

    [[nodiscard]] auto size() const -> int { return m_ranks; }
    [[nodiscard]] auto settings() const -> options const& { return m_options; }
    [[nodiscard]] auto attachment(int rank) -> std::shared_ptr<void>& {
        return m_attachments[static_cast<std::size_t>(rank)];
    }

    auto send(int from, int to, channel ch, int tag, const_message_parts parts) -> message_pointer {
        std::lock_guard const lock(m_mutex);
        auto& box = m_boxes[{from, to, ch, tag}];
        auto const m = claim(box, box.receives, box.sends);
        m->bytes = parts.bytes();
        m->sources = stretches_of(parts);
        m->sent_eagerly = m->bytes <= m_options.eager_limit;
        if (m->sent_eagerly) {
            m->copy.resize(m->bytes);
            copy_stretches(m->sources, {std::span(m->copy)});
            m->sources = {std::span<std::byte const>(m->copy)};
        }
        return settle(m, from, to);
    }
    auto receive(int from, int to, channel ch, int tag, message_parts parts) -> message_pointer {
        std::lock_guard const lock(m_mutex);
        auto& box = m_boxes[{from, to, ch, tag}];
        auto const m = claim(box, box.sends, box.receives);
        m->targets = stretches_of(parts);
        m->capacity = parts.bytes();
        return settle(m, from, to);
    }

    /// Calls f() under the lock until it is true; blocks in between when asked to, until a message of `rank`
    /// is matched or delivered.
    template <class F>
    void poll(int rank, bool block, F f) {
        std::unique_lock lock(m_mutex);
        for (;;) {
            if (m_aborted) throw aborted();
            deliver_some();
            if (f() || !block) return;
            if (m_in_flight.empty()) m_changed[static_cast<std::size_t>(rank)].wait(lock);
        }
    }
    void abandon(message& m) {
        std::lock_guard const lock(m_mutex);
        m.abandoned = true;
    }
    /// Memory of zeros that ranks find by its number.
    auto make_segment(std::size_t bytes) -> std::pair<std::uint64_t, std::shared_ptr<std::byte>> {
        constexpr auto alignment = std::align_val_t(4096);
        std::shared_ptr<std::byte> const made(static_cast<std::byte*>(::operator new(bytes, alignment)),
                                              [](std::byte* p) { ::operator delete(p, alignment); });
        std::memset(made.get(), 0, bytes);
        std::lock_guard const lock(m_mutex);
        m_segments.emplace(++m_last_segment, made);
        return {m_last_segment, made};
    }
    auto open_segment(std::uint64_t number) -> std::shared_ptr<std::byte> {
        std::lock_guard const lock(m_mutex);
        return m_segments.at(number);
    }
    void forget_segment(std::uint64_t number) {
        std::lock_guard const lock(m_mutex);
        m_segments.erase(number);
    }
    void check_abort() {
        std::lock_guard const lock(m_mutex);
        if (m_aborted) throw aborted();
    }
    void abort() {
        std::lock_guard const lock(m_mutex);
        m_aborted = true;
        for (auto& changed : m_changed) changed.notify_all();
    }

private:
    struct mailbox {
        std::deque<message_pointer> sends, receives;
    };

    // Pairs with the oldest counterpart, or queues a new message for one to come.
    static auto claim(mailbox&, std::deque<message_pointer>& counterparts, std::deque<message_pointer>& own)
        -> message_pointer {
        if (counterparts.empty()) return own.emplace_back(std::make_shared<message>());
        auto m = counterparts.front();
        counterparts.pop_front();
        m->matched = true;
        return m;
    }
    auto settle(message_pointer const& m, int from, int to) -> message_pointer {
        if (!m->matched) return m;
        m->from = from;
        m->to = to;
        if (m_options.seed == 0) {
            deliver(*m);
        } else {
            m_in_flight.push_back(m);
            tell_both_ends(*m);
        }
        return m;
    }
    void deliver(message& m) {
        if (!m.abandoned && m.fits()) copy_stretches(m.sources, m.targets);
        m.delivered = true;
        tell_both_ends(m);
    }
    // No other rank can wait for this message: woken for every one, many ranks do little else.
    void tell_both_ends(message const& m) {
        for (int const rank : {m.from, m.to}) m_changed[static_cast<std::size_t>(rank)].notify_all();
    }
    // Adversary: each poll delivers a random message or none.
    void deliver_some() {
        if (m_in_flight.empty() || m_random() % 3 == 0) return;
        auto const chosen =
            m_in_flight.begin() + static_cast<std::ptrdiff_t>(m_random() % m_in_flight.size());
        deliver(**chosen);
        m_in_flight.erase(chosen);
    }

    int m_ranks;
    options m_options;
    std::mutex m_mutex;
    std::map<std::tuple<int, int, channel, int>, mailbox> m_boxes;
    std::vector<message_pointer> m_in_flight;
    std::mt19937_64 m_random;
    bool m_aborted = false;
    std::vector<std::condition_variable> m_changed; // of each rank's messages
    std::map<std::uint64_t, std::shared_ptr<std::byte>> m_segments;
    std::uint64_t m_last_segment = 0;
    std::vector<std::shared_ptr<void>> m_attachments;
};

} // namespace detail

/// One rank of a thread group: a transport, used by its own thread alone.
class endpoint {
public:
    /// A message on its way and the side that holds this handle.
    struct pending {
        /// The message that is under way.
        detail::message_pointer message;
        /// Whether this rank sends it.
        bool sender = false;

        /// Whether it has arrived.
        [[nodiscard]] auto complete() const -> bool {
            return message->delivered || (sender && message->sent_eagerly);
        }
        /// How long it is.
        [[nodiscard]] auto bytes() const -> std::size_t {
            return message->fits() || sender ? message->bytes : completion::too_long;
        }
    };

    endpoint(std::shared_ptr<detail::world> world, int rank)
        : m_world(std::move(world))
        , m_rank(rank)
        , m_random(m_world->settings().seed + static_cast<std::uint64_t>(rank)) {}

    [[nodiscard]] auto rank() const -> int { return m_rank; }
    [[nodiscard]] auto size() const -> int { return m_world->size(); }
    /// How many tags there are.
    [[nodiscard]] auto tags() const -> int { return 1 << 28; }
    [[nodiscard]] auto concurrent() const -> bool { return false; }
    /// The node of this rank; ranks with equal numbers share memory.
    [[nodiscard]] auto node() const -> std::uint64_t {
        auto const& nodes = m_world->settings().nodes;
        return nodes.empty() ? 0 : static_cast<std::uint64_t>(nodes[static_cast<std::size_t>(m_rank)]);
    }
    [[nodiscard]] auto max_message_bytes() const -> std::size_t {
        return m_world->settings().max_message_bytes;
    }
    [[nodiscard]] auto attachment() -> std::shared_ptr<void>& { return m_world->attachment(m_rank); }

    [[nodiscard]] auto isend(channel ch, const_message_parts parts, int to, int tag) -> pending {
        return {m_world->send(m_rank, to, ch, tag, parts), true};
    }
    [[nodiscard]] auto irecv(channel ch, message_parts parts, int from, int tag) -> pending {
        return {m_world->receive(from, m_rank, ch, tag, parts), false};
    }
    void test_some(std::span<pending> pendings, std::vector<completion>& done) {
        some(pendings, done, false);
    }
    void wait_some(std::span<pending> pendings, std::vector<completion>& done) { some(pendings, done, true); }
    void idle() {
        linger();
        std::this_thread::yield();
    }
    void progress() {
        linger();
        m_world->check_abort();
    }
    /// Makes memory of so many bytes that others of the node can open by the key; see transport.
    [[nodiscard]] auto make_segment(std::size_t bytes, segment_key& key) -> std::shared_ptr<std::byte> {
        auto made = m_world->make_segment(bytes);
        key = {node(), made.first};
        return std::move(made.second);
    }
    /// Opens the memory that another rank has made; see transport.
    [[nodiscard]] auto open_segment(segment_key const& key, std::size_t) -> std::shared_ptr<std::byte> {
        if (key.owner != node()) throw std::logic_error("papcoll: a segment of another node");
        return m_world->open_segment(key.name);
    }
    /// Nobody opens this memory any more.
    void forget_segment(segment_key const& key) { m_world->forget_segment(key.name); }
    [[nodiscard]] auto borrowed() const -> endpoint {
        return {std::shared_ptr<detail::world>(std::shared_ptr<void>(), m_world.get()), m_rank};
    }
    auto abandon(std::span<pending> receives, std::span<pending> sends) noexcept -> bool {
        for (auto const list : {receives, sends})
            for (auto& p : list)
                if (p.message) m_world->abandon(*p.message);
        return false;
    }

private:
    // Adversary: a rank comes late to what it waits for.
    void linger() {
        if (m_world->settings().seed == 0 || m_random() % 8 != 0) return;
        std::this_thread::sleep_for(std::chrono::microseconds(m_random() % 50));
    }
    void some(std::span<pending> pendings, std::vector<completion>& done, bool block) {
        auto const before = done.size();
        m_world->poll(m_rank, block, [&] {
            bool any_left = false;
            for (std::size_t i = 0; i < pendings.size(); ++i) {
                auto& p = pendings[i];
                if (!p.message) continue;
                any_left = true;
                if (!p.complete()) continue;
                done.push_back({static_cast<int>(i), p.bytes()});
                p.message.reset();
            }
            return done.size() > before || !any_left;
        });
    }

    std::shared_ptr<detail::world> m_world;
    int m_rank;
    std::mt19937_64 m_random;
};

static_assert(transport<endpoint>);

/// Runs f(endpoint&) on `ranks` threads and waits for all of them. When one ends by an exception, the others
/// get `aborted` out of their next wait, and the first exception is rethrown here.
template <class F>
void run(int ranks, options const& o, F f) {
    if (ranks < 1) throw std::invalid_argument("papcoll: ranks must be at least 1");
    if (!o.nodes.empty() && o.nodes.size() != static_cast<std::size_t>(ranks))
        throw std::invalid_argument("papcoll: nodes must have an entry for each rank");
    auto const world = std::make_shared<detail::world>(ranks, o);
    std::mutex mutex;
    std::exception_ptr first;
    auto const body = [&](int rank) {
        try {
            endpoint self(world, rank);
            f(self);
        } catch (...) {
            {
                std::lock_guard const lock(mutex);
                if (!first) first = std::current_exception();
            }
            world->abort();
        }
    };
    std::vector<std::thread> others;
    others.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) others.emplace_back(body, rank);
    for (auto& thread : others) thread.join();
    for (int rank = 0; rank < ranks; ++rank) world->attachment(rank).reset();
    if (first) std::rethrow_exception(first);
}
template <class F>
void run(int ranks, F f) {
    run(ranks, options{}, std::move(f));
}

} // namespace papcoll::inline v0::threads
