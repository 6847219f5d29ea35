// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "policy_draw.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace soak {
namespace {

using kind = policy_kind;
using papcoll::collective_kind;
using papcoll::ticks;

auto kinds_for(collective_kind operation, bool commutative) -> std::vector<kind> {
    std::vector<kind> const trees{kind::greedy_tree, kind::binomial_tree, kind::fibonacci_tree,
                                  kind::knomial_tree};
    std::vector<kind> all;
    auto const add = [&](std::vector<kind> const& more) { all.insert(all.end(), more.begin(), more.end()); };
    switch (operation) {
    case collective_kind::broadcast:
        add(trees);
        add({kind::circulant, kind::two_level, kind::bine_tree, kind::own_scheduler});
        break;
    case collective_kind::reduce:
        add(trees);
        if (commutative)
            add({kind::circulant, kind::two_level, kind::clairvoyant, kind::clairvoyant, kind::arrival_tree,
                 kind::bine_tree, kind::own_scheduler});
        break;
    case collective_kind::all_reduce:
        add(trees);
        if (commutative)
            add({kind::circulant, kind::circulant, kind::two_level, kind::arrival_tree,
                 kind::arrival_all_reduce, kind::own_scheduler});
        break;
    case collective_kind::reduce_scatter:
        if (commutative) add({kind::circulant, kind::circulant, kind::two_level, kind::own_scheduler});
        break;
    case collective_kind::gather:
        add({kind::linear, kind::sorted_linear, kind::knomial_tree});
        break;
    case collective_kind::all_gather:
        add({kind::circulant, kind::two_level, kind::dissemination, kind::ring, kind::neighbor_exchange,
             kind::linear, kind::sorted_linear, kind::background_ring, kind::background_circulant,
             kind::own_scheduler});
        break;
    case collective_kind::all_to_all:
        add({kind::exchange_linear, kind::exchange_pairwise, kind::exchange_bruck,
             kind::exchange_linear_sync});
        break;
    case collective_kind::scatter:
        add({kind::linear, kind::knomial_tree});
        break;
    case collective_kind::scan:
    case collective_kind::exscan:
        add({kind::prefix_doubling, kind::prefix_chain});
        break;
    case collective_kind::barrier:
        add({kind::dissemination});
        break;
    }
    add({kind::by_default, kind::automatic, kind::native});
    return all;
}

auto takes_arrivals(kind k) -> bool {
    return k == kind::automatic || k == kind::clairvoyant || k == kind::arrival_tree ||
           k == kind::arrival_all_reduce || k == kind::own_scheduler || k == kind::background_ring ||
           k == kind::background_circulant || k == kind::sorted_linear;
}

/// Right or wrong ones: all together, one late, in order, at random, far apart.
auto draw_arrivals(random_source& random, int ranks) -> std::vector<ticks> {
    std::vector<ticks> times(static_cast<std::size_t>(ranks), ticks(random.between(-1000, 1000)));
    auto const way = random.below(5);
    auto const unit = static_cast<std::int64_t>(random.magnitude(5'000'000));
    if (way == 1) times[random.below(times.size())] += ticks(unit);
    for (std::size_t r = 0; r < times.size(); ++r) {
        auto const place = static_cast<std::int64_t>(r);
        if (way == 2) times[r] = ticks(place * unit);
        if (way == 3) times[r] = ticks(random.between<std::int64_t>(0, unit));
        if (way == 4) times[r] = ticks((std::int64_t(1) << 58) / (place + 1));
    }
    return times;
}

void draw_members(random_source& random, policy_wishes const& wishes, policy_draw& policy) {
    policy.has_members = true;
    if (takes_arrivals(policy.kind) && random.percent(70)) {
        bool const monitor = wishes.monitored && random.percent(75);
        policy.source = monitor ? arrivals_from::the_monitor : arrivals_from::the_draw;
        if (!monitor) policy.arrivals = draw_arrivals(random, wishes.ranks);
    }
    // Some hundred blocks at most, for the time that they take.
    if (random.percent(60)) policy.bytes = random.between(wishes.bytes / 200, wishes.bytes) + 1;
    if (random.percent(60)) policy.pieces = static_cast<int>(random.magnitude(40));
    if (random.percent(40)) policy.time = ticks(1000 * static_cast<std::int64_t>(random.magnitude(10'000)));
    if (random.percent(40)) policy.second_time = ticks(static_cast<std::int64_t>(random.magnitude(100'000)));
    if (random.percent(60)) policy.limit = random.between(0, wishes.ranks);
    if (random.percent(30)) policy.per_element = static_cast<double>(random.magnitude(100'000)) / 16;
}

} // namespace

auto draw_policy(random_source& random, policy_wishes const& wishes) -> policy_draw {
    auto choices = kinds_for(wishes.operation, wishes.commutative);
    std::erase_if(choices, [&](kind k) {
        bool const is_native = k == kind::native && (wishes.serialized || wishes.open || !wishes.attached);
        // Of data that comes later, MPI has no routine that keeps the order of ranks.
        bool const needs_equal_parts = k == kind::knomial_tree || k == kind::exchange_bruck;
        return is_native || (k == kind::arrival_all_reduce && wishes.serialized) ||
               (needs_equal_parts && wishes.uneven);
    });
    policy_draw policy;
    policy.kind = random.one_of(choices);
    if (random.percent(65)) draw_members(random, wishes, policy);
    return policy;
}

} // namespace soak
