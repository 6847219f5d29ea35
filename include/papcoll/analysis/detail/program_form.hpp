// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/program_text.hpp>
#include <papcoll/analysis/promise.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace papcoll::inline v0::detail {

/// Whether one rank's program is one: lists that fit together, ranks that exist, regions within their memory,
/// as many of them as each instruction takes.
class program_form {
public:
    using index = program::index;
    using verdict = std::optional<std::string>;

    program_form(program const& p, int rank, int ranks, rank_promise const& promised)
        : m_program(p)
        , m_rank(rank)
        , m_ranks(ranks)
        , m_sizes{promised.in, promised.out, p.scratch, p.node}
        , m_promised(promised) {}

    [[nodiscard]] auto check() const -> verdict {
        auto const whose = "the program of rank " + std::to_string(m_rank);
        if (m_program.native)
            return whose + " has no instructions to verify: it is the MPI library's own routine";
        if (m_program.in_place != m_promised.in_place)
            return whose + (m_program.in_place ? " is in place, but the call is not"
                                               : " is not in place, but the call is");
        if (auto violation = lists_fit()) return whose + *violation;
        std::size_t contributions = 0, awaits = 0;
        std::optional<index> last_post;
        for (index i = 0; i < m_program.size(); ++i) {
            if (auto violation = instruction(i)) return text_of(m_program, m_rank, i) + *violation;
            if (m_program.instructions[i].what == program::action::await && !has_number(awaits++))
                return text_of(m_program, m_rank, i) + " has no number of posts that it waits for";
            if (m_program.instructions[i].what == program::action::post) {
                if (last_post && !waits_for(i, *last_post))
                    return text_of(m_program, m_rank, i) + " does not wait for the post before it";
                last_post = i;
            }
            contributions += m_program.instructions[i].what == program::action::contribution ? 1 : 0;
        }
        if (!parts_are_alike())
            return whose + " has instructions in any order that are no awaits and combinations alike";
        if (awaits != m_program.posts.size()) return whose + " has other awaits than it has numbers for";
        if (m_promised.late && contributions == 0)
            return whose + " never takes the contribution, which comes later";
        if (!m_promised.late && contributions > 0)
            return whose + " waits for a contribution, but all is there at the beginning";
        return {};
    }

private:
    [[nodiscard]] auto lists_fit() const -> verdict {
        auto const& p = m_program;
        for (index i = 0; i < p.size(); ++i) {
            auto const& a = p.instructions[i];
            bool const last = i + 1 == p.size();
            auto const next_region = last ? p.regions.size() : p.instructions[i + 1].first_region;
            auto const next_wait = last ? p.waits.size() : p.instructions[i + 1].first_wait;
            if (a.first_region > next_region || next_region > p.regions.size() || a.first_wait > next_wait ||
                next_wait > p.waits.size())
                return " has an instruction, number " + std::to_string(i) +
                       ", whose regions or waits are not in its lists";
            if (a.windows >= p.windows.size())
                return " has an instruction, number " + std::to_string(i) + ", without windows";
        }
        for (auto const& w : p.windows)
            if (w.receives < 1 || w.sends < 1 || w.unadmitted < 1)
                return " has a window of no message at all, so that it never ends";
        for (std::size_t k = 0; k < p.order.size(); ++k)
            if (p.order[k].first >= p.order[k].second || p.order[k].second >= p.size() ||
                (k > 0 && p.order[k].second < p.order[k - 1].second))
                return " orders instructions " + std::to_string(p.order[k].first) + " and " +
                       std::to_string(p.order[k].second) +
                       ", which are not an earlier and a later one, or not in turn";
        return {};
    }
    /// Whether parts that may come in any order differ in what they await and combine with alone.
    [[nodiscard]] auto parts_are_alike() const -> bool {
        index end = 0;
        for (auto const& parts : m_program.any_orders) {
            if (parts.begin < end || parts.part == 0 || parts.count > m_program.size() ||
                parts.begin > m_program.size() || (m_program.size() - parts.begin) / parts.count < parts.part)
                return false;
            end = parts.begin + parts.part * parts.count;
            for (index i = parts.begin; i < end; ++i)
                if (!has_its_place(parts, i)) return false;
        }
        return true;
    }
    [[nodiscard]] auto has_its_place(program::any_order const& parts, index i) const -> bool {
        auto const position = (i - parts.begin) % parts.part;
        auto const in_first = parts.begin + position;
        auto const what = m_program.instructions[i].what;
        if (what != m_program.instructions[in_first].what) return false;
        if (what == program::action::await) return true;
        if (what != program::action::combine || position == 0) return false;
        auto const mine = m_program.regions_of(i), first = m_program.regions_of(in_first);
        bool const one = mine.size() == 3 && first.size() == 3 && mine[0] == first[0];
        return one && (i == in_first || mine[1] == mine[0]) && mine[2].where() == memory::node;
    }
    [[nodiscard]] auto instruction(index i) const -> verdict {
        if (auto violation = waits(i)) return violation;
        for (auto const& r : m_program.regions_of(i))
            if (r.end() > m_sizes[static_cast<std::size_t>(r.where())] || r.end() < r.offset())
                return " uses " + text_of(r) + ", which has " +
                       std::to_string(m_sizes[static_cast<std::size_t>(r.where())]);
        if (m_program.is_message(i)) return message(i);
        if (m_program.is_sign(i)) return sign(i);
        if (m_program.instructions[i].what == program::action::contribution) return contribution(i);
        return computation(i);
    }
    [[nodiscard]] auto waits(index i) const -> verdict {
        auto const waits = m_program.waits_of(i);
        for (std::size_t k = 0; k < waits.size(); ++k) {
            if (waits[k] >= i)
                return " waits for instruction " + std::to_string(waits[k]) + ", which is not an earlier one";
            if (k > 0 && waits[k - 1] >= waits[k]) return " has waits that do not ascend";
        }
        return {};
    }
    [[nodiscard]] auto waits_for(index i, index earlier) const -> bool {
        auto const waits = m_program.waits_of(i);
        return m_program.uncut || std::binary_search(waits.begin(), waits.end(), earlier);
    }
    [[nodiscard]] auto has_number(std::size_t position) const -> bool {
        return position < m_program.posts.size() && m_program.posts[position] > 0;
    }
    [[nodiscard]] auto unknown_peer(index i) const -> verdict {
        int const peer = m_program.instructions[i].peer;
        if (peer >= 0 && peer < m_ranks) return {};
        return " names a rank that is not among the " + std::to_string(m_ranks);
    }
    [[nodiscard]] auto sign(index i) const -> verdict {
        for (auto const& r : m_program.regions_of(i))
            if (r.where() != memory::node) return " is about " + text_of(r) + ", which nobody shares";
        if (m_program.instructions[i].what == program::action::post) return {};
        if (m_program.instructions[i].peer == m_rank) return " waits for the rank itself";
        return unknown_peer(i);
    }
    [[nodiscard]] auto message(index i) const -> verdict {
        int const peer = m_program.instructions[i].peer;
        if (auto violation = unknown_peer(i)) return violation;
        if (peer == m_rank) return " is a message of a rank to itself";
        return m_program.instructions[i].what == program::action::receive ? apart(i) : std::nullopt;
    }
    /// The regions of one instruction that writes them all.
    [[nodiscard]] auto apart(index i) const -> verdict {
        auto const all = m_program.regions_of(i);
        std::vector<region> regions(all.begin(), all.end());
        std::sort(regions.begin(), regions.end(), [&](region const& a, region const& b) {
            return place(a) != place(b) ? place(a) < place(b) : a.offset() < b.offset();
        });
        for (std::size_t k = 1; k < regions.size(); ++k)
            if (overlap(regions[k - 1], regions[k])) return " writes " + text_of(regions[k]) + " twice";
        return {};
    }
    /// It waits for nothing but the user.
    [[nodiscard]] auto contribution(index i) const -> verdict {
        if (!m_program.waits_of(i).empty())
            return " waits for other instructions, but the user contributes at any time";
        return apart(i);
    }
    [[nodiscard]] auto computation(index i) const -> verdict {
        auto const regions = m_program.regions_of(i);
        auto const n = program::operands(m_program.instructions[i].what);
        if (regions.size() % n != 0)
            return " has " + std::to_string(regions.size()) + " regions, not a multiple of " +
                   std::to_string(n);
        for (std::size_t r = 0; r < regions.size(); r += n)
            for (std::size_t k = 1; k < n; ++k) {
                if (regions[r + k].size() != regions[r].size())
                    return " is of regions of different sizes: " + text_of(regions[r]) + " and " +
                           text_of(regions[r + k]);
                if (n == 3 && overlap(regions[r], regions[r + k]) && !same(regions[r], regions[r + k]))
                    return " writes " + text_of(regions[r]) + " over a part of its operand, " +
                           text_of(regions[r + k]);
                if (n == 2 && overlap(regions[r], regions[r + 1]) &&
                    regions[r].offset() > regions[r + 1].offset())
                    return " copies " + text_of(regions[r + 1]) + " over its own end, to " +
                           text_of(regions[r]);
            }
        return {};
    }

    [[nodiscard]] auto place(region const& r) const -> memory {
        return m_program.in_place && r.where() == memory::in ? memory::out : r.where();
    }
    [[nodiscard]] auto same(region const& a, region const& b) const -> bool {
        return place(a) == place(b) && a.offset() == b.offset();
    }
    [[nodiscard]] auto overlap(region const& a, region const& b) const -> bool {
        return place(a) == place(b) && a.size() > 0 && b.size() > 0 && a.offset() < b.end() &&
               b.offset() < a.end();
    }

    program const& m_program;
    int m_rank;
    int m_ranks;
    std::array<std::size_t, memory_kinds> m_sizes;
    rank_promise const& m_promised;
};

} // namespace papcoll::inline v0::detail
