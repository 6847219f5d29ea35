// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <array>
#include <span>

#include "drawing.hpp"
#include "elements.hpp"

namespace soak {
namespace {

using papcoll::collective_kind;
using kind = operation_kind;

constexpr std::array kinds{
    collective_kind::broadcast,      collective_kind::reduce,     collective_kind::all_reduce,
    collective_kind::gather,         collective_kind::all_gather, collective_kind::all_gather,
    collective_kind::reduce_scatter, collective_kind::all_to_all, collective_kind::scatter,
    collective_kind::scatter,        collective_kind::gather,     collective_kind::scan,
    collective_kind::exscan,         collective_kind::barrier,    collective_kind::all_to_all,
    collective_kind::reduce_scatter};
static_assert(kinds.size() == operation_names.size());

auto can_be_open(kind operation) -> bool {
    return operation == kind::gather || operation == kind::all_gather || operation == kind::all_gatherv;
}
/// Whether ranks know their own sizes alone.
auto is_uneven(kind operation) -> bool {
    return operation == kind::scatterv || operation == kind::gatherv || operation == kind::all_to_allv;
}
auto has_sizes(kind operation) -> bool {
    return operation == kind::all_gatherv || operation == kind::reduce_scatter || is_uneven(operation);
}
/// Whether n is the part of one rank.
auto belongs_to_ranks(kind operation) -> bool {
    return can_be_open(operation) || has_sizes(operation) || operation == kind::all_to_all ||
           operation == kind::scatter || operation == kind::reduce_scatter_block;
}
auto is_serialized(drawn_call const& call) -> bool {
    return reduces(call.operation) ? reduction_table[call.element].serialized
                                   : element_table[call.element].serialized;
}
/// What the operation is compiled with.
auto elements_of(kind operation) -> std::span<std::size_t const> {
    switch (operation) {
    case kind::broadcast:
        return broadcast_elements;
    case kind::reduce:
        return reduce_cases;
    case kind::all_reduce:
        return all_reduce_cases;
    case kind::gather:
        return gather_elements;
    case kind::all_gather:
        return all_gather_elements;
    case kind::all_gatherv:
        return all_gatherv_elements;
    case kind::reduce_scatter:
        return reduce_scatter_cases;
    case kind::scatter:
        return scatter_elements;
    case kind::scatterv:
        return scatterv_elements;
    case kind::gatherv:
        return gatherv_elements;
    case kind::scan:
        return scan_cases;
    case kind::exscan:
        return exscan_cases;
    case kind::barrier:
        return barrier_elements;
    case kind::all_to_allv:
        return all_to_allv_elements;
    case kind::reduce_scatter_block:
        return reduce_scatter_block_cases;
    case kind::all_to_all:
        break;
    }
    return all_to_all_elements;
}

auto draw_count(random_source& random, std::size_t most) -> std::size_t {
    auto const way = random.between(0, 99);
    if (way < 7) return 0;
    if (way < 20) return std::min<std::size_t>(1, most);
    if (way < 22) return random.between<std::size_t>(0, most);
    if (way < 45) return std::min(most, random.between<std::size_t>(2, 40));
    auto const n = random.magnitude(std::max<std::size_t>(most / 8, 1));
    return std::min(most, random.percent(30) ? n | 1 : n);
}

/// Alike, uneven, with zeros, all to one rank, nothing.
auto draw_sizes(random_source& random, std::size_t n, int ranks) -> std::vector<std::size_t> {
    std::vector<std::size_t> sizes(static_cast<std::size_t>(ranks), n);
    auto const way = random.between(0, 5);
    if (way == 0) return sizes;
    if (way == 1) {
        std::fill(sizes.begin(), sizes.end(), 0);
        sizes[random.below(sizes.size())] = n * sizes.size();
        return sizes;
    }
    for (auto& size : sizes) size = way < 4 || random.percent(65) ? random.between<std::size_t>(0, n) : 0;
    if (way == 3) sizes[random.below(sizes.size())] = n;
    return sizes;
}

void draw_form(random_source& random, drawn_communicator const& c, drawn_call& call) {
    if (!c.attached) {
        call.form = call_form::blocking; // which attaches
        return;
    }
    bool const may_open = can_be_open(call.operation) && !is_serialized(call);
    auto const way = random.between(0, 99);
    if (may_open && way < 35) call.form = call_form::open;
    if (way >= 85) call.form = call_form::planned;
    if (call.form != call_form::planned) return;
    call.runs = random.between(1, 4);
    // Gaps between uneven parts, and the first rank's result of exscan, would not be the user's there.
    bool const whole = call.operation != kind::barrier && call.operation != kind::exscan;
    call.own_buffers = whole && !has_sizes(call.operation) && random.percent(40);
}

} // namespace

auto draw_call(random_source& random, drawn_communicator const& c, int ranks, bool alone, options const& o)
    -> drawn_call {
    drawn_call call;
    call.key = random.next();
    auto const named = std::find(operation_names.begin(), operation_names.end(), o.only);
    auto const operation = named == operation_names.end()
                               ? static_cast<std::ptrdiff_t>(random.below(kinds.size()))
                               : named - operation_names.begin();
    call.operation = static_cast<kind>(operation);
    call.communicator = c.id;
    call.place = words(c);
    call.ranks = ranks;
    call.element = random.one_of(elements_of(call.operation));
    auto const parts = belongs_to_ranks(call.operation) ? static_cast<std::size_t>(ranks) : 1;
    call.n =
        is_serialized(call) ? random.between<std::size_t>(0, 5) : draw_count(random, o.max_count / parts);
    if (call.operation == kind::barrier) call.n = 0;
    if (has_sizes(call.operation)) call.sizes = draw_sizes(random, call.n, ranks);
    call.root = random.between(0, ranks - 1);
    draw_form(random, c, call);
    policy_wishes const wishes{.operation = kinds[static_cast<std::size_t>(operation)],
                               .commutative =
                                   !reduces(call.operation) || reduction_table[call.element].commutative,
                               .serialized = is_serialized(call),
                               .open = call.form == call_form::open,
                               .uneven = is_uneven(call.operation),
                               .attached = c.attached,
                               .monitored = c.monitor.has_value(),
                               .ranks = ranks,
                               .bytes = 8 * call.n * parts};
    call.policy = draw_policy(random, wishes);
    // In place as many elements come from a rank as go to it, so the sizes depend on it.
    call.alike = may_be_native(call.policy) || call.operation == kind::all_to_allv;
    // MPI's blocking and nonblocking routines do not match each other.
    if (call.policy.kind == policy_kind::native && call.form == call_form::any)
        call.form = alone && random.percent(70) ? call_form::blocking : call_form::begun;
    call.in_place = random.percent(25);
    return call;
}

} // namespace soak
