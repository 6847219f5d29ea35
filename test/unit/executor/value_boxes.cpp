// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/node_memory.hpp>
#include <papcoll/executor/program_state.hpp>
#include <papcoll/executor/value_boxes.hpp>
#include <papcoll/policy/binomial_tree.hpp>
#include <papcoll/policy/dissemination.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../support/program_calls.hpp"

// All interleavings of ranks that make calls of serialized values in a row by the real boxes and the real
// programs: nobody misses a box, or finds what belongs to another call or another rank.
namespace {

using papcoll::collective_kind;
using papcoll::program;
using papcoll::detail::node_memory;
using papcoll::detail::program_state;
using papcoll::detail::value_boxes;

constexpr std::size_t bytes_per_rank = 2 * node_memory::granularity;

auto index(int r) -> std::size_t { return static_cast<std::size_t>(r); }
auto call_of(collective_kind kind, int ranks, int root) -> program_calls::call {
    program_calls::call c;
    c.shape.operation = kind;
    c.shape.ranks = ranks;
    c.shape.root = root;
    c.shape.count = 1;
    c.shape.element_bytes = sizeof(std::string);
    c.nodes.assign(index(ranks), 0);
    return c;
}
/// Every third one does not fit into a box.
auto text(std::uint64_t call, int from, int to) -> std::string {
    auto const t = std::to_string(call) + " " + std::to_string(from) + " " + std::to_string(to);
    return (call + index(from)) % 3 == 0 ? t + std::string(1'000, 'x') : t;
}
auto is_long(std::string const& t) -> bool { return t.size() > 1'000; }

class world {
public:
    world(int ranks, std::vector<std::vector<program>> calls)
        : m_calls(std::move(calls))
        , m_bytes(node_memory::segment_bytes(index(ranks), bytes_per_rank))
        , m_segment(static_cast<std::byte*>(::operator new(m_bytes, std::align_val_t(64))),
                    [](std::byte* p) { ::operator delete(p, std::align_val_t(64)); }) {
        std::memset(m_segment.get(), 0, m_bytes);
        std::vector<int> members;
        for (int r = 0; r < ranks; ++r) members.push_back(r);
        for (int r = 0; r < ranks; ++r)
            m_ranks.push_back({node_memory(m_segment, bytes_per_rank, members, r, ranks, true)});
        REQUIRE(value_boxes::are_in(m_ranks[0].shared));
    }
    void explore() { visit(); }
    [[nodiscard]] auto states() const -> std::size_t { return m_seen.size(); }

private:
    struct rank_state {
        node_memory shared;
        std::uint64_t call = 0;
        std::size_t next = 0; ///< instruction
        bool begun = false;   ///< the call has boxes
        bool seen = false;    ///< the box that the instruction waits for
        node_memory::area area = {};
        value_boxes boxes = {};
    };
    struct snapshot {
        std::vector<rank_state> ranks;
        std::vector<std::byte> memory;
    };

    auto program_of(int r) -> program const& { return m_calls[m_ranks[index(r)].call][index(r)]; }
    /// In every order.
    void visit() {
        std::vector<std::uint64_t> key;
        for (auto const& s : m_ranks)
            key.insert(key.end(), {s.call, s.next, s.begun ? 1U : 0U, s.seen ? 1U : 0U});
        if (!m_seen.insert(key).second) return;
        bool any = false, over = true;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            over = over && m_ranks[r].call == m_calls.size();
            if (m_ranks[r].call == m_calls.size()) continue;
            snapshot const before = save();
            if (step(static_cast<int>(r))) {
                any = true;
                visit();
            }
            restore(before);
        }
        if (!any && !over) FAIL("nobody can proceed");
    }
    auto save() const -> snapshot { return {m_ranks, {m_segment.get(), m_segment.get() + m_bytes}}; }
    void restore(snapshot const& s) {
        m_ranks = s.ranks;
        std::memcpy(m_segment.get(), s.memory.data(), m_bytes);
    }
    /// False where rank r has to wait.
    auto step(int r) -> bool {
        auto& s = m_ranks[index(r)];
        auto const& p = program_of(r);
        if (!s.begun) return begin(s, p);
        while (s.next < p.size() && !p.is_message(static_cast<program::index>(s.next))) ++s.next;
        if (s.next == p.size()) return end(s);
        auto const& i = p.instructions[s.next];
        if (i.what == program::action::receive) return receive(s, r, i.peer);
        auto const t = text(s.call, r, i.peer);
        CHECK(s.boxes.put(i.peer, std::as_bytes(std::span(t))) == !is_long(t));
        ++s.next;
        return true;
    }
    auto begin(rank_state& s, program const& p) -> bool {
        // The area is reserved once, whatever was tried before.
        auto const call = s.call + 1;
        if (s.area.call != call) {
            s.shared.pass_to(call);
            s.area = s.shared.reserve(call, 5, value_boxes::bytes_in(s.shared));
        }
        s.boxes = {};
        s.boxes.use(s.shared, s.area, p, program_state(p));
        return s.begun = s.boxes.open();
    }
    auto end(rank_state& s) -> bool {
        s.shared.end(s.call + 1);
        ++s.call;
        s.next = 0;
        s.begun = false;
        return true;
    }
    auto receive(rank_state& s, int r, int from) -> bool {
        if (!s.seen) {
            auto const news = s.boxes.look(from);
            CHECK((news == node_memory::news::none || news == node_memory::news::there));
            return s.seen = news == node_memory::news::there;
        }
        auto const t = text(s.call, from, r);
        auto const found = s.boxes.get(from);
        CHECK(found.has_value() == !is_long(t));
        if (found) CHECK(std::string(reinterpret_cast<char const*>(found->data()), found->size()) == t);
        s.seen = false;
        ++s.next;
        return true;
    }

    std::vector<std::vector<program>> m_calls; // of each rank
    std::size_t m_bytes;
    std::shared_ptr<std::byte> m_segment;
    std::vector<rank_state> m_ranks;
    std::set<std::vector<std::uint64_t>> m_seen;
};

template <class Policy>
auto calls_by(Policy const& policy, collective_kind kind, int ranks, std::vector<int> const& roots)
    -> std::vector<std::vector<program>> {
    std::vector<std::vector<program>> result;
    for (int const root : roots)
        result.push_back(program_calls::programs_of(policy, call_of(kind, ranks, root), program_calls::fast));
    return result;
}

} // namespace

TEST_CASE("boxes are used again when all have ended the call that had them") {
    world from_one(
        2, calls_by(papcoll::binomial_tree{}, collective_kind::broadcast, 2, std::vector<int>(20, 0)));
    from_one.explore();
    CHECK(from_one.states() > 500);
    world from_either(2, calls_by(papcoll::binomial_tree{}, collective_kind::broadcast, 2,
                                  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1}));
    from_either.explore();
    world of_all(2,
                 calls_by(papcoll::dissemination{}, collective_kind::all_gather, 2, std::vector<int>(20, 0)));
    of_all.explore();
}

TEST_CASE("three ranks find their boxes in any order") {
    world broadcasts(3, calls_by(papcoll::binomial_tree{}, collective_kind::broadcast, 3, {0, 1, 2, 0}));
    broadcasts.explore();
    CHECK(broadcasts.states() > 500);
    world gathers(3, calls_by(papcoll::dissemination{}, collective_kind::all_gather, 3, {0, 0, 0}));
    gathers.explore();
}
