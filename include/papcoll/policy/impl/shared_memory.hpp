// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/impl/node_stretches.hpp>
#include <papcoll/policy/impl/own_memory.hpp>
#include <papcoll/policy/plan_size.hpp>
#include <papcoll/policy/shared_memory.hpp>
#include <papcoll/program/node_exchange.hpp>
#include <papcoll/program/prefix.hpp>
#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// About how many bytes a program holds in which each rank of a node has something to do for each other in
/// every round; and how many it may hold while it is executed. Data that is longer goes by messages.
[[nodiscard]] constexpr auto rounds_bytes(std::size_t rounds, std::size_t members) -> std::size_t {
    return rounds * members * 300;
}
inline constexpr std::size_t most_rounds_bytes = 8'000'000;

/// What `source` writes, or the source itself where that holds more than plans may. `about`: how much it is.
template <class Source>
[[nodiscard]] auto within_limit(std::shared_ptr<Source const> const& source, bool in_place, int ranks,
                                std::size_t about) -> program {
    if (about <= 2 * plan_limit(ranks))
        if (auto written = source->write(); written.held_bytes() <= plan_limit(ranks)) return written;
    program result;
    result.in_place = in_place;
    result.uncut = true;
    result.written_by = source;
    return result;
}

/// How much of a call goes through the memory of the node at a time, in elements; nothing is allocated for
/// it.
class shared_memory_size {
public:
    explicit shared_memory_size(call_shape const& shape)
        : m_operation(shape.operation)
        , m_ranks(static_cast<std::size_t>(shape.ranks))
        , m_count(shape.count)
        , m_element_bytes(shape.element_bytes)
        , m_is_uneven(shape.is_uneven())
        , m_fits_root_stretch(shape.operation == collective_kind::scatter && !m_is_uneven &&
                              longest_part(shape) * m_ranks <= node_stretches(shape).shortest())
        , m_longest(std::max(longest(shape), 2 * m_ranks))
        , m_is_short(!m_is_uneven && m_longest <= node_stretches(shape).shortest())
        , m_is_beside_signs(m_is_short && has_room_beside_signs(shape))
        , m_stretch(m_is_uneven ? uneven_stretch(shape) : node_stretches(shape).for_elements(m_longest)) {}

    /// Whether there is room for a piece for each rank, or for one where that is all, and for the program.
    [[nodiscard]] auto fits() const -> bool {
        bool const one_piece = m_is_uneven && m_operation != collective_kind::all_to_all;
        return m_stretch / 2 / (one_piece ? 1 : m_ranks) > 0 && about_bytes() <= most_rounds_bytes;
    }
    /// About how many bytes the program holds.
    [[nodiscard]] auto about_bytes() const -> std::size_t {
        if (m_is_uneven) return rounds_bytes(uneven_rounds(), m_ranks);
        if (is_prefix(m_operation)) return rounds_bytes(m_longest / chunk() + 1, 5);
        auto const n = m_operation == collective_kind::broadcast ? m_count : m_longest;
        bool const in_halves =
            m_operation != collective_kind::broadcast && m_operation != collective_kind::reduce &&
            m_operation != collective_kind::gather && m_operation != collective_kind::scatter;
        auto const each = m_is_short ? m_longest * m_ranks : in_halves ? m_stretch / 2 : chunk();
        return rounds_bytes(n / each + 1, m_ranks);
    }
    /// Where each rank knows its own sizes alone, how the memory is used does not depend on them: gathers and
    /// scatters go through the short areas, exchanges chunk by chunk through the long one. What would take
    /// more rounds goes by messages, which both ends of it know: of a gather or a scatter what does not find
    /// room at once.
    [[nodiscard]] auto is_uneven() const -> bool { return m_is_uneven; }
    /// Of an uneven call: elements of the longest part that goes by memory.
    [[nodiscard]] auto longest_by_memory() const -> std::size_t {
        bool const exchanges = m_operation == collective_kind::all_to_all;
        return uneven_rounds() * (m_stretch / 2 / (exchanges ? m_ranks - 1 : 1));
    }
    /// Whether one chunk is all.
    [[nodiscard]] auto is_short() const -> bool { return m_is_short; }
    /// Whether all that the root of a scatter gives has room in its stretch.
    [[nodiscard]] auto fits_root_stretch() const -> bool { return m_fits_root_stretch; }
    /// Whether what each rank gives has room beside its signs.
    [[nodiscard]] auto is_beside_signs() const -> bool { return m_is_beside_signs; }
    /// Of each rank.
    [[nodiscard]] auto stretch() const -> std::size_t {
        return m_is_beside_signs ? node_memory::line_bytes / m_element_bytes : m_stretch;
    }
    [[nodiscard]] auto chunk() const -> std::size_t {
        // 16 KiB; of very long data more, since each costs an entry in the program.
        auto const bytes = std::max(std::size_t(16) << 10, m_longest * m_element_bytes / 256);
        return std::clamp<std::size_t>(bytes / m_element_bytes, 1, std::max<std::size_t>(m_stretch / 2, 1));
    }

private:
    /// What of one rank goes through its stretch. Where each rank has a piece for each, all pieces have equal
    /// room.
    [[nodiscard]] auto longest(call_shape const& shape) const -> std::size_t {
        switch (m_operation) {
        case collective_kind::broadcast:
            return (m_count + m_ranks - 1) / m_ranks;
        case collective_kind::scatter:
            return longest_part(shape) * (m_fits_root_stretch ? m_ranks : 1);
        case collective_kind::gather:
        case collective_kind::all_gather:
            return longest_part(shape);
        case collective_kind::reduce_scatter:
            return 2 * longest_part(shape) * m_ranks;
        case collective_kind::all_to_all:
            return 2 * m_count;
        default:
            return m_count;
        }
    }
    /// Of collectives in which each rank writes to its own stretch alone, from its beginning on.
    [[nodiscard]] auto has_room_beside_signs(call_shape const& shape) const -> bool {
        bool const writes_elsewhere = m_operation == collective_kind::reduce_scatter ||
                                      m_operation == collective_kind::all_to_all ||
                                      (m_operation == collective_kind::scatter && !m_fits_root_stretch);
        auto const n = m_operation == collective_kind::broadcast ? m_count : longest(shape);
        bool const is_aligned = std::has_single_bit(m_element_bytes) && m_element_bytes <= 16;
        return !writes_elsewhere && is_aligned && n * m_element_bytes <= node_memory::line_room;
    }
    [[nodiscard]] auto uneven_rounds() const -> std::size_t {
        return m_operation == collective_kind::all_to_all ? 32 : 2;
    }
    [[nodiscard]] static auto uneven_stretch(call_shape const& shape) -> std::size_t {
        bool const exchanges = shape.operation == collective_kind::all_to_all;
        return exchanges ? node_stretches(shape).longest() : node_stretches(shape).shortest();
    }
    [[nodiscard]] auto longest_part(call_shape const& shape) const -> std::size_t {
        if (shape.sizes.empty()) return (m_count + m_ranks - 1) / m_ranks;
        return *std::max_element(shape.sizes.begin(), shape.sizes.end());
    }

    collective_kind m_operation;
    std::size_t m_ranks;
    std::size_t m_count;
    std::size_t m_element_bytes;
    bool m_is_uneven;
    bool m_fits_root_stretch;
    std::size_t m_longest;
    bool m_is_short;
    bool m_is_beside_signs;
    std::size_t m_stretch;
};

/// How a call of ranks of one node uses their memory.
class shared_memory_plan final : public program::source {
public:
    explicit shared_memory_plan(call_shape const& shape)
        : m_shape(shape)
        , m_parts(parts_of(shape))
        , m_leaving(leaving_of(shape))
        , m_members(size(shape.ranks))
        , m_key(key_of(shape, shape.sizes))
        , m_size(shape) {
        std::iota(m_members.begin(), m_members.end(), 0);
        // They go with the call; the parts are what they say.
        m_shape.sizes = m_shape.displacements = {};
        m_shape.leaving_sizes = m_shape.leaving_displacements = {};
        m_shape.nodes = {};
        m_shape.tuning = nullptr;
    }

    [[nodiscard]] auto write() const -> program override {
        program_builder to(m_shape.in_place);
        to.share(m_size.stretch() * size(m_shape.ranks), m_key, m_size.is_beside_signs());
        node_exchange exchange(to, m_members, m_shape.rank, m_size.stretch(), m_shape.any_order);
        write(to, exchange);
        return to.finish();
    }
    /// The program of a rank that is alone.
    [[nodiscard]] auto write_alone() const -> program {
        program_builder to(m_shape.in_place);
        auto const kind = m_shape.operation;
        if (kind == collective_kind::scatter || kind == collective_kind::all_to_all)
            to.copy(kind == collective_kind::scatter ? own_part(true) : m_parts[0],
                    kind == collective_kind::scatter ? m_parts[0] : m_leaving[0]);
        else if (kind == collective_kind::gather || kind == collective_kind::all_gather)
            to.copy(m_parts[0], own_part(true));
        else if (kind != collective_kind::broadcast && kind != collective_kind::exscan &&
                 kind != collective_kind::barrier)
            to.copy(region(memory::out, 0, m_shape.count), region(memory::in, 0, m_shape.count));
        return to.finish();
    }

    [[nodiscard]] auto held_bytes() const -> std::size_t override {
        return sizeof(*this) + detail::held_bytes(m_parts, m_leaving, m_members) + 64; // and its allocation
    }

private:
    static auto size(int n) -> std::size_t { return static_cast<std::size_t>(n); }
    /// Where the parts of the ranks are, of a collective that has some.
    static auto parts_of(call_shape const& shape) -> std::vector<region> {
        bool const scatters =
            shape.operation == collective_kind::reduce_scatter || shape.operation == collective_kind::scatter;
        bool const gathers = shape.operation == collective_kind::gather ||
                             shape.operation == collective_kind::all_gather ||
                             shape.operation == collective_kind::all_to_all;
        if (!scatters && !gathers) return {};
        return regions_of(scatters ? memory::in : memory::out, rank_ranges(shape));
    }
    /// What an all-to-all takes from this rank.
    static auto leaving_of(call_shape const& shape) -> std::vector<region> {
        if (shape.operation != collective_kind::all_to_all) return {};
        return regions_of(memory::in, leaving_ranges(shape));
    }
    static auto regions_of(memory where, std::vector<block_range> const& ranges) -> std::vector<region> {
        std::vector<region> regions;
        regions.reserve(ranges.size());
        for (auto const& range : ranges) regions.emplace_back(where, range.offset, range.size);
        return regions;
    }

    /// Takes out the parts that are too long, but for this rank's own.
    [[nodiscard]] auto take_long(std::vector<region>& parts) const -> std::vector<region> {
        std::vector<region> too_long(parts.size());
        for (std::size_t r = 0; r < parts.size(); ++r)
            if (r != size(m_shape.rank) && parts[r].size() > m_size.longest_by_memory())
                std::swap(too_long[r], parts[r]);
        return too_long;
    }
    /// Messages to these ranks, and from these, where there is something.
    void exchange_long(program_builder& to, std::vector<region> const& leaving,
                       std::vector<region> const& arriving) const {
        to.use({.receives = 64, .sends = 64, .admission = false});
        for (int r = 0; r < m_shape.ranks; ++r)
            if (arriving[size(r)].size() > 0) to.receive(r, arriving[size(r)]);
        for (int r = 0; r < m_shape.ranks; ++r)
            if (leaving[size(r)].size() > 0) to.send(r, leaving[size(r)]);
    }
    void write_uneven(program_builder& to, node_exchange& exchange) const {
        auto parts = m_parts, leaving = m_leaving;
        std::vector<region> const none(parts.size());
        auto const chunk = m_size.stretch() / 2;
        bool const is_root = m_shape.rank == m_shape.root;
        if (m_shape.operation == collective_kind::all_to_all) {
            auto sent = take_long(leaving);
            if (m_shape.in_place) set_aside(to, sent);
            exchange_long(to, sent, take_long(parts));
            return exchange.all_to_all(leaving, parts);
        }
        auto own = own_part(is_root);
        auto const at_root = is_root ? take_long(parts) : none;
        auto away = none;
        if (!is_root && own.size() > m_size.longest_by_memory())
            std::swap(away[size(m_shape.root)], own), parts[size(m_shape.rank)] = {};
        if (m_shape.operation == collective_kind::gather) {
            exchange_long(to, away, at_root);
            return exchange.gather(m_shape.root, parts, own, chunk);
        }
        exchange_long(to, at_root, away);
        exchange.scatter(m_shape.root, parts, own, chunk);
    }
    /// Others arrive where they are.
    static void set_aside(program_builder& to, std::vector<region>& parts) {
        for (auto& part : parts) {
            if (part.size() == 0) continue;
            auto const copied = to.scratch(part.size());
            to.copy(copied, part);
            part = copied;
        }
    }

    void write(program_builder& builder, node_exchange& to) const {
        if (m_size.is_uneven()) return write_uneven(builder, to);
        auto const n = m_shape.count;
        auto const stretch = m_size.stretch();
        bool const is_short = m_size.is_short();
        constexpr std::size_t shared_out = std::size_t(64) << 10;
        bool const in_shares = m_shape.ranks > 2 && m_shape.bytes() > shared_out;
        switch (m_shape.operation) {
        case collective_kind::broadcast:
            return to.broadcast(m_shape.root, region(memory::out, 0, n),
                                is_short ? std::max<std::size_t>(n, 1) : m_size.chunk());
        case collective_kind::reduce:
            if (in_shares && n > stretch) return to.shared_reduce(m_shape.root, n);
            return to.reduce(m_shape.root, region(memory::in, 0, n), region(memory::out, 0, n),
                             is_short ? stretch : m_size.chunk());
        case collective_kind::all_reduce:
            if (is_short) return to.all_reduce(n);
            return to.shared_all_reduce(n);
        case collective_kind::gather:
            return to.gather(m_shape.root, m_parts, own_part(m_shape.rank == m_shape.root),
                             is_short ? stretch : m_size.chunk());
        case collective_kind::all_gather:
            return to.all_gather(m_parts, own_part(true), is_short ? stretch : stretch / 2);
        case collective_kind::reduce_scatter:
            return to.reduce_scatter(m_parts);
        case collective_kind::all_to_all:
            return to.all_to_all(m_leaving, m_parts);
        case collective_kind::scatter:
            if (m_size.fits_root_stretch())
                return to.scatter_from_root_stretch(m_shape.root, m_parts, own_part(true));
            return to.scatter(m_shape.root, m_parts, own_part(true), is_short ? stretch : m_size.chunk());
        case collective_kind::scan:
        case collective_kind::exscan:
            if (is_short) return to.prefix(prefix(), n);
            return to.prefix_chain(prefix(), n, m_size.chunk());
        case collective_kind::barrier:
            return to.barrier();
        }
    }
    [[nodiscard]] auto prefix() const -> prefix_kind {
        return m_shape.operation == collective_kind::scan ? prefix_kind::inclusive : prefix_kind::exclusive;
    }
    /// Where this rank has what it gives, or of a scatter gets.
    [[nodiscard]] auto own_part(bool has_target) const -> region {
        auto const& mine = m_parts[size(m_shape.rank)];
        if (m_shape.operation == collective_kind::scatter)
            return {memory::out, m_shape.in_place ? mine.offset() : 0, mine.size()};
        if (has_target && m_shape.in_place) return mine;
        return {memory::in, 0, mine.size()};
    }

    call_shape m_shape;
    std::vector<region> m_parts;
    std::vector<region> m_leaving; // of an all-to-all
    std::vector<int> m_members;
    std::uint64_t m_key;
    shared_memory_size m_size;
};

} // namespace detail

PAPCOLL_IMPL auto shared_memory::serves(call_shape const& shape) -> bool {
    if (shape.shared_bytes == 0 || shape.ranks < 2 || shape.nodes.empty()) return false;
    bool const one_node =
        std::all_of(shape.nodes.begin(), shape.nodes.end(), [&](int node) { return node == shape.nodes[0]; });
    return one_node && (detail::own_memory_plan::serves(shape) || detail::shared_memory_size(shape).fits());
}
PAPCOLL_IMPL void shared_memory::check(call_shape const& shape) const {
    if (shape.ranks > 1 && !serves(shape))
        throw std::invalid_argument(
            "papcoll: shared_memory is for ranks of one node that share memory, and for "
            "elements that travel as their bytes");
}
PAPCOLL_IMPL auto shared_memory::plan(call_shape const& shape, link_model const&) const -> program {
    check(shape);
    if (shape.ranks > 1 && detail::own_memory_plan::serves(shape))
        return detail::own_memory_plan(shape).write();
    auto const source = std::make_shared<detail::shared_memory_plan const>(shape);
    if (shape.ranks == 1) return source->write_alone();
    return detail::within_limit(source, shape.in_place, shape.ranks,
                                detail::shared_memory_size(shape).about_bytes());
}

} // namespace papcoll::inline v0
