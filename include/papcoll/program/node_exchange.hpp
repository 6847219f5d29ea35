// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/prefix.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/program/signs.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// Collectives among the ranks of one node, which are numbered by their position there: what a rank has to
/// give it copies to the memory of the node and posts it; who needs it awaits the post and takes it from
/// there, or combines it from there. Several of them in one program come one after the other.
///
/// The memory has an equal stretch for each rank, which is used as two windows or more in turn: long data
/// goes through it chunk by chunk. A window is written again when all have made a post that comes after they
/// read it. Operands are combined in the order of the ranks, or, where that may be, of several ranks and long
/// data in the order in which they come. A rank that only gives is done when it has posted its last chunk:
/// who comes late finds it there.
class node_exchange {
public:
    /// `members`: the ranks; `rank`: which of them this one is; `stretch`: elements of the memory of each.
    /// `any_order`: operands may be combined as they come.
    node_exchange(program_builder& to, std::span<int const> members, int rank, std::size_t stretch,
                  bool any_order = false)
        : m_to(to)
        , m_any_order(any_order && members.size() > 2)
        , m_members(members)
        , m_ranks(static_cast<int>(members.size()))
        , m_rank(rank)
        , m_stretch(stretch)
        , m_posted(members.size()) {}

    /// The root's data goes to the same place of all. The root is done when the last has room in the memory.
    void broadcast(int root, region const& data_place, std::size_t chunk) {
        auto const n = data_place.size();
        auto const all = m_stretch * size(m_ranks);
        chunk = std::min(chunk, all);
        // Of long data few windows, which then stay in the caches.
        auto const windows = n <= all ? all / chunk : std::min<std::size_t>(all / chunk, 8);
        chunks const data(n, chunk);
        // Where it is enough it is the root's own stretch.
        auto const first = n <= m_stretch ? index(root) * m_stretch : 0;
        for (std::size_t k = 0; k < data.count(); ++k) {
            region const window(memory::node, first + k % windows * chunk, data.size(k));
            auto const mine = data_place.part(data.begin(k), data.size(k));
            if (m_rank == root) {
                for (int r = 0; k >= windows && r < m_ranks; ++r)
                    if (r != root) await(r, k - windows, window);
                m_to.copy(window, mine);
                post();
            } else {
                await(root, k, window);
                m_to.copy(mine, window);
                if (k + windows < data.count()) post();
            }
        }
        each_posted(
            [&](int r) { return r == root ? data.count() : data.count() - std::min(windows, data.count()); });
    }
    /// The root combines what all have in `own` into `target`, which only it has. Where all of it has room, a
    /// rank after the other: when the last one comes, the root has done with those before it.
    void reduce(int root, region const& own, region const& target, std::size_t chunk) {
        auto const n = own.size();
        chunk = std::min(chunk, m_stretch);
        auto const windows = m_stretch / chunk;
        chunks const data(n, chunk);
        bool const by_rank = data.count() > 1 || (m_any_order && n > 0);
        if (m_rank == root && by_rank && data.count() <= windows && m_ranks > 1) {
            combine_rank_by_rank(own, target, data);
            return each_posted([&](int r) { return r != root ? data.count() : 0; });
        }
        for (std::size_t k = 0; k < data.count(); ++k) {
            auto const window = [&](int r) { return place(r, k % windows * chunk, data.size(k)); };
            auto const operand = own.part(data.begin(k), data.size(k));
            if (m_rank != root) {
                give_chunk(root, k, windows, window(m_rank), operand);
                continue;
            }
            auto const result = target.part(data.begin(k), data.size(k));
            // The rank's own operand must survive until it is its turn.
            region mine = operand;
            if (m_to.same_memory(operand, result) && m_rank > 1) {
                mine = window(m_rank);
                m_to.copy(mine, operand);
            }
            combine_all(result, [&](int r) {
                if (r == m_rank) return mine;
                await(r, k, window(r));
                return window(r);
            });
            if (k + windows < data.count()) post();
        }
        each_posted(
            [&](int r) { return r != root ? data.count() : data.count() - std::min(windows, data.count()); });
    }
    /// n elements of each; each rank combines a share of every chunk, of which the root takes all.
    void shared_reduce(int root, std::size_t n) {
        reduce_in_shares(n, [&](int r) { return r == root; });
    }
    /// An all-reduce of n elements by the memory of the node.
    void shared_all_reduce(std::size_t n) {
        reduce_in_shares(n, [](int) { return true; });
    }
    /// n elements of each, which have room in the memory; each rank combines them all, in the same bits.
    void all_reduce(std::size_t n) {
        region const in(memory::in, 0, n);
        if (n == 0) return;
        m_to.copy(place(m_rank, 0, n), in);
        post();
        combine_all(
            region(memory::out, 0, n),
            [&](int r) {
                if (r != m_rank) await(r, 0, place(r, 0, n));
                return r == m_rank && !m_to.in_place() ? in : place(r, 0, n);
            },
            true);
        each_posted([](int) { return std::size_t(1); });
    }
    /// The part of rank r, which is in its `own`, goes to parts[r] of the root; elsewhere these count by
    /// their sizes alone.
    void gather(int root, std::span<region const> parts, region const& own, std::size_t chunk) {
        chunk = std::min(chunk, m_stretch);
        auto const windows = m_stretch / chunk;
        auto const longest = chunks(longest_of(parts), chunk).count();
        if (m_rank == root) m_to.copy(parts[index(m_rank)], own);
        for (std::size_t k = 0; k < longest; ++k) {
            for (int r = 0; r < m_ranks; ++r) {
                chunks const data(parts[index(r)].size(), chunk);
                if (r == root || k >= data.count() || (m_rank != root && m_rank != r)) continue;
                auto const window = place(r, k % windows * chunk, data.size(k));
                if (m_rank == r) {
                    give_chunk(root, k, windows, window, own.part(data.begin(k), data.size(k)));
                } else {
                    await(r, k, window);
                    m_to.copy(parts[index(r)].part(data.begin(k), data.size(k)), window);
                }
            }
            if (m_rank == root && k + windows < longest) post();
        }
        each_posted([&](int r) {
            if (r == root) return longest - std::min(windows, longest);
            return chunks(parts[index(r)].size(), chunk).count();
        });
    }
    /// parts[r] of the root goes to rank r, to its `own`; elsewhere these count by their sizes alone.
    void scatter(int root, std::span<region const> parts, region const& own, std::size_t chunk) {
        chunk = std::min(chunk, m_stretch);
        auto const windows = m_stretch / chunk;
        auto const longest = chunks(longest_of(parts), chunk).count();
        if (m_rank == root) m_to.copy(own, parts[index(m_rank)]);
        for (std::size_t k = 0; k < longest; ++k) {
            for (int r = 0; r < m_ranks; ++r) {
                chunks const data(parts[index(r)].size(), chunk);
                if (r == root || k >= data.count() || (m_rank != root && m_rank != r)) continue;
                auto const window = place(r, k % windows * chunk, data.size(k));
                if (m_rank == root) {
                    if (k >= windows) await(r, k - windows, window);
                    m_to.copy(window, parts[index(r)].part(data.begin(k), data.size(k)));
                } else {
                    await(root, k, window);
                    m_to.copy(own.part(data.begin(k), data.size(k)), window);
                    if (k + windows < data.count()) post();
                }
            }
            if (m_rank == root) post();
        }
        each_posted([&](int r) {
            if (r == root) return longest;
            auto const count = chunks(parts[index(r)].size(), chunk).count();
            return count - std::min(windows, count);
        });
    }
    /// The same of parts that all ranks know, and that have room in the root's own stretch, one behind the
    /// other: short ones share lines there.
    void scatter_from_root_stretch(int root, std::span<region const> parts, region const& own) {
        auto const each = longest_of(parts);
        auto const there = [&](int r) { return place(root, index(r) * each, parts[index(r)].size()); };
        if (m_rank == root) {
            m_to.copy(own, parts[index(m_rank)]);
            for_others([&](int r) { m_to.copy(there(r), parts[index(r)]); });
            post();
        } else if (own.size() > 0) {
            await(root, 0, there(m_rank));
            m_to.copy(own, there(m_rank));
        }
        each_posted([&](int r) { return std::size_t(r == root ? 1 : 0); });
    }
    /// The part of rank r, which is in its `own`, goes to parts[r] of all.
    void all_gather(std::span<region const> parts, region const& own, std::size_t each) {
        auto const rounds = chunks(longest_of(parts), each).count();
        m_to.copy(parts[index(m_rank)], own);
        for (std::size_t k = 0; k < rounds; ++k) {
            chunks const mine(own.size(), each);
            if (k < mine.count())
                m_to.copy(place(m_rank, k % 2 * each, mine.size(k)), own.part(mine.begin(k), mine.size(k)));
            post();
            for_others([&](int r) {
                chunks const theirs(parts[index(r)].size(), each);
                auto const n = k < theirs.count() ? theirs.size(k) : 0;
                auto const window = place(r, k % 2 * each, n);
                take(r, k, k + 1 < rounds, window);
                if (n > 0) m_to.copy(parts[index(r)].part(theirs.begin(k), n), window);
            });
        }
        each_posted([&](int) { return rounds; });
    }
    /// The operands that lie in parts[r] belong to rank r, which combines them at the beginning of its
    /// output.
    void reduce_scatter(std::span<region const> parts) {
        reduce_scatter(parts, region(memory::out, 0, parts[index(m_rank)].size()));
    }
    /// The same, combined in `target`.
    void reduce_scatter(std::span<region const> parts, region const& target) {
        auto const each = share_of_window();
        auto const rounds = chunks(longest_of(parts), each).count();
        auto const own = m_to.scratch(m_to.in_place() ? each : 0);
        for (std::size_t k = 0; k < rounds; ++k) {
            chunks const mine(parts[index(m_rank)].size(), each);
            auto const n = k < mine.count() ? mine.size(k) : 0;
            auto own_piece = parts[index(m_rank)].part(n > 0 ? mine.begin(k) : 0, n);
            if (m_to.in_place()) {
                m_to.copy(own.part(0, n), own_piece);
                own_piece = own.part(0, n);
            }
            for (int r = 0; r < m_ranks; ++r)
                if (r != m_rank) give_piece(r, k, each, parts[index(r)]);
            post();
            auto const operand = [&](int r) {
                if (r == m_rank) return own_piece;
                auto const piece = piece_for(m_rank, r, k, each, n);
                take(r, k, k + 1 < rounds, piece);
                return piece;
            };
            combine_as_they_come(target.part(n > 0 ? mine.begin(k) : 0, n), operand);
        }
        each_posted([&](int) { return rounds; });
    }
    /// leaving[r] goes to rank r, and arriving[r] comes from it: as many elements as that rank has for this
    /// one. No rank needs to know what others give to each other: it takes part in as many rounds as its own
    /// blocks need, and those that it exchanges something with in a round take part in it, too. So nothing
    /// may come behind it in a program.
    void all_to_all(std::span<region const> leaving, std::span<region const> arriving) {
        auto const each = share_of_window();
        std::size_t rounds = 0;
        for (int r = 0; r < m_ranks; ++r)
            if (r != m_rank)
                rounds = std::max({rounds, chunks(leaving[index(r)].size(), each).count(),
                                   chunks(arriving[index(r)].size(), each).count()});
        m_to.copy(arriving[index(m_rank)], leaving[index(m_rank)]);
        for (std::size_t k = 0; k < rounds; ++k) {
            for (int r = 0; r < m_ranks; ++r)
                if (r != m_rank) give_piece(r, k, each, leaving[index(r)]);
            post();
            for_others([&](int r) {
                chunks const theirs(arriving[index(r)].size(), each);
                auto const n = k < theirs.count() ? theirs.size(k) : 0;
                auto const piece = piece_for(m_rank, r, k, each, n);
                take(r, k, k + 1 < chunks(leaving[index(r)].size(), each).count(), piece);
                if (n > 0) m_to.copy(arriving[index(r)].part(theirs.begin(k), n), piece);
            });
        }
    }
    /// Each rank combines what all up to it have, or all before it, all of which has room in the memory.
    void prefix(prefix_kind kind, std::size_t n) {
        region const in(memory::in, 0, n), out(memory::out, 0, n);
        if (n == 0) return;
        int const last = kind == prefix_kind::inclusive ? m_rank : m_rank - 1;
        if (m_rank + 1 < m_ranks || m_to.in_place()) m_to.copy(place(m_rank, 0, n), in);
        if (m_rank + 1 < m_ranks) post();
        combine_all(
            out,
            [&](int r) {
                if (r != m_rank) await(r, 0, place(r, 0, n));
                return r == m_rank && !m_to.in_place() ? in : place(r, 0, n);
            },
            false, last);
        each_posted([&](int r) { return std::size_t(r + 1 < m_ranks ? 1 : 0); });
    }
    /// The same of long data, which goes from rank to rank: each puts its own behind what comes from the one
    /// below it.
    void prefix_chain(prefix_kind kind, std::size_t n, std::size_t chunk) {
        bool const includes = kind == prefix_kind::inclusive;
        chunk = std::min(chunk, m_stretch);
        auto const windows = m_stretch / chunk;
        chunks const data(n, chunk);
        for (std::size_t k = 0; k < data.count(); ++k) {
            auto const window = [&](int r) { return place(r, k % windows * chunk, data.size(k)); };
            region const own(memory::in, data.begin(k), data.size(k));
            region const result(memory::out, data.begin(k), data.size(k));
            bool const is_last = m_rank + 1 == m_ranks;
            if (!is_last && k >= windows) await(m_rank + 1, k - windows, window(m_rank));
            if (m_rank > 0) await(m_rank - 1, k, window(m_rank - 1));
            auto const up_to_here = is_last ? result : window(m_rank);
            if (m_rank == 0)
                m_to.copy(up_to_here, own);
            else if (!is_last || includes)
                m_to.combine(up_to_here, window(m_rank - 1), own);
            if (includes)
                m_to.copy(result, up_to_here);
            else if (m_rank > 0)
                m_to.copy(result, window(m_rank - 1));
            post();
        }
        each_posted([&](int) { return data.count(); });
    }
    /// What comes behind it in the memory comes after all that any rank has read or written there before.
    void settle() {
        region const all(memory::node, 0, m_stretch * size(m_ranks));
        post();
        for_others([&](int r) { await(r, 0, all); });
        each_posted([](int) { return std::size_t(1); });
    }
    /// Nobody ends before all have begun: rounds in which each rank awaits up to seven others.
    void barrier() {
        constexpr int radix = 8;
        std::size_t rounds = 0;
        auto first = m_to.next();
        each_dissemination_round(m_ranks, radix, [&](std::span<int const> distances) {
            auto const end = m_to.next();
            for (; first < end; ++first) m_to.after(first);
            m_to.post(std::span<region const>());
            first = m_to.next();
            for (int const d : distances)
                await((m_rank - d + m_ranks) % m_ranks, rounds, std::span<region const>());
            ++rounds;
        });
        each_posted([&](int) { return rounds; });
    }

private:
    using number_type = program::index;

    /// Data in chunks of equal size but the last.
    class chunks {
    public:
        chunks(std::size_t n, std::size_t each)
            : m_size(n)
            , m_each(each) {}
        [[nodiscard]] auto count() const -> std::size_t { return (m_size + m_each - 1) / m_each; }
        [[nodiscard]] auto begin(std::size_t k) const -> std::size_t { return k * m_each; }
        [[nodiscard]] auto size(std::size_t k) const -> std::size_t {
            return std::min(m_each, m_size - k * m_each);
        }

    private:
        std::size_t m_size, m_each;
    };

    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    static auto size(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    static auto longest_of(std::span<region const> parts) -> std::size_t {
        std::size_t longest = 0;
        for (auto const& part : parts) longest = std::max(longest, part.size());
        return longest;
    }
    /// Post k of rank r in this collective, counted from 0, has been made; see program_builder.
    void await(int r, std::size_t k, region const& about) { await(r, k, std::span(&about, 1)); }
    void await(int r, std::size_t k, std::span<region const> about) {
        m_to.await(m_members[index(r)], static_cast<number_type>(m_posted[index(r)] + k + 1), about);
    }
    /// Ends a collective in which rank r made posts(r) posts.
    template <class Posts>
    void each_posted(Posts posts) {
        for (int r = 0; r < m_ranks; ++r) m_posted[index(r)] += posts(r);
    }

    [[nodiscard]] auto place(int rank, std::size_t offset, std::size_t n) const -> region {
        return {memory::node, index(rank) * m_stretch + offset, n};
    }
    /// All that this rank has done so far is done.
    auto post() -> number_type { return m_to.post(region(memory::node, 0, m_stretch * size(m_ranks))); }
    /// Of the others the next ranks first, so that not all look at the same one.
    template <class F>
    void for_others(F f) const {
        for (int i = 1; i < m_ranks; ++i) f((m_rank + i) % m_ranks);
    }
    /// Chunk k goes to the root.
    void give_chunk(int root, std::size_t k, std::size_t windows, region const& window, region const& from) {
        if (k >= windows) await(root, k - windows, window);
        m_to.copy(window, from);
        post();
    }
    /// Rank r has made its post k: these regions may be read and, where this rank writes more, its own
    /// written again. That is waited for even if nothing is to be read.
    void take(int r, std::size_t k, bool writes_more, region const& there) {
        std::array const both{there, place(m_rank, 0, m_stretch)};
        if (there.size() > 0 || writes_more) await(r, k, std::span(both).first(writes_more ? 2 : 1));
    }
    /// result ← operand(0) ⊕ operand(1) ⊕ …, of all ranks.
    template <class Operand>
    void combine_all(region const& result, Operand operand, bool alike = false) {
        combine_all(result, operand, alike, m_ranks - 1);
    }
    /// The same of all ranks, this one's operand first, then those of the others as they come, if they may.
    template <class Operand>
    void combine_as_they_come(region const& result, Operand operand) {
        if (!m_any_order || result.size() == 0) return combine_all(result, operand);
        region held = operand(m_rank);
        auto const first = m_to.next();
        for (int r = 0; r < m_ranks; ++r) {
            if (r == m_rank) continue;
            auto const next = operand(r);
            m_to.combine(result, held, next);
            held = result;
        }
        m_to.in_any_order(first, static_cast<number_type>(m_ranks - 1));
    }
    /// The same of the ranks up to `last`.
    template <class Operand>
    void combine_all(region const& result, Operand operand, bool alike, int last) {
        if (last < 0) return;
        auto held = operand(0);
        for (int r = 1; r <= last; ++r) {
            auto const next = operand(r);
            if (result.size() > 0 && alike) m_to.combine_alike(result, held, next);
            if (result.size() > 0 && !alike) m_to.combine(result, held, next);
            held = result;
        }
        if (last == 0) m_to.copy(result, held);
    }

    /// The same of data in chunks, which others have posted one by one and which all have room.
    void combine_rank_by_rank(region const& own, region const& target, chunks const& data) {
        // The rank's own operand must survive until it is its turn.
        region mine = own;
        if (m_to.same_memory(own, target) && m_rank > 1 && !m_any_order) {
            mine = place(m_rank, 0, own.size());
            m_to.copy(mine, own);
        }
        auto const operand = [&](int r, std::size_t k) {
            if (r == m_rank) return mine.part(data.begin(k), data.size(k));
            auto const window = place(r, data.begin(k), data.size(k));
            await(r, k, window);
            return window;
        };
        auto const combine_with = [&](int r, std::optional<int> first) {
            for (std::size_t k = 0; k < data.count(); ++k) {
                auto const result = target.part(data.begin(k), data.size(k));
                auto const held = first ? operand(*first, k) : result;
                m_to.combine(result, held, operand(r, k));
            }
        };
        if (!m_any_order) {
            for (int r = 1; r < m_ranks; ++r) combine_with(r, r == 1 ? std::optional(0) : std::nullopt);
            return;
        }
        auto const first = m_to.next();
        for (int r = 0; r < m_ranks; ++r)
            if (r != m_rank) combine_with(r, m_to.next() == first ? std::optional(m_rank) : std::nullopt);
        m_to.in_any_order(first, static_cast<number_type>(m_ranks - 1));
    }

    // Where every rank gives every other a piece of a window.

    [[nodiscard]] auto share_of_window() const -> std::size_t { return m_stretch / 2 / size(m_ranks - 1); }
    [[nodiscard]] auto piece_for(int receiver, int from, std::size_t k, std::size_t each, std::size_t n) const
        -> region {
        auto const position = index((receiver - from - 1 + m_ranks) % m_ranks);
        return place(from, k % 2 * (m_stretch / 2) + position * each, n);
    }
    void give_piece(int r, std::size_t k, std::size_t each, region const& all) {
        chunks const data(all.size(), each);
        if (k >= data.count()) return;
        m_to.copy(piece_for(r, m_rank, k, each, data.size(k)), all.part(data.begin(k), data.size(k)));
    }

    /// Of every chunk each rank combines a share, and those who take the result copy the others' shares.
    template <class Takes>
    void reduce_in_shares(std::size_t n, Takes takes) {
        auto const each = m_stretch / 2;
        chunks const data(n, each);
        for (std::size_t k = 0; k < data.count(); ++k) {
            auto const window = k % 2 * each;
            auto const share = [&](int r) { return share_of(data.size(k), r); };
            auto const there = [&](int r, block_range const& s) {
                return place(r, window + s.offset, s.size);
            };
            auto const users = [&](memory where, block_range const& s) {
                return region(where, data.begin(k) + s.offset, s.size);
            };
            bool const mine = takes(m_rank);
            bool const overwrites = mine && m_to.in_place();
            for (int r = 0; r < m_ranks; ++r)
                if (r != m_rank || overwrites)
                    m_to.copy(there(m_rank, share(r)), users(memory::in, share(r)));
            post();
            auto const own = share(m_rank);
            auto const result = mine ? users(memory::out, own) : there(m_rank, own);
            // What rank r posts in round k: first its operands, then its share of the result.
            combine_as_they_come(result, [&](int r) {
                if (r == m_rank) return overwrites ? there(r, own) : users(memory::in, own);
                take(r, 2 * k, own.size == 0, there(r, own));
                return there(r, own);
            });
            if (mine) m_to.copy(there(m_rank, own), result);
            post();
            if (!mine) continue;
            for_others([&](int r) {
                if (auto const s = share(r); s.size > 0) {
                    await(r, 2 * k + 1, there(r, s));
                    m_to.copy(users(memory::out, s), there(r, s));
                }
            });
        }
        each_posted([&](int) { return 2 * data.count(); });
    }
    [[nodiscard]] auto share_of(std::size_t n, int r) const -> block_range {
        block_partition const shares{n, m_ranks};
        return {shares.offset(r), shares.size(r)};
    }

    program_builder& m_to;
    bool m_any_order;
    std::span<int const> m_members;
    int m_ranks;
    int m_rank;
    std::size_t m_stretch;
    std::vector<std::size_t> m_posted; // by each rank, in the collectives before
};

} // namespace papcoll::inline v0
