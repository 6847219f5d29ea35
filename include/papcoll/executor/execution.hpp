// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/node_memory.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/context/steady_now.hpp>
#include <papcoll/executor/archived_messages.hpp>
#include <papcoll/executor/archived_values.hpp>
#include <papcoll/executor/boxed_run.hpp>
#include <papcoll/executor/call_memory.hpp>
#include <papcoll/executor/contribution.hpp>
#include <papcoll/executor/elements.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/message_driver.hpp>
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/program_state.hpp>
#include <papcoll/executor/short_run.hpp>
#include <papcoll/executor/stretches.hpp>
#include <papcoll/executor/value_boxes.hpp>
#include <papcoll/executor/work_pace.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Executes programs: every collective of papcoll's is one of these.
///
/// Sends leave in the order of the program, each as soon as what it waits for has ended and, with admission,
/// the receiver has admitted it and the head of the send before has arrived. Receives are posted and admitted
/// in order, a bounded window ahead. Combinations and copies are made while messages are under way; one that
/// takes long is interrupted after about work_pace::most, so that messages move on and the next are admitted.
/// Where a single element takes long, see message_driver, messages that have been posted move on.
///
/// A rank that fails (its operator throws, or something that it received is not what it expects) completes
/// its communication: from then on it sends empty messages, by which those who depend on it fail, too.
///
/// Values that travel serialized are a wire format: each message is the lengths of its values and their
/// contents, which are a message of their own where they are long, one at a time in each direction; long
/// contents wait for their receiver by the library's own rendezvous. Between ranks of a node the first
/// message of each pair lies in a box, see value_boxes, where it is short.
///
/// No deadlock: what verify accepts ends with windows of one, since messages of a pair of ranks stay in order
/// and the windows for sends and receives are independent.
template <transport Transport>
class execution final : public operation, public std::enable_shared_from_this<execution<Transport>> {
public:
    /// `node`: the memory of the node, of a program that keeps it.
    explicit execution(std::shared_ptr<program const> what, std::shared_ptr<std::byte> node = nullptr)
        : m_cuts(what->uncut)
        , m_node(std::move(node))
        , m_program(m_cuts ? std::make_shared<program const>(in_pieces(*what)) : std::move(what))
        , m_state(*m_program)
        , m_arriving(m_state.receives().size())
        , m_leaving(m_state.sends().size()) {}
    execution(execution const&) = delete;
    auto operator=(execution const&) -> execution& = delete;
    ~execution() override { give_area_up(); }

    /// Begins it, or begins it again when it has ended; the tag is that of the operation. `keeper` lives at
    /// least as long as messages are under way.
    void begin(Transport& t, std::shared_ptr<void const> keeper, int tag, call_memory with) {
        begin_again();
        m_flow.use(t, tag);
        m_flow.reserve(most_open());
        m_transport = &t;
        m_short_type = nullptr;
        m_memory = std::move(with);
        m_element_bytes = m_memory.type->size * m_memory.unit;
        m_bases = {writable(m_memory.in), static_cast<std::byte*>(m_memory.out), provide_scratch(m_memory),
                   nullptr};
        m_values.clear(m_program->in_place);
        m_failure = {};
        m_state.restart();
        reserve_area();
        m_next_receive = m_next_send = m_listening = 0;
        m_open_receives = m_open_sends = 0;
        m_keeper = std::move(keeper); // last: nothing throws any more
        m_finished = false;
    }

    /// Whether its program uses the memory of the node.
    [[nodiscard]] auto shares_memory() const -> bool { return m_shares; }
    /// Whether run_in_order will do for elements of this type.
    [[nodiscard]] auto is_short(Transport const& t, call_memory const& with) -> bool {
        return is_ready_for(with) || make_short(t, with);
    }
    /// Whether it can be begun again, and run_in_order was asked for elements of this type before.
    [[nodiscard, gnu::always_inline]] auto is_ready_for(call_memory const& with) const -> bool {
        return m_short_type == with.type && !is_in_use();
    }
    /// Begins it, with messages of this tag, and runs it to its end, as begin and advance would; false where
    /// it has failed, see take_failure. For a caller that has nothing else to drive. Where it throws it has
    /// given up, see may_be_read.
    [[gnu::always_inline]] auto run_in_order(Transport& t, int tag, call_memory& with) -> bool {
        try {
            return m_short->run(t, tag, with);
        } catch (...) {
            m_abandoned = true;
            m_short_type = nullptr;
            throw;
        }
    }
    /// Whether it is of serialized values that run_boxed will do for.
    [[nodiscard]] auto is_boxed(call_memory const& with) -> bool {
        m_runs_boxed = with.type->wire == format::archived && with.shared != nullptr && !is_in_use() &&
                       detail::value_boxes::are_in(*with.shared);
        if (m_runs_boxed && !m_boxed_run) m_boxed_run.emplace(*m_program, *with.shared);
        return m_runs_boxed = m_runs_boxed && m_boxed_run->applies();
    }
    /// As run_in_order, with messages of this tag.
    auto run_boxed(Transport& t, int tag, call_memory& with) -> bool {
        m_short_type = nullptr;
        auto* const scratch = provide_scratch(with);
        try {
            bool const good = m_boxed_run->run(t, tag, with, scratch, m_scratch.data());
            m_scratch.release();
            return good;
        } catch (...) {
            m_abandoned = true;
            throw;
        }
    }
    /// Why the last run_in_order, or run_boxed, has failed; asked once.
    [[nodiscard]] auto take_failure() -> std::exception_ptr {
        return m_runs_boxed ? m_boxed_run->take_failure() : m_short->take_failure();
    }

    auto advance(bool block) -> bool override {
        if (m_finished) return false;
        bool progressed = take_contribution();
        progressed = look() || progressed;
        progressed = work() || progressed;
        // What could be begun has been: only a message that ends can bring anything new.
        if (take_messages(block && !looks_at_others())) {
            work();
            progressed = true;
        }
        // A send that a box has taken ends at once: what waited for it is begun in the next turn.
        if (m_flow.empty() && !looks_at_others() && (m_state.over() || !progressed)) conclude();
        if (progressed) m_looks = 0;
        if (!m_flow.empty() || progressed || !looks_at_others()) return progressed;
        if (block && m_boxes.are_used() && wait_for_boxes()) return true;
        progress_others();
        return false;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_failure.get(); }
    auto abandon() noexcept -> bool override {
        m_abandoned = true;
        bool const may_be_read = m_flow.abandon();
        give_area_up();
        m_keeper.reset();
        return may_be_read;
    }

    /// Whether run_in_order threw while sends may still be read: it then has to live on.
    [[nodiscard]] auto may_be_read() const -> bool {
        return m_runs_boxed ? m_boxed_run->may_be_read() : m_short->may_be_read();
    }
    /// Whether it can be begun again, once it has ended.
    [[nodiscard]] auto is_reusable() const -> bool { return m_finished && !m_abandoned && !is_in_use(); }
    /// Whether it was given up before its end.
    [[nodiscard]] auto is_given_up() const -> bool { return m_abandoned; }
    /// When it has ended: lets the user's operator go, and memory of which there is much, or in which are
    /// values that may hold much.
    void let_go() noexcept {
        m_memory.op.let_go();
        if (m_scratch.bytes() <= most_kept_bytes && wire() == format::bytes) return;
        m_short_type = nullptr;
        m_scratch.release();
    }
    /// The memory behind it.
    [[nodiscard]] auto held_bytes() const -> std::size_t override {
        std::size_t sum = m_scratch.bytes() + m_state.held_bytes() + m_leaving.capacity() * sizeof(leaving) +
                          m_arriving.capacity() * sizeof(arriving) + (m_cuts ? m_program->held_bytes() : 0) +
                          (m_short ? m_short->held_bytes() : 0) +
                          (m_boxed_run ? m_boxed_run->held_bytes() : 0);
        sum += m_boxes.held_bytes();
        for (auto const& l : m_leaving) sum += l.values.held_bytes();
        for (auto const& a : m_arriving) sum += a.values.held_bytes();
        return sum;
    }

private:
    using index = program::index;
    using format = detail::element_type::format;

    struct label {
        enum class kind : std::uint8_t { send, head, rest, told, admission, head_is_there, values } what;
        std::size_t position; // among the sends or receives
    };
    /// A message that leaves, or arrives.
    struct leaving {
        detail::stretch_list<std::byte const> list;
        std::vector<std::byte> staging;
        detail::leaving_values values;
        int pieces = 0;
        bool admitted = false;
    };
    struct arriving {
        detail::stretch_list<std::byte> list;
        std::vector<std::byte> staging;
        detail::arriving_values values;
        int pieces = 0;
    };
    static constexpr std::size_t most_kept_bytes = std::size_t(2) << 20;

    // Memory

    /// Returns the memory of the program's own; what combinations alike work in lies before it.
    auto provide_scratch(call_memory const& with) -> std::byte* {
        std::size_t work_values = m_state.combines_alike() ? with.op.work_elements() : 0;
        if (with.type->wire == format::bytes)
            work_values = (work_values + 63) / 64 * 64; // the rest stays aligned
        m_scratch.provide(*with.type, work_values + m_program->scratch * with.unit);
        return m_scratch.data() + work_values * with.type->size;
    }
    // Nothing is written to `in`.
    [[nodiscard]] static auto writable(void const* in) -> std::byte* {
        return const_cast<std::byte*>(static_cast<std::byte const*>(in)); // NOLINT
    }
    /// Until the program's own memory is provided anew.
    [[gnu::noinline]] auto make_short(Transport const& t, call_memory const& with) -> bool {
        constexpr std::size_t most_message_bytes = std::size_t(64) << 10;
        auto const size = with.type->size;
        if constexpr (requires { Transport::most_sends; }) return false;
        m_runs_boxed = false;
        if (with.type->wire != format::bytes) return false;
        if (m_shares) detail::check_shared(with);
        bool const keeps_scratch = m_program->scratch * size <= most_kept_bytes / 2;
        if (!m_short || m_short->element_bytes() != size)
            m_short.emplace(*m_program, size,
                            keeps_scratch ? std::min(most_message_bytes, t.max_message_bytes()) : 0,
                            m_node.get());
        if (!m_short->applies()) return false;
        auto* const scratch = provide_scratch(with);
        m_short->use(scratch, m_scratch.data(), with.shared);
        m_short_type = with.type;
        return true;
    }
    [[nodiscard]] auto data(region const& r) const -> std::byte* {
        return m_bases[static_cast<std::size_t>(r.where())] + r.offset() * m_element_bytes;
    }
    [[nodiscard]] auto bytes(region const& r) const -> std::span<std::byte> {
        return {data(r), r.size() * m_element_bytes};
    }
    [[nodiscard]] auto wire() const -> format { return m_memory.type->wire; }
    [[nodiscard]] auto is_archived() const -> bool { return wire() == format::archived; }

    // Instructions

    [[nodiscard]] auto send_at(std::size_t position) const -> index { return m_state.sends()[position]; }
    [[nodiscard]] auto receive_at(std::size_t position) const -> index {
        return m_state.receives()[position];
    }
    [[nodiscard]] auto peer(index i) const -> int { return m_program->instructions[i].peer; }
    [[nodiscard]] auto elements(index i) const -> std::size_t { return m_state.elements_of(i); }
    [[nodiscard]] auto admits(index i) const -> bool {
        return !is_archived() && m_program->windows_of(i).admits(elements(i));
    }
    [[nodiscard]] auto receive_window(index i) const -> int {
        auto const& w = m_program->windows_of(i);
        return is_archived() ? 1 : w.limit(elements(i), w.receives);
    }
    /// A transport may have fewer under way than the program says.
    [[nodiscard]] auto send_window(index i) const -> int {
        auto const& w = m_program->windows_of(i);
        int const wanted = is_archived() ? 1 : w.limit(elements(i), w.sends);
        if constexpr (requires { Transport::most_sends; })
            if (!w.together) return std::min(wanted, Transport::most_sends);
        return wanted;
    }
    /// How many messages it may have in the flow at a time, where the windows say how many are under way: of
    /// each there are its leave, its head, its rest and the sign that the head has come.
    [[nodiscard]] auto most_open() const -> std::size_t {
        int window = 1;
        for (auto const& w : m_program->windows)
            window = std::max({window, w.receives, w.sends, w.unadmitted});
        auto const w = static_cast<std::size_t>(window);
        return 4 * (std::min(w, m_state.receives().size()) + std::min(w + listened, m_state.sends().size()));
    }
    /// Where the head of a message ends. Both ends find the same place.
    [[nodiscard]] auto head_of(index i, std::size_t all) const -> std::size_t {
        return admits(i) ? all - std::min(m_program->windows_of(i).tail_bytes, all / 8 * 3) : all;
    }

    auto take_messages(bool block) -> bool {
        return m_flow.poll(block, [this](label const& what, detail::arrival_of_message arrival,
                                         std::size_t bytes) { complete(what, arrival, bytes); });
    }
    auto take_contribution() -> bool {
        if (!m_memory.late || !m_memory.late->there()) return false;
        if (m_memory.late->data() != nullptr)
            m_bases[static_cast<std::size_t>(memory::in)] = writable(m_memory.late->data());
        m_memory.late.reset();
        for (auto const i : m_state.contributions()) m_state.end(i);
        return true;
    }
    auto work() -> bool {
        if (!m_may_use_area) return false;
        bool const any = issue();
        auto i = m_state.take_ready();
        if (i == detail::program_state::none) return any;
        m_pace.begin(now());
        for (; i != detail::program_state::none; i = m_state.take_ready()) {
            compute(i);
            issue();
        }
        return true;
    }
    [[nodiscard]] auto now() const -> ticks { return detail::now_of(*m_transport); }
    /// Some elements have been combined, and others are to be: messages may have waited for long.
    void see_to_messages(std::size_t elements) {
        if (!m_pace.ended(elements, now()) || m_flow.empty()) return;
        if (take_messages(false)) issue();
        m_pace.begin(now());
    }
    auto issue() -> bool {
        bool any = m_next_receive < m_state.receives().size() && post_receives();
        if (m_next_send < m_state.sends().size()) {
            any = post_admissions() || any;
            any = issue_sends() || any;
        }
        return any;
    }

    void compute(index i) {
        auto const what = m_program->instructions[i].what;
        if (what == program::action::await) return m_watched.push_back(i);
        if (what == program::action::combine) combine(i);
        if (what == program::action::copy) m_failure.attempt([&] { copy(i); });
        if (what == program::action::post) m_memory.shared->post(*m_area, static_cast<bool>(m_failure));
        if (m_failure && is_archived()) lose_targets(i);
        m_state.end(i);
    }
    void combine(index i) {
        auto const regions = m_program->regions_of(i);
        for (std::size_t r = 0; r < regions.size() && !m_failure; r += 3) {
            auto const target = regions[r], left = regions[r + 1], right = regions[r + 2];
            if (is_archived()) m_failure.attempt([&] { load(left), load(right), m_values.forget(target); });
            combine(i, data(left), data(right), data(target), target.size() * m_memory.unit);
        }
    }
    /// So many values, with looks at messages in between.
    void combine(index i, std::byte const* left, std::byte const* right, std::byte* target, std::size_t n) {
        auto const size = m_memory.type->size;
        bool const alike = m_program->instructions[i].alike;
        while (n > 0 && !m_failure) {
            auto const k = m_pace.next(n, size);
            m_failure.attempt([&] { while_messages_move([&] { combine(left, right, target, k, alike); }); });
            left += k * size, right += k * size, target += k * size;
            n -= k;
            see_to_messages(k);
        }
    }
    /// An operator that takes long for one element alone cannot be interrupted: where other threads may call
    /// MPI, one sees to messages meanwhile.
    template <class F>
    void while_messages_move(F f) {
        if constexpr (requires { m_transport->progress(); })
            if (m_pace.is_long(m_memory.type->size) && m_transport->concurrent() && !m_flow.empty())
                return detail::message_driver::instance().during(
                    [t = m_transport]() noexcept { t->progress(); }, f);
        f();
    }
    void combine(std::byte const* left, std::byte const* right, std::byte* target, std::size_t n,
                 bool alike) {
        if (alike)
            m_memory.op.alike(left, right, target, n, m_scratch.data());
        else
            m_memory.op(left, right, target, n);
    }
    void copy(index i) {
        auto const regions = m_program->regions_of(i);
        for (std::size_t r = 0; r < regions.size(); r += 2) {
            if (m_program->moves_nothing(regions[r], regions[r + 1])) continue;
            if (is_archived()) load(regions[r + 1]), m_values.forget(regions[r]);
            m_memory.type->copy(data(regions[r + 1]), data(regions[r]), regions[r].size() * m_memory.unit);
        }
    }

    // What ranks share

    void reserve_area() {
        m_watched.clear();
        m_awaited_boxes.clear();
        m_boxes.close();
        if (is_archived()) return reserve_boxes();
        m_may_use_area = m_program->node == 0;
        if (m_may_use_area) return;
        m_watched.reserve(m_state.awaits());
        detail::check_shared(m_memory);
        auto& shared = *m_memory.shared;
        if constexpr (requires { m_transport->progress(); })
            shared.progress_sometimes(*m_transport, m_memory.call);
        auto const bytes = m_node ? 0 : m_program->node * m_element_bytes;
        m_area = m_program->beside_signs ? shared.reserve_line(m_memory.call, m_program->node_key)
                                         : shared.reserve(m_memory.call, m_program->node_key, bytes);
        m_bases[static_cast<std::size_t>(memory::node)] = m_node ? m_node.get() : m_area->data;
        m_may_use_area = m_memory.shared->open(*m_area);
    }
    void reserve_boxes() {
        m_may_use_area = true;
        if (m_program->node > 0) detail::check_shared(m_memory);
        auto* const shared = m_memory.shared;
        if (shared == nullptr || m_memory.late || !detail::value_boxes::are_in(*shared)) return;
        if constexpr (requires { m_transport->progress(); })
            shared->progress_sometimes(*m_transport, m_memory.call);
        m_area = shared->reserve(m_memory.call, m_memory.key, detail::value_boxes::bytes_in(*shared));
        m_boxes.use(*shared, *m_area, *m_program, m_state);
        m_may_use_area = m_boxes.open();
    }
    /// Waits until a box is filled, or may be; false where the transport cannot wait so.
    auto wait_for_boxes() -> bool {
        if constexpr (requires { m_transport->progress(), m_transport->idle(); }) {
            m_memory.shared->wait(*m_transport, [&] { return look(); });
            return true;
        }
        return false;
    }
    auto open_area() -> bool {
        return m_may_use_area = m_boxes.are_used() ? m_boxes.open() : m_memory.shared->open(*m_area);
    }
    void give_area_up() noexcept {
        if (!m_area) return;
        if (m_may_use_area)
            m_memory.shared->abandon(*m_area);
        else
            m_memory.shared->end(m_area->call);
        m_area.reset();
    }
    /// Whether something can proceed that no message tells of.
    [[nodiscard]] auto looks_at_others() const -> bool {
        return !m_may_use_area || !m_watched.empty() || !m_awaited_boxes.empty();
    }
    /// Nobody else sees to the messages of the program while a rank looks at memory.
    void progress_others() {
        if constexpr (requires { m_transport->progress(); })
            if (++m_looks >= 16) m_transport->progress();
    }
    /// Whether others have done what is waited for.
    auto look() -> bool {
        if (!m_may_use_area) return open_area();
        if (!m_awaited_boxes.empty()) return look_at_boxes();
        auto const before = m_watched.size();
        std::erase_if(m_watched, [&](index i) {
            using news = detail::node_memory::news;
            auto const seen =
                m_memory.shared->look(*m_area, peer(i), m_program->posts[m_state.position_of(i)]);
            if (seen == news::none) return false;
            if (seen != news::there) m_failure.note(detail::failure_of(seen, peer(i)));
            m_state.end(i);
            return true;
        });
        return m_watched.size() < before;
    }

    auto look_at_boxes() -> bool {
        auto const position = m_awaited_boxes.back(); // one receive is under way at a time
        auto const from = peer(receive_at(position));
        using news = detail::node_memory::news;
        auto const seen = m_boxes.look(from);
        if (seen == news::none) return false;
        m_awaited_boxes.pop_back();
        if (seen != news::there) {
            m_failure.note(detail::failure_of(seen, from));
            (void)room_for_values(position);
            values_arrived(position, 0);
        } else if (auto const found = m_boxes.get(from)) {
            auto const room = room_for_values(position);
            auto const bytes = std::min(found->size(), room.size());
            std::copy_n(found->begin(), bytes, room.begin());
            values_arrived(position, bytes);
        } else {
            expect_message(position);
        }
        return true;
    }

    // Receives

    auto post_receives() -> bool {
        auto const& receives = m_state.receives();
        bool any = false;
        while (m_next_receive < receives.size() && m_state.may_begin(receives[m_next_receive]) &&
               m_open_receives < receive_window(receives[m_next_receive])) {
            receive(m_next_receive++);
            ++m_open_receives;
            any = true;
        }
        return any;
    }
    void receive(std::size_t position) {
        if (is_archived()) return expect_values(position);
        auto const i = receive_at(position);
        auto& a = m_arriving[position];
        auto const room = make_room(i, a);
        auto const head = head_of(i, room.bytes());
        a.pieces = head < room.bytes() ? 2 : 1;
        m_flow.receive(channel::data, a.pieces == 1 ? room : room.slice(0, head, m_list), peer(i),
                       {label::kind::head, position});
        if (a.pieces == 2)
            m_flow.receive(channel::data, room.slice(head, room.bytes() - head, m_list), peer(i),
                           {label::kind::rest, position});
        if (admits(i)) m_flow.send(channel::control, {}, peer(i), {label::kind::told, 0});
    }
    auto make_room(index i, arriving& a) -> message_parts {
        a.list.clear();
        if (wire() == format::packed) {
            a.staging.resize(m_memory.type->most_bytes(elements(i) * m_memory.unit));
            return std::span<std::byte>(a.staging);
        }
        for (auto const& r : m_program->regions_of(i)) a.list.add(bytes(r));
        if (!a.list.better_packed()) return a.list.parts();
        a.staging.resize(a.list.bytes());
        return std::span<std::byte>(a.staging);
    }
    void head_arrived(std::size_t position) {
        --m_open_receives;
        auto const i = receive_at(position);
        if (admits(i)) m_flow.send(channel::control, {}, peer(i), {label::kind::told, 0}, 1);
    }
    // The rest may be complete before the head: MPI libraries treat short messages differently.
    void piece_arrived(std::size_t position) {
        auto& a = m_arriving[position];
        if (--a.pieces > 0) return;
        auto const i = receive_at(position);
        if (is_archived())
            keep_values(i, a);
        else
            m_failure.attempt([&] { unpack(i, a); });
        if (wire() == format::packed) a.staging = {};
        m_state.end(i);
    }
    void unpack(index i, arriving& a) {
        if (wire() != format::packed) {
            if (a.list.better_packed()) a.list.scatter(a.staging.data());
            return;
        }
        std::size_t read = 0;
        for (auto const& r : m_program->regions_of(i))
            read += m_memory.type->unpack(std::span<std::byte const>(a.staging).subspan(read), data(r),
                                          r.size() * m_memory.unit);
    }

    // Sends

    // Admissions of one receiver come in the order of the messages to it.
    auto post_admissions() -> bool {
        auto const& sends = m_state.sends();
        bool any = false;
        for (; m_listening < std::min(sends.size(), m_next_send + listened); ++m_listening) {
            m_leaving[m_listening].admitted = !admits(sends[m_listening]);
            if (m_leaving[m_listening].admitted) continue;
            m_flow.receive(channel::control, {}, peer(sends[m_listening]),
                           {label::kind::admission, m_listening});
            any = true;
        }
        return any;
    }
    auto issue_sends() -> bool {
        auto const& sends = m_state.sends();
        bool any = false;
        while (m_next_send < sends.size() && m_leaving[m_next_send].admitted &&
               m_state.may_begin(sends[m_next_send]) && m_open_sends < send_window(sends[m_next_send])) {
            send(m_next_send++);
            ++m_open_sends;
            post_admissions();
            any = true;
        }
        return any;
    }
    void send(std::size_t position) {
        if (is_archived()) return send_values(position);
        auto const i = send_at(position);
        auto& l = m_leaving[position];
        auto const parts = content_of(i, l);
        auto const head = head_of(i, parts.bytes());
        l.pieces = head < parts.bytes() ? 2 : 1;
        send_piece(l.pieces == 1 ? parts : parts.slice(0, head, m_const_list), position);
        if (l.pieces == 2) send_piece(parts.slice(head, parts.bytes() - head, m_const_list), position);
        if (admits(i))
            m_flow.receive(channel::control, {}, peer(i), {label::kind::head_is_there, position}, 1);
    }
    auto content_of(index i, leaving& l) -> const_message_parts {
        l.list.clear();
        if (wire() == format::packed) {
            l.staging.resize(m_memory.type->most_bytes(elements(i) * m_memory.unit));
            m_failure.attempt([&] { pack(i, l); });
            return std::span<std::byte const>(l.staging); // with its slack: both ends count the same bytes
        }
        for (auto const& r : m_program->regions_of(i)) l.list.add(bytes(r));
        if (!l.list.better_packed()) return l.list.parts();
        l.staging.resize(l.list.bytes());
        l.list.gather(l.staging.data());
        return std::span<std::byte const>(l.staging);
    }
    void pack(index i, leaving& l) {
        std::size_t used = 0;
        for (auto const& r : m_program->regions_of(i))
            used +=
                m_memory.type->pack(data(r), r.size() * m_memory.unit, std::span(l.staging).subspan(used));
    }
    void send_piece(const_message_parts const& piece, std::size_t position) {
        label const what{label::kind::send, position};
        if (m_failure)
            m_flow.send_nothing(channel::data, piece, peer(send_at(position)), what);
        else
            m_flow.send(channel::data, piece, peer(send_at(position)), what);
    }
    void left(std::size_t position) {
        auto& l = m_leaving[position];
        if (--l.pieces > 0) return;
        l.values.clear();
        if (wire() == format::packed) l.staging = {};
        auto const i = send_at(position);
        if (!admits(i)) --m_open_sends;
        m_state.end(i);
    }

    // Serialized values

    /// What should have been computed is missing; what came there must not be passed on in its place.
    void lose_targets(index i) {
        auto const regions = m_program->regions_of(i);
        for (std::size_t r = 0; r < regions.size(); r += program::operands(m_program->instructions[i].what))
            for (auto e = regions[r].offset(); e < regions[r].end(); ++e)
                m_values.arrived({regions[r].where(), e}, {}, peer(i));
    }
    void load(region const& r) {
        m_values.load(r, [&](std::size_t element, detail::content const& value) {
            m_memory.type->load(value.bytes(), data({r.where(), element, 1}), m_memory.unit);
        });
    }
    void send_values(std::size_t position) {
        auto const i = send_at(position);
        auto& l = m_leaving[position];
        for (auto const& r : m_program->regions_of(i))
            for (auto e = r.offset(); e < r.end(); ++e) l.values.add(value_at(r.where(), e));
        label const what{label::kind::send, position};
        auto const first = l.values.make_first(m_transport->max_message_bytes());
        bool const is_there = m_boxes.has_send(position) && m_boxes.put(peer(i), first);
        bool const follow = l.values.contents_follow();
        l.pieces = follow ? 2 : 1;
        if (!is_there) m_flow.send(channel::control, first, peer(i), what);
        if (follow) {
            l.values.list_contents(l.list);
            m_flow.send(channel::data, l.list.parts(), peer(i), what);
        }
        if (is_there) left(position);
    }
    auto value_at(memory where, std::size_t element) -> detail::content {
        if (auto const* const came = m_values.find({where, element})) return *came;
        detail::content saved;
        m_failure.attempt([&] {
            std::vector<char> bytes;
            m_memory.type->save(data({where, element, 1}), m_memory.unit, bytes);
            saved = detail::content(std::move(bytes));
            m_values.saved({where, element}, saved);
        });
        return saved;
    }
    void expect_values(std::size_t position) {
        if (m_boxes.has_receive(position)) return m_awaited_boxes.push_back(position);
        expect_message(position);
    }
    auto room_for_values(std::size_t position) -> std::span<std::byte> {
        auto const n = elements(receive_at(position));
        return m_arriving[position].values.expect(n, m_transport->max_message_bytes());
    }
    void expect_message(std::size_t position) {
        m_flow.receive(channel::control, room_for_values(position), peer(receive_at(position)),
                       {label::kind::values, position});
    }
    void values_arrived(std::size_t position, std::size_t bytes) {
        auto& a = m_arriving[position];
        a.values.take_first(bytes);
        a.pieces = 1;
        if (a.values.follow_bytes() > 0) {
            a.values.receive_contents(m_flow, peer(receive_at(position)), label{label::kind::head, position},
                                      m_failure);
        } else {
            --m_open_receives;
            piece_arrived(position);
        }
    }
    void keep_values(index i, arriving& a) {
        for (auto const& r : m_program->regions_of(i))
            for (auto e = r.offset(); e < r.end(); ++e)
                m_values.arrived({r.where(), e}, a.values.take_next(), peer(i));
        a.values.let_go();
    }

    // Messages that have ended

    void complete(label const& what, detail::arrival_of_message arrival, std::size_t bytes) {
        if (arrival != detail::arrival_of_message::whole) not_whole(what, arrival);
        switch (what.what) {
        case label::kind::told:
            break;
        case label::kind::admission:
            m_leaving[what.position].admitted = true;
            break;
        case label::kind::head_is_there:
            --m_open_sends;
            break;
        case label::kind::send:
            left(what.position);
            break;
        case label::kind::head:
            head_arrived(what.position);
            [[fallthrough]];
        case label::kind::rest:
            piece_arrived(what.position);
            break;
        case label::kind::values:
            values_arrived(what.position, bytes);
            break;
        }
    }
    // Contents of values that do not come as they must are of values that are missing.
    void not_whole(label const& what, detail::arrival_of_message arrival) {
        if (what.what != label::kind::head && what.what != label::kind::rest) return;
        if (is_archived())
            m_arriving[what.position].values.lose();
        else
            m_failure.check(arrival, peer(receive_at(what.position)));
    }
    // Nothing is under way and nothing could be begun: the operation is over, or the program is wrong.
    void conclude() {
        if (!m_state.over()) {
            if (m_memory.late) return; // the contribution is still to come
            throw std::logic_error("papcoll: the program cannot proceed; verify tells why");
        }
        if (is_archived())
            m_failure.attempt([&] { load({memory::out, 0, std::numeric_limits<std::size_t>::max() >> 2}); });
        m_values.clear(m_program->in_place); // their contents may be long
        m_finished = true;
        if (m_area) m_memory.shared->end(m_area->call);
        m_area.reset();
        let_go();
        m_keeper.reset();
    }

    bool m_cuts; // the program is its own
    std::shared_ptr<std::byte> m_node;
    std::shared_ptr<program const> m_program;
    bool m_shares = m_program->node > 0;
    std::optional<detail::short_run<Transport>> m_short; // made when it is first asked for
    std::optional<detail::boxed_run<Transport>> m_boxed_run;
    bool m_runs_boxed = false;                          // the last time, not m_short
    detail::element_type const* m_short_type = nullptr; // for which that is ready
    detail::program_state m_state;
    std::shared_ptr<void const> m_keeper;
    detail::message_flow<Transport, label> m_flow;
    detail::work_pace m_pace;
    call_memory m_memory;
    std::size_t m_element_bytes = 1;
    detail::element_memory m_scratch;
    std::array<std::byte*, memory_kinds> m_bases{};
    std::optional<detail::node_memory::area> m_area; // while it is under way
    bool m_may_use_area = true;
    std::vector<index> m_watched; // awaits that have begun
    detail::value_boxes m_boxes;
    std::vector<std::size_t> m_awaited_boxes; // the receives that they are for
    unsigned m_looks = 0;
    Transport* m_transport = nullptr;
    std::vector<arriving> m_arriving;
    std::vector<leaving> m_leaving;
    detail::archived_values m_values;
    detail::first_failure m_failure;
    std::vector<std::span<std::byte>> m_list;
    std::vector<std::span<std::byte const>> m_const_list;
    std::size_t m_next_receive = 0;
    std::size_t m_next_send = 0;
    static constexpr std::size_t listened = 4; // admissions ahead of the next send
    std::size_t m_listening = 0;               // the next send whose admission is not listened for
    int m_open_receives = 0;
    int m_open_sends = 0;
    bool m_finished = true;
    bool m_abandoned = false;
};

} // namespace papcoll::inline v0
