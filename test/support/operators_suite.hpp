// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "collective_suite.hpp"

/// Operators of users' own in every reduction; called by all ranks of `comm`.
namespace operators_suite {

/// Stateful, commutative and exactly associative, and may throw on one rank.
struct modular_sum {
    std::int64_t modulus;
    bool throws = false;
    auto operator()(std::int64_t a, std::int64_t b) const -> std::int64_t {
        if (throws) throw std::overflow_error("modular_sum");
        return (a + b) % modulus;
    }
};

/// x -> a x + b: does not commute.
using map = std::array<std::int64_t, 2>;
struct first_this_then_that {
    auto operator()(map const& f, map const& g) const -> map {
        return {f[0] * g[0] % 1009, (f[1] * g[0] + g[1]) % 1009};
    }
};

/// From the last rank to the first, block after block; the operand of the lower rank on the left. Owners are
/// not heeded: the root, which must be rank 0, gets all.
struct down_to_0 {
    static constexpr auto kind = papcoll::schedule_kind::reduction;
    static constexpr bool keeps_rank_order = true;
    [[nodiscard]] auto for_rank(papcoll::problem const& p, int rank) const -> papcoll::rank_schedule {
        papcoll::rank_schedule share;
        for (int b = 0; b < p.blocks; ++b) {
            int const step = p.ranks - 1 - rank + b;
            if (rank > 0) share.sends.push_back({step, rank - 1, b});
            if (rank + 1 < p.ranks) share.receives.push_back({step - 1, rank + 1, b});
        }
        return share;
    }
};

inline constexpr std::array<papcoll::link_model, 2> links = {{
    {std::chrono::milliseconds(1), 1e-3},
    {papcoll::ticks(1), 100.0},
}};

inline auto value(int rank, std::size_t i) -> std::int64_t {
    return (rank + 2) * static_cast<std::int64_t>(i % 89 + 1) % 97;
}
inline auto sum(int ranks, std::size_t i) -> std::int64_t {
    std::int64_t total = 0;
    for (int r = 0; r < ranks; ++r) total += value(r, i);
    return total % 97;
}

template <class Comm, class Policy, class Op>
void all_reductions(Comm& comm, int rank, int ranks, Policy const& policy, Op const& op) {
    auto const p = static_cast<std::size_t>(ranks);
    std::size_t const n = 30 * p;
    std::vector<std::int64_t> in(n), out(n), expected(n);
    for (std::size_t i = 0; i < n; ++i) in[i] = value(rank, i);
    for (std::size_t i = 0; i < n; ++i) expected[i] = sum(ranks, i);
    papcoll::reduce(comm, in.data(), n, out.data(), op, ranks - 1, policy);
    if (rank == ranks - 1) CHECK(out == expected);
    for (auto const& link : links) {
        papcoll::attach(comm, papcoll::attach_options{.link = link});
        out.assign(n, 0);
        papcoll::all_reduce(comm, in, out, op, policy);
        CHECK(out == expected);
    }
    papcoll::reduce_scatter(comm, in.data(), std::vector<int>(p, 30), out.data(), op, policy);
    CHECK(std::equal(out.begin(), out.begin() + 30, expected.begin() + rank * 30));
}

/// An exception comes out where it was thrown, and on the ranks that miss a result for it; the others'
/// results are right. Then all goes on.
template <class Comm, class Policy, class Wrap>
void throwing(Comm& comm, int rank, int ranks, Policy const& policy, Wrap const& wrap) {
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<std::int64_t> in(20 * p, 1), out(20 * p);
    int thrown = 0;
    for (int const thrower : {0, ranks - 1}) {
        auto const op = wrap(modular_sum{97, rank == thrower});
        auto const attempt = [&](auto const& call) {
            try {
                call();
            } catch (std::overflow_error const&) {
                CHECK(rank == thrower);
                ++thrown;
                return false;
            } catch (papcoll::missing_value_error const&) {
                CHECK(rank != thrower);
                return false;
            }
            return true;
        };
        auto const is_right = [&](std::size_t n) {
            return std::all_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n),
                               [&](std::int64_t x) { return x == ranks % 97; });
        };
        int const root = ranks - 1 - thrower;
        out.assign(out.size(), -1);
        if (attempt([&] { papcoll::reduce(comm, in.data(), in.size(), out.data(), op, root, policy); }))
            if (rank == root) CHECK(is_right(in.size()));
        if (attempt([&] {
                papcoll::reduce_scatter(comm, in.data(), std::vector<int>(p, 20), out.data(), op, policy);
            }))
            CHECK(is_right(20));
        for (auto const& link : links) {
            papcoll::attach(comm, papcoll::attach_options{.link = link});
            if (attempt([&] { papcoll::all_reduce(comm, in, out, op, policy); })) CHECK(is_right(in.size()));
        }
    }
    // The owner of a part combines.
    if (rank == 0 || rank == ranks - 1) CHECK(thrown >= (ranks > 1 ? 1 : 0));
    all_reductions(comm, rank, ranks, policy, wrap(modular_sum{97}));
}

/// Operators that do not commute, by a policy that keeps rank order.
template <class Comm, class Policy>
void rank_order(Comm& comm, int rank, int ranks, Policy const& policy) {
    std::vector<map> in(17), out(17), expected(17);
    for (std::size_t i = 0; i < in.size(); ++i) {
        auto const of = [&](int r) { return map{r + 2, r * 5 + static_cast<std::int64_t>(i)}; };
        in[i] = of(rank);
        expected[i] = of(0);
        for (int r = 1; r < ranks; ++r) expected[i] = first_this_then_that()(expected[i], of(r));
    }
    papcoll::all_reduce(comm, in, out, first_this_then_that(), policy);
    CHECK(out == expected);
    out.assign(17, map{});
    papcoll::reduce(comm, in.data(), in.size(), out.data(), first_this_then_that(), 0, policy);
    if (rank == 0) CHECK(out == expected);
}

} // namespace operators_suite

/// What a user says of an operator of integers: then a census may combine it.
template <>
struct papcoll::is_exactly_associative<operators_suite::modular_sum, std::int64_t> : std::true_type {};
