// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/automatic_choice.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/collective_kind.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Which policy a collective takes, by operation, ranks and bytes: what bench/tune.py found on a machine.
///
///     {"papcoll_tuning": 1,
///      "choices": [
///        {"operation": "reduce", "ranks": 16, "bytes": 65536, "policy": "circulant", "block_bytes": 8192},
///        {"operation": "all_gather", "ranks": 16, "bytes": 512, "policy": "dissemination", "radix": 4},
///        …]}
///
/// Other members, such as the evidence, are left alone. A call takes the entry of its operation whose number
/// of ranks is nearest, and among those the one whose bytes are nearest, both as ratios; of two as near the
/// smaller.
class tuning_table {
public:
    /// What is chosen at one point of the table.
    struct entry {
        /// Of which collective.
        collective_kind operation;
        /// At how many ranks.
        int ranks;
        /// At how many bytes.
        std::size_t bytes;
        /// The policy, with what it may be told besides.
        tuned_choice choice;
    };

    tuning_table()
        : tuning_table(std::vector<entry>()) {}
    explicit tuning_table(std::vector<entry> entries);

    /// Throws std::invalid_argument with the line of the mistake; `name` is what errors call the text.
    static auto parse(std::string_view text, std::string_view name = "tuning table") -> tuning_table;
    /// Throws std::invalid_argument for a file that is no tuning table or cannot be read: it must be a
    /// regular file of at most 16 MiB.
    static auto read(std::string const& path) -> tuning_table;

    /// As a file, which parse reads.
    [[nodiscard]] auto text() const -> std::string;
    /// Equal for tables that are equal.
    [[nodiscard]] auto hash() const -> std::int64_t { return m_hash; }
    /// All points of the table.
    [[nodiscard]] auto entries() const -> std::vector<entry> const& { return m_entries; }
    /// The nearest entry, or null when the table has none for the operation.
    [[nodiscard]] auto find(collective_kind operation, int ranks, std::size_t bytes) const -> entry const*;

private:
    std::vector<entry> m_entries;
    std::int64_t m_hash = 0;
};

namespace detail {

/// The table of that text, of which the last one is kept; null where there is no text. Throws
/// std::invalid_argument where rank 0 could not read the file, or it is no table.
[[nodiscard]] auto parsed(tuning_text const* text) -> std::shared_ptr<tuning_table const>;

} // namespace detail

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/tuning_table.hpp>
#endif
