// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// How many elements belong to each rank, and where they begin; shared, because calls are copied. What is
/// wrong with them from the start is kept for check, so that with agreed checks all ranks learn of it.
class rank_sizes {
public:
    rank_sizes() = default;
    /// One rank's elements follow the other's.
    rank_sizes(std::vector<std::size_t> sizes, std::string complaint) {
        std::vector<std::size_t> begins(sizes.size());
        std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), std::size_t(0));
        *this = {std::move(sizes), std::move(begins), std::move(complaint)};
    }
    rank_sizes(std::vector<std::size_t> sizes, std::vector<std::size_t> displacements, std::string complaint)
        : m_data(std::make_shared<data const>(
              data{std::move(sizes), std::move(displacements), std::move(complaint)})) {}
    /// The same, with something wrong.
    [[nodiscard]] auto with_complaint(std::string complaint) const -> rank_sizes {
        return {m_data->sizes, m_data->displacements, std::move(complaint)};
    }

    [[nodiscard]] auto sizes() const -> std::span<std::size_t const> { return m_data->sizes; }
    [[nodiscard]] auto displacements() const -> std::span<std::size_t const> { return m_data->displacements; }
    [[nodiscard]] auto total() const -> std::size_t {
        return std::accumulate(m_data->sizes.begin(), m_data->sizes.end(), std::size_t(0));
    }
    /// One behind the last element.
    [[nodiscard]] auto end() const -> std::size_t {
        std::size_t end = 0;
        for (std::size_t r = 0; r < m_data->sizes.size(); ++r)
            if (m_data->sizes[r] > 0) end = std::max(end, m_data->displacements[r] + m_data->sizes[r]);
        return end;
    }

    /// Throws std::invalid_argument unless there is one size and one displacement per rank and memory can
    /// hold them all, and for what was wrong from the start.
    void check(int ranks, std::size_t element_bytes) const {
        if (!m_data->complaint.empty()) reject(m_data->complaint);
        auto const p = static_cast<std::size_t>(ranks);
        if (sizes().size() != p)
            reject("sizes must have one entry per rank (" + std::to_string(p) + "), but have " +
                   std::to_string(sizes().size()));
        if (displacements().size() != p)
            reject("displacements must have one entry per rank (" + std::to_string(p) + "), but have " +
                   std::to_string(displacements().size()));
        for (std::size_t r = 0; r < p; ++r) {
            check_count(sizes()[r], element_bytes);
            check_count(displacements()[r], element_bytes);
            check_count(displacements()[r] + sizes()[r], element_bytes);
        }
        std::size_t sum = 0;
        for (auto const size : sizes()) check_count(sum += size, element_bytes);
    }

private:
    struct data {
        std::vector<std::size_t> sizes;
        std::vector<std::size_t> displacements;
        std::string complaint;
    };
    std::shared_ptr<data const> m_data = std::make_shared<data const>();
};

/// Sizes or displacements as users have them: any contiguous range of integers.
template <class R>
concept counts_range = std::ranges::contiguous_range<R const> && std::integral<std::ranges::range_value_t<R>>;

/// Negative ones count as 0 and leave a complaint.
template <counts_range R>
[[nodiscard]] auto counts_of(char const* name, R const& range, std::string& complaint)
    -> std::vector<std::size_t> {
    std::vector<std::size_t> result;
    result.reserve(std::ranges::size(range));
    for (auto const n : range) {
        bool const negative = std::cmp_less(n, 0);
        if (negative) complaint = std::string(name) + " must not be negative, but have " + std::to_string(n);
        result.push_back(negative ? 0 : static_cast<std::size_t>(n));
    }
    return result;
}
template <counts_range R>
[[nodiscard]] auto sizes_of(R const& sizes) -> rank_sizes {
    std::string complaint;
    auto counts = counts_of("sizes", sizes, complaint);
    return {std::move(counts), std::move(complaint)};
}
template <counts_range R, counts_range D>
[[nodiscard]] auto sizes_of(R const& sizes, D const& displacements) -> rank_sizes {
    std::string complaint;
    auto counts = counts_of("sizes", sizes, complaint);
    auto begins = counts_of("displacements", displacements, complaint);
    return {std::move(counts), std::move(begins), std::move(complaint)};
}

} // namespace papcoll::inline v0::detail
