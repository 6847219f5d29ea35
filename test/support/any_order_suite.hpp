// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/core.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

/// Reductions whose operands may be combined in the order in which they come; called by all ranks of `comm`.
namespace any_order_suite {

/// Of rank r; sums of these are exact.
inline auto whole(int r, std::size_t i) -> double {
    return static_cast<double>((r + 1) * static_cast<int>(1 + i % 31));
}

/// Other ranks are late in each call.
template <class T, class Comm, class Op>
void all(Comm& comm, int rank, int ranks, std::size_t n, Op op) {
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<T> in(n), out(n), part(n / p);
    auto const sum = [&](std::size_t i) { return static_cast<T>(whole(ranks * (ranks + 1) / 2 - 1, i)); };
    auto const wrong = [&](std::vector<T> const& results, std::size_t first) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < results.size(); ++i) count += results[i] == sum(first + i) ? 0 : 1;
        return count;
    };
    for (int late = 0; late < ranks + 1; ++late) {
        auto const dawdle = [&](int by) {
            for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<T>(whole(rank, i));
            if (rank == (late + by) % ranks) std::this_thread::sleep_for(std::chrono::microseconds(300));
        };
        int const root = late % ranks;
        dawdle(0);
        papcoll::reduce(comm, in.data(), n, out.data(), op, root);
        if (rank == root) CHECK(wrong(out, 0) == 0);
        dawdle(1);
        papcoll::all_reduce(comm, in.data(), n, out.data(), op);
        CHECK(wrong(out, 0) == 0);
        dawdle(2);
        papcoll::all_reduce(comm, papcoll::inplace(in.data()), n, op);
        CHECK(wrong(in, 0) == 0);
        dawdle(0);
        if (rank == root)
            papcoll::reduce(comm, papcoll::inplace(in.data()), n, op, root);
        else
            papcoll::reduce(comm, in.data(), n, op, root);
        if (rank == root) CHECK(wrong(in, 0) == 0);
        dawdle(1);
        papcoll::reduce_scatter_block(comm, in.data(), n / p, part.data(), op);
        CHECK(wrong(part, static_cast<std::size_t>(rank) * (n / p)) == 0);
        dawdle(2);
        auto pending = papcoll::iall_reduce(comm, in.data(), n, out.data(), op);
        pending.wait();
        CHECK(wrong(out, 0) == 0);
    }
}

/// What all ranks have is the same to the bit, though rounding depends on the order.
template <class Comm>
void same_bits(Comm& comm, int rank, int ranks, std::size_t n) {
    std::vector<double> in(n), out(n), first(n);
    for (int round = 0; round < 5; ++round) {
        for (std::size_t i = 0; i < n; ++i) in[i] = 1.0 / (1.0 + static_cast<double>(i) + rank * 0.37);
        if (rank == round % ranks) std::this_thread::sleep_for(std::chrono::microseconds(200));
        papcoll::all_reduce(comm, in.data(), n, out.data(), papcoll::in_any_order(std::plus<>()));
        first = out;
        papcoll::broadcast(comm, first.data(), n, 0);
        CHECK(std::memcmp(first.data(), out.data(), n * sizeof(double)) == 0);
    }
}

/// An operator that throws on some ranks: all that miss its result throw, and what comes after goes on.
template <class Comm>
void throwing(Comm& comm, int rank, int ranks, std::size_t n) {
    std::vector<int> const in(n, 1);
    std::vector<int> out(n);
    auto const op = papcoll::in_any_order([rank](int a, int b) {
        if (rank == 0) throw 7;
        return a + b;
    });
    if (ranks > 1) {
        if (rank == 0)
            CHECK_THROWS(papcoll::reduce(comm, in.data(), n, out.data(), op, 0));
        else
            papcoll::reduce(comm, in.data(), n, op, 0);
    }
    papcoll::all_reduce(comm, in.data(), n, out.data(), papcoll::in_any_order(std::plus<>()));
    CHECK(out[n - 1] == ranks);
}

template <class Comm>
void promises(Comm& comm, int rank, int ranks) {
    for (std::size_t const n : {13u, 700u, 9'000u, 40'000u}) {
        CAPTURE(n);
        all<std::int64_t>(comm, rank, ranks, n, std::plus<>());
        all<double>(comm, rank, ranks, n, papcoll::in_any_order(std::plus<>()));
        same_bits(comm, rank, ranks, n);
        throwing(comm, rank, ranks, n);
    }
}

} // namespace any_order_suite
