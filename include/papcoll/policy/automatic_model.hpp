// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/tuning_table.hpp>

#include <algorithm>
#include <bit>
#include <span>
#include <string>

namespace papcoll::inline v0 {

/// What `automatic` takes for a call.
struct automatic_choice {
    tuned_choice choice;
    std::string reason;
};

namespace detail {

/// Whether the arrivals lie so far apart that knowing them can save more than a few rounds of latency.
[[nodiscard]] inline auto arrivals_matter(std::span<ticks const> arrivals, call_shape const& shape,
                                          link_model const& link) -> bool {
    if (arrivals.empty()) return false;
    auto const [first, last] = std::minmax_element(arrivals.begin(), arrivals.end());
    auto const rounds = std::bit_width(static_cast<unsigned>(shape.ranks - 1));
    return *last - *first > link.latency * rounds;
}

/// Bruck's rounds move half of all data each, the pairwise exchange every part once, at a round's latency.
[[nodiscard]] inline auto exchange_choice(call_shape const& shape, link_model const& link)
    -> automatic_choice {
    double const latency = round_latency(link);
    double const volume = volume_time(shape.bytes(), link);
    double const p = shape.ranks;
    double const rounds = std::bit_width(static_cast<unsigned>(shape.ranks - 1));
    double const bruck = rounds * (latency + volume / 2);
    double const pairwise = (p - 1) * (latency + volume / p);
    if (bruck < pairwise) return {{"bruck", {}}, "model: few rounds for short parts"};
    return {{"pairwise", {}}, "model: every part moves once"};
}

/// The policy that ends first in the model. Circulant schedules are within (q − 1)/n of every bound that does
/// not know the arrivals (paper 3); trees serve operators that do not commute and blocks that cannot be cut.
[[nodiscard]] inline auto model_choice(call_shape const& shape, link_model const& link,
                                       std::span<ticks const> arrivals) -> automatic_choice {
    bool const aware = arrivals_matter(arrivals, shape, link);
    switch (shape.operation) {
    case collective_kind::reduce:
        if (!shape.commutative) return {{"greedy_tree", {}}, "model: keeps the order of ranks"};
        if (!aware) break;
        if (clairvoyant_segments(shape, link) == 1)
            return {{"arrival_tree", {}}, "model: one block, arrivals known"};
        return {{"clairvoyant", {}}, "model: many blocks, arrivals known"};
    case collective_kind::all_reduce:
        if (!shape.commutative) return {{"greedy_tree", {}}, "model: keeps the order of ranks"};
        if (aware) return {{"arrival_all_reduce", {}}, "model: arrivals known"};
        break;
    case collective_kind::reduce_scatter:
        if (!shape.commutative) return {{"native", {}}, "keeps the order of ranks"};
        break;
    case collective_kind::gather:
        return {{"linear", {}}, "model: the root's link is the limit"};
    case collective_kind::all_to_all:
        return exchange_choice(shape, link);
    case collective_kind::broadcast:
    case collective_kind::all_gather:
        break;
    }
    return {{"circulant", {}},
            aware ? "model: arrivals do not help before the call" : "model: arrivals unknown"};
}

} // namespace detail

} // namespace papcoll::inline v0
