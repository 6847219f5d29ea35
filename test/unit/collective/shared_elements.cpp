// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/core.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/shared_memory.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <vector>

using papcoll::threads::endpoint;

// Elements whose size is no power of two, and elements of which few, one or not even one have room in the
// memory of a rank.
namespace {

template <std::size_t N>
struct block {
    std::array<unsigned char, N> bytes;
    friend auto operator==(block const&, block const&) -> bool = default;
};

auto byte(int n) -> unsigned char { return static_cast<unsigned char>(n & 255); }

/// Element i of what rank `from` gives in the call `call`.
template <std::size_t N>
auto value(int call, int from, std::size_t i) -> block<N> {
    block<N> b;
    b.bytes.fill(byte(call * 7 + from * 31 + static_cast<int>(i)));
    b.bytes[0] = byte(from * 2 + 3);
    b.bytes[N - 1] = byte(from * 3 + static_cast<int>(i));
    return b;
}
template <std::size_t N>
auto values(int call, int from, std::size_t n) -> std::vector<block<N>> {
    std::vector<block<N>> result;
    for (std::size_t i = 0; i < n; ++i) result.push_back(value<N>(call, from, i));
    return result;
}
/// The first two bytes are a map x -> m x + c, and maps do not commute; the last ones are added; of the
/// others it takes the left.
struct composed {
    template <std::size_t N>
    auto operator()(block<N> const& a, block<N> const& b) const -> block<N> {
        auto result = a;
        result.bytes[0] = byte(a.bytes[0] * b.bytes[0]);
        result.bytes[1] = byte(a.bytes[1] * b.bytes[0] + b.bytes[1]);
        result.bytes[N - 1] = byte(a.bytes[N - 1] + b.bytes[N - 1]);
        return result;
    }
};

/// One call of each collective, of n elements of each rank, or for each.
template <std::size_t N>
class calls {
public:
    using element = block<N>;

    calls(endpoint& self, std::size_t n)
        : m_self(self)
        , m_rank(self.rank())
        , m_ranks(self.size())
        , m_each(n)
        , m_all(n * static_cast<std::size_t>(m_ranks))
        , m_in(values<N>(1, m_rank, m_all))
        , m_out(m_all + 1) {
        for (int r = 0; r < m_ranks; ++r) m_operands.push_back(values<N>(1, r, m_all));
    }

    /// `scatters`: whether the policy keeps the order of operands in reduce_scatter.
    template <class Policy>
    void make(Policy const& policy, bool scatters) {
        auto const* const in = m_in.data();
        auto* const out = m_out.data();
        for (int const root : {0, m_ranks - 1}) {
            bool const here = m_rank == root;
            begin();
            if (here) std::copy_n(in, m_each, out);
            papcoll::broadcast(m_self, out, m_each, root, policy);
            expect(m_each, [&](std::size_t i) { return given(root, i); });
            begin();
            if (here)
                papcoll::reduce(m_self, in, m_each, out, composed{}, root, policy);
            else
                papcoll::reduce(m_self, in, m_each, composed{}, root, policy);
            expect(here ? m_each : 0, [&](std::size_t i) { return combined(i); });
            begin();
            papcoll::gather(m_self, in, m_each, out, root, policy);
            expect(here ? m_all : 0, [&](std::size_t i) { return given(owner(i), i % m_each); });
        }
        begin();
        papcoll::all_reduce(m_self, in, m_each, out, composed{}, policy);
        expect(m_each, [&](std::size_t i) { return combined(i); });
        begin();
        papcoll::all_gather(m_self, in, m_each, out, policy);
        expect(m_all, [&](std::size_t i) { return given(owner(i), i % m_each); });
        begin();
        papcoll::all_to_all(m_self, in, m_each, out, policy);
        expect(m_all, [&](std::size_t i) { return given(owner(i), first() + i % m_each); });
        if (!scatters) return;
        begin();
        std::vector<std::size_t> const sizes(static_cast<std::size_t>(m_ranks), m_each);
        papcoll::reduce_scatter(m_self, in, sizes, out, composed{}, policy);
        expect(m_each, [&](std::size_t i) { return combined(first() + i); });
    }

private:
    void begin() { std::fill(m_out.begin(), m_out.end(), guard()); }
    static auto guard() -> element {
        element b;
        b.bytes.fill(255);
        return b;
    }
    /// Where this rank's elements begin.
    [[nodiscard]] auto first() const -> std::size_t { return static_cast<std::size_t>(m_rank) * m_each; }
    [[nodiscard]] auto owner(std::size_t i) const -> int { return static_cast<int>(i / m_each); }
    [[nodiscard]] auto given(int from, std::size_t i) const -> element const& {
        return m_operands[static_cast<std::size_t>(from)][i];
    }
    [[nodiscard]] auto combined(std::size_t i) const -> element {
        auto result = given(0, i);
        for (int r = 1; r < m_ranks; ++r) result = composed{}(result, given(r, i));
        return result;
    }
    /// So many elements have come, and nothing behind them was touched.
    template <class F>
    void expect(std::size_t n, F expected) const {
        bool right = true;
        for (std::size_t i = 0; i < n; ++i) right = right && m_out[i] == expected(i);
        CHECK(right);
        CHECK(m_out[m_all] == guard());
        CHECK(m_in == given_all(m_rank));
    }
    [[nodiscard]] auto given_all(int from) const -> std::vector<element> const& {
        return m_operands[static_cast<std::size_t>(from)];
    }

    endpoint& m_self;
    int m_rank, m_ranks;
    std::size_t m_each, m_all;
    std::vector<element> m_in, m_out;
    std::vector<std::vector<element>> m_operands; // of each rank
};

/// `served`: by shared_memory, too; else it must say on all ranks that it is not for such elements.
template <std::size_t N>
void elements(std::initializer_list<int> all_ranks, std::size_t memory, bool served) {
    for (int const ranks : all_ranks) {
        CAPTURE(N);
        CAPTURE(ranks);
        CAPTURE(memory);
        papcoll::threads::run(ranks, [&](endpoint& self) {
            papcoll::attach(self,
                            {.link = papcoll::link_model{papcoll::ticks(1'000), 0.1}, .node_memory = memory});
            for (std::size_t const n : {0u, 1u, 2u, 7u}) {
                calls<N> each(self, n);
                each.make(papcoll::automatic{}, served);
                if (served)
                    each.make(papcoll::shared_memory{}, true);
                else
                    CHECK_THROWS_AS(each.make(papcoll::shared_memory{}, true), std::invalid_argument);
            }
        });
    }
}

constexpr std::size_t little = std::size_t(8) << 10, usual = std::size_t(256) << 10;

} // namespace

TEST_CASE("elements of three bytes, and of twenty-four") {
    for (auto const memory : {little, usual}) {
        elements<3>({2, 3, 4, 5, 6, 7, 8, 9}, memory, true);
        elements<24>({2, 3, 4, 5, 6, 7, 8, 9}, memory, true);
    }
}

TEST_CASE("elements of a few cache lines") {
    for (auto const memory : {little, usual}) elements<128>({2, 3, 5, 8, 9}, memory, true);
    elements<1024>({2, 3, 5, 9}, usual, true);
    elements<1024>({2, 3}, little, true);
    elements<1024>({4, 9}, little, false);
}

TEST_CASE("elements that are as long as the memory of a rank, or longer") {
    elements<4096>({2, 5, 9}, usual, true);
    elements<4096>({2, 5}, little, false);
    for (auto const memory : {little, usual}) elements<std::size_t(96) << 10>({2, 3, 5}, memory, false);
}
