// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/data_order.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Appends instructions to a program that does not know yet what they wait for.
class instruction_list {
public:
    using index = program::index;

    explicit instruction_list(program& to)
        : m_to(to) {}

    void begin(program::action what, int peer, bool alike, std::uint16_t windows) {
        if (m_to.instructions.size() >= std::numeric_limits<index>::max() / 2 ||
            m_to.regions.size() >= std::numeric_limits<index>::max() / 2)
            throw std::length_error("papcoll: a program has too many instructions");
        m_to.instructions.push_back({what, alike, windows, peer, static_cast<index>(m_to.regions.size()), 0});
    }
    /// The next of the regions of the instruction that began last, with its operands behind it. What follows
    /// the regions before it becomes one with them.
    void add(std::span<region const> together) {
        if (together.front().size() == 0) return;
        auto const n = together.size();
        auto& regions = m_to.regions;
        if (regions.size() >= m_to.instructions.back().first_region + n) {
            auto const last = std::span(regions).last(n);
            if (std::equal(last.begin(), last.end(), together.begin(),
                           [](region const& a, region const& b) { return a.is_followed_by(b); })) {
                for (std::size_t i = 0; i < n; ++i)
                    last[i] = region(last[i].where(), last[i].offset(), last[i].size() + together[i].size());
                return;
            }
        }
        regions.insert(regions.end(), together.begin(), together.end());
    }
    /// Takes back the instruction that began last.
    void drop() {
        m_to.regions.resize(m_to.instructions.back().first_region);
        m_to.instructions.pop_back();
    }

private:
    program& m_to;
};

/// How many pieces an instruction is cut into.
[[nodiscard]] inline auto pieces_of(program const& p, program::index i) -> int {
    auto const longest = p.windows_of(i).longest_elements;
    auto const elements = p.elements_of(i);
    bool const whole = p.instructions[i].what == program::action::contribution || p.is_sign(i);
    if (longest == 0 || elements <= longest || whole) return 1;
    auto const pieces = elements / longest + (elements % longest != 0 ? 1 : 0);
    return static_cast<int>(std::min<std::size_t>(pieces, std::numeric_limits<int>::max()));
}

/// Appends `count` elements from `begin` on of instruction i of `whole`.
inline void append_piece(program const& whole, program::index i, std::size_t begin, std::size_t count,
                         program& to) {
    auto const& from = whole.instructions[i];
    instruction_list list(to);
    list.begin(from.what, from.peer, from.alike, from.windows);
    auto const n = program::operands(from.what);
    auto const regions = whole.regions_of(i);
    for (std::size_t r = 0; r < regions.size() && count > 0; r += n) {
        auto const skipped = std::min(begin, regions[r].size());
        auto const taken = std::min(count, regions[r].size() - skipped);
        begin -= skipped;
        count -= taken;
        region part[3]; // NOLINT(modernize-avoid-c-arrays)
        for (std::size_t k = 0; k < n; ++k) part[k] = regions[r + k].part(skipped, taken);
        list.add(std::span(part, n));
    }
}

/// The instructions of a program with the long ones cut, those of one piece behind each other.
[[nodiscard]] inline auto cut_instructions(program const& whole) -> program {
    program result;
    result.windows = whole.windows;
    result.posts = whole.posts;
    result.scratch = whole.scratch;
    result.node = whole.node;
    result.node_key = whole.node_key;
    result.keeps_node = whole.keeps_node;
    result.beside_signs = whole.beside_signs;
    result.in_there = whole.in_there;
    result.out_there = whole.out_there;
    result.in_place = whole.in_place;
    std::vector<program::index> first(whole.instructions.size() + 1);
    for (program::index i = 0; i < whole.size(); ++i) {
        first[i] = result.size();
        block_partition const pieces{whole.elements_of(i), pieces_of(whole, i)};
        for (int k = 0; k < pieces.blocks; ++k)
            append_piece(whole, i, pieces.offset(k), pieces.size(k), result);
    }
    first.back() = result.size();
    for (auto const& [earlier, later] : whole.order) {
        if (later == whole.size()) continue; // nothing came after it
        // Messages begin in order, pieces of a computation do not.
        auto const last = whole.is_message(later) ? first[later] + 1 : first[later + 1];
        for (auto l = first[later]; l < last; ++l)
            for (auto e = first[earlier]; e < first[earlier + 1]; ++e) result.order.emplace_back(e, l);
    }
    std::sort(result.order.begin(), result.order.end(),
              [](auto const& a, auto const& b) { return a.second < b.second; });
    return result;
}

/// Writes down what each instruction waits for.
inline void find_waits(program& p) {
    data_order order(p.in_place);
    std::vector<program::index> mine;
    auto next = p.order.begin(); // sorted by the later one
    p.waits.clear();
    for (program::index i = 0; i < p.size(); ++i) {
        mine.clear();
        auto const what = p.instructions[i].what;
        auto const regions = p.regions_of(i);
        auto const n = program::operands(what);
        for (std::size_t r = 0; r < regions.size(); ++r) {
            bool const target = n > 1 && r % n == 0;
            if (what == program::action::send || (n > 1 && !target)) order.read(regions[r], i, mine);
        }
        for (std::size_t r = 0; r < regions.size() && what != program::action::send; r += n)
            order.write(regions[r], i, mine);
        for (; next != p.order.end() && next->second == i; ++next) mine.push_back(next->first);
        std::sort(mine.begin(), mine.end());
        mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
        p.instructions[i].first_wait = static_cast<program::index>(p.waits.size());
        p.waits.insert(p.waits.end(), mine.begin(), mine.end());
    }
}

} // namespace detail

/// The program with its messages cut into pieces as their windows say, and combinations and copies alike.
/// Both ends of a message cut it at the same places. Plans keep a program uncut where it would become too
/// large; it is cut when it is executed. O(n log n) in the number of regions.
[[nodiscard]] inline auto in_pieces(program const& whole) -> program {
    if (whole.written_by) return whole.written_by->write();
    auto result = detail::cut_instructions(whole);
    detail::find_waits(result);
    decltype(result.order)().swap(result.order);
    return result;
}

/// Writes a program down as if its instructions were carried out one after the other, and finds out what each
/// has to wait for, so that the executor may overlap all the others.
///
///     program_builder b;                                 // two ranks add what they have
///     auto const theirs = b.scratch(n);
///     b.send(other, region(memory::in, 0, n));
///     b.receive(other, theirs);
///     b.combine(region(memory::out, 0, n), region(memory::in, 0, n), theirs);
///     return b.finish();
///
/// Executed one by one the program must end: where ranks send to each other, receives are posted without
/// waiting for sends unless the data asks for it. See verify.
class program_builder {
public:
    /// Numbers instructions.
    using index = program::index;

    /// `in_place`: `in` and `out` are the same memory.
    explicit program_builder(bool in_place = false) {
        m_program.in_place = in_place;
        m_program.windows.push_back({.receives = 8, .sends = 8, .admission = false});
    }

    /// Whether `in` is in `out`.
    [[nodiscard]] auto in_place() const -> bool { return m_program.in_place; }
    /// The number of the next instruction.
    [[nodiscard]] auto next() const -> index { return m_program.size(); }
    /// n more elements of papcoll's own memory. Throws std::length_error where that is more than any memory.
    auto scratch(std::size_t n) -> region {
        if (n > std::numeric_limits<std::size_t>::max() / 4 - m_program.scratch)
            throw std::length_error("papcoll: a program needs more memory than there can be");
        region const r(memory::scratch, m_program.scratch, n);
        m_program.scratch += n;
        return r;
    }
    /// For the messages that follow, and how combinations and copies are cut; at first eight at a time,
    /// without admission. Throws std::length_error for the 65 537th kind.
    void use(message_windows const& windows) {
        auto const found = std::find(m_program.windows.begin(), m_program.windows.end(), windows);
        auto const number = found - m_program.windows.begin();
        if (number > std::numeric_limits<std::uint16_t>::max())
            throw std::length_error("papcoll: a program has more than 65536 kinds of windows");
        if (found == m_program.windows.end()) m_program.windows.push_back(windows);
        m_windows = static_cast<std::uint16_t>(number);
    }

    /// Sends these regions, one behind the other, to a rank; returns the number of the instruction.
    auto send(int to, std::span<region const> from) -> index {
        return message(program::action::send, to, from);
    }
    auto send(int to, region const& from) -> index { return send(to, std::span(&from, 1)); }
    auto receive(int from, std::span<region const> to) -> index {
        return message(program::action::receive, from, to);
    }
    auto receive(int from, region const& to) -> index { return receive(from, std::span(&to, 1)); }

    /// Of equal sizes: target ← left ⊕ right. The target is one of the operands, or apart from both.
    void combine(region const& target, region const& left, region const& right) {
        combine(std::vector{target, left, right});
    }
    /// The same for several regions: target, left, right, target, ….
    void combine(std::span<region const> in_threes) { compute(program::action::combine, in_threes, false); }
    /// In the same bits on all ranks that combine these operands.
    void combine_alike(region const& target, region const& left, region const& right) {
        compute(program::action::combine, std::vector{target, left, right}, true);
    }
    /// Of equal sizes. The target may overlap the source from below.
    void copy(region const& target, region const& source) {
        if (same_memory(target, source)) return;
        compute(program::action::copy, std::vector{target, source}, false);
    }
    /// The same for several regions: target, source, target, …; they do not overlap.
    void copy(std::span<region const> in_twos) { compute(program::action::copy, in_twos, false); }
    /// The ranks of the node share so many elements, all together. Each of them has a program that says so,
    /// whatever it does there. `key`: see program::node_key.
    /// `beside_signs`: see program::beside_signs.
    void share(std::size_t elements, std::uint64_t key, bool beside_signs = false) {
        m_program.node = elements;
        m_program.node_key = key;
        m_program.beside_signs = beside_signs;
    }
    /// They share them call after call, and there are `in` and `out`, or nothing of them; see
    /// program::keeps_node.
    void keep_node(region const& in, region const& out) {
        m_program.keeps_node = true;
        m_program.in_there = in;
        m_program.out_there = out;
    }
    /// What was done to these regions of the node before is done, whether written or read. Returns how many
    /// posts there are now.
    auto post(std::span<region const> about) -> index {
        if (m_last_post) m_program.order.emplace_back(*m_last_post, next());
        m_last_post = sign(program::action::post, -1, about);
        return ++m_posts;
    }
    auto post(region const& about) -> index { return post(std::span(&about, 1)); }
    /// The peer has come to its post of that number, counted from 1, so that these regions may be read, or
    /// written.
    void await(int peer, index posts, std::span<region const> about) {
        sign(program::action::await, peer, about);
        m_program.posts.push_back(posts);
    }
    void await(int peer, index posts, region const& about) { await(peer, posts, std::span(&about, 1)); }
    /// The instructions from `begin` on are so many parts which may come in any order, see
    /// program::any_order.
    void in_any_order(index begin, index count) {
        if (count > 1) m_program.any_orders.push_back({begin, (next() - begin) / count, count});
    }
    /// The rank's own data, which the program contributes later, comes here. Throws std::length_error where
    /// the program has too many instructions.
    void contribution(region const& to) {
        detail::instruction_list list(m_program);
        list.begin(program::action::contribution, -1, false, m_windows);
        list.add(std::span(&to, 1));
    }
    /// The next instruction waits for this one, whatever the data. Throws std::invalid_argument if there is
    /// no such instruction yet.
    void after(index earlier) {
        if (earlier >= next())
            throw std::invalid_argument("papcoll: instruction " + std::to_string(next()) +
                                        " cannot wait for instruction " + std::to_string(earlier) +
                                        ", which is not there yet");
        m_program.order.emplace_back(earlier, next());
    }

    /// Where a program that is appended finds what it works on.
    struct mapping {
        /// Where the memory `in` and `out` of the appended program are here.
        region in, out;
        /// Its ranks; empty: they are those of this program.
        std::span<int const> ranks = {};
    };
    /// All that this program does, with what its instructions wait for and scratch memory of its own.
    void append(program const& p) {
        constexpr auto all = std::numeric_limits<std::size_t>::max() >> 2U;
        append(p, {region(memory::in, 0, all), region(memory::out, 0, all)});
    }
    /// The same for a program of other ranks, and on other memory. Messages that follow have the windows that
    /// they had before. Throws std::invalid_argument for programs that share the memory of a node, and for
    /// those that leave the work to MPI.
    void append(program const& p, mapping const& where) {
        if (p.uncut) return append(in_pieces(p), where);
        if (p.node > 0) throw std::invalid_argument("papcoll: programs that share memory stand alone");
        if (p.native)
            throw std::invalid_argument("papcoll: a native program has nothing that can be appended");
        auto const windows = m_windows;
        auto const first = next();
        auto const scratch_begins = scratch(p.scratch).offset();
        for (index i = 0; i < p.size(); ++i) {
            if (p.is_message(i)) use(p.windows_of(i));
            for (auto const earlier : p.waits_of(i)) after(first + earlier);
            detail::instruction_list list(m_program);
            auto const peer = p.instructions[i].peer;
            bool const maps = p.is_message(i) && !where.ranks.empty();
            list.begin(p.instructions[i].what, maps ? where.ranks[static_cast<std::size_t>(peer)] : peer,
                       p.instructions[i].alike, m_windows);
            auto const regions = p.regions_of(i);
            auto const n = program::operands(p.instructions[i].what);
            for (std::size_t r = 0; r < regions.size(); r += n) {
                region moved[3]; // NOLINT(modernize-avoid-c-arrays)
                for (std::size_t k = 0; k < n; ++k) {
                    auto const& from = regions[r + k];
                    if (from.where() == memory::scratch)
                        moved[k] = {memory::scratch, from.offset() + scratch_begins, from.size()};
                    else
                        moved[k] = (from.where() == memory::in ? where.in : where.out)
                                       .part(from.offset(), from.size());
                }
                list.add(std::span(moved, n));
            }
        }
        m_windows = windows;
    }

    /// The program. Its messages are cut where it then takes no more than `limit` bytes.
    [[nodiscard]] auto finish(std::size_t limit = std::numeric_limits<std::size_t>::max()) -> program {
        auto const pieces = count_pieces();
        m_program.uncut = pieces > m_program.instructions.size();
        if (m_program.uncut && pieces <= limit / least_bytes) {
            auto cut = in_pieces(m_program);
            shrink(cut);
            if (cut.held_bytes() <= limit) return cut;
        }
        detail::find_waits(m_program);
        if (!m_program.uncut) decltype(m_program.order)().swap(m_program.order);
        shrink(m_program);
        return std::move(m_program);
    }

    /// Whether they are the same memory.
    [[nodiscard]] auto same_memory(region const& a, region const& b) const -> bool {
        auto const is_users = [](region const& r) {
            return r.where() == memory::in || r.where() == memory::out;
        };
        bool const users = is_users(a) && is_users(b);
        return a.offset() == b.offset() && (a.where() == b.where() || (in_place() && users));
    }

private:
    auto message(program::action what, int peer, std::span<region const> regions) -> index {
        detail::instruction_list list(m_program);
        list.begin(what, peer, false, m_windows);
        for (auto const& r : regions) list.add(std::span(&r, 1));
        return m_program.size() - 1;
    }
    auto sign(program::action what, int peer, std::span<region const> about) -> index {
        detail::instruction_list list(m_program);
        list.begin(what, peer, false, m_windows);
        for (auto const& r : about) list.add(std::span(&r, 1));
        return m_program.size() - 1;
    }
    void compute(program::action what, std::span<region const> regions, bool alike) {
        auto const n = program::operands(what);
        detail::instruction_list list(m_program);
        list.begin(what, -1, alike, m_windows);
        for (std::size_t r = 0; r < regions.size(); r += n) list.add(regions.subspan(r, n));
        if (m_program.regions.size() == m_program.instructions.back().first_region) list.drop();
    }
    [[nodiscard]] auto count_pieces() const -> std::size_t {
        std::size_t pieces = 0;
        for (index i = 0; i < m_program.size(); ++i)
            pieces += static_cast<std::size_t>(detail::pieces_of(m_program, i));
        return pieces;
    }
    static void shrink(program& p) {
        p.instructions.shrink_to_fit();
        p.regions.shrink_to_fit();
        p.waits.shrink_to_fit();
        p.posts.shrink_to_fit();
    }

    static constexpr std::size_t least_bytes = sizeof(program::instruction) + sizeof(region);

    program m_program;
    std::uint16_t m_windows = 0;
    index m_posts = 0;
    std::optional<index> m_last_post;
};

} // namespace papcoll::inline v0
