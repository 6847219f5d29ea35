// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/combined_values.hpp>
#include <papcoll/analysis/detail/meetings.hpp>
#include <papcoll/analysis/detail/message_pairs.hpp>
#include <papcoll/analysis/detail/node_order.hpp>
#include <papcoll/analysis/detail/program_text.hpp>
#include <papcoll/analysis/detail/symbolic_memory.hpp>
#include <papcoll/analysis/promise.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// How far one rank has come.
class rank_progress {
public:
    using index = program::index;

    explicit rank_progress(program const& p)
        : m_first_follower(p.instructions.size() + 1)
        , m_followers(p.waits.size())
        , m_left(p.instructions.size())
        , m_ended(p.instructions.size(), false) {
        for (auto const earlier : p.waits) ++m_first_follower[earlier + 1];
        for (std::size_t i = 1; i < m_first_follower.size(); ++i)
            m_first_follower[i] += m_first_follower[i - 1];
        auto next = m_first_follower;
        for (index i = 0; i < p.size(); ++i) {
            auto const waits = p.waits_of(i);
            m_left[i] = waits.size();
            for (auto const earlier : waits) m_followers[next[earlier]++] = i;
            if (p.instructions[i].what == program::action::receive) m_receives.push_back(i);
        }
    }

    [[nodiscard]] auto may_begin(index i) const -> bool { return m_left[i] == 0; }
    [[nodiscard]] auto has_ended(index i) const -> bool { return m_ended[i]; }
    void end(index i) {
        m_ended[i] = true;
        if (i == m_send) m_send.reset();
        if (open_receive() == i) ++m_next_receive;
        for (auto f = m_first_follower[i]; f < m_first_follower[i + 1]; ++f) --m_left[m_followers[f]];
    }
    /// The next instruction that is no receive, if it may begin now; a send begins with this. An await
    /// ends with this if `has_posted(peer, posts)`.
    template <class HasPosted>
    [[nodiscard]] auto next(program const& p, HasPosted const& has_posted) -> std::optional<index> {
        while (m_next < p.size() && p.instructions[m_next].what == program::action::receive) ++m_next;
        if (m_next == p.size() || !may_begin(m_next)) return std::nullopt;
        auto const& instruction = p.instructions[m_next];
        bool const sends = instruction.what == program::action::send;
        if (sends && m_send) return std::nullopt;
        if (instruction.what == program::action::await) {
            if (!has_posted(instruction.peer, p.posts[m_awaits])) return std::nullopt;
            ++m_awaits;
        }
        if (sends) m_send = m_next;
        return m_next++;
    }
    /// The send under way.
    [[nodiscard]] auto open_send() const -> std::optional<index> { return m_send; }
    /// The receive under way, or to begin next; none: all have ended.
    [[nodiscard]] auto open_receive() const -> std::optional<index> {
        if (m_next_receive == m_receives.size()) return std::nullopt;
        return m_receives[m_next_receive];
    }
    /// The first of those that are no receives that has not begun.
    [[nodiscard]] auto next_to_begin() const -> index { return m_next; }
    /// How many awaits have ended.
    [[nodiscard]] auto awaits() const -> std::size_t { return m_awaits; }

private:
    std::vector<index> m_first_follower, m_followers;
    std::vector<std::size_t> m_left; // instructions that each still waits for
    std::vector<bool> m_ended;
    std::vector<index> m_receives;
    std::size_t m_next_receive = 0;
    index m_next = 0;
    std::size_t m_awaits = 0;
    std::optional<index> m_send;
};

/// Executes the programs of all ranks on symbols: on each rank one instruction after the other, but for the
/// receives, which begin ahead of the others in an order of their own; one message at a time in each
/// direction, a send and its receive together. What ends so ends with larger windows, with messages that are
/// buffered and where instructions overtake each other, too, since all that only lets something begin
/// earlier.
class symbolic_execution {
public:
    using index = program::index;
    using verdict = std::optional<std::string>;

    symbolic_execution(std::span<program const> programs, promise const& promised, message_pairs const& pairs,
                       node_groups const& groups)
        : m_programs(programs)
        , m_promise(promised)
        , m_pairs(pairs)
        , m_groups(groups)
        , m_node_order(programs, groups)
        , m_posts(programs.size())
        , m_values(programs.size(), promised.alike) {
        m_progress.reserve(programs.size());
        for (std::size_t rank = 0; rank < programs.size(); ++rank) {
            m_progress.emplace_back(programs[rank]);
            m_memory.emplace_back(programs[rank].in_place);
            m_nodes.emplace_back(false);
            if (!promised.ranks[rank].late) give(rank);
        }
        if (promised.synchronises) m_meetings.emplace(programs);
    }

    [[nodiscard]] auto run() -> verdict {
        for (std::size_t rank = 0; rank < m_programs.size(); ++rank) m_awake.push_back(rank);
        while (!m_awake.empty()) {
            auto const rank = m_awake.back();
            m_awake.pop_back();
            advance(rank);
            if (m_violation) return m_violation;
        }
        if (auto violation = all_ended()) return violation;
        if (auto violation = m_meetings ? m_meetings->violation() : std::nullopt) return violation;
        return results();
    }

private:
    using runs = std::vector<value_run>;

    void give(std::size_t rank) {
        for (auto const& part : m_promise.ranks[rank].given)
            m_memory[rank].write(
                part.where, {static_cast<combined_values::value>(part.rank), part.first, part.where.size()});
    }
    [[nodiscard]] auto text(std::size_t rank, index i) const -> std::string {
        return text_of(m_programs[rank], static_cast<int>(rank), i);
    }
    void fail(std::string what) {
        if (!m_violation) m_violation = std::move(what);
    }

    // Progress

    void advance(std::size_t rank) {
        auto& mine = m_progress[rank];
        for (bool any = true; any && !m_violation;) {
            auto const has_posted = [&](int peer, index posts) {
                return m_posts[static_cast<std::size_t>(peer)] >= posts;
            };
            while (auto const i = m_violation ? std::nullopt : mine.next(m_programs[rank], has_posted)) {
                if (m_programs[rank].is_message(*i)) continue;
                order(rank, *i);
                if (m_meetings) hear(rank, *i);
                if (m_programs[rank].instructions[*i].what == program::action::post)
                    post(rank);
                else if (!m_programs[rank].is_sign(*i) && !m_violation)
                    compute(rank, *i);
                mine.end(*i);
            }
            any = meet(rank, mine.open_send(), true);
            any = meet(rank, mine.open_receive(), false) || any;
        }
    }
    /// Whether message i and its partner were both open, and have ended.
    auto meet(std::size_t rank, std::optional<index> i, bool sends) -> bool {
        if (!i || m_violation || !m_progress[rank].may_begin(*i)) return false;
        auto const peer = static_cast<std::size_t>(m_programs[rank].instructions[*i].peer);
        auto const partner = m_pairs.partner(rank, *i);
        auto const& there = m_progress[peer];
        auto const open = sends ? there.open_receive() : there.open_send();
        if (open != partner || !there.may_begin(partner)) return false;
        if (sends)
            transfer(rank, *i, peer, partner);
        else
            transfer(peer, partner, rank, *i);
        m_awake.push_back(peer);
        return true;
    }
    void order(std::size_t rank, index i) {
        if (auto violation = m_node_order.execute(rank, i)) fail(std::move(*violation));
    }
    /// Of whose beginning the rank knows with this instruction, which is no receive.
    void hear(std::size_t rank, index i) {
        m_meetings->execute(rank, i);
        if (m_programs[rank].instructions[i].what != program::action::await) return;
        auto const peer = static_cast<std::size_t>(m_programs[rank].instructions[i].peer);
        auto const number = m_programs[rank].posts[m_progress[rank].awaits() - 1];
        m_meetings->hear(rank, i, peer, m_groups.posts(peer)[number - 1]);
    }
    void post(std::size_t rank) {
        ++m_posts[rank];
        for (auto const other : m_groups.members(rank))
            if (other != rank) m_awake.push_back(other);
    }
    void transfer(std::size_t from, index send, std::size_t to, index receive) {
        order(from, send);
        order(to, receive);
        if (m_meetings) {
            m_meetings->execute(from, send);
            m_meetings->execute(to, receive);
            m_meetings->hear(to, receive, from, send);
        }
        m_left.clear();
        for (auto const& r : m_programs[from].regions_of(send)) memory_of(from, r).read(r, m_left);
        std::size_t next = 0, skipped = 0;
        for (auto const& r : m_programs[to].regions_of(receive))
            memory_of(to, r).write(r, m_left, next, skipped);
        m_progress[from].end(send);
        m_progress[to].end(receive);
    }

    // Computation

    void compute(std::size_t rank, index i) {
        auto const regions = m_programs[rank].regions_of(i);
        auto const what = m_programs[rank].instructions[i].what;
        auto const n = program::operands(what);
        for (std::size_t r = 0; r < regions.size() && !m_violation; r += n)
            if (what == program::action::combine)
                combine(rank, i, regions[r], regions[r + 1], regions[r + 2]);
            else if (what == program::action::copy)
                copy(rank, regions[r], regions[r + 1]);
            else
                contribute(rank, regions[r]);
    }
    [[nodiscard]] auto memory_of(std::size_t rank, region const& r) -> symbolic_memory& {
        return r.where() == memory::node ? m_nodes[m_groups.group(rank)] : m_memory[rank];
    }
    void copy(std::size_t rank, region const& target, region const& source) {
        m_left.clear();
        memory_of(rank, source).read(source, m_left);
        store(rank, target, m_left);
    }
    void store(std::size_t rank, region const& target, runs const& values) {
        std::size_t next = 0, skipped = 0;
        memory_of(rank, target).write(target, values, next, skipped);
    }
    /// What the user puts there.
    void contribute(std::size_t rank, region const& target) {
        for (auto const& part : m_promise.ranks[rank].given) {
            auto const begin = std::max(target.offset(), part.where.offset());
            auto const end = std::min(target.end(), part.where.end());
            if (target.where() != part.where.where() || begin >= end) continue;
            m_memory[rank].write(region(target.where(), begin, end - begin),
                                 {static_cast<combined_values::value>(part.rank),
                                  part.first + (begin - part.where.offset()), end - begin});
        }
    }
    void combine(std::size_t rank, index i, region const& target, region const& left, region const& right) {
        m_left.clear();
        m_right.clear();
        m_result.clear();
        memory_of(rank, left).read(left, m_left);
        memory_of(rank, right).read(right, m_right);
        auto const origin = origin_of(rank, i, target, left, right);
        each_pair(m_left, m_right, [&](value_run const& a, value_run const& b) {
            if (m_violation || !may_combine(rank, i, a, b)) return;
            m_result.push_back({m_values.combine(a.value, b.value, origin), a.first, a.count});
        });
        if (!m_violation) store(rank, target, m_result);
    }
    [[nodiscard]] auto origin_of(std::size_t rank, index i, region const& target, region const& left,
                                 region const& right) -> combined_values::origin {
        if (!m_promise.alike || m_programs[rank].instructions[i].alike) return combined_values::anywhere;
        for (auto const& r : {target, left, right})
            if (r.where() != memory::scratch) return m_values.from_here();
        return m_values.from(target, left, right);
    }
    /// Calls f(a, b) for runs of equal length from both.
    template <class F>
    static void each_pair(runs const& left, runs const& right, F f) {
        std::size_t r = 0, skipped_left = 0, skipped_right = 0;
        for (std::size_t l = 0; l < left.size() && r < right.size();) {
            auto const &a = left[l], &b = right[r];
            auto const count = std::min(a.count - skipped_left, b.count - skipped_right);
            f(value_run{a.value, a.first + skipped_left, count},
              value_run{b.value, b.first + skipped_right, count});
            if ((skipped_left += count) == a.count) ++l, skipped_left = 0;
            if ((skipped_right += count) == b.count) ++r, skipped_right = 0;
        }
    }
    auto may_combine(std::size_t rank, index i, value_run const& a, value_run const& b) -> bool {
        if (a.first != b.first)
            fail(text(rank, i) + " combines element " + std::to_string(a.first) + " with element " +
                 std::to_string(b.first));
        else if (auto const twice = m_values.common(a.value, b.value))
            fail(text(rank, i) + " counts the contribution of rank " + std::to_string(*twice) +
                 " to element " + std::to_string(a.first) + " twice");
        else if (m_promise.in_rank_order && m_values.last(a.value) >= m_values.first(b.value))
            fail(text(rank, i) + " combines out of order: at element " + std::to_string(a.first) +
                 " the contribution of rank " + std::to_string(m_values.last(a.value)) +
                 " comes before that of rank " + std::to_string(m_values.first(b.value)));
        return !m_violation;
    }

    // The end

    [[nodiscard]] auto all_ended() const -> verdict {
        for (std::size_t rank = 0; rank < m_programs.size(); ++rank)
            for (index i = 0; i < m_programs[rank].size(); ++i)
                if (!m_progress[rank].has_ended(i)) return circle(rank, i);
        return {};
    }
    using place = std::pair<std::size_t, index>; // rank and instruction
    /// What an instruction that never ends waits for.
    [[nodiscard]] auto blocker(place at) const -> place {
        auto const [rank, i] = at;
        auto const& p = m_programs[rank];
        auto const& mine = m_progress[rank];
        for (auto const w : p.waits_of(i))
            if (!mine.has_ended(w)) return {rank, w};
        if (p.instructions[i].what == program::action::await && mine.next_to_begin() == i) {
            auto const peer = static_cast<std::size_t>(p.instructions[i].peer);
            return {peer, m_groups.posts(peer)[p.posts[mine.awaits()] - 1]};
        }
        bool const receives = p.instructions[i].what == program::action::receive;
        auto const open = receives ? mine.open_receive() : mine.open_send();
        if (open == i) return {static_cast<std::size_t>(p.instructions[i].peer), m_pairs.partner(rank, i)};
        if (receives || mine.next_to_begin() == i) return {rank, *open};
        return {rank, mine.next_to_begin()};
    }
    [[nodiscard]] auto circle(std::size_t rank, index i) const -> std::string {
        std::map<place, std::size_t> seen;
        std::vector<place> path;
        for (place at{rank, i}; seen.try_emplace(at, path.size()).second; at = blocker(at))
            path.push_back(at);
        auto begin = seen.at(blocker(path.back()));
        // A send and its receive wait for each other when both wait for what is before them.
        std::string text = "instructions wait for each other in a circle: ";
        for (auto k = begin; k < path.size() && k < begin + 8; ++k)
            text += this->text(path[k].first, path[k].second) + " waits for ";
        if (path.size() > begin + 8)
            text += std::to_string(path.size() - begin - 8) + " others, which wait for ";
        return text + "the first";
    }

    [[nodiscard]] auto results() -> verdict {
        std::optional<runs> reference; // what all combine, on the first rank that has it
        for (std::size_t rank = 0; rank < m_programs.size(); ++rank) {
            runs combined;
            for (auto const& part : m_promise.ranks[rank].results) {
                m_left.clear();
                m_memory[rank].read(part.where, m_left);
                auto at = part.where.offset();
                auto element = part.first;
                for (auto const& run : m_left) {
                    if (auto wrong = is_wrong(part, element, run)) return where(rank, at) + *wrong;
                    at += run.count;
                    element += run.count;
                }
                if (part.rank == contributed_part::all_ranks)
                    combined.insert(combined.end(), m_left.begin(), m_left.end());
            }
            if (!m_promise.alike || combined.empty()) continue;
            if (!reference)
                reference = combined;
            else if (auto violation = not_alike(*reference, combined, rank))
                return violation;
        }
        return {};
    }
    static auto where(std::size_t rank, std::size_t at) -> std::string {
        return "at the end element " + std::to_string(at) + " of out on rank " + std::to_string(rank);
    }
    static auto up_to(contributed_part const& part) -> std::string {
        if (part.rank == contributed_part::all_ranks) return {};
        return " of the ranks up to " + std::to_string(part.last_rank(0));
    }
    static auto of(value_run const& run, combined_values const& values) -> std::string {
        auto const element = "element " + std::to_string(run.first);
        if (!values.is_single(run.value)) return "a combination of contributions to " + element;
        return element + " of rank " + std::to_string(run.value);
    }
    [[nodiscard]] auto is_wrong(contributed_part const& part, std::size_t element, value_run const& run) const
        -> verdict {
        bool const combination = part.is_combination();
        if (run.value == value_run::nothing) return " has no value";
        if (run.first != element ||
            (!combination && run.value != static_cast<combined_values::value>(part.rank)))
            return " is " + of(run, m_values) + ", not " +
                   (combination
                        ? "the combination of all contributions" + up_to(part) + " to element " +
                              std::to_string(element)
                        : "element " + std::to_string(element) + " of rank " + std::to_string(part.rank));
        if (!combination) return {};
        auto const last = part.last_rank(static_cast<int>(m_programs.size()));
        if (auto const missing = m_values.missing(run.value, last))
            return " misses the contribution of rank " + std::to_string(*missing);
        if (auto const beyond = m_values.beyond(run.value, last))
            return " has the contribution of rank " + std::to_string(*beyond) + ", which must not be in it";
        if (m_promise.in_rank_order && !m_values.in_rank_order(run.value))
            return " is not combined in the order of ranks";
        return {};
    }
    [[nodiscard]] static auto not_alike(runs const& one, runs const& other, std::size_t rank) -> verdict {
        verdict result;
        each_pair(one, other, [&](value_run const& a, value_run const& b) {
            if (a.value != b.value && !result)
                result = "element " + std::to_string(b.first) + " is not combined alike on all ranks: rank " +
                         std::to_string(rank) + " may get other bits than the first";
        });
        return result;
    }

    std::span<program const> m_programs;
    promise const& m_promise;
    message_pairs const& m_pairs;
    node_groups const& m_groups;
    node_order m_node_order;
    std::optional<meetings> m_meetings; // where ranks must wait for all
    std::vector<index> m_posts;         // how many each rank has made
    combined_values m_values;
    std::vector<rank_progress> m_progress;
    std::vector<symbolic_memory> m_memory;
    std::vector<symbolic_memory> m_nodes; // by group
    std::vector<std::size_t> m_awake;     // ranks of which something may begin
    runs m_left, m_right, m_result;
    verdict m_violation;
};

} // namespace papcoll::inline v0::detail
