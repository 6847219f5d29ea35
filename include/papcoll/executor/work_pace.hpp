// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace papcoll::inline v0::detail {

/// How many elements a rank combines before it sees to its messages, which nobody moves while an operator
/// runs: what takes about as long as `most`. Learned from how long the last ones took, whatever the operator.
class work_pace {
public:
    /// Short beside the messages that are worth hiding, long beside a look at them.
    static constexpr ticks most = std::chrono::microseconds(100);

    /// Messages have been seen to.
    void begin(ticks now) { m_begin = m_last = now; }
    /// Of so many elements of this size, how many are combined next. Where a kibibyte takes less than `most`
    /// pieces end where combine_alike's do: then how an operand is cut makes no difference to the bits. What
    /// takes longer is no loop that a compiler could make anything of.
    [[nodiscard]] auto next(std::size_t left, std::size_t element_bytes) const -> std::size_t {
        std::size_t const grain = std::max<std::size_t>(1024 / element_bytes, 1); // see alike_elements
        std::size_t const wanted = m_elements == 0 ? 4 * grain : m_elements;
        return std::min(left, wanted < grain ? wanted : wanted - wanted % grain);
    }
    /// So many have been combined. True when it is time to see to messages.
    [[nodiscard]] auto ended(std::size_t elements, ticks now) -> bool {
        auto const took = now - m_last;
        m_last = now;
        m_long = elements == 1 && took > 5 * most;
        if (m_elements == 0) m_elements = elements;
        if (took > most)
            m_elements = std::max<std::size_t>(elements / static_cast<std::size_t>(took / most + 1), 1);
        else if (took < most / 4 && elements >= m_elements)
            m_elements = std::min(2 * elements, most_elements);
        return now - m_begin >= most;
    }
    /// Whether a single element takes much longer. Before anything is known the large ones are taken to.
    [[nodiscard]] auto is_long(std::size_t element_bytes) const -> bool {
        return m_elements == 0 ? element_bytes >= large_bytes : m_long;
    }

private:
    static constexpr std::size_t large_bytes = std::size_t(64) << 10;
    static constexpr std::size_t most_elements = std::size_t(1) << 30;

    std::size_t m_elements = 0; // at once; 0: nothing is known
    ticks m_begin{0}, m_last{0};
    bool m_long = false;
};

} // namespace papcoll::inline v0::detail
