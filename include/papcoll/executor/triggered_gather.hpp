// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/contribution.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/staging.hpp>
#include <papcoll/executor/triggered_gather_program.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Executes a triggered gather. The root asks one rank after the other; a rank that is asked and has its data
/// answers with the first elements of its part, which tell that the rest follows at once. Then the root asks
/// the next one, so that there is no pause between two parts, and never more than two of them on the root's
/// link.
///
/// This is the sorted linear synchronised gather of Proficz, when the order is that of the arrivals; driven
/// in the background (open_gather) the root receives before it has its own data. No deadlock: the root waits
/// for one rank at a time, and that rank for nothing but its data and the root.
template <transport Transport, transportable T>
class triggered_gather_operation final : public operation {
public:
    /// `own` is this rank's part, null where it comes with `late`; the others' parts come to `out`, which
    /// counts at the root alone. The root's own part stays where it is.
    triggered_gather_operation(std::shared_ptr<context<Transport>> c,
                               std::shared_ptr<triggered_gather_program const> program, int tag, T const* own,
                               T* out, contribution_pointer<T> late = nullptr)
        : m_context(std::move(c))
        , m_program(std::move(program))
        , m_flow(m_context->transport_layer(), tag)
        , m_own(own)
        , m_out(out)
        , m_late(std::move(late))
        , m_pieces(is_root() ? 2 * m_program->order.size() : 2) {}

    auto advance(bool block) -> bool override {
        bool const complete_data = !awaits_data(); // it may come at any time
        bool progressed = issue();
        if (m_flow.poll(block, [this](label const& what, auto arrival) { complete(what, arrival); })) {
            issue();
            progressed = true;
        }
        m_finished = complete_data && m_flow.empty() && everything_issued();
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_failure.get(); }
    auto abandon() noexcept -> bool override { return m_flow.abandon(); }

private:
    // Of the root's k-th sender, or of this rank as the only one: first elements 2k, rest 2k + 1.
    struct label {
        enum class kind { question, first, rest } what;
        std::size_t sender;
    };
    struct piece {
        std::size_t offset; // in the part
        std::size_t size;
    };

    [[nodiscard]] auto is_root() const -> bool { return m_context->rank() == m_program->root; }
    /// Whether this rank's own data is still to come.
    [[nodiscard]] auto awaits_data() const -> bool { return m_late && !m_late->there(); }
    [[nodiscard]] auto part_of(int rank) const -> block_range const& {
        return m_program->parts[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] auto first_of(int rank) const -> piece {
        return {0, std::min(part_of(rank).size, m_program->first_elements)};
    }
    [[nodiscard]] auto rest_of(int rank) const -> piece {
        auto const begin = first_of(rank).size;
        return {begin, part_of(rank).size - begin};
    }
    [[nodiscard]] auto has_part() const -> bool { return part_of(m_context->rank()).size > 0; }
    [[nodiscard]] auto everything_issued() const -> bool {
        return is_root() ? m_next == m_program->order.size() : m_answered || !has_part();
    }

    auto issue() -> bool { return is_root() ? ask() : answer(); }
    auto ask() -> bool {
        bool any = false;
        while (m_next < m_program->order.size() && !m_awaits_first && m_open_rests < 2) {
            expect(m_next++);
            any = true;
        }
        return any;
    }
    void expect(std::size_t sender) {
        int const rank = m_program->order[sender];
        receive(rank, first_of(rank), {label::kind::first, sender});
        m_awaits_first = true;
        if (rest_of(rank).size > 0) {
            receive(rank, rest_of(rank), {label::kind::rest, sender});
            ++m_open_rests;
        }
        m_flow.send(channel::control, {}, rank, {label::kind::question, sender});
    }
    void receive(int rank, piece p, label what) {
        m_flow.receive(channel::data,
                       detail::bytes_to_receive(target(rank, p), p.size, m_pieces[index(what)]), rank, what);
    }
    [[nodiscard]] auto target(int rank, piece p) const -> T* {
        return m_out + part_of(rank).offset + p.offset;
    }
    [[nodiscard]] static auto index(label what) -> std::size_t {
        return 2 * what.sender + (what.what == label::kind::rest ? 1 : 0);
    }

    auto answer() -> bool {
        if (!has_part()) return false;
        if (!m_listens) {
            m_flow.receive(channel::control, {}, m_program->root, {label::kind::question, 0});
            return m_listens = true;
        }
        if (!m_asked || m_answered || awaits_data()) return false;
        int const me = m_context->rank();
        send(first_of(me), {label::kind::first, 0});
        if (rest_of(me).size > 0) send(rest_of(me), {label::kind::rest, 0});
        return m_answered = true;
    }
    void send(piece p, label what) {
        T const* const own = m_own != nullptr ? m_own : m_late->data();
        m_flow.send(channel::data, detail::bytes_to_send(own + p.offset, p.size, m_pieces[index(what)]),
                    m_program->root, what);
    }

    void complete(label const& what, detail::arrival_of_message arrival) {
        if (!is_root()) {
            m_asked = m_asked || what.what == label::kind::question;
            return;
        }
        if (what.what == label::kind::question) return;
        int const rank = m_program->order[what.sender];
        auto const p = what.what == label::kind::first ? first_of(rank) : rest_of(rank);
        if (m_failure.check(arrival, rank)) detail::received(target(rank, p), p.size, m_pieces[index(what)]);
        if (what.what == label::kind::first)
            m_awaits_first = false;
        else
            --m_open_rests;
    }

    std::shared_ptr<context<Transport>> m_context;
    std::shared_ptr<triggered_gather_program const> m_program;
    detail::message_flow<Transport, label> m_flow;
    T const* m_own;
    T* m_out;
    contribution_pointer<T> m_late;
    std::vector<std::vector<std::byte>> m_pieces; // of elements that do not travel as they are
    std::size_t m_next = 0;                       // the root: whom to ask next
    int m_open_rests = 0;
    bool m_awaits_first = false;
    bool m_listens = false; // the others
    bool m_asked = false;
    bool m_answered = false;
    bool m_finished = false;
    detail::first_failure m_failure;
};

} // namespace papcoll::inline v0
