// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/argument_checks.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <atomic>
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

/// Sizes or displacements as users have them: any contiguous range of integers.
template <class R>
concept counts_range = std::ranges::contiguous_range<R const> && std::integral<std::ranges::range_value_t<R>>;

/// How many elements belong to each rank, and where they begin; shared, because calls are copied. What is
/// wrong with them from the start is kept for check, so that with agreed checks all ranks learn of it.
class rank_sizes {
public:
    /// None: all ranks have equally many.
    rank_sizes() = default;
    /// Copies of what the user has; negative ones count as 0 and leave a complaint. Without displacements one
    /// rank's elements follow the other's.
    template <counts_range Sizes>
    explicit rank_sizes(Sizes const& sizes)
        : m_data(unused()) {
        take("sizes", sizes, m_data->sizes);
        m_data->displacements.resize(m_data->sizes.size());
        std::exclusive_scan(m_data->sizes.begin(), m_data->sizes.end(), m_data->displacements.begin(),
                            std::size_t(0));
        m_data->follow_each_other = true;
    }
    template <counts_range Sizes, counts_range Displacements>
    rank_sizes(Sizes const& sizes, Displacements const& displacements)
        : m_data(unused()) {
        take("sizes", sizes, m_data->sizes);
        take("displacements", displacements, m_data->displacements);
        m_data->follow_each_other = false;
    }

    [[nodiscard]] auto given() const -> bool { return m_data != nullptr; }
    [[nodiscard]] auto sizes() const -> std::span<std::size_t const> {
        if (m_data) return m_data->sizes;
        return {};
    }
    [[nodiscard]] auto displacements() const -> std::span<std::size_t const> {
        if (m_data) return m_data->displacements;
        return {};
    }
    /// Whether they are these, and good from the start; `some`: or whether there are none.
    [[nodiscard]] auto are(bool some, std::span<std::size_t const> sizes,
                           std::span<std::size_t const> displacements) const -> bool {
        if (!m_data || !some) return given() == some;
        return m_data->complaint.empty() && std::ranges::equal(m_data->sizes, sizes) &&
               std::ranges::equal(m_data->displacements, displacements);
    }
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
    /// What belongs to a rank; nothing, nowhere, where the sizes are wrong or it has none.
    [[nodiscard]] auto part(int rank) const -> block_range {
        auto const r = static_cast<std::size_t>(rank);
        if (r >= sizes().size() || r >= displacements().size() || sizes()[r] == 0) return {0, 0};
        return {displacements()[r], sizes()[r]};
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
    /// Throws std::invalid_argument where the parts of two ranks overlap.
    void check_apart() const {
        if (m_data->follow_each_other) return;
        auto& ranges = m_data->ranges;
        ranges.clear();
        for (std::size_t r = 0; r < sizes().size(); ++r)
            if (sizes()[r] > 0) ranges.emplace_back(displacements()[r], sizes()[r]);
        std::sort(ranges.begin(), ranges.end());
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i - 1].first + ranges[i - 1].second > ranges[i].first)
                reject(
                    "displacements must keep the parts of the ranks apart, but two parts meet at element " +
                    std::to_string(ranges[i].first));
    }

private:
    struct data {
        std::vector<std::size_t> sizes;
        std::vector<std::size_t> displacements;
        std::string complaint;
        bool follow_each_other = true;
        std::vector<std::pair<std::size_t, std::size_t>> ranges; // check_apart's, used again
    };
    /// A repeated call uses the memory of the last one of its thread, unless that is still used elsewhere.
    static auto unused() -> std::shared_ptr<data> {
#ifdef __SANITIZE_THREAD__ // which knows no fences
        return std::make_shared<data>();
#else
        thread_local auto kept = std::make_shared<data>();
        if (kept.use_count() > 1)
            kept = std::make_shared<data>();
        else
            std::atomic_thread_fence(std::memory_order_acquire); // after whoever used it last
        kept->complaint.clear();
        return kept;
#endif
    }
    template <counts_range R>
    void take(char const* name, R const& range, std::vector<std::size_t>& result) {
        result.clear();
        result.reserve(std::ranges::size(range));
        for (auto const n : range) {
            bool const negative = std::cmp_less(n, 0);
            if (negative)
                m_data->complaint =
                    std::string(name) + " must not be negative, but have " + std::to_string(n);
            result.push_back(negative ? 0 : static_cast<std::size_t>(n));
        }
    }

    std::shared_ptr<data> m_data;
};

} // namespace papcoll::inline v0::detail
