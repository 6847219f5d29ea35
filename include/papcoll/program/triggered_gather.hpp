// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace papcoll::inline v0 {

/// A triggered gather. The root asks one rank after the other, by an empty message; a rank that is asked and
/// has its data answers with the first elements of its part, which tell that the rest follows at once. Then
/// the root asks the next one, so that there is no pause between two parts, and never more than two of them
/// on the root's link.
///
/// This is the sorted linear synchronised gather of Proficz, when the order is that of the arrivals; driven
/// in the background (open_gather) the root receives before it has its own data. No deadlock: the root waits
/// for one rank at a time, and that rank for nothing but its data and the root.
class triggered_gather {
public:
    /// `first_elements`: of a rank's first message, at least 1.
    triggered_gather(program_builder& to, std::size_t first_elements)
        : m_to(to)
        , m_first_elements(first_elements) {
        m_to.use({.receives = 4, .sends = 2, .admission = false});
    }

    /// At the root: the part of the next rank comes here.
    void ask(int rank, region const& part) {
        auto const first = m_to.receive(rank, first_of(part));
        auto rest = none;
        if (part.size() > m_first_elements) rest = m_to.receive(rank, rest_of(part));
        if (m_first_before != none) m_to.after(m_first_before);
        if (m_rest_before_that != none) m_to.after(m_rest_before_that);
        m_to.send(rank, std::span<region const>());
        m_first_before = first;
        m_rest_before_that = m_rest_before;
        m_rest_before = rest;
    }
    /// At another rank: its part.
    void answer(int root, region const& part) {
        auto const asked = m_to.receive(root, std::span<region const>());
        m_to.after(asked);
        m_to.send(root, first_of(part));
        if (part.size() <= m_first_elements) return;
        m_to.after(asked);
        m_to.send(root, rest_of(part));
    }

private:
    // No optional: g++ 12 -O1 warns that it may not be initialised.

    [[nodiscard]] auto first_of(region const& part) const -> region {
        return part.part(0, std::min(part.size(), m_first_elements));
    }
    [[nodiscard]] auto rest_of(region const& part) const -> region {
        return part.part(m_first_elements, part.size() - m_first_elements);
    }

    static constexpr auto none = static_cast<program::index>(-1);

    program_builder& m_to;
    std::size_t m_first_elements;
    program::index m_first_before = none;
    program::index m_rest_before = none;
    program::index m_rest_before_that = none;
};

} // namespace papcoll::inline v0
