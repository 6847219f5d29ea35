// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/impl/node_stretches.hpp>
#include <papcoll/program/own_buffers.hpp>
#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace papcoll::inline v0::detail {

/// The plans of ranks of one node whose buffers are in its memory, see own_buffers. Collectives in which some
/// ranks only give go by copies: those ranks then need not wait until the others have come. So does what is
/// short.
class own_memory_plan {
public:
    explicit own_memory_plan(call_shape const& shape)
        : m_shape(shape)
        , m_stretch(node_stretches(shape).whole(given_by(shape))) {}

    /// The same on all ranks. On more ranks the plans would hold more than plan_limit() allows.
    [[nodiscard]] static auto serves(call_shape const& shape) -> bool {
        constexpr int most_ranks = 1'000;
        if (!shape.own_buffers || shape.in_place || shape.shared_bytes == 0) return false;
        if (shape.ranks > most_ranks) return false;
        bool const scatters = shape.operation == collective_kind::reduce_scatter;
        bool const known = scatters || shape.operation == collective_kind::all_reduce ||
                           shape.operation == collective_kind::all_gather ||
                           shape.operation == collective_kind::all_to_all;
        if (!known || (!scatters && !shape.sizes.empty())) return false; // displacements differ
        constexpr auto most = std::numeric_limits<std::size_t>::max() / 8;
        auto const ranks = static_cast<std::size_t>(shape.ranks);
        return shape.count <= most / shape.element_bytes / (ranks + 1) &&
               shape.count > node_stretches(shape).shortest();
    }

    [[nodiscard]] auto write() const -> program {
        auto const n = m_shape.count;
        auto const kind = m_shape.operation;
        bool const shares = kind == collective_kind::all_reduce || kind == collective_kind::all_gather;
        program_builder to;
        own_buffers with(to, m_shape.ranks, m_shape.rank, m_stretch, shares ? n : 0);
        to.share(with.size(),
                 key_of(m_shape, m_shape.sizes) + 1); // not that of a call with the user's buffers
        write(with);
        auto const rank = m_shape.rank;
        auto const given = given_by(m_shape);
        to.keep_node(with.input(rank, given), shares ? with.shared(0, n) : region());
        return to.finish();
    }

private:
    /// What a rank gives to others where it is.
    static auto given_by(call_shape const& shape) -> std::size_t {
        return shape.operation == collective_kind::all_gather ? 0 : shape.count;
    }
    void write(own_buffers& with) const {
        region const in(memory::in, 0, m_shape.count), out(memory::out, 0, m_shape.count);
        auto const parts = rank_ranges(m_shape);
        auto const& own = parts[static_cast<std::size_t>(m_shape.rank)];
        switch (m_shape.operation) {
        case collective_kind::all_reduce:
            return with.all_reduce(in, out, piece(m_shape.count));
        case collective_kind::reduce_scatter:
            return with.reduce_scatter(in, parts, region(memory::out, 0, own.size), piece(m_shape.count));
        case collective_kind::all_gather:
            return with.all_gather(region(memory::in, 0, own.size), parts, out);
        default:
            return with.all_to_all(in, parts, out);
        }
    }
    /// How many elements are combined with those of all ranks before the next: 64 KiB, which stay in the
    /// caches, more where there would be too many pieces.
    [[nodiscard]] auto piece(std::size_t n) const -> std::size_t {
        auto const most = std::clamp<std::size_t>(512 / static_cast<std::size_t>(m_shape.ranks), 1, 32);
        auto const bytes = std::size_t(64) << 10;
        return std::max({bytes / m_shape.element_bytes, (n + most - 1) / most, std::size_t(1)});
    }

    call_shape m_shape;
    std::size_t m_stretch;
};

} // namespace papcoll::inline v0::detail
