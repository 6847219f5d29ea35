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
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Sizes or displacements as users have them: any contiguous range of integers.
template <class R>
concept counts_range = std::ranges::contiguous_range<R const> && std::integral<std::ranges::range_value_t<R>>;

/// Sizes, and where the parts of these sizes begin.
struct part_list {
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> displacements;
    bool follow_each_other = true;

    [[nodiscard]] auto has_same(part_list const& other) const -> bool {
        return sizes == other.sizes && displacements == other.displacements;
    }
    [[nodiscard]] auto total() const -> std::size_t {
        return std::accumulate(sizes.begin(), sizes.end(), std::size_t(0));
    }
    /// One behind the last element.
    [[nodiscard]] auto end() const -> std::size_t {
        std::size_t end = 0;
        for (std::size_t r = 0; r < std::min(sizes.size(), displacements.size()); ++r)
            if (sizes[r] > 0) end = std::max(end, displacements[r] + sizes[r]);
        return end;
    }
    /// What belongs to a rank; nothing, nowhere, where the sizes are wrong or it has none.
    [[nodiscard]] auto part(int rank) const -> block_range {
        auto const r = static_cast<std::size_t>(rank);
        if (r >= sizes.size() || r >= displacements.size() || sizes[r] == 0) return {0, 0};
        return {displacements[r], sizes[r]};
    }
    /// Throws std::invalid_argument unless there is one size and one displacement per rank and memory can
    /// hold them all.
    void check(int ranks, std::size_t element_bytes) const {
        auto const p = static_cast<std::size_t>(ranks);
        if (sizes.size() != p)
            reject("sizes must have one entry per rank (" + std::to_string(p) + "), but have " +
                   std::to_string(sizes.size()));
        if (displacements.size() != p)
            reject("displacements must have one entry per rank (" + std::to_string(p) + "), but have " +
                   std::to_string(displacements.size()));
        std::size_t sum = 0;
        for (std::size_t r = 0; r < p; ++r) {
            check_count(sizes[r], element_bytes);
            check_count(displacements[r], element_bytes);
            check_count(displacements[r] + sizes[r], element_bytes);
            check_count(sum += sizes[r], element_bytes);
        }
    }
    /// Throws std::invalid_argument where the parts of two ranks overlap. `ranges` is used for it.
    void check_apart(std::vector<std::pair<std::size_t, std::size_t>>& ranges) const {
        if (follow_each_other) return;
        ranges.clear();
        for (std::size_t r = 0; r < sizes.size(); ++r)
            if (sizes[r] > 0) ranges.emplace_back(displacements[r], sizes[r]);
        std::sort(ranges.begin(), ranges.end());
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i - 1].first + ranges[i - 1].second > ranges[i].first)
                reject(
                    "displacements must keep the parts of the ranks apart, but two parts meet at element " +
                    std::to_string(ranges[i].first));
    }
};

/// What is kept of the sizes of a call, to know them again.
struct kept_sizes {
    bool given = false;
    std::optional<std::size_t> own = {};
    part_list parts = {};
    part_list leaving = {};
};

/// How many elements belong to each rank, and where they begin; shared, because calls are copied. What is
/// wrong with them from the start is kept for check, so that with agreed checks all ranks learn of it.
///
/// In a gather or a scatter the root has a list, which no other rank needs: those know their own size. In an
/// all-to-all each rank has two lists, of what it gives and of what it gets.
class rank_sizes {
public:
    /// None: all ranks have equally many.
    rank_sizes() = default;
    /// Copies of what the user has; negative ones count as 0 and leave a complaint. Without displacements one
    /// rank's elements follow the other's.
    template <counts_range Sizes>
    explicit rank_sizes(Sizes const& sizes)
        : m_data(unused()) {
        take(m_data->parts, sizes);
    }
    template <counts_range Sizes, counts_range Displacements>
    rank_sizes(Sizes const& sizes, Displacements const& displacements)
        : m_data(unused()) {
        take(m_data->parts, sizes, displacements);
    }
    /// Only how many this rank has.
    [[nodiscard]] static auto of_own(std::size_t n) -> rank_sizes {
        rank_sizes result;
        result.m_data = unused();
        result.m_data->parts.sizes.clear();
        result.m_data->parts.displacements.clear();
        return result.with_own(n);
    }

    /// This rank has so many, whatever the list says.
    auto with_own(std::size_t n) -> rank_sizes& {
        m_data->own = n;
        return *this;
    }
    /// What this rank gives to each.
    template <counts_range Sizes>
    auto giving(Sizes const& sizes) -> rank_sizes& {
        take(m_data->leaving, sizes);
        return *this;
    }
    template <counts_range Sizes, counts_range Displacements>
    auto giving(Sizes const& sizes, Displacements const& displacements) -> rank_sizes& {
        take(m_data->leaving, sizes, displacements);
        return *this;
    }

    /// Whether one rank's elements come behind the other's.
    [[nodiscard]] auto follow_each_other() const -> bool {
        return !m_data || m_data->parts.follow_each_other;
    }
    /// Whether there are any.
    [[nodiscard]] auto given() const -> bool { return m_data != nullptr; }
    [[nodiscard]] auto sizes() const -> std::span<std::size_t const> {
        if (m_data) return m_data->parts.sizes;
        return {};
    }
    [[nodiscard]] auto displacements() const -> std::span<std::size_t const> {
        if (m_data) return m_data->parts.displacements;
        return {};
    }
    /// Whether they are those that were kept, and good from the start.
    [[nodiscard, gnu::noinline]] auto are(kept_sizes const& kept) const -> bool {
        if (!m_data || !kept.given) return given() == kept.given;
        return m_data->complaint.empty() && m_data->own == kept.own && m_data->parts.has_same(kept.parts) &&
               m_data->leaving.has_same(kept.leaving);
    }
    void keep(kept_sizes& to) const {
        to.given = given();
        if (!m_data) return;
        to.own = m_data->own;
        to.parts = m_data->parts;
        to.leaving = m_data->leaving;
    }
    [[nodiscard]] auto total() const -> std::size_t { return m_data->parts.total(); }
    [[nodiscard]] auto end() const -> std::size_t { return m_data->parts.end(); }
    [[nodiscard]] auto part(int rank) const -> block_range { return m_data->parts.part(rank); }
    /// What this rank gives, of an all-to-all.
    [[nodiscard]] auto leaving() const -> part_list const& { return m_data->leaving; }
    /// How many elements this rank has, in a list of one number.
    [[nodiscard]] auto own(int rank) const -> std::span<std::size_t const> {
        if (m_data->own) return std::span(&*m_data->own, 1);
        auto const r = static_cast<std::size_t>(rank);
        return r < sizes().size() ? sizes().subspan(r, 1) : std::span(&none, 1);
    }

    /// Throws std::invalid_argument unless there is one size and one displacement per rank and memory can
    /// hold them all, and for what was wrong from the start.
    void check(int ranks, std::size_t element_bytes) const {
        if (!m_data->complaint.empty()) reject(m_data->complaint);
        m_data->parts.check(ranks, element_bytes);
    }
    /// The same of both lists of an all-to-all.
    void check_exchange(int ranks, int rank, std::size_t element_bytes) const {
        check(ranks, element_bytes);
        m_data->leaving.check(ranks, element_bytes);
        if (auto const given = m_data->leaving.part(rank).size, got = part(rank).size; given != got)
            reject("sizes must say twice what a rank gives to itself, but say " + std::to_string(given) +
                   " and " + std::to_string(got));
    }
    /// Whether as much comes from each rank as goes to it, to the same place.
    [[nodiscard]] auto exchanges_in_place() const -> bool {
        auto const &to = m_data->parts, &from = m_data->leaving;
        return to.sizes == from.sizes && to.displacements == from.displacements;
    }
    /// Of a rank that needs its own size alone: throws std::invalid_argument where it is in a list that was
    /// wrong from the start.
    void check_own(int rank, std::size_t element_bytes) const {
        if (!m_data->own && !m_data->complaint.empty()) reject(m_data->complaint);
        check_count(own(rank)[0], element_bytes);
    }
    /// Throws std::invalid_argument where the parts of two ranks overlap.
    void check_apart() const { m_data->parts.check_apart(m_data->ranges); }

private:
    struct data {
        part_list parts;
        part_list leaving;
        std::optional<std::size_t> own;
        std::string complaint;
        std::vector<std::pair<std::size_t, std::size_t>> ranges; // check_apart's, used again
    };
    static constexpr std::size_t none = 0;

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
        kept->own.reset();
        kept->leaving.sizes.clear();
        kept->leaving.displacements.clear();
        return kept;
#endif
    }
    template <counts_range Sizes>
    void take(part_list& to, Sizes const& sizes) {
        take("sizes", sizes, to.sizes);
        to.displacements.resize(to.sizes.size());
        std::exclusive_scan(to.sizes.begin(), to.sizes.end(), to.displacements.begin(), std::size_t(0));
        to.follow_each_other = true;
    }
    template <counts_range Sizes, counts_range Displacements>
    void take(part_list& to, Sizes const& sizes, Displacements const& displacements) {
        take("sizes", sizes, to.sizes);
        take("displacements", displacements, to.displacements);
        to.follow_each_other = false;
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
