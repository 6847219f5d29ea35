// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../../support/all_to_all_suite.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

/// Three bytes of state that travel as four, so that elements cannot be sent from where they are.
struct packed {
    int value = 0;
    packed() = default;
    explicit packed(int v)
        : value(v) {}
    packed(packed const& other)
        : value(other.value) {}
    auto operator=(packed const&) -> packed& = default;
    auto operator==(packed const& other) const -> bool { return value == other.value; }
};

} // namespace

template <>
struct papcoll::v0::wire_format<packed> {
    static constexpr bool is_bytes = false;
    static auto bytes(std::size_t n) -> std::size_t { return 3 * n + 5; } // with slack
    static auto pack(packed const* values, std::size_t n, std::span<std::byte> to) -> std::size_t {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t b = 0; b < 3; ++b)
                to[3 * i + b] = static_cast<std::byte>(values[i].value >> (8 * static_cast<int>(b)) & 255);
        return 3 * n;
    }
    static auto unpack(std::span<std::byte const> from, packed* values, std::size_t n) -> std::size_t {
        for (std::size_t i = 0; i < n; ++i) {
            values[i].value = 0;
            for (std::size_t b = 0; b < 3; ++b)
                values[i].value |= static_cast<int>(from[3 * i + b]) << (8 * static_cast<int>(b));
        }
        return 3 * n;
    }
};

namespace {

void all_policies(endpoint& self) {
    all_to_all_suite::for_each_policy([&](auto const& policy) {
        CAPTURE(policy.name());
        all_to_all_suite::promises(self, self.rank(), self.size(), policy);
    });
}

template <class Policy>
void blocks_arrive(endpoint& self, std::size_t n, Policy const& policy) {
    auto const p = static_cast<std::size_t>(self.size());
    auto const me = static_cast<std::size_t>(self.rank());
    std::vector<std::uint32_t> in(n * p), out(n * p), expected(n * p);
    for (std::size_t r = 0; r < p; ++r)
        for (std::size_t i = 0; i < n; ++i) {
            in[r * n + i] = static_cast<std::uint32_t>(me << 16 | r << 8 | i);
            expected[r * n + i] = static_cast<std::uint32_t>(r << 16 | me << 8 | i);
        }
    papcoll::all_to_all(self, in.data(), n, out.data(), policy);
    CHECK(out == expected);
    papcoll::all_to_all(self, papcoll::inplace(in.data()), n, policy);
    CHECK(in == expected);
}

/// What leaves a rank, of the messages of all-to-alls alone, and how many receives it has open.
struct traffic {
    std::size_t messages = 0;
    std::size_t bytes = 0;
    std::size_t most_open_receives = 0;
    std::size_t most_open_sends = 0;
};

/// An endpoint that counts. Pendings complete through test_some and wait_some alone.
class counting_endpoint {
public:
    struct pending {
        endpoint::pending inner = {};
        bool counted = false;
    };

    counting_endpoint(endpoint inner, traffic& seen)
        : m_inner(std::move(inner))
        , m_seen(&seen)
        , m_open(std::make_shared<std::pair<std::size_t, std::size_t>>()) {}

    [[nodiscard]] auto rank() const -> int { return m_inner.rank(); }
    [[nodiscard]] auto size() const -> int { return m_inner.size(); }
    [[nodiscard]] auto concurrent() const -> bool { return false; }
    [[nodiscard]] auto max_message_bytes() const -> std::size_t { return m_inner.max_message_bytes(); }
    [[nodiscard]] auto attachment() -> std::shared_ptr<void>& { return m_inner.attachment(); }
    [[nodiscard]] auto isend(papcoll::channel ch, papcoll::const_message_parts parts, int to, int tag)
        -> pending {
        bool const counted = ch == papcoll::channel::data;
        if (counted) {
            ++m_seen->messages;
            m_seen->bytes += parts.bytes();
            m_seen->most_open_sends = std::max(m_seen->most_open_sends, ++m_open->first);
        }
        return {m_inner.isend(ch, parts, to, tag), counted};
    }
    [[nodiscard]] auto irecv(papcoll::channel ch, papcoll::message_parts parts, int from, int tag)
        -> pending {
        bool const counted = ch == papcoll::channel::data;
        if (counted) m_seen->most_open_receives = std::max(m_seen->most_open_receives, ++m_open->second);
        return {m_inner.irecv(ch, parts, from, tag), counted};
    }
    void test_some(std::span<pending> pendings, std::vector<papcoll::completion>& done) {
        some(pendings, done, false);
    }
    void wait_some(std::span<pending> pendings, std::vector<papcoll::completion>& done) {
        some(pendings, done, true);
    }
    void idle() { m_inner.idle(); }
    [[nodiscard]] auto borrowed() const -> counting_endpoint {
        auto copy = *this;
        copy.m_inner = m_inner.borrowed();
        return copy;
    }
    auto abandon(std::span<pending>, std::span<pending>) noexcept -> bool { return false; }

private:
    void some(std::span<pending> pendings, std::vector<papcoll::completion>& done, bool block) {
        std::vector<endpoint::pending> inner;
        for (auto& p : pendings) inner.push_back(p.inner);
        auto const before = done.size();
        if (block)
            m_inner.wait_some(inner, done);
        else
            m_inner.test_some(inner, done);
        for (std::size_t i = 0; i < pendings.size(); ++i) pendings[i].inner = inner[i];
        for (auto i = before; i < done.size(); ++i) {
            auto const& p = pendings[static_cast<std::size_t>(done[i].position)];
            if (p.counted) --(p.inner.sender ? m_open->first : m_open->second);
        }
    }

    endpoint m_inner;
    traffic* m_seen;
    std::shared_ptr<std::pair<std::size_t, std::size_t>> m_open;
};

/// Of one all-to-all of n ints per block, on each rank.
template <class Policy>
auto traffic_of(int ranks, std::size_t n, Policy const& policy) -> std::vector<traffic> {
    std::vector<traffic> all(static_cast<std::size_t>(ranks));
    papcoll::threads::run(ranks, {.eager_limit = 0, .seed = 5}, [&](endpoint& self) {
        auto& mine = all[static_cast<std::size_t>(self.rank())];
        counting_endpoint counting(self, mine);
        papcoll::attach(counting, {.link = papcoll::link_model{papcoll::ticks{1000}, 1.0}});
        mine = {};
        std::vector<int> in(n * static_cast<std::size_t>(ranks), self.rank()), out(in.size());
        papcoll::all_to_all(counting, in.data(), n, out.data(), policy);
        self.attachment().reset();
    });
    return all;
}

} // namespace

TEST_CASE("all_to_all on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("all_to_all with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 1000},
                              all_policies);
    }
}

TEST_CASE("all_to_all: every block is where it belongs at every number of ranks up to 33") {
    for (int ranks = 1; ranks <= 33; ++ranks) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0}, [](endpoint& self) {
            all_to_all_suite::for_each_policy([&](auto const& policy) { blocks_arrive(self, 3, policy); });
        });
    }
}

TEST_CASE("all_to_all of elements that travel packed") {
    for (int const ranks : {1, 2, 3, 5, 8}) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = 3}, [](endpoint& self) {
            for (std::size_t const n : {0u, 1u, 40u})
                all_to_all_suite::for_each_policy([&](auto const& policy) {
                    std::vector<packed> in, expected;
                    for (int r = 0; r < self.size(); ++r)
                        for (std::size_t i = 0; i < n; ++i) {
                            in.emplace_back(self.rank() * 1000 + r * 50 + static_cast<int>(i));
                            expected.emplace_back(r * 1000 + self.rank() * 50 + static_cast<int>(i));
                        }
                    std::vector<packed> out;
                    papcoll::all_to_all(self, in, n, out, policy);
                    CHECK(out == expected);
                    papcoll::all_to_all(self, papcoll::inplace(in.data()), n, policy);
                    CHECK(in == expected);
                });
        });
    }
}

TEST_CASE("all_to_all: messages, volume and windows are those of the algorithms") {
    constexpr std::size_t n = 10;
    for (int const ranks : {1, 2, 3, 5, 8, 13, 16, 17}) {
        CAPTURE(ranks);
        auto const others = static_cast<std::size_t>(ranks - 1);
        auto const direct = [&](auto const& policy, std::size_t window) {
            CAPTURE(policy.name());
            for (auto const& seen : traffic_of(ranks, n, policy)) {
                CHECK(seen.messages == others);
                CHECK(seen.bytes == others * n * sizeof(int));
                CHECK(seen.most_open_receives == std::min(others, window));
                CHECK(seen.most_open_sends <= window);
            }
        };
        direct(papcoll::all_to_all_linear{}, others);
        direct(papcoll::all_to_all_pairwise{}, 1);
        for (int const window : {1, 2, 4, 100})
            direct(papcoll::all_to_all_linear_sync{.window = window}, static_cast<std::size_t>(window));

        std::size_t rounds = 0;
        std::size_t hops = 0; // a block over the distance i makes one for each bit of i
        for (; (1 << rounds) < ranks; ++rounds)
            for (int i = 1; i < ranks; ++i) hops += static_cast<std::size_t>(i >> rounds & 1);
        for (auto const& seen : traffic_of(ranks, n, papcoll::all_to_all_bruck{})) {
            CHECK(seen.messages == rounds);
            CHECK(seen.bytes == hops * n * sizeof(int));
        }
        CHECK(2 * hops <= rounds * static_cast<std::size_t>(ranks)); // as documented
    }
}

TEST_CASE("all_to_all: forms, mistakes and disagreements on threads") {
    for (int const ranks : {1, 2, 5})
        papcoll::threads::run(ranks, [](endpoint& self) {
            int const rank = self.rank();
            int const p = self.size();
            all_to_all_suite::for_each_policy(
                [&](auto const& policy) { all_to_all_suite::forms(self, rank, p, policy); });
            all_to_all_suite::bad_arguments(self, rank, p);
            all_to_all_suite::agreed_checks(self, rank, p);
            all_to_all_suite::promises(self, rank, p, papcoll::all_to_all_bruck{}); // agreed, too
        });
}

TEST_CASE("policies of all_to_all serve nothing else, and others do not serve it") {
    using papcoll::collective_kind;
    using papcoll::collective_policy;
    all_to_all_suite::for_each_policy([](auto const& policy) {
        using policy_type = std::remove_cvref_t<decltype(policy)>;
        static_assert(papcoll::block_policy<policy_type>);
        CHECK(collective_policy<policy_type, collective_kind::all_to_all>);
        CHECK_FALSE(collective_policy<policy_type, collective_kind::all_gather>);
        CHECK_FALSE(collective_policy<policy_type, collective_kind::reduce>);
    });
    CHECK(collective_policy<papcoll::native, collective_kind::all_to_all>);
    CHECK_FALSE(collective_policy<papcoll::circulant, collective_kind::all_to_all>);
    CHECK_FALSE(collective_policy<papcoll::circulant_scheduler, collective_kind::all_to_all>);
}
