// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/node_memory.hpp>
#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/executor/call_memory.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/short_steps.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Runs a short program (see short_script) over elements that travel as bytes, from its beginning to its end,
/// for a caller that has nothing else to drive.
template <transport Transport>
class short_run {
public:
    /// It does not apply to programs with a message longer than `most_bytes`. `node`: the memory of the node
    /// where the program keeps it; else null.
    short_run(program const& p, std::size_t element_bytes, std::size_t most_bytes, std::byte* node)
        : m_script(p, element_bytes, most_bytes, waits_itself)
        , m_node(node)
        , m_shares(m_script.node_bytes() > 0)
        , m_beside_signs(p.beside_signs)
        , m_posts_first(posts_first(m_script))
        , m_staging(m_script.staged_bytes())
        , m_open(m_script.messages()) {
        m_bases[short_steps::staging] = m_staging.data();
    }

    [[nodiscard]] auto applies() const -> bool { return m_script.applies(); }
    /// Of the elements that it was made for.
    [[nodiscard]] auto element_bytes() const -> std::size_t { return m_script.element_bytes(); }
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return m_script.held_bytes() + detail::held_bytes(m_staging, m_open, m_left);
    }

    /// From now on the program has this memory of its own, and `shared` where it uses that of the node;
    /// combinations that must give the same bits everywhere use `work`.
    void use(std::byte* scratch, std::byte* work, node_memory const* shared) {
        base(memory::scratch) = scratch;
        m_work = work;
        if (m_shares) m_script.number_peers([&](int peer) { return shared->member(peer); });
    }
    /// False where something went wrong although the communication was completed, which take_failure then
    /// returns. Where it throws, messages are given up: see may_be_read.
    [[gnu::always_inline]] auto run(Transport& t, int tag, call_memory& with) -> bool {
        // Nothing is written to `in`.
        base(memory::in) = const_cast<std::byte*>(static_cast<std::byte const*>(with.in)); // NOLINT
        base(memory::out) = static_cast<std::byte*>(with.out);
        if (m_beside_signs) return run_beside_signs(t, tag, with);
        return m_shares ? run_shared(t, tag, with) : run_messages(t, tag, with);
    }
    [[nodiscard]] auto take_failure() -> std::exception_ptr { return std::move(m_failure); }
    /// After run has thrown: whether its sends may still be read, so that this must live on.
    [[nodiscard]] auto may_be_read() const -> bool { return m_may_be_read; }

private:
    using step = short_steps::step;
    using kind = step::kind;
    using pending = typename Transport::pending;
    static constexpr bool waits_itself = requires(Transport & t, const_message_parts out, message_parts in) {
        t.send(channel::data, out, 0, 0);
        t.receive(channel::data, in, 0, 0);
    };

    struct call {
        Transport& t;
        int tag;
        call_memory& with;
        node_memory::area* area = nullptr;    // of a program that uses the memory of the node
        std::exception_ptr failure = nullptr; // the first
    };

    static auto posts_first(short_steps const& script) -> bool {
        auto const all = script.steps();
        auto const first = std::find_if(all.begin(), all.end(), [](step const& s) { return s.is_sign(); });
        return first != all.end() && first->what == kind::post;
    }
    [[nodiscard]] auto base(memory where) -> std::byte*& { return m_bases[static_cast<std::size_t>(where)]; }
    [[nodiscard]] auto at(short_steps::place const& p) const -> std::byte* {
        return m_bases[p.base] + p.begin;
    }

    /// Those from this one on.
    template <bool Shared>
    [[gnu::always_inline]] void run_steps(step const* next, call& c) {
        auto const* const end = end_of_steps();
        while (next != end) try {
                for (; next != end; ++next) {
                    carry_out<Shared>(*next, c);
                    if (Shared && next->what == kind::any_order) next += next->size;
                }
            } catch (...) {
                if (!next->computes()) {
                    give_up(c.t, next);
                    throw;
                }
                c.failure = std::current_exception();
                ++next;
            }
    }
    [[nodiscard]] auto ended(call& c) -> bool {
        m_failure = std::move(c.failure);
        return !m_failure;
    }
    [[nodiscard]] auto end_of_steps() const -> step const* {
        return m_script.steps().data() + m_script.steps().size();
    }
    [[gnu::noinline]] auto run_messages(Transport& t, int tag, call_memory& with) -> bool {
        // Ranks of the node may wait for this one in a call that it has not begun.
        if (with.shared != nullptr) with.shared->pass_to(with.call);
        call c{t, tag, with};
        run_steps<false>(m_script.steps().data(), c);
        return ended(c);
    }

    // By the memory of the node.

    /// Of a program whose data is beside the signs. It goes straight on while nothing fails, the order of all
    /// parts is given and no message is to begin; the area, which nothing else sees, is in registers.
    [[gnu::noinline]] auto run_beside_signs(Transport& t, int tag, call_memory& with) -> bool {
        auto& shared = *with.shared;
        if constexpr (requires { t.progress(); }) shared.progress_sometimes(t, with.call);
        auto area = shared.reserve_line(with.call, m_script.node_key());
        base(memory::node) = area.data;
        if (!shared.open_to_post(area)) wait_for_area(t, shared, shared.line_again(area.call, area.key));
        if (!m_posts_first) node_memory::tell_begun(area);
        auto const* next = m_script.steps().data();
        auto const* const end = end_of_steps();
        try {
            while (next != end && carry_out_straight(*next, area, t, with)) ++next;
        } catch (...) {
            if (next->computes()) return run_rest(t, tag, with, next + 1, std::current_exception());
            shared.abandon(shared.line_again(with.call, m_script.node_key()));
            throw;
        }
        if (next != end) return run_rest(t, tag, with, next, nullptr);
        shared.end(area.call);
        return true;
    }
    [[gnu::noinline]] auto run_rest(Transport& t, int tag, call_memory& with, step const* next,
                                    std::exception_ptr failure) -> bool {
        auto area = with.shared->line_again(with.call, m_script.node_key());
        return run_shared_steps({t, tag, with, &area, std::move(failure)}, next);
    }
    /// False where the step is none of those that can be straight, or has failed.
    [[gnu::always_inline]] auto carry_out_straight(step const& s, node_memory::area& area, Transport& t,
                                                   call_memory& with) -> bool {
        if (s.computes()) {
            calculate(s, with);
        } else if (s.what == kind::await_post) {
            return node_memory::is_there(area, s.message, s.size) || wait_straight(s, t, with);
        } else {
            if (s.what != kind::post) return false;
            node_memory::post_next(area);
        }
        return true;
    }
    [[gnu::noinline]] auto wait_straight(step const& s, Transport& t, call_memory& with) const -> bool {
        auto const area = with.shared->line_again(with.call, m_script.node_key());
        return wait_for(s, area, t, *with.shared) == node_memory::news::there;
    }

    /// Of all others.
    [[gnu::noinline]] auto run_shared(Transport& t, int tag, call_memory& with) -> bool {
        auto& shared = *with.shared;
        if constexpr (requires { t.progress(); }) shared.progress_sometimes(t, with.call);
        auto const key = m_script.node_key();
        auto area = shared.reserve(with.call, key, m_node == nullptr ? m_script.node_bytes() : 0);
        base(memory::node) = m_node == nullptr ? area.data : m_node;
        if (!shared.open_to_post(area)) wait_for_area(t, shared, area);
        if (!m_posts_first) node_memory::tell_begun(area);
        return run_shared_steps({t, tag, with, &area}, m_script.steps().data());
    }
    auto run_shared_steps(call c, step const* next) -> bool {
        auto& shared = *c.with.shared;
        try {
            run_steps<true>(next, c);
        } catch (...) {
            shared.abandon(*c.area);
            throw;
        }
        shared.end(c.area->call);
        return ended(c);
    }
    [[gnu::noinline]] void wait_for_area(Transport& t, node_memory& shared, node_memory::area area) const {
        shared.wait_for(area, [&] { look_until(t, shared, [&] { return shared.open_to_post(area); }); });
    }
    [[gnu::always_inline]] auto wait_for(step const& s, node_memory::area const& area, Transport& t,
                                         node_memory& shared) const -> node_memory::news {
        auto seen = node_memory::news::none;
        look_until(t, shared, [&] {
            seen = shared.look(area, s.peer, s.size);
            return seen != node_memory::news::none;
        });
        return seen;
    }
    /// Only transports that share memory have programs that wait so. While messages may be under way they
    /// are what the others wait for.
    template <class Ready>
    void look_until(Transport& t, node_memory& shared, Ready const& ready) const {
        constexpr unsigned looks_between_progress = 64;
        if constexpr (requires { t.progress(); }) {
            if (m_open.empty()) return shared.wait(t, ready);
            for (unsigned looks = 1; !ready(); ++looks) {
                t.idle();
                if (looks % looks_between_progress == 0) t.progress();
            }
        }
    }
    void await_post(step const& s, call& c) const {
        if (!node_memory::is_there(*c.area, s.message, s.size)) wait_among_failures(s, c);
    }
    [[gnu::noinline]] void wait_among_failures(step const& s, call& c) const {
        auto const seen = wait_for(s, *c.area, c.t, *c.with.shared);
        if (seen != node_memory::news::there && !c.failure) c.failure = failure_of(seen, s.peer);
    }

    template <bool Shared>
    [[gnu::always_inline]] void carry_out(step const& s, call& c) {
        if (s.computes()) {
            if (!c.failure) calculate(s, c.with);
        } else if (!Shared || !s.is_sign()) {
            carry_out_message(s, c);
        } else if (s.what == kind::post) {
            c.with.shared->post(*c.area, static_cast<bool>(c.failure));
        } else if (s.what == kind::any_order) {
            carry_out_as_they_come(&s + 1, s.message, s.size / s.message, c);
        } else {
            await_post(s, c);
        }
    }
    /// Parts of so many steps: the next is that of a rank that has come, with the place of its operands.
    [[gnu::noinline]] void carry_out_as_they_come(step const* first, std::size_t parts, std::size_t steps,
                                                  call& c) {
        m_left.resize(parts);
        std::iota(m_left.begin(), m_left.end(), std::size_t(0));
        for (auto const* place = first; !m_left.empty(); place += steps) {
            std::size_t found = 0;
            auto const has_come = [&](std::size_t part) {
                auto const& s = first[part * steps];
                return c.with.shared->look(*c.area, s.peer, s.size) != node_memory::news::none;
            };
            auto const ready = [&] {
                auto const at = std::find_if(m_left.begin(), m_left.end(), has_come);
                found = static_cast<std::size_t>(at - m_left.begin());
                return at != m_left.end();
            };
            if (!ready()) look_until(c.t, *c.with.shared, ready);
            carry_out_part(place, first + m_left[found] * steps, steps, c);
            m_left.erase(m_left.begin() + static_cast<std::ptrdiff_t>(found));
        }
    }
    void carry_out_part(step const* place, step const* part, std::size_t steps, call& c) {
        for (std::size_t i = 0; i < steps; ++i) {
            if (!part[i].computes()) {
                await_post(part[i], c);
                continue;
            }
            auto s = place[i];
            s.right = part[i].right;
            try {
                if (!c.failure) calculate(s, c.with);
            } catch (...) {
                c.failure = std::current_exception();
            }
        }
    }
    void carry_out_message(step const& s, call& c) {
        switch (s.what) {
        case kind::send:
            m_open[s.message] = c.t.isend(channel::data, content(s, c), s.peer, c.tag);
            break;
        case kind::receive:
            m_open[s.message] = c.t.irecv(channel::data, std::span(at(s.target), s.size), s.peer, c.tag);
            break;
        case kind::send_stretches:
        case kind::receive_stretches:
            post_stretches(s, c);
            break;
        case kind::await_sent:
            (void)wait_for(m_open[s.message], c.t, true);
            break;
        case kind::await_received:
            check(s, wait_for(m_open[s.message], c.t, false), c);
            break;
        case kind::send_and_await:
            if constexpr (waits_itself) c.t.send(channel::data, content(s, c), s.peer, c.tag);
            break;
        case kind::receive_and_await:
            if constexpr (waits_itself)
                check(s, c.t.receive(channel::data, std::span(at(s.target), s.size), s.peer, c.tag), c);
            break;
        default:
            break; // no message
        }
    }
    [[gnu::always_inline]] void calculate(step const& s, call_memory& with) {
        auto* const target = at(s.target);
        auto const* const left = at(s.left);
        if (s.what == kind::copy) return move_bytes(left, target, s.size);
        if (s.what == kind::combine_one) return with.op.one(left, at(s.right), target);
        if (s.what == kind::combine) return with.op(left, at(s.right), target, s.size);
        if (s.what == kind::copy_in_pieces) return copy_in_pieces(left, target, s.size);
        with.op.alike(left, at(s.right), target, s.size, m_work);
    }
    /// Of 16 bytes or more.
    [[gnu::noinline]] static void copy_in_pieces(std::byte const* from, std::byte* to, std::size_t n) {
        constexpr std::size_t piece = 16;
        for (std::size_t i = 0; i + piece <= n; i += piece) {
            std::memcpy(to + i, from + i, piece);
            asm volatile("" : : : "memory"); // or the compiler makes one copy of all
        }
        std::memcpy(to + n - piece, from + n - piece, piece);
    }
    /// The target may overlap the source.
    [[gnu::always_inline]] static void move_bytes(std::byte const* from, std::byte* to, std::size_t n) {
        std::uint64_t first = 0, last = 0;
        if (n < sizeof(first) || n > 2 * sizeof(first)) return void(std::memmove(to, from, n));
        std::memcpy(&first, from, sizeof(first));
        std::memcpy(&last, from + n - sizeof(last), sizeof(last));
        std::memcpy(to, &first, sizeof(first));
        std::memcpy(to + n - sizeof(last), &last, sizeof(last));
    }
    /// An empty message tells the receiver that there is nothing to give.
    auto content(step const& s, call const& c) const -> std::span<std::byte const> {
        if (c.failure) return {};
        return {at(s.target), s.size};
    }
    void post_stretches(step const& s, call& c) {
        if (s.sends()) {
            const_message_parts const all(list_stretches(s, m_sources));
            m_open[s.message] =
                c.t.isend(channel::data, c.failure ? const_message_parts() : all, s.peer, c.tag);
        } else {
            message_parts const all(list_stretches(s, m_targets));
            m_open[s.message] = c.t.irecv(channel::data, all, s.peer, c.tag);
        }
    }
    template <class Byte>
    auto list_stretches(step const& s, std::vector<std::span<Byte>>& list) const
        -> std::span<std::span<Byte> const> {
        list.clear();
        for (auto const& part : m_script.stretches_of(s)) list.emplace_back(at(part.where), part.bytes);
        return list;
    }
    /// Returns the bytes of a receive.
    auto wait_for(pending& one, Transport& t, bool sent) -> std::size_t {
        if constexpr (requires { t.wait_received(one); }) {
            if (!sent) return t.wait_received(one);
            t.wait_sent(one);
            return 0;
        } else {
            m_done.clear();
            while (m_done.empty()) {
                t.wait_some(std::span(&one, 1), m_done);
                if (m_done.empty()) t.idle();
            }
            return m_done.front().bytes;
        }
    }
    static void check(step const& s, std::size_t came, call& c) {
        if (came == s.size || c.failure) return;
        c.failure = failure_of(came == 0 ? arrival_of_message::nothing : arrival_of_message::other, s.peer);
    }
    /// The messages that have begun before the step that failed, and that nobody has waited for.
    [[gnu::cold]] void give_up(Transport& t, step const* failed) noexcept {
        std::vector<bool> ended(m_open.size());
        std::vector<pending> receives, sends;
        auto const* const first = m_script.steps().data();
        for (auto const* s = failed; s-- != first;) {
            if (s->computes() || s->is_sign()) continue;
            if (s->posts() && !ended[s->message])
                (s->sends() ? sends : receives).push_back(std::move(m_open[s->message]));
            ended[s->message] = true;
        }
        m_may_be_read = t.abandon(receives, sends);
    }

    short_steps m_script;
    std::byte* m_node;
    bool m_shares;
    bool m_beside_signs;
    bool m_posts_first; // before it awaits anything
    std::array<std::byte*, memory_kinds + 1>
        m_bases{}; // where the memories of the call begin, and the staging
    std::byte* m_work = nullptr;
    std::exception_ptr m_failure; // of the last run
    std::vector<std::byte> m_staging;
    std::vector<pending> m_open; // of each message, from its beginning on
    std::vector<std::span<std::byte const>> m_sources;
    std::vector<std::span<std::byte>> m_targets;
    std::vector<completion> m_done;
    std::vector<std::size_t> m_left; // of parts in any order, those whose turn has not come
    bool m_may_be_read = false;
};

} // namespace papcoll::inline v0::detail
