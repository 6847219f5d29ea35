// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// What ranks do once the straggler has come in StragglAR, on P = 2^q places, of which P − 1 is the
/// straggler's: P − 2 + q rounds, in each of which a rank exchanges with at most one other.
///
/// In round t the straggler and place t exchange block t, and both have its result. Every early place has one
/// block as its newest: half of them the oldest that is on its way, a quarter the next, and so on. Those with
/// the oldest, but for place t, exchange it for the newer ones of the others. So place t always has the
/// oldest when its turn comes, if places whose turn is near get blocks that are old enough. Blocks with
/// numbers below 0, with which it begins, are not sent. After round P − 2 the straggler passes on the last
/// block like others.
class stragglar_rounds {
public:
    /// A block that goes from one place to another.
    struct move {
        int from, to, block;
    };

    explicit stragglar_rounds(int ranks)
        : m_ranks(ranks)
        , m_phases(static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1) {
        if (ranks < 2 || !std::has_single_bit(static_cast<unsigned>(ranks)))
            throw std::invalid_argument("StragglAR is for 2, 4, 8, ... ranks");
        begin();
        for (int round = 0; round < rounds(); ++round) play(round);
    }
    [[nodiscard]] auto rounds() const -> int { return m_ranks - 2 + m_phases; }
    /// Round by round; of the first P − 1 rounds without those of the straggler.
    [[nodiscard]] auto moves(int round) const -> std::vector<move> const& { return m_moves[at(round)]; }

private:
    static auto at(int i) -> std::size_t { return static_cast<std::size_t>(i); }

    void begin() {
        std::vector<int> ages; // of the places that need not have a certain one
        for (int age = 0; age < m_phases; ++age) ages.insert(ages.end(), at(m_ranks >> (age + 1)) - 1, age);
        for (int place = 0; place + 1 < m_ranks; ++place)
            m_newest.push_back((place < m_phases ? place : ages[at(place - m_phases)]) - m_phases);
    }
    void play(int round) {
        m_moves.emplace_back();
        bool const exchanges = round + 1 < m_ranks;
        if (round + 1 == m_ranks) m_newest.push_back(m_ranks - 2); // the straggler, from now on
        int const oldest = round - m_phases;
        std::vector<int> old, others;
        for (int place = 0; place < static_cast<int>(m_newest.size()); ++place)
            if (!exchanges || place != round) (m_newest[at(place)] == oldest ? old : others).push_back(place);
        // Those whose turn is next, first: they must not get a block too new to be the oldest then.
        auto const behind = [&](int place) { return place > round ? place - round : m_ranks; };
        std::sort(old.begin(), old.end(), [&](int a, int b) { return behind(a) < behind(b); });
        for (int const place : old) {
            auto const partner = newest_up_to(oldest + behind(place), others);
            add(place, partner, oldest);
            add(partner, place, m_newest[at(partner)]);
            m_newest[at(place)] = m_newest[at(partner)];
            std::erase(others, partner);
        }
        if (exchanges) m_newest[at(round)] = round;
    }
    [[nodiscard]] auto newest_up_to(int block, std::vector<int> const& places) const -> int {
        int found = -1;
        for (int const place : places)
            if (m_newest[at(place)] <= block && (found < 0 || m_newest[at(place)] > m_newest[at(found)]))
                found = place;
        if (found < 0) throw std::logic_error("StragglAR: nobody has a block for a place whose turn is near");
        return found;
    }
    /// The straggler has all blocks.
    void add(int from, int to, int block) {
        if (block >= 0 && to + 1 < m_ranks) m_moves.back().push_back({from, to, block});
    }

    int m_ranks;
    int m_phases;
    std::vector<int> m_newest;
    std::vector<std::vector<move>> m_moves;
};

/// StragglAR (Devraj, Ding, Kumar, Kleinberg, Singh: Efficient AllReduce with Stragglers, arXiv 2505.23523,
/// for powers of two): an all-reduce that knows the rank which comes last. The others reduce-scatter P − 1
/// blocks round a ring meanwhile; then come stragglar_rounds. The baseline of arrival_all_reduce.
struct stragglar {
    /// Of which the last counts; none given: rank P − 1 is the straggler.
    papcoll::arrival_source arrivals = {};

    static constexpr bool reorders_operands = true;
    static constexpr auto provides(papcoll::collective_kind operation) -> bool {
        return operation == papcoll::collective_kind::all_reduce;
    }
    [[nodiscard]] auto name() const -> std::string_view { return "stragglar"; }
    void check(papcoll::call_shape const& shape) const { (void)stragglar_rounds(shape.ranks); }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return papcoll::detail::arrivals_key(arrivals, {});
    }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const&) const
        -> papcoll::program;

    friend auto operator==(stragglar const&, stragglar const&) -> bool = default;
};

/// Writes the program of one rank.
class stragglar_writer {
public:
    stragglar_writer(papcoll::call_shape const& shape, int straggler)
        : m_to(shape.in_place)
        , m_cut{shape.count, shape.ranks - 1}
        , m_early(shape.ranks - 1)
        , m_rounds(shape.ranks) {
        for (int rank = 0; rank < shape.ranks; ++rank)
            if (rank != straggler) m_rank_at.push_back(rank);
        m_rank_at.push_back(straggler);
        m_place =
            static_cast<int>(std::find(m_rank_at.begin(), m_rank_at.end(), shape.rank) - m_rank_at.begin());
        m_to.use({.receives = 1, .sends = 1, .admission = true});
    }
    [[nodiscard]] auto write() -> papcoll::program {
        if (!is_straggler()) reduce_scatter();
        for (int round = 0; round < m_rounds.rounds(); ++round) {
            if (round < m_early && (is_straggler() || m_place == round)) exchange(round);
            for (auto const& [from, to, block] : m_rounds.moves(round)) {
                if (from == m_place) m_to.send(rank_at(to), result(block));
                if (to == m_place) m_to.receive(rank_at(from), result(block));
            }
        }
        return m_to.finish();
    }

private:
    [[nodiscard]] auto is_straggler() const -> bool { return m_place == m_early; }
    [[nodiscard]] auto rank_at(int place) const -> int { return m_rank_at[static_cast<std::size_t>(place)]; }
    [[nodiscard]] auto block_in(papcoll::memory where, int block) const -> papcoll::region {
        return {where, m_cut.offset(block), m_cut.size(block)};
    }
    [[nodiscard]] auto own(int block) const -> papcoll::region {
        return block_in(papcoll::memory::in, block);
    }
    [[nodiscard]] auto result(int block) const -> papcoll::region {
        return block_in(papcoll::memory::out, block);
    }

    /// Block b ends at place b.
    void reduce_scatter() {
        int const next = rank_at((m_place + 1) % m_early),
                  previous = rank_at((m_place + m_early - 1) % m_early);
        auto const block_of = [&](int i) { return (m_place + 2 * m_early - i) % m_early; };
        for (int step = 0; step + 1 < m_early; ++step) {
            int const leaving = block_of(step + 1), arriving = block_of(step + 2);
            m_to.send(next, step == 0 ? own(leaving) : result(leaving));
            auto const theirs = m_to.scratch(m_cut.size(arriving));
            m_to.receive(previous, theirs);
            m_to.combine(result(arriving), own(arriving), theirs);
        }
        if (m_early == 1) m_to.copy(result(0), own(0));
    }
    /// The straggler and the place of that number.
    void exchange(int block) {
        auto const theirs = m_to.scratch(m_cut.size(block));
        int const other = rank_at(is_straggler() ? block : m_early);
        m_to.send(other, is_straggler() ? own(block) : result(block));
        m_to.receive(other, theirs);
        if (is_straggler())
            m_to.combine_alike(result(block), theirs, own(block));
        else
            m_to.combine_alike(result(block), result(block), theirs);
    }

    papcoll::program_builder m_to;
    papcoll::block_partition m_cut;
    int m_early;
    stragglar_rounds m_rounds;
    std::vector<int> m_rank_at; // the straggler at the last place
    int m_place = 0;
};

inline auto stragglar::plan(papcoll::call_shape const& shape, papcoll::link_model const&) const
    -> papcoll::program {
    auto const times = arrivals.times();
    auto const last = std::max_element(times.begin(), times.end());
    auto const straggler = times.empty() ? shape.ranks - 1 : static_cast<int>(last - times.begin());
    return stragglar_writer(shape, straggler).write();
}

} // namespace bench
