// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace papcoll::inline v0::detail {

/// Scratch memory for what a program receives and does not need for long. A slot whose blocks have all left
/// is taken again, but not at once: whatever uses it next waits for what used it before.
class scratch_slots {
public:
    explicit scratch_slots(program_builder& builder)
        : m_builder(builder) {}

    /// Room for n elements.
    auto take(std::size_t n) -> region {
        for (auto& s : m_slots)
            if (s.used == 0 && s.memory.size() >= n && s.memory.size() / 2 <= n &&
                m_builder.next() >= s.left + instructions_between) {
                s.used = n;
                return s.memory.part(0, n);
            }
        m_slots.push_back({m_builder.scratch(n), n, 0});
        return m_slots.back().memory;
    }
    /// Instruction i is the last that needs a part of a slot; other regions are none of this object's.
    void leave(region const& part, program::index i) {
        if (part.where() != memory::scratch) return;
        auto const slot = std::upper_bound(
            m_slots.begin(), m_slots.end(), part.offset(),
            [](std::size_t offset, slot_state const& s) { return offset < s.memory.offset(); });
        if (slot == m_slots.begin()) return;
        auto& s = *std::prev(slot);
        if (part.offset() >= s.memory.end()) return;
        s.used -= std::min(part.size(), s.used);
        s.left = i;
    }

private:
    // More than are under way at a time, of a send, a receive and a combination for each message.
    static constexpr program::index instructions_between = 24;

    struct slot_state {
        region memory;
        std::size_t used;    ///< elements that are still needed
        program::index left; ///< the last instruction that needed one
    };

    program_builder& m_builder;
    std::vector<slot_state> m_slots; // in the order of their memory
};

} // namespace papcoll::inline v0::detail
