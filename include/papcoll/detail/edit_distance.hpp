// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// The least number of characters to insert, remove or replace so that one text becomes the other
/// (Levenshtein). O(|a| |b|).
[[nodiscard]] inline auto edit_distance(std::string_view a, std::string_view b) -> std::size_t {
    std::vector<std::size_t> row(b.size() + 1); // of the first i characters of a, to the first j of b
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (char const c : a) {
        auto diagonal = row.front()++;
        for (std::size_t j = 1; j < row.size(); ++j) {
            auto const replaced = diagonal + (b[j - 1] == c ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row.back();
}

} // namespace papcoll::inline v0::detail
