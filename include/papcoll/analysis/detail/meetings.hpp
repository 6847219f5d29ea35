// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace papcoll::inline v0::detail {

/// Which ranks must have begun when an instruction ends, whatever the timing: its own, those that were known
/// where it waits, and those that its message or await tells of. P bits for each instruction.
class meetings {
public:
    using index = program::index;

    explicit meetings(std::span<program const> programs)
        : m_programs(programs)
        , m_known(programs.size()) {
        for (std::size_t rank = 0; rank < programs.size(); ++rank)
            m_known[rank].resize(programs[rank].instructions.size());
    }

    /// All that it waits for has ended.
    void execute(std::size_t rank, index i) {
        auto& known = m_known[rank][i];
        known.assign(m_programs.size(), false);
        known[rank] = true;
        for (auto const earlier : m_programs[rank].waits_of(i)) merge(known, m_known[rank][earlier]);
    }
    /// It also waits for what the peer did.
    void hear(std::size_t rank, index i, std::size_t peer, index there) {
        merge(m_known[rank][i], m_known[peer][there]);
    }
    /// A rank that may end before another has begun.
    [[nodiscard]] auto violation() const -> std::optional<std::string> {
        for (std::size_t rank = 0; rank < m_programs.size(); ++rank) {
            std::vector<bool> all(m_programs.size(), false);
            all[rank] = true;
            for (auto const& known : m_known[rank]) merge(all, known);
            auto const missed = std::find(all.begin(), all.end(), false);
            if (missed != all.end())
                return "rank " + std::to_string(rank) + " may end before rank " +
                       std::to_string(missed - all.begin()) + " has begun";
        }
        return {};
    }

private:
    static void merge(std::vector<bool>& into, std::vector<bool> const& from) {
        for (std::size_t r = 0; r < from.size(); ++r)
            if (from[r]) into[r] = true;
    }

    std::span<program const> m_programs;
    std::vector<std::vector<std::vector<bool>>> m_known; // by rank and instruction
};

} // namespace papcoll::inline v0::detail
