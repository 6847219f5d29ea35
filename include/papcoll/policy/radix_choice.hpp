// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/detail/is_power.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/schedule/exchange_groups.hpp>

#include <algorithm>
#include <cstdint>

namespace papcoll::inline v0::detail {

/// An algorithm of ⌈log_k P⌉ rounds with k − 1 messages at a rank in each, and how long it takes.
struct radix_choice {
    int radix = 2;
    /// Nanoseconds, in the model.
    double time = 0;
};

/// ⌈log_k P⌉
[[nodiscard]] inline auto rounds_of_radix(int ranks, int radix) -> int {
    int rounds = 0;
    for (std::int64_t reached = 1; reached < ranks; reached *= radix) ++rounds;
    return rounds;
}
/// The smallest k, at least 2, with k^rounds ≥ ranks.
[[nodiscard]] inline auto radix_for_rounds(int ranks, int rounds) -> int {
    int least = 2, most = std::max(ranks, 2);
    while (least < most) {
        int const middle = least + (most - least) / 2;
        if (rounds_of_radix(ranks, middle) <= rounds)
            most = middle;
        else
            least = middle + 1;
    }
    return least;
}

/// Where one rank alone has several messages under way, what each beyond the first costs: most of the latency
/// passes together with that of the others, but for what the link was measured to take for each. Between 8
/// emulated hosts an eighth of a latency is what a single call shows, from rest; many in a row show the
/// latter, since the rank with the messages is behind with the calls before.
[[nodiscard]] inline auto rooted_message_cost(link_model const& link) -> double {
    return std::max(round_latency(link) / 8, link.per_message);
}

struct any_radix {
    auto operator()(int) const -> bool { return true; }
};
/// The shortest. A round of m messages takes `round(radix, m)`, and the bytes of all rounds take
/// `volume(rounds, radix)`. Of radices with as many rounds the smallest is tried, or the next one that
/// `suits` the ranks.
template <class Round, class Volume, class Suits = any_radix>
[[nodiscard]] auto choose_radix(int ranks, Round const& round, Volume const& volume, Suits const& suits = {})
    -> radix_choice {
    radix_choice best;
    int const most = std::max(rounds_of_radix(ranks, 2), 1);
    for (int rounds = most; rounds >= 1; --rounds) {
        int const least = radix_for_rounds(ranks, rounds);
        int radix = least;
        while (!suits(radix) && radix < 2 * least && rounds_of_radix(ranks, radix + 1) == rounds) ++radix;
        if (!suits(radix)) radix = least;
        double const messages = std::max(std::min(radix, ranks) - 1, 1);
        double const time = rounds * round(radix, messages) + volume(rounds, radix);
        if (rounds == most || time < best.time) best = {radix, time};
    }
    return best;
}

/// Of k-nomial trees: whole messages go down, or up, k − 1 in a round at the busiest rank; parts all pass the
/// root's link.
[[nodiscard]] inline auto choose_knomial(call_shape const& shape, link_model const& link) -> radix_choice {
    double const whole = volume_time(shape.bytes(), link);
    bool const parts =
        shape.operation == collective_kind::gather || shape.operation == collective_kind::scatter;
    auto const round = [&](int, double messages) {
        return round_latency(link) + (messages - 1) * rooted_message_cost(link);
    };
    auto const volume = [&](int rounds, int radix) {
        if (parts) return whole;
        return rounds * (std::min(radix, std::max(shape.ranks, 2)) - 1) * whole;
    };
    auto best = choose_radix(shape.ranks, round, volume);
    if (shape.operation == collective_kind::all_reduce) best.time *= 2;
    return best;
}

/// Where all ranks have several messages under way, what each beyond the first costs: on one machine, and
/// between emulated hosts, no less than half a latency.
[[nodiscard]] inline auto cost_among_many(link_model const& link) -> double {
    return std::max(message_cost(link), round_latency(link) / 2);
}

/// Of disseminations, in which every rank hears of all others: of whole operands, or of a part of each.
[[nodiscard]] inline auto choose_dissemination(call_shape const& shape, link_model const& link)
    -> radix_choice {
    bool const reduces = shape.operation == collective_kind::all_reduce;
    double const others = shape.ranks - 1;
    double const whole = shape.operation == collective_kind::barrier ? 0 : volume_time(shape.bytes(), link);
    auto const round = [&](int radix, double messages) {
        bool const in_groups =
            reduces ? !exchange_groups(shape.ranks, radix).empty() : is_power(shape.ranks, radix);
        bool const both_ways = in_groups && (radix == 2 || radix < shape.ranks);
        double const one_way = both_ways ? 0 : (one_way_round - 1) * round_latency(link);
        return round_latency(link) + (messages - 1) * cost_among_many(link) + messages * one_way;
    };
    auto const volume = [&](int, int radix) {
        if (!reduces) return others / shape.ranks * whole;
        double messages = 0;
        for (int const size : exchange_groups(shape.ranks, radix)) messages += size - 1;
        return (messages > 0 ? messages : others) * whole;
    };
    auto const suits = [&](int radix) { return !reduces || !exchange_groups(shape.ranks, radix).empty(); };
    return choose_radix(shape.ranks, round, volume, suits);
}
/// How ranks hear of each other, in a barrier.
struct sign_choice {
    enum class way { dissemination, butterfly, star } by;
    int radix; ///< of a dissemination
    /// Nanoseconds, in the model.
    double time;
};
/// The shortest: by a star one rank hears of all, and tells all.
[[nodiscard]] inline auto choose_signs(int ranks, link_model const& link) -> sign_choice {
    using way = sign_choice::way;
    auto const by = choose_dissemination({.operation = collective_kind::barrier, .ranks = ranks}, link);
    double const latency = round_latency(link);
    double const butterfly = butterfly_rounds(ranks) * latency;
    double const star = 2 * (latency + std::max(ranks - 2, 0) * rooted_message_cost(link));
    if (by.time <= std::min(butterfly, star)) return {way::dissemination, by.radix, by.time};
    if (butterfly <= star) return {way::butterfly, by.radix, butterfly};
    return {way::star, by.radix, star};
}

} // namespace papcoll::inline v0::detail
