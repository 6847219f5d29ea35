// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// alone
#include <papcoll/context/node_memory.hpp>
#include <papcoll/policy/shared_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../support/program_calls.hpp"
#include "../../support/sanitized.hpp"

// All interleavings of ranks that make collectives in a row through the memory of their node, by the real
// signs and the real programs. What a rank does there has a beginning and an end, between which others may do
// something, too: whoever then touches what it writes, or writes what it reads, is a fault, on any processor:
// where none is found every access is ordered by a release and an acquire.
namespace {

using papcoll::collective_kind;
using papcoll::memory;
using papcoll::program;
using papcoll::region;
using papcoll::detail::node_memory;
using number = std::int64_t;

constexpr int ranks = 3;
constexpr std::size_t few_bytes = node_memory::granularity;
constexpr std::size_t more_bytes = 4 * few_bytes; // of which tiny areas are a cache line
constexpr std::size_t many_bytes = 8 * few_bytes; // and here two

auto call_of(collective_kind kind, int root, std::size_t count, std::size_t bytes_per_rank = few_bytes)
    -> program_calls::call {
    program_calls::call c;
    c.shape.operation = kind;
    c.shape.ranks = ranks;
    c.shape.root = root;
    c.shape.count = count;
    c.shape.element_bytes = sizeof(number);
    c.shape.shared_bytes = bytes_per_rank;
    c.shape.commutative = false;
    c.nodes.assign(ranks, 0);
    return c;
}
auto segment(std::size_t bytes_per_rank) -> std::shared_ptr<std::byte> {
    auto const n = node_memory::segment_bytes(ranks, bytes_per_rank);
    std::shared_ptr<std::byte> made(static_cast<std::byte*>(::operator new(n, std::align_val_t(64))),
                                    [](std::byte* p) { ::operator delete(p, std::align_val_t(64)); });
    std::memset(made.get(), 0, n);
    return made;
}
/// Keeps the order of its operands.
auto combined(number a, number b) -> number { return a * 31 + b; }

class world {
public:
    explicit world(std::vector<program_calls::call> calls)
        : m_calls(std::move(calls))
        , m_segment(segment(m_calls[0].shape.shared_bytes)) {
        auto const bytes_per_rank = m_calls[0].shape.shared_bytes;
        std::vector const members{0, 1, 2};
        for (int r = 0; r < ranks; ++r)
            m_ranks.push_back({node_memory(m_segment, bytes_per_rank, members, r, ranks, true)});
        for (auto const& c : m_calls)
            m_programs.push_back(programs_of(papcoll::shared_memory{}, c, program_calls::fast));
    }

    /// Of each rank, calls before this one are made without interleaving, by one rank after the other.
    void explore(std::array<std::size_t, ranks> const& first = {}) {
        for (int r = 0; r < ranks; ++r)
            while (m_ranks[index(r)].call < first[index(r)]) {
                REQUIRE(may_step(r));
                step(r);
            }
        visit();
    }
    [[nodiscard]] auto states() const -> std::size_t { return m_seen.size(); }

private:
    struct rank_state {
        node_memory shared;
        std::size_t call = 0;
        bool begun = false; ///< the call has its area
        program::index next = 0;
        std::size_t awaits = 0;
        bool inside = false; ///< the instruction has begun
        node_memory::area area = {};
        std::vector<number> in = {}, out = {};
    };
    struct snapshot {
        std::vector<rank_state> ranks;
        std::vector<std::byte> memory;
    };

    static auto index(int r) -> std::size_t { return static_cast<std::size_t>(r); }
    auto program_of(int r) -> program const& { return m_programs[m_ranks[index(r)].call][index(r)]; }
    static auto value(std::size_t call, int rank, std::size_t element) -> number {
        return static_cast<number>(1000 * (call + 1) + 100 * index(rank) + element);
    }

    /// In every order.
    void visit() {
        std::array<std::size_t, 4 * ranks> key{};
        for (int r = 0; r < ranks; ++r) {
            auto const& s = m_ranks[index(r)];
            key[4 * index(r)] = s.call;
            key[4 * index(r) + 1] = s.begun ? 1 : 0;
            key[4 * index(r) + 2] = s.next;
            key[4 * index(r) + 3] = s.inside ? 1 : 0;
        }
        if (!m_seen.insert(key).second) return;
        bool any = false, over = true;
        std::optional<snapshot> before;
        for (int r = 0; r < ranks; ++r) {
            over = over && m_ranks[index(r)].call == m_calls.size();
            if (!may_step(r)) continue;
            any = true;
            if (!before) before = save();
            step(r);
            visit();
            restore(*before);
        }
        if (!any && !over) FAIL("nobody can proceed");
    }
    auto save() const -> snapshot {
        auto const n = node_memory::segment_bytes(ranks, m_calls[0].shape.shared_bytes);
        return {m_ranks, {m_segment.get(), m_segment.get() + n}};
    }
    void restore(snapshot const& s) {
        m_ranks = s.ranks;
        std::memcpy(m_segment.get(), s.memory.data(), s.memory.size());
    }

    auto may_step(int r) -> bool {
        auto& s = m_ranks[index(r)];
        if (s.call == m_calls.size()) return false;
        if (!s.begun) return true;
        auto const& p = program_of(r);
        if (s.next == 0 && !s.inside && s.awaits == 0 && !opens(s, p)) return false;
        if (s.next == p.size() || p.instructions[s.next].what != program::action::await) return true;
        return s.shared.look(s.area, p.instructions[s.next].peer, p.posts[s.awaits]) !=
               node_memory::news::none;
    }
    /// A rank that posts first needs to tell nothing before.
    static auto opens(rank_state& s, program const& p) -> bool {
        auto const is_sign = [](auto const& i) {
            return i.what == program::action::post || i.what == program::action::await;
        };
        auto const first = std::find_if(p.instructions.begin(), p.instructions.end(), is_sign);
        bool const posts = first != p.instructions.end() && first->what == program::action::post;
        return posts ? s.shared.open_to_post(s.area) : s.shared.open(s.area);
    }
    void step(int r) {
        auto& s = m_ranks[index(r)];
        if (!s.begun) return begin(r);
        auto const& p = program_of(r);
        if (s.next == p.size()) return end(r);
        auto const what = p.instructions[s.next].what;
        if (what == program::action::post) {
            s.shared.post(s.area, false);
        } else if (what == program::action::await) {
            CHECK(s.shared.look(s.area, p.instructions[s.next].peer, p.posts[s.awaits]) ==
                  node_memory::news::there);
            ++s.awaits;
        } else if (!s.inside) {
            enter(r);
            s.inside = true;
            return;
        } else {
            compute(s, p);
            s.inside = false;
        }
        ++s.next;
    }
    void begin(int r) {
        auto& s = m_ranks[index(r)];
        auto const& p = program_of(r);
        auto const& shape = m_calls[s.call].shape;
        s.area = p.beside_signs ? s.shared.reserve_line(s.call + 1, p.node_key)
                                : s.shared.reserve(s.call + 1, p.node_key, p.node * sizeof(number));
        s.begun = true;
        s.next = 0;
        s.awaits = 0;
        s.in.assign(shape.count, 0);
        s.out.assign(shape.count, -1);
        for (std::size_t i = 0; i < shape.count; ++i) s.in[i] = value(s.call, r, i);
        if (shape.operation == collective_kind::broadcast && r == shape.root) s.out = s.in;
    }
    void end(int r) {
        auto& s = m_ranks[index(r)];
        check(r);
        s.shared.end(s.area.call);
        s.begun = false;
        s.next = 0;
        ++s.call;
    }
    auto data(rank_state& s, region const& at) -> number* {
        switch (at.where()) {
        case memory::in:
            return s.in.data() + at.offset();
        case memory::out:
            return s.out.data() + at.offset();
        default:
            return reinterpret_cast<number*>(s.area.data) + at.offset();
        }
    }
    void compute(rank_state& s, program const& p) {
        auto const regions = p.regions_of(s.next);
        auto const n = program::operands(p.instructions[s.next].what);
        for (std::size_t r = 0; r < regions.size(); r += n)
            for (std::size_t i = 0; i < regions[r].size(); ++i) {
                auto const left = data(s, regions[r + 1])[i];
                data(s, regions[r])[i] = n == 2 ? left : combined(left, data(s, regions[r + 2])[i]);
            }
    }

    struct touched {
        std::byte const* begin;
        std::byte const* end;
        bool writes;
    };
    auto touches(rank_state& s, program const& p) -> std::vector<touched> {
        std::vector<touched> result;
        auto const regions = p.regions_of(s.next);
        auto const n = program::operands(p.instructions[s.next].what);
        for (std::size_t r = 0; r < regions.size(); ++r) {
            if (regions[r].where() != memory::node) continue;
            auto const* const begin = reinterpret_cast<std::byte const*>(data(s, regions[r]));
            result.push_back({begin, begin + regions[r].size() * sizeof(number), r % n == 0});
        }
        return result;
    }
    /// Nobody is inside who writes what this one reads, or touches what it writes.
    void enter(int r) {
        auto const mine = touches(m_ranks[index(r)], program_of(r));
        for (int other = 0; other < ranks; ++other) {
            if (other == r || !m_ranks[index(other)].inside) continue;
            for (auto const& theirs : touches(m_ranks[index(other)], program_of(other)))
                for (auto const& own : mine)
                    if ((own.writes || theirs.writes) && own.begin < theirs.end && theirs.begin < own.end)
                        FAIL("two ranks are at the same memory");
        }
    }

    void check(int r) {
        auto const& s = m_ranks[index(r)];
        auto const& shape = m_calls[s.call].shape;
        auto const all = [&](std::size_t i) {
            return combined(combined(value(s.call, 0, i), value(s.call, 1, i)), value(s.call, 2, i));
        };
        auto const first = [&](int last, std::size_t i) { // the operands of the ranks up to the last
            auto result = value(s.call, 0, i);
            for (int k = 1; k <= last; ++k) result = combined(result, value(s.call, k, i));
            return result;
        };
        auto const each = shape.count / ranks;
        for (auto const& other : m_ranks)
            if (shape.operation == collective_kind::barrier)
                REQUIRE((other.call > s.call || (other.call == s.call && other.begun)));
        for (std::size_t i = 0; i < shape.count; ++i) {
            auto const owner = static_cast<int>(i / std::max<std::size_t>(each, 1));
            switch (shape.operation) {
            case collective_kind::broadcast:
                REQUIRE(s.out[i] == value(s.call, shape.root, i));
                break;
            case collective_kind::reduce:
                REQUIRE((r != shape.root || s.out[i] == all(i)));
                break;
            case collective_kind::all_reduce:
                REQUIRE(s.out[i] == all(i));
                break;
            case collective_kind::gather:
                REQUIRE((r != shape.root || s.out[i] == value(s.call, owner, i % each)));
                break;
            case collective_kind::all_gather:
                REQUIRE(s.out[i] == value(s.call, owner, i % each));
                break;
            case collective_kind::reduce_scatter:
                REQUIRE((i >= each || s.out[i] == all(index(r) * each + i)));
                break;
            case collective_kind::all_to_all:
                REQUIRE(s.out[i] == value(s.call, owner, index(r) * each + i % each));
                break;
            case collective_kind::scatter:
                REQUIRE((i >= each || s.out[i] == value(s.call, shape.root, index(r) * each + i)));
                break;
            case collective_kind::scan:
                REQUIRE(s.out[i] == first(r, i));
                break;
            case collective_kind::exscan:
                REQUIRE((s.out[i] == (r == 0 ? -1 : first(r - 1, i))));
                break;
            case collective_kind::barrier:
                break;
            }
        }
    }

    std::vector<program_calls::call> m_calls;
    std::shared_ptr<std::byte> m_segment;
    std::vector<rank_state> m_ranks;
    std::vector<std::vector<program>> m_programs; // by call and rank
    std::set<std::array<std::size_t, 4 * ranks>> m_seen;
};

constexpr std::array kinds{
    collective_kind::broadcast,  collective_kind::reduce,     collective_kind::all_reduce,
    collective_kind::gather,     collective_kind::all_gather, collective_kind::reduce_scatter,
    collective_kind::all_to_all, collective_kind::scatter,    collective_kind::scan,
    collective_kind::exscan,     collective_kind::barrier};

/// Of the kinds that come first.
constexpr std::size_t every = test_support::sanitized ? 8 : 1;

} // namespace

TEST_CASE("three calls in a row through one long area") {
    for (std::size_t first = 0; first < kinds.size(); first += every)
        for (std::size_t const step : {0u, 1u, 3u}) {
            if (test_support::sanitized && step == 0) continue;
            std::vector<program_calls::call> calls;
            for (std::size_t i = 0; i < 3; ++i)
                calls.push_back(call_of(kinds[(first + step * i) % kinds.size()], static_cast<int>(i), 60));
            world(calls).explore();
        }
}

TEST_CASE("three calls in a row through short areas or beside the signs, and long ones among them") {
    for (std::size_t first = 0; first < kinds.size(); first += every)
        for (auto const& [length, others] : {std::pair{3u, 21u}, std::pair{60u, 21u}, std::pair{60u, 3u}}) {
            std::vector<program_calls::call> calls;
            for (std::size_t i = 0; i < 3; ++i)
                calls.push_back(call_of(kinds[(first + i) % kinds.size()], 0, i == 1 ? length : others));
            world(calls).explore();
        }
    // Tiny areas, too.
    constexpr std::array<std::size_t, 4> lengths{15, 120, 3, 600};
    for (std::size_t first = 0; first < kinds.size(); first += every) {
        std::vector<program_calls::call> calls;
        for (std::size_t i = first; i < first + 3; ++i)
            calls.push_back(call_of(kinds[i % kinds.size()], 0, lengths[i % lengths.size()], many_bytes));
        world(calls).explore();
    }
}

TEST_CASE("so many short calls that the last take the areas of the first") {
    for (auto const kind : {collective_kind::broadcast, collective_kind::reduce}) {
        if (test_support::sanitized && kind == collective_kind::reduce) continue;
        // Rank 0 gives, or rank 1 does, and may be ahead by as many calls as there are areas.
        world w(std::vector(node_memory::short_areas + 2, call_of(kind, 0, 7)));
        w.explore();
        CHECK(w.states() > 1'000);
    }
}

TEST_CASE("so many calls beside the signs, or through tiny areas, that the last take those of the first") {
    for (auto const& [length, areas] :
         {std::pair<std::size_t, std::size_t>{3, node_memory::sign_lines}, {7, node_memory::tiny_areas}}) {
        if (test_support::sanitized && length == 7) continue;
        // Who gives is ahead, and one of the others.
        world gives(std::vector(areas + 2, call_of(collective_kind::broadcast, 0, length, more_bytes)));
        gives.explore({areas - 1, 0, areas - 3});
        CHECK(gives.states() > 1'000);
        world takes(std::vector(areas + 2, call_of(collective_kind::reduce, 2, length, more_bytes)));
        takes.explore({areas - 1, areas - 2, 0});
        CHECK(takes.states() > 1'000);
    }
}

TEST_CASE("a call in many chunks") {
    for (std::size_t i = 0; i < kinds.size(); i += every)
        world({call_of(kinds[i], 1, kinds[i] == collective_kind::broadcast ? 3'600 : 2'100)}).explore();
}
