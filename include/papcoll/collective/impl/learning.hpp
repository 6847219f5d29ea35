// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/call_checks.hpp>
#include <papcoll/collective/impl/call_operation.hpp>
#include <papcoll/collective/learned_calls.hpp>
#include <papcoll/context/context.hpp>
#include <papcoll/context/failures.hpp>
#include <papcoll/context/settings.hpp>
#include <papcoll/context/steady_now.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/policy_ref.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <utility>

// How calls learn where papcoll does (attach_options::learn). What ranks do here depends on the calls alone
// that they have made on the communicator, so they do the same.
namespace papcoll::inline v0::detail {

/// What a call can learn from, or add to; null: nothing.
template <transport Transport>
[[nodiscard]] auto learned_shape_of(context<Transport>& c, call_description const& call, policy_ref policy)
    -> learned_shape* {
    if (policy.is_native()) return nullptr;
    if (auto const prepare = call.elements->prepare) prepare();
    auto const shape = shape_of(c, call);
    try {
        if (c.checks() != check_level::off) check_call(call, shape);
        return learned_calls::of(c.learned()).of(shape, policy, c.link());
    } catch (std::logic_error const&) {
        return nullptr; // a mistake: the call will say so itself
    }
}
/// Whether it is decided what a call takes, which it is then told.
template <transport Transport>
[[nodiscard]] auto is_decided(context<Transport>& c, call_description& call, policy_ref policy) -> bool {
    if (policy.is_native()) return false;
    if (auto const prepare = call.elements->prepare) prepare();
    auto const* const known = learned_calls::of(c.learned()).find(shape_of(c, call), policy);
    if (known == nullptr || !known->decided()) return false;
    call.candidate = known->winner();
    return true;
}
/// Of the candidates of a policy the one that a call which is not timed takes.
template <transport Transport>
void take_learned(context<Transport>& c, call_description& call, policy_ref policy) {
    if (!c.learns()) return;
    auto const* const known = learned_shape_of(c, call, policy);
    call.candidate = known != nullptr ? known->winner() : 0;
}

inline void report_learned(call_shape const& shape, learned_shape const& known) {
    auto const operation = to_string(shape.operation);
    std::fprintf(stderr, "papcoll: %.*s of %zu bytes on %d ranks: learned %s\n",
                 static_cast<int>(operation.size()), operation.data(), shape.bytes(), shape.ranks,
                 known.choice().policy.c_str());
}
/// Brings the times of all ranks together: each trial's latest begin and latest end where all ranks are on
/// one node and so have one clock, else what it took on the rank where it took longest.
/// `run(call, policy)` runs a call.
template <transport Transport, class Run>
void decide_together(context<Transport>& c, call_shape const& shape, learned_shape& known, Run run) {
    bool const one_clock =
        !shape.nodes.empty() && std::adjacent_find(shape.nodes.begin(), shape.nodes.end(),
                                                   std::not_equal_to<>()) == shape.nodes.end();
    auto mine = known.own_times();
    if (!one_clock)
        for (std::size_t i = 0; i < mine.size(); i += 2) mine[i] = std::exchange(mine[i + 1], 0) - mine[i];
    auto const merge = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
    learned_shape::times all{};
    auto call = call_description::of<std::int64_t>(collective_kind::all_reduce, commutative(merge));
    call.memory.in = mine.data();
    call.n = mine.size();
    call.out = output(all.data());
    auto const told = std::exchange(c.observed_by(), {}); // it is no call of the program's
    try {
        run(call, policy_ref::to(circulant{}));
    } catch (...) {
        c.observed_by() = told;
        throw;
    }
    c.observed_by() = told;
    known.decide(
        [&](std::size_t trial) { return one_clock ? all[2 * trial + 1] - all[2 * trial] : all[2 * trial]; });
    if (known.decided() && c.rank() == 0 && environment_settings::instance().report())
        report_learned(shape, known);
}

/// Runs a blocking call, as the candidate whose turn it is. `run(call, policy)` runs any call.
template <transport Transport, class Run>
void run_trial(context<Transport>& c, call_description& call, policy_ref policy, Run run) {
    auto* const known = learned_shape_of(c, call, policy);
    if (known != nullptr && !known->decided() && known->was_tried_enough())
        decide_together(c, shape_of(c, call), *known, run);
    if (known != nullptr) call.candidate = known->decided() ? known->winner() : known->next();
    if (known == nullptr || known->decided()) return run(call, policy);
    call.on_trial = true;
    auto const trial = known->begin_trial(now_of(c.transport_layer()));
    try {
        run(call, policy);
    } catch (refused_together const& refused) {
        if (refused.by == &c) { // not a call that an operator has made
            known->take_back(); // it was no call on any rank
            if (known->tried() == 0) learned_calls::of(c.learned()).forget(*known);
        }
        throw;
    }
    known->end_trial(trial, now_of(c.transport_layer()));
}

} // namespace papcoll::inline v0::detail
