// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// On the control channel, beside the tags of operations and of clocks.
inline constexpr int monitor_tag = tag_count - 2;
static_assert(is_reserved_tag(monitor_tag));

/// What a rank gives in a round; times in nanoseconds.
struct given {
    std::int64_t prediction = 0;
    std::int64_t takes = 0;
    std::int64_t sent = 0; // on the sender's clock
};

/// To rank 0.
struct upward {
    enum class kind : std::int64_t { give, call, farewell };
    kind what = kind::give;
    std::int64_t round = 0;
    given gift;
};

/// How a round ended for one rank.
struct outcome {
    std::int64_t take = 0;
    std::int64_t received = 0; // its gift, and
    std::int64_t sent = 0;     // this, on rank 0's clock
    std::int64_t times = 0;    // how many follow: of all ranks, or 0
};

/// From rank 0.
struct downward {
    enum class kind : std::int64_t { result, call, closed };
    kind what = kind::result;
    outcome end;
};

/// The messages of an arrival_exchange: between rank 0 and each other rank, one receive posted at any time
/// until the last message has come.
template <transport Transport>
class exchange_mail {
public:
    using time_list = std::shared_ptr<std::vector<std::int64_t> const>;

    explicit exchange_mail(Transport const& t)
        : m_transport(t)
        , m_inbox(static_cast<std::size_t>(t.rank() == 0 ? t.size() - 1 : 1), inbox_bytes(t))
        , m_open(t.size() == 1 ? 0 : m_inbox.size()) {
        if (m_open == 0) m_inbox.clear();
        for (std::size_t i = 0; i < m_inbox.size(); ++i) m_pending.push_back(post(i));
    }

    [[nodiscard]] auto rank() const -> int { return m_transport.rank(); }
    [[nodiscard]] auto size() const -> int { return m_transport.size(); }
    /// Nothing is under way, and nothing will come.
    [[nodiscard]] auto is_quiet() const -> bool { return m_open == 0 && m_letters.empty(); }
    auto abandon() noexcept -> bool {
        auto const all = std::span(m_pending);
        return m_transport.abandon(all.first(m_inbox.size()), all.subspan(m_inbox.size()));
    }

    void send_up(upward const& message) { send(0, std::make_shared<letter>(message)); }
    void send_down(int to, downward const& message, time_list times = nullptr) {
        send(to, std::make_shared<letter>(message, std::move(times)));
    }

    /// Calls on_up(rank, upward) on rank 0, on_down(downward, times) elsewhere for what has come; true if
    /// there was anything.
    template <class OnUp, class OnDown>
    auto drive(OnUp on_up, OnDown on_down) -> bool {
        m_done.clear();
        if (is_quiet()) return false; // MPI may be finalized
        m_transport.test_some(m_pending, m_done);
        forget_sent();
        for (auto const& done : m_done) {
            auto const i = static_cast<std::size_t>(done.position);
            bool const last = rank() == 0 ? hand_out_up(i, on_up) : hand_out_down(i, on_down);
            if (last)
                --m_open;
            else
                m_pending[i] = post(i);
        }
        return !m_done.empty();
    }

private:
    using pending = typename Transport::pending;

    struct letter {
        explicit letter(upward const& m)
            : up(m) {
            parts[0] = std::as_bytes(std::span(&up, 1));
        }
        letter(downward const& m, time_list list)
            : down(m)
            , times(std::move(list)) {
            parts[0] = std::as_bytes(std::span(&down, 1));
            if (times) parts[1] = std::as_bytes(std::span(*times));
        }
        upward up;
        downward down;
        time_list times;
        std::array<std::span<std::byte const>, 2> parts;
    };

    static auto inbox_bytes(Transport const& t) -> std::vector<std::byte> {
        auto const times = static_cast<std::size_t>(t.size()) * sizeof(std::int64_t);
        return std::vector<std::byte>(t.rank() == 0 ? sizeof(upward) : sizeof(downward) + times);
    }
    [[nodiscard]] auto peer(std::size_t i) const -> int { return rank() == 0 ? static_cast<int>(i) + 1 : 0; }
    auto post(std::size_t i) -> pending {
        return m_transport.irecv(channel::control, std::span(m_inbox[i]), peer(i), monitor_tag);
    }
    void send(int to, std::shared_ptr<letter> l) {
        bool const short_one = l->parts[1].empty();
        auto const parts = short_one
                               ? const_message_parts(l->parts[0])
                               : const_message_parts(std::span<std::span<std::byte const> const>(l->parts));
        m_pending.push_back(m_transport.isend(channel::control, parts, to, monitor_tag));
        m_letters.push_back(std::move(l));
    }
    // Sends stand behind the receives; leaves the positions of receives in m_done.
    void forget_sent() {
        std::sort(m_done.begin(), m_done.end(),
                  [](completion const& a, completion const& b) { return a.position < b.position; });
        while (!m_done.empty() && m_done.back().position >= static_cast<int>(m_inbox.size())) {
            auto const i = static_cast<std::ptrdiff_t>(m_done.back().position);
            m_pending.erase(m_pending.begin() + i);
            m_letters.erase(m_letters.begin() + i - static_cast<std::ptrdiff_t>(m_inbox.size()));
            m_done.pop_back();
        }
    }
    template <class F>
    auto hand_out_up(std::size_t i, F f) -> bool {
        upward message;
        std::memcpy(&message, m_inbox[i].data(), sizeof message);
        f(peer(i), message);
        return message.what == upward::kind::farewell;
    }
    template <class F>
    auto hand_out_down(std::size_t i, F f) -> bool {
        downward message;
        std::memcpy(&message, m_inbox[i].data(), sizeof message);
        std::vector<std::int64_t> times(static_cast<std::size_t>(message.end.times));
        if (!times.empty())
            std::memcpy(times.data(), m_inbox[i].data() + sizeof message, times.size() * sizeof times[0]);
        f(message, times);
        return message.what == downward::kind::closed;
    }

    Transport m_transport;
    std::vector<std::vector<std::byte>> m_inbox;
    std::size_t m_open; // receives that still wait for a message
    std::vector<pending> m_pending;
    std::vector<std::shared_ptr<letter>> m_letters;
    std::vector<completion> m_done;
};

} // namespace papcoll::inline v0::detail
