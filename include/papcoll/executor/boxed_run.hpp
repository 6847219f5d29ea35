// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/node_memory.hpp>
#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/executor/archived_messages.hpp>
#include <papcoll/executor/call_memory.hpp>
#include <papcoll/executor/elements.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/order_of_one_go.hpp>
#include <papcoll/executor/stretches.hpp>
#include <papcoll/executor/value_boxes.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Runs a program of serialized values from its beginning to its end, for a caller that has nothing else to
/// drive, where every message is the first between two ranks of a node, and thus has a box; see value_boxes.
/// What a message is, and what becomes of failures, is as execution has it.
template <transport Transport>
class boxed_run {
public:
    explicit boxed_run(program const& p, node_memory const& shared)
        : m_program(&p)
        , m_applies(is_in_boxes(p, shared)) {
        if (!m_applies) return;
        m_order = order_of_one_go(p);
        m_applies = m_order.size() == p.size();
        m_values.resize(m_first_of.back());
        m_leaving.resize(static_cast<std::size_t>(
            std::count_if(p.instructions.begin(), p.instructions.end(),
                          [](auto const& i) { return i.what == program::action::send; })));
    }
    boxed_run(boxed_run const&) = delete;
    auto operator=(boxed_run const&) -> boxed_run& = delete;
    ~boxed_run() = default;

    [[nodiscard]] auto applies() const -> bool { return m_applies; }
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        auto sum = detail::held_bytes(m_order, m_values, m_leaving) + m_arriving.held_bytes();
        for (auto const& v : m_values) sum += v.own ? v.own->capacity() : 0;
        for (auto const& l : m_leaving) sum += l.values.held_bytes();
        return sum;
    }

    /// False where something went wrong although the communication was completed, which take_failure then
    /// returns. `scratch` is the memory of the program's own, combinations that must give the same bits
    /// everywhere use `work`. Where it throws, messages are given up: see may_be_read.
    auto run(Transport& t, int tag, call_memory& with, std::byte* scratch, std::byte* work) -> bool {
        // Nothing is written to `in`.
        m_bases = {const_cast<std::byte*>(static_cast<std::byte const*>(with.in)), // NOLINT
                   static_cast<std::byte*>(with.out), scratch, nullptr};
        m_call = {&t, &with, work, with.type->size * with.unit};
        m_flow.use(t, tag);
        m_failure = {};
        m_sent = 0;
        for (auto& v : m_values) v.forget();
        auto& shared = *with.shared;
        if constexpr (requires { t.progress(); }) shared.progress_sometimes(t, with.call);
        auto const area = shared.reserve(with.call, with.key, value_boxes::bytes_in(shared));
        m_boxes.use(shared, area);
        open(area);
        try {
            for (auto const i : m_order) carry_out(i);
            m_failure.attempt([&] { load(everything_of(memory::out)); });
            while (!m_flow.empty()) see_to_messages(true);
        } catch (...) {
            m_may_be_read = m_flow.abandon();
            shared.abandon(area);
            throw;
        }
        shared.end(area.call);
        for (auto& v : m_values) {
            v.held = {};
            if (v.own && v.own->capacity() > most_kept_bytes) v.own.reset();
        }
        for (std::size_t l = 0; l < m_sent; ++l) m_leaving[l].values.clear();
        return !m_failure;
    }
    [[nodiscard]] auto take_failure() -> std::exception_ptr { return std::exchange(m_failure, {}).get(); }
    /// After run has thrown: whether its sends may still be read, so that this must live on.
    [[nodiscard]] auto may_be_read() const -> bool { return m_may_be_read; }

private:
    using index = program::index;
    using action = program::action;
    enum class label : std::uint8_t { sent, came };

    /// A value of the program.
    struct value {
        enum class where : std::uint8_t { memory, both, message } is = where::memory;
        int peer = -1;                               // from whom the message is
        bool missing = false;                        // in that message
        std::span<char const> bytes = {};            // of it
        std::shared_ptr<std::vector<char>> own = {}; // where they are, if they have been saved here
        content held = {};                           // or if they came, but not in a box

        void forget() { is = where::memory; }
    };
    struct leaving {
        leaving_values values;
        stretch_list<std::byte const> list;
    };
    struct call {
        Transport* t = nullptr;
        call_memory* with = nullptr;
        std::byte* work = nullptr;
        std::size_t element_bytes = 0;
    };

    static constexpr std::size_t most_values = 256;
    static constexpr std::size_t most_instructions = 256;
    static constexpr std::size_t most_kept_bytes = std::size_t(256) << 10; // of a value

    auto is_in_boxes(program const& p, node_memory const& shared) -> bool {
        if (p.size() > most_instructions || p.node > 0 || !value_boxes::are_for_all(p, shared)) return false;
        std::array<std::size_t, memory_kinds> values{};
        for (auto const& r : p.regions) {
            auto& n = values[place_of(r.where())];
            n = std::max(n, r.end());
        }
        std::partial_sum(values.begin(), values.end(), m_first_of.begin() + 1);
        return m_first_of.back() <= most_values;
    }
    /// Where the values of a memory are among those of its kind.
    [[nodiscard]] auto place_of(memory where) const -> std::size_t {
        return static_cast<std::size_t>(m_program->in_place && where == memory::in ? memory::out : where);
    }
    [[nodiscard]] auto everything_of(memory where) const -> region {
        auto const place = place_of(where);
        return {where, 0, m_first_of[place + 1] - m_first_of[place]};
    }
    [[nodiscard]] auto value_at(memory where, std::size_t element) -> value& {
        return m_values[m_first_of[place_of(where)] + element];
    }
    [[nodiscard]] auto data(memory where, std::size_t element) const -> std::byte* {
        return m_bases[static_cast<std::size_t>(where)] + element * m_call.element_bytes;
    }
    [[nodiscard]] auto peer(index i) const -> int { return m_program->instructions[i].peer; }
    template <class F>
    void each_value(index i, F f) {
        for (auto const& r : m_program->regions_of(i))
            for (auto e = r.offset(); e < r.end(); ++e) f(r.where(), e);
    }

    void open(node_memory::area const& area) {
        if (!m_boxes.open())
            m_call.with->shared->wait_for(area, [&] { wait_until([&] { return m_boxes.open(); }); });
    }
    /// For what others do. While messages may be under way they are what the others wait for.
    template <class Ready>
    void wait_until(Ready const& ready) {
        if constexpr (requires { m_call.t->progress(); }) {
            while (!m_flow.empty()) {
                if (ready()) return;
                m_call.t->idle();
                see_to_messages(false);
            }
            m_call.with->shared->wait(*m_call.t, ready); // which calls MPI
        }
    }
    void see_to_messages(bool block) {
        m_flow.poll(block, [this](label what, arrival_of_message arrival, std::size_t bytes) {
            if (what == label::sent) return;
            m_came = {true, arrival == arrival_of_message::whole, bytes};
        });
    }

    void carry_out(index i) {
        switch (m_program->instructions[i].what) {
        case action::send:
            return send(i);
        case action::receive:
            return receive(i);
        case action::combine:
            combine(i);
            break;
        case action::copy:
            m_failure.attempt([&] { copy(i); });
            break;
        case action::post:
        case action::await:
        case action::contribution:
            break;
        }
        if (m_failure) lose_targets(i);
    }
    void combine(index i) {
        auto const regions = m_program->regions_of(i);
        bool const alike = m_program->instructions[i].alike;
        for (std::size_t r = 0; r < regions.size() && !m_failure; r += 3) {
            auto const target = regions[r], left = regions[r + 1], right = regions[r + 2];
            m_failure.attempt([&] {
                load(left), load(right), forget(target);
                combine(data(left.where(), left.offset()), data(right.where(), right.offset()),
                        data(target.where(), target.offset()), target.size() * m_call.with->unit, alike);
            });
        }
    }
    /// So many values, with looks at messages in between: an operator may take long.
    void combine(std::byte const* left, std::byte const* right, std::byte* target, std::size_t n,
                 bool alike) {
        auto const size = m_call.with->type->size;
        for (auto const end = left + n * size; left != end; left += size, right += size, target += size) {
            if (alike)
                m_call.with->op.alike(left, right, target, 1, m_call.work);
            else
                m_call.with->op(left, right, target, 1);
            if (!m_flow.empty()) see_to_messages(false);
        }
    }
    void copy(index i) {
        auto const regions = m_program->regions_of(i);
        for (std::size_t r = 0; r < regions.size(); r += 2) {
            auto const to = regions[r], from = regions[r + 1];
            load(from), forget(to);
            m_call.with->type->copy(data(from.where(), from.offset()), data(to.where(), to.offset()),
                                    to.size() * m_call.with->unit);
        }
    }
    void lose_targets(index i) {
        auto const regions = m_program->regions_of(i);
        for (std::size_t r = 0; r < regions.size(); r += program::operands(m_program->instructions[i].what))
            for (auto e = regions[r].offset(); e < regions[r].end(); ++e)
                lose(value_at(regions[r].where(), e), peer(i));
    }
    static void lose(value& v, int peer) {
        v.is = value::where::message;
        v.missing = true;
        v.peer = peer;
        v.bytes = {};
        v.held = {}; // must not be passed on in its place
    }
    void forget(region const& r) {
        for (auto e = r.offset(); e < r.end(); ++e) value_at(r.where(), e).forget();
    }
    void load(region const& r) {
        for (auto e = r.offset(); e < r.end(); ++e) {
            auto& v = value_at(r.where(), e);
            if (v.is != value::where::message) continue;
            if (v.missing) throw missing_value_error(v.peer);
            m_call.with->type->load(v.bytes, data(r.where(), e), m_call.with->unit);
            v.is = value::where::both;
        }
    }

    // Messages

    void send(index i) {
        std::size_t count = 0;
        std::size_t bytes = 0;
        each_value(i, [&](memory where, std::size_t e) {
            bytes += saved(where, e).bytes.size();
            ++count;
        });
        auto const begin = first_part::lengths_end(count);
        auto const room = m_boxes.room_for(peer(i));
        if (bytes > first_part::most_contents(count, m_call.t->max_message_bytes()) ||
            begin + bytes > room.size())
            return send_long(i);
        auto* lengths = first_part::write(room.data(), first_part::head(count, false));
        auto* contents = room.data() + begin;
        each_value(i, [&](memory where, std::size_t e) {
            auto const& v = value_at(where, e);
            lengths = first_part::write(lengths, v.missing ? first_part::length_of_missing : v.bytes.size());
            contents = std::ranges::copy(std::as_bytes(v.bytes), contents).out;
        });
        m_boxes.fill(peer(i), begin + bytes);
    }
    [[gnu::noinline]] void send_long(index i) {
        auto& l = m_leaving[m_sent++];
        l.values.clear();
        each_value(i, [&](memory where, std::size_t e) {
            auto const& v = value_at(where, e);
            if (!v.held.is_missing() || v.missing)
                l.values.add(v.held);
            else if (v.own && v.bytes.data() == v.own->data())
                l.values.add(content(v.own, 0, v.own->size()));
            else
                l.values.add(content(std::vector<char>(v.bytes.begin(), v.bytes.end())));
        });
        auto const first = l.values.make_first(m_call.t->max_message_bytes());
        if (!m_boxes.put(peer(i), first)) m_flow.send(channel::control, first, peer(i), label::sent);
        if (!l.values.contents_follow()) return;
        l.values.list_contents(l.list);
        m_flow.send(channel::data, l.list.parts(), peer(i), label::sent);
    }
    /// A value as it travels.
    auto saved(memory where, std::size_t e) -> value& {
        auto& v = value_at(where, e);
        if (v.is != value::where::memory) return v;
        lose(v, -1);
        m_failure.attempt([&] {
            // What was here before may still be on its way.
            if (!v.own || v.own.use_count() > 1) v.own = std::make_shared<std::vector<char>>();
            v.own->clear();
            m_call.with->type->save(data(where, e), m_call.with->unit, *v.own);
            v.bytes = *v.own;
            v.missing = false;
            v.is = value::where::both;
        });
        return v;
    }

    void receive(index i) {
        auto seen = node_memory::news::none;
        auto const has_come = [&] {
            seen = m_boxes.look(peer(i));
            return seen != node_memory::news::none;
        };
        if (!has_come()) wait_until(has_come);
        if (seen != node_memory::news::there) {
            m_failure.note(failure_of(seen, peer(i)));
            return lose_targets(i);
        }
        auto const found = m_boxes.get(peer(i));
        if (!found || !take(i, *found)) receive_long(i, found);
    }
    /// False where it is not all there, or not as it must be.
    auto take(index i, std::span<std::byte const> message) -> bool {
        std::size_t count = 0;
        each_value(i, [&](memory, std::size_t) { ++count; });
        auto const begin = first_part::lengths_end(count);
        if (message.size() < begin || first_part::read(message) != first_part::head(count, false))
            return false;
        auto lengths = message.first(begin);
        auto contents = message.subspan(begin);
        bool good = true;
        each_value(i, [&](memory where, std::size_t e) {
            lengths = lengths.subspan(sizeof(first_part::word));
            auto const length = first_part::read(lengths);
            auto& v = value_at(where, e);
            lose(v, peer(i));
            if (length == first_part::length_of_missing || !good) return;
            good = length <= contents.size();
            if (!good) return;
            v.missing = false;
            v.bytes = {reinterpret_cast<char const*>(contents.data()), static_cast<std::size_t>(length)};
            contents = contents.subspan(v.bytes.size());
        });
        return good && contents.empty();
    }
    [[gnu::noinline]] void receive_long(index i, std::optional<std::span<std::byte const>> in_box) {
        auto const n = m_program->elements_of(i);
        auto const room = m_arriving.expect(n, m_call.t->max_message_bytes());
        std::size_t bytes = 0;
        if (in_box) {
            bytes = std::min(in_box->size(), room.size());
            std::copy_n(in_box->begin(), bytes, room.begin());
        } else {
            bytes = receive(channel::control, room, i).bytes;
        }
        m_arriving.take_first(bytes);
        receive_contents(i);
        each_value(i, [&](memory where, std::size_t e) {
            auto& v = value_at(where, e);
            lose(v, peer(i));
            v.held = m_arriving.take_next();
            v.missing = v.held.is_missing();
            v.bytes = v.held.bytes();
        });
        m_arriving.let_go(most_kept_bytes);
    }
    void receive_contents(index i) {
        if (m_arriving.follow_bytes() == 0) return;
        m_came = {};
        m_arriving.receive_contents(m_flow, peer(i), label::came, m_failure);
        while (!m_came.there) see_to_messages(true);
        if (!m_came.whole) m_arriving.lose();
    }
    struct came_in {
        bool there = false;
        bool whole = false;
        std::size_t bytes = 0;
    };
    auto receive(channel ch, std::span<std::byte> room, index i) -> came_in {
        m_came = {};
        m_flow.receive(ch, room, peer(i), label::came);
        while (!m_came.there) see_to_messages(true);
        return m_came;
    }

    program const* m_program;
    std::array<std::size_t, memory_kinds + 1> m_first_of{}; // values of each memory
    bool m_applies;
    std::vector<index> m_order;
    std::vector<value> m_values;
    std::vector<leaving> m_leaving; // long messages
    std::size_t m_sent = 0;         // of them
    arriving_values m_arriving;
    value_boxes m_boxes;
    message_flow<Transport, label> m_flow;
    first_failure m_failure;
    std::array<std::byte*, memory_kinds> m_bases{};
    call m_call;
    came_in m_came;
    bool m_may_be_read = false;
};

} // namespace papcoll::inline v0::detail
