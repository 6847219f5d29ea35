// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/program/triggered_gather.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Sorted linear synchronised gather: the root asks one rank after the other for its part, in the order of
/// their arrivals (ties by rank). As all-gather, to rank 0 and followed by a circulant broadcast, this is
/// BSLB (Proficz, All-gather algorithms resilient to imbalanced process arrival patterns, 2021, section 3.2),
/// and begun by open_gather, with the root receiving in the background, BSLS.
///
/// One flow after the other reaches the root, which spares networks that punish many of them at once; in the
/// model of one-ported ranks the all-gather moves about twice the volume of the ring at the root. A rank that
/// comes later than those behind it in the order delays them. Arrivals must be the same on all ranks.
struct sorted_linear {
    arrival_source arrivals = {};
    /// How much of a rank's part goes ahead to tell that the rest follows. Must agree on all ranks.
    std::size_t first_bytes = 1024;

    static constexpr bool reorders_operands = true;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::gather || operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "sorted_linear"; }
    void check(call_shape const& shape) const {
        detail::check_arrivals(arrivals, shape.ranks);
        if (first_bytes == 0)
            throw std::invalid_argument("papcoll: first_bytes must be at least 1, but are 0");
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        auto key = detail::arrivals_key(arrivals);
        key.push_back(static_cast<std::int64_t>(first_bytes));
        return key;
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        plan_writer plan(shape);
        auto const parts = rank_ranges(shape);
        auto const part_of = [&](int rank) {
            auto const& part = parts[static_cast<std::size_t>(rank)];
            return region(memory::out, part.offset, part.size);
        };
        triggered_gather parts_of_ranks(plan.builder(),
                                        std::max<std::size_t>(first_bytes / shape.element_bytes, 1));
        if (shape.rank != shape.root) {
            if (plan.own_part().size() > 0) parts_of_ranks.answer(shape.root, plan.own_part());
        } else {
            for (int const rank : order(shape))
                if (part_of(rank).size() > 0) parts_of_ranks.ask(rank, part_of(rank));
        }
        if (shape.operation == collective_kind::all_gather) detail::add_broadcast_of_parts(plan, shape, link);
        return plan.finish();
    }

    friend auto operator==(sorted_linear const&, sorted_linear const&) -> bool = default;

private:
    /// The other ranks in the order in which the root asks them.
    [[nodiscard]] auto order(call_shape const& shape) const -> std::vector<int> {
        std::vector<int> ranks(static_cast<std::size_t>(shape.ranks));
        std::iota(ranks.begin(), ranks.end(), 0);
        std::erase(ranks, shape.root);
        auto const times = arrivals.times();
        if (!times.empty())
            std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
                return times[static_cast<std::size_t>(a)] < times[static_cast<std::size_t>(b)];
            });
        return ranks;
    }
};

} // namespace papcoll::inline v0
