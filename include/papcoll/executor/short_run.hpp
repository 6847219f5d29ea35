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
#include <cstring>
#include <exception>
#include <numeric>
#include <span>
#include <stdexcept>
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
        , m_staging(m_script.staged_bytes())
        , m_open(m_script.messages()) {}

    [[nodiscard]] auto applies() const -> bool { return m_script.applies(); }
    /// Of the elements that it was made for.
    [[nodiscard]] auto element_bytes() const -> std::size_t { return m_script.element_bytes(); }
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return m_script.held_bytes() + detail::held_bytes(m_staging, m_open, m_left);
    }

    /// `in` is not written; combinations that must give the same bits everywhere use `work`. Returns what
    /// went wrong although the communication was completed. Where it throws, messages are given up: see
    /// may_be_read.
    auto run(Transport& t, int tag, call_memory& with, std::byte* in, std::byte* scratch, std::byte* work)
        -> std::exception_ptr {
        auto* const out = static_cast<std::byte*>(with.out);
        call c{t, tag, with, {in, out, scratch, nullptr, m_staging.data()}, work, {}, nullptr};
        if (m_script.node_bytes() > 0) return run_shared(c);
        run_steps<false>(c);
        return std::move(c.failure);
    }
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
        std::array<std::byte*, memory_kinds + 1> bases;
        std::byte* work;
        std::exception_ptr failure; // the first
        node_memory::area* area;    // of a program that uses the memory of the node

        [[nodiscard]] auto at(short_steps::place const& p) const -> std::byte* {
            return bases[p.base] + p.begin;
        }
    };

    template <bool Shared>
    [[gnu::always_inline]] void run_steps(call& c) {
        auto const* next = m_script.steps().data();
        auto const* const end = next + m_script.steps().size();
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
    [[gnu::noinline]] auto run_shared(call& c) -> std::exception_ptr {
        check_shared(c.with);
        auto& shared = *c.with.shared;
        progress_sometimes(c);
        auto const bytes = m_node == nullptr ? m_script.node_bytes() : 0;
        auto area = shared.reserve(c.with.call, m_script.node_key(), bytes);
        c.area = &area;
        c.bases[static_cast<std::size_t>(memory::node)] = m_node == nullptr ? area.data : m_node;
        try {
            if (shared.waits_for_itself(area))
                throw std::logic_error("papcoll: too many calls from operators within each other");
            if (!shared.open(area)) look_until(c, [&] { return shared.open(area); });
        } catch (...) {
            shared.end(area);
            throw;
        }
        try {
            run_steps<true>(c);
        } catch (...) {
            shared.abandon(area);
            throw;
        }
        shared.end(area);
        return std::move(c.failure);
    }
    static void progress_sometimes(call& c) {
        if constexpr (requires { c.t.progress(); }) c.with.shared->progress_sometimes(c.t);
    }
    /// Only transports that share memory have programs that wait so.
    template <class Ready>
    static void look_until(call& c, Ready const& ready) {
        if constexpr (requires { c.t.progress(); }) c.with.shared->wait(c.t, ready);
    }
    static void await_post(step const& s, call& c) {
        auto seen = node_memory::news::none;
        auto const ready = [&] {
            seen = c.with.shared->look(*c.area, s.peer, s.size);
            return seen != node_memory::news::none;
        };
        if (!ready()) look_until(c, ready);
        if (seen != node_memory::news::there && !c.failure) c.failure = failure_of(seen, s.peer);
    }

    template <bool Shared>
    [[gnu::always_inline]] void carry_out(step const& s, call& c) {
        if (s.computes()) {
            if (!c.failure) calculate(s, c);
        } else if constexpr (!Shared) {
            carry_out_message(s, c);
        } else if (s.what == kind::post) {
            c.with.shared->post(*c.area, c.failure != nullptr);
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
            if (!ready()) look_until(c, ready);
            carry_out_part(place, first + m_left[found] * steps, steps, c);
            m_left.erase(m_left.begin() + static_cast<std::ptrdiff_t>(found));
        }
    }
    static void carry_out_part(step const* place, step const* part, std::size_t steps, call& c) {
        for (std::size_t i = 0; i < steps; ++i) {
            if (!part[i].computes()) {
                await_post(part[i], c);
                continue;
            }
            auto s = place[i];
            s.right = part[i].right;
            try {
                if (!c.failure) calculate(s, c);
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
            m_open[s.message] = c.t.irecv(channel::data, std::span(c.at(s.target), s.size), s.peer, c.tag);
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
                check(s, c.t.receive(channel::data, std::span(c.at(s.target), s.size), s.peer, c.tag), c);
            break;
        default:
            break; // no message
        }
    }
    static void calculate(step const& s, call& c) {
        auto* const target = c.at(s.target);
        auto const* const left = c.at(s.left);
        switch (s.what) {
        case kind::combine:
            return c.with.op(left, c.at(s.right), target, s.size);
        case kind::combine_alike:
            return c.with.op.alike(left, c.at(s.right), target, s.size, c.work);
        default:
            std::memmove(target, left, s.size); // the target may overlap the source from below
        }
    }
    /// An empty message tells the receiver that there is nothing to give.
    static auto content(step const& s, call const& c) -> std::span<std::byte const> {
        if (c.failure) return {};
        return {c.at(s.target), s.size};
    }
    void post_stretches(step const& s, call& c) {
        if (s.sends()) {
            const_message_parts const all(list_stretches(s, c, m_sources));
            m_open[s.message] =
                c.t.isend(channel::data, c.failure ? const_message_parts() : all, s.peer, c.tag);
        } else {
            message_parts const all(list_stretches(s, c, m_targets));
            m_open[s.message] = c.t.irecv(channel::data, all, s.peer, c.tag);
        }
    }
    template <class Byte>
    auto list_stretches(step const& s, call const& c, std::vector<std::span<Byte>>& list) const
        -> std::span<std::span<Byte> const> {
        list.clear();
        for (auto const& part : m_script.stretches_of(s)) list.emplace_back(c.at(part.where), part.bytes);
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
    std::vector<std::byte> m_staging;
    std::vector<pending> m_open; // of each message, from its beginning on
    std::vector<std::span<std::byte const>> m_sources;
    std::vector<std::span<std::byte>> m_targets;
    std::vector<completion> m_done;
    std::vector<std::size_t> m_left; // of parts in any order, those whose turn has not come
    bool m_may_be_read = false;
};

} // namespace papcoll::inline v0::detail
