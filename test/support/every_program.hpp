// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/known_policies.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>

#include <doctest/doctest.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/program_calls.hpp"

/// Verifies the programs that policies have for many calls of a collective: numbers of ranks, roots, counts,
/// links and the rest, mixed so that each meets each other somewhere.
namespace every_program {

using papcoll::collective_kind;
using program_calls::call;

/// splitmix64
class mixer {
public:
    explicit mixer(std::uint64_t seed)
        : m_state(seed) {}

    auto below(std::size_t n) -> std::size_t {
        auto z = m_state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return static_cast<std::size_t>((z ^ (z >> 31)) % n);
    }
    auto coin() -> bool { return below(2) == 0; }
    auto some_ranks() -> call::which { return static_cast<call::which>(below(3)); }

private:
    std::uint64_t m_state;
};

[[nodiscard]] constexpr auto has_root(collective_kind operation) -> bool {
    return operation == collective_kind::broadcast || operation == collective_kind::reduce ||
           operation == collective_kind::gather || operation == collective_kind::scatter;
}
[[nodiscard]] constexpr auto reduces(collective_kind operation) -> bool {
    return operation == collective_kind::reduce || operation == collective_kind::all_reduce ||
           operation == collective_kind::reduce_scatter || papcoll::detail::is_prefix(operation);
}

/// Every root up to 13 ranks.
[[nodiscard]] inline auto roots(collective_kind operation, int ranks) -> std::vector<int> {
    if (!has_root(operation)) return {0};
    std::set<int> some{0, ranks / 2, ranks - 1};
    for (int root = 0; ranks <= 13 && root < ranks; ++root) some.insert(root);
    return {some.begin(), some.end()};
}
/// Around the number of ranks, and long.
[[nodiscard]] inline auto counts(int ranks) -> std::vector<std::size_t> {
    auto const p = static_cast<std::size_t>(ranks);
    return {0, 1, p - 1, p, p + 1, 1000, 50'003, 1'000'000};
}
/// None, all together, one late, or each at another time.
[[nodiscard]] inline auto arrivals(mixer& mix, int ranks) -> papcoll::arrival_source {
    std::vector<papcoll::ticks> times(static_cast<std::size_t>(ranks));
    switch (mix.below(4)) {
    case 0:
        return {};
    case 1:
        break;
    case 2:
        times[mix.below(times.size())] = papcoll::ticks(500'000'000);
        break;
    default:
        for (auto& t : times) t = papcoll::ticks(static_cast<std::int64_t>(mix.below(100'000'000)));
        break;
    }
    return times;
}

/// The rest of a call with this many elements, of one rank or in each rank's part.
inline void fill(call& c, mixer& mix, std::size_t count) {
    auto& s = c.shape;
    auto const p = static_cast<std::size_t>(s.ranks);
    s.count = count;
    s.element_bytes = mix.coin() ? 8 : 1;
    s.exact = mix.coin();
    c.in_place = mix.some_ranks();
    c.late = mix.some_ranks();
    auto const part = [&] { return mix.below(4) == 0 ? 0 : mix.below(count / 4 + 2); };
    bool const parts = s.operation == collective_kind::all_gather ||
                       s.operation == collective_kind::reduce_scatter || has_root(s.operation);
    if (s.operation == collective_kind::barrier) {
        s.count = 0;
    } else if (s.operation == collective_kind::all_to_all && mix.coin()) {
        for (std::size_t i = 0; i < p * p; ++i) c.exchanged.push_back(part() / (p < 8 ? 1 : 16));
        c.symmetric = mix.coin();
        for (std::size_t from = 0; c.symmetric && from < p; ++from)
            for (std::size_t r = 0; r < from; ++r) c.exchanged[from * p + r] = c.exchanged[r * p + from];
        c.apart = mix.coin();
    } else if (parts && s.operation != collective_kind::broadcast && s.operation != collective_kind::reduce &&
               mix.coin()) {
        s.count = 0;
        for (std::size_t r = 0; r < p; ++r) {
            c.sizes.push_back(part());
            s.count += c.sizes.back();
        }
        c.apart = s.operation != collective_kind::reduce_scatter && mix.coin();
    } else if (s.operation != collective_kind::broadcast && !reduces(s.operation)) {
        s.count = p * (count > 1000 ? count / p : count);
    }
    auto const per_node = static_cast<int>(mix.below(5));
    for (int r = 0; per_node > 0 && r < s.ranks; ++r) c.nodes.push_back(r / per_node);
}

/// One policy.
template <class Policy>
void verify_call(Policy policy, call c, mixer& mix) {
    if constexpr (requires { policy.arrivals; }) policy.arrivals = arrivals(mix, c.shape.ranks);
    constexpr bool shares = std::same_as<Policy, papcoll::shared_memory>;
    if constexpr (shares) {
        c.nodes.assign(static_cast<std::size_t>(c.shape.ranks), 0);
        c.late = call::which::none;
        c.shape.shared_bytes = std::size_t(256) << 10;
    }
    if constexpr (requires { policy.serves(c.shape); }) {
        bool served = true;
        c.each_shape([&](papcoll::call_shape const& mine) { served = served && policy.serves(mine); });
        // There are too many chunks, or the parts have different sizes.
        if (!served && (c.shape.ranks > 1 || !shares)) return;
    }
    if (reduces(c.shape.operation) && !papcoll::detail::may_reorder<Policy>(c.shape.operation))
        c.shape.commutative = mix.coin();
    std::array const links{program_calls::fast, program_calls::slow, program_calls::unknown};
    auto const violation = [&]() -> std::optional<std::string> {
        auto const& link = links[mix.below(links.size())];
        try {
            return violation_of(policy, c, link);
        } catch (std::exception const& e) {
            return std::string(policy.name()) + ", " + c.text() + ": " + e.what();
        }
    }();
    CHECK_MESSAGE(!violation, violation.value_or(""));
}

template <class Policy>
void verify_calls(Policy const& policy, collective_kind operation, int ranks, mixer& mix) {
    if (!policy.provides(operation)) return;
    for (int const root : roots(operation, ranks))
        for (auto const count : counts(ranks)) {
            call c;
            c.shape.operation = operation;
            c.shape.ranks = ranks;
            c.shape.root = root;
            fill(c, mix, count);
            verify_call(policy, c, mix);
        }
}

/// Calls f with each policy that serves the collective.
template <class F>
void each_policy(collective_kind operation, F f) {
    using all = papcoll::detail::known_policies<papcoll::simd_bitset<>>::all;
    std::apply([&](auto const&... policy) { ((policy.provides(operation) ? f(policy) : void()), ...); },
               all{});
}

/// All policies at all numbers of ranks up to this one.
inline void verify_policies(collective_kind operation, int most_ranks) {
    mixer mix(static_cast<std::uint64_t>(operation));
    each_policy(operation, [&](auto const& policy) {
        for (int ranks = 1; ranks <= most_ranks; ++ranks) verify_calls(policy, operation, ranks, mix);
    });
}

} // namespace every_program
