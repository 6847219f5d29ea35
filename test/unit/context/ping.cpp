// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/ping.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace {

using papcoll::threads::endpoint;

/// What the ranks of a measurement have sent.
struct traffic {
    std::atomic<int> short_ones = 0;
    std::atomic<int> before_the_first_long = -1;
};

/// Ranks that are placed on the nodes in turn.
auto nodes_of(int ranks, int nodes) -> std::vector<int> {
    std::vector<int> result;
    for (int r = 0; r < ranks; ++r) result.push_back(r % nodes);
    return result;
}

/// An endpoint that counts, and of which some are slow.
class counting : public endpoint {
public:
    counting(endpoint const& self, traffic& sent)
        : endpoint(self)
        , m_sent(&sent) {}

    auto isend(papcoll::channel ch, papcoll::const_message_parts parts, int to, int tag) -> pending {
        auto const bytes = parts.bytes();
        if (bytes >= 1U << 16U) {
            int none = -1;
            m_sent->before_the_first_long.compare_exchange_strong(none, m_sent->short_ones);
        } else if (bytes >= 8) { // shorter ones are no part of the measurement
            if (rank() % 3 == 1) std::this_thread::sleep_for(std::chrono::microseconds(300));
            ++m_sent->short_ones;
        }
        return endpoint::isend(ch, parts, to, tag);
    }

    [[nodiscard]] auto borrowed() const -> counting { return *this; }

private:
    traffic* m_sent;
};

} // namespace

TEST_CASE("no pair of ranks sends long messages while another still sends short ones") {
    for (int const ranks : {2, 3, 7, 8}) {
        CAPTURE(ranks);
        traffic sent;
        papcoll::threads::run(ranks, [&](endpoint& self) {
            counting t(self, sent);
            papcoll::detail::ping<counting> measuring(t, nodes_of(t.size(), 1), 7);
            while (!measuring.advance(t, true)) t.idle();
        });
        CHECK(sent.short_ones.load() > 0);
        CHECK(sent.before_the_first_long.load() == sent.short_ones.load());
    }
}

TEST_CASE("those who lead a pair have measured all that a link has, and nothing of it is unknown") {
    papcoll::threads::run(5, [&](endpoint& self) {
        papcoll::detail::ping<endpoint> measuring(self, nodes_of(self.size(), 1), 7);
        while (!measuring.advance(self, true)) self.idle();
        auto const link = measuring.result();
        bool const leads = self.rank() < 2;
        CHECK((link.latency > papcoll::ticks{0}) == leads);
        CHECK((link.per_message > 0) == leads);
    });
}

namespace {

/// An endpoint that counts the long messages to other nodes.
class crossing : public endpoint {
public:
    crossing(endpoint const& self, std::vector<int> const& nodes, std::atomic<int>& crossed)
        : endpoint(self)
        , m_nodes(&nodes)
        , m_crossed(&crossed) {}

    auto isend(papcoll::channel ch, papcoll::const_message_parts parts, int to, int tag) -> pending {
        auto const node = [&](int r) { return (*m_nodes)[static_cast<std::size_t>(r)]; };
        if (parts.bytes() >= 1U << 16U && node(to) != node(rank())) ++*m_crossed;
        return endpoint::isend(ch, parts, to, tag);
    }

    [[nodiscard]] auto borrowed() const -> crossing { return *this; }

private:
    std::vector<int> const* m_nodes;
    std::atomic<int>* m_crossed;
};

} // namespace

TEST_CASE("of several nodes a link between them is measured, wherever the ranks were placed") {
    auto const measures_a_link = [](std::vector<int> const& nodes) {
        std::atomic<int> crossed = 0;
        papcoll::threads::run(static_cast<int>(nodes.size()), [&](endpoint& self) {
            crossing t(self, nodes, crossed);
            papcoll::detail::ping<crossing> measuring(t, nodes, 7);
            while (!measuring.advance(t, true)) t.idle();
        });
        return crossed.load() > 0;
    };
    for (int const nodes : {2, 3, 4})
        for (int const ranks : {4, 5, 7, 8, 12, 13}) {
            CAPTURE(nodes);
            CAPTURE(ranks);
            CHECK(measures_a_link(nodes_of(ranks, nodes)));
        }
    for (auto const& nodes : {std::vector{0, 0, 2}, std::vector{0, 1, 0}, std::vector{0, 1, 1},
                              std::vector{0, 0, 0, 0, 4}, std::vector{0, 1, 1, 1, 1}})
        CHECK(measures_a_link(nodes));
}
