// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/core.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "collective_suite.hpp"

/// What collectives promise that resize a std::vector; called by all ranks of `comm`. `policy` serves all of
/// them: automatic or native.
namespace resize_suite {

using collective_suite::says;

/// Trivially copyable, and refuses to be made on a thread that wants it so: a resize that fails.
struct stubborn {
    enum class mood { willing, no_memory, silent, no_exception };
    static auto now() -> mood& {
        static thread_local mood m = mood::willing;
        return m;
    }
    stubborn() {
        if (now() == mood::no_memory) throw std::bad_alloc();
        if (now() == mood::silent) throw std::runtime_error("");
        if (now() == mood::no_exception) throw 7;
    }
    explicit stubborn(int v)
        : value(v) {}
    friend auto operator==(stubborn const&, stubborn const&) -> bool = default;

    int value = 0;
};
/// While it lives, the thread's elements have that mood.
struct mood_guard {
    explicit mood_guard(stubborn::mood m) { stubborn::now() = m; }
    ~mood_guard() { stubborn::now() = stubborn::mood::willing; }
    mood_guard(mood_guard const&) = delete;
    auto operator=(mood_guard const&) -> mood_guard& = delete;
};

inline auto numbers(int rank, std::size_t n) -> std::vector<int> {
    std::vector<int> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = rank * 1000 + static_cast<int>(i);
    return v;
}
inline auto gathered(int ranks, std::size_t n) -> std::vector<int> {
    std::vector<int> v;
    for (int r = 0; r < ranks; ++r)
        for (int const x : numbers(r, n)) v.push_back(x);
    return v;
}
inline auto sums(int ranks, std::size_t n) -> std::vector<int> {
    std::vector<int> v(n);
    for (int r = 0; r < ranks; ++r)
        for (std::size_t i = 0; i < n; ++i) v[i] += numbers(r, n)[i];
    return v;
}

/// Vectors of any size come back with the right one.
template <class Comm, class Policy>
void fills(Comm& comm, int rank, int ranks, Policy const& policy) {
    auto const p = static_cast<std::size_t>(ranks);
    int const root = ranks - 1;
    std::size_t const n = 3;
    auto const in = numbers(rank, n);
    for (std::size_t const before : {std::size_t(0), n * p, 5 * n * p}) {
        CAPTURE(before);
        auto const fresh = [&] { return std::vector<int>(before, -1); };
        auto at_root = fresh();
        papcoll::gather(comm, in.data(), n, at_root, root, policy);
        CHECK(at_root == (rank == root ? gathered(ranks, n) : fresh()));
        auto all = fresh();
        papcoll::all_gather(comm, in.data(), n, all, policy);
        CHECK(all == gathered(ranks, n));
        all = fresh();
        auto pending = papcoll::iall_gather(comm, in.data(), n, all, policy);
        CHECK(all.size() == n * p);
        pending.wait();
        CHECK(all == gathered(ranks, n));
        all = fresh();
        papcoll::all_gatherv(comm, in, all, std::vector<std::size_t>(p, n), policy);
        CHECK(all == gathered(ranks, n));
        auto sum = fresh();
        papcoll::reduce(comm, in, sum, std::plus<>(), root, policy);
        CHECK(sum == (rank == root ? sums(ranks, n) : fresh()));
        sum = fresh();
        papcoll::all_reduce(comm, in, sum, std::plus<>(), policy);
        CHECK(sum == sums(ranks, n));
        auto const of_all = numbers(rank, p);
        auto part = fresh();
        papcoll::reduce_scatter(comm, of_all, std::vector<int>(p, 1), part, std::plus<>(), policy);
        CHECK(part == std::vector<int>{sums(ranks, p)[static_cast<std::size_t>(rank)]});
        auto exchanged = fresh(), expected = std::vector<int>();
        for (int r = 0; r < ranks; ++r) expected.push_back(numbers(r, p)[static_cast<std::size_t>(rank)]);
        papcoll::all_to_all(comm, of_all, exchanged, policy);
        CHECK(exchanged == expected);
    }
}
/// The same for calls that are made again, into a vector that has its size, and then has not any more.
template <class Comm, class Policy>
void fills_again(Comm& comm, int rank, int ranks, Policy const& policy) {
    auto const p = static_cast<std::size_t>(ranks);
    for (std::size_t const n : {3, 0}) {
        auto const in = numbers(rank, n);
        std::vector<int> all, sum, at_root;
        for (std::size_t const before : {n * p, n * p, 5 * n * p + 1, n * p, std::size_t(0), n * p}) {
            CAPTURE(before);
            all.assign(before, -1);
            papcoll::all_gather(comm, in.data(), n, all, policy);
            CHECK(all == gathered(ranks, n));
        }
        for (std::size_t const before : {n, n, 2 * n + 1, n, std::size_t(0), n}) {
            CAPTURE(before);
            sum.assign(before, -1);
            papcoll::all_reduce(comm, in, sum, std::plus<>(), policy);
            CHECK(sum == sums(ranks, n));
            auto other = std::vector<int>(before == n ? n : 7);
            papcoll::all_reduce(comm, in, other, std::plus<>(), policy); // another vector
            CHECK(other == sum);
        }
        for (int const root : {0, 0, ranks - 1, 0})
            for (std::size_t const before : {n * p, n * p, std::size_t(1)}) {
                at_root.assign(before, -1);
                papcoll::gather(comm, in.data(), n, at_root, root, policy);
                CHECK(at_root == (rank == root ? gathered(ranks, n) : std::vector<int>(before, -1)));
            }
    }
    auto v = numbers(rank, 3);
    std::vector<int> sum(3);
    for (int i = 0; i < 2; ++i) papcoll::all_reduce(comm, v, sum, std::plus<>(), policy);
    CHECK_THROWS_AS(papcoll::all_reduce(comm, v, v, std::plus<>(), policy), std::invalid_argument);
    papcoll::all_reduce(comm, v, sum, std::plus<>(), policy);
    CHECK(sum == sums(ranks, 3));
}
/// The same for collectives that begin before the data is there, which comes where it then belongs.
template <class Comm>
void fills_open(Comm& comm, int rank, int ranks) {
    std::size_t const n = 3;
    auto const in = numbers(rank, n);
    std::vector<int> a, b, c;
    auto all = papcoll::open_all_gather(comm, a, n, papcoll::ring{});
    auto uneven = papcoll::open_all_gatherv(
        comm, b, std::vector<std::size_t>(static_cast<std::size_t>(ranks), n), papcoll::ring{});
    auto at_root = papcoll::open_gather(comm, c, n, 0, papcoll::linear{});
    for (auto* const open : {&all, &uneven, &at_root}) open->contribute(in.data());
    for (auto* const open : {&all, &uneven, &at_root}) open->wait();
    CHECK(a == gathered(ranks, n));
    CHECK(b == gathered(ranks, n));
    CHECK(c == (rank == 0 ? gathered(ranks, n) : std::vector<int>()));
}

/// All ranks pass elements of the vector that is to be resized: refused, and nothing has changed.
template <class Comm, class Policy>
void overlaps(Comm& comm, int rank, int ranks, Policy const& policy) {
    auto const p = static_cast<std::size_t>(ranks);
    auto const before = numbers(rank, 9 * p);
    auto v = before;
    auto const refused = [&](auto const& call) {
        says("in and out overlap", call);
        CHECK(v == before);
    };
    int* const last = v.data() + v.size() - 1; // behind all that the result takes
    refused([&] { papcoll::gather(comm, v.data(), 20, v, rank, policy); });
    refused([&] { papcoll::gather(comm, last, 1, v, rank, policy); });
    refused([&] { papcoll::gather(comm, *last, v, rank, policy); });
    refused([&] { papcoll::all_gather(comm, v.data(), 20, v, policy); });
    refused([&] { papcoll::all_gather(comm, last, 1, v, policy); });
    refused([&] { papcoll::all_gather(comm, *last, v, policy); });
    refused([&] { papcoll::iall_gather(comm, *last, v, policy).wait(); });
    std::vector<std::size_t> const alike(p, v.size()), ones(p, 9);
    refused([&] { papcoll::all_gatherv(comm, v, v, alike, policy); });
    refused([&] { papcoll::reduce(comm, v, v, std::plus<>(), rank, policy); });
    refused([&] { papcoll::all_reduce(comm, v, v, std::plus<>(), policy); });
    refused([&] { papcoll::reduce_scatter(comm, v, ones, v, std::plus<>(), policy); });
    refused([&] { papcoll::all_to_all(comm, v, 9, v, policy); });
    std::vector<std::size_t> all_to_one(p); // this rank gets nothing, and its vector would be emptied
    all_to_one[(static_cast<std::size_t>(rank) + 1) % p] = v.size();
    if (ranks > 1) refused([&] { papcoll::reduce_scatter(comm, v, all_to_one, v, std::plus<>(), policy); });
}

/// Numbers of elements that no memory holds are refused where they stand, on all ranks, and nothing is
/// resized.
template <class Comm, class Policy>
void absurd_counts(Comm& comm, int ranks, Policy const& policy) {
    auto const p = static_cast<std::size_t>(ranks);
    int const in = 1;
    std::vector<int> v(2, -1);
    auto const refused = [&](auto const& call) {
        says("n must be a number of elements that memory can hold", call);
        CHECK(v == std::vector<int>(2, -1));
    };
    auto const most = std::numeric_limits<std::size_t>::max();
    for (std::size_t const n : {most, most / 2 + 1, most / 4}) {
        CAPTURE(n);
        refused([&] { papcoll::gather(comm, &in, n, v, 0, policy); });
        refused([&] { papcoll::igather(comm, &in, n, v, 0, policy).wait(); });
        refused([&] { papcoll::all_gather(comm, &in, n, v, policy); });
        auto const completed = [&](auto&& open) {
            open.contribute(&in);
            open.wait();
        };
        refused([&] { completed(papcoll::open_all_gather(comm, v, n, papcoll::ring{})); });
        refused([&] { completed(papcoll::open_gather(comm, v, n, 0, papcoll::linear{})); });
        std::vector<std::size_t> sizes(p);
        sizes.front() = n;
        refused([&] { completed(papcoll::open_all_gatherv(comm, v, sizes, papcoll::ring{})); });
    }
    std::vector<std::size_t> const one(p, 1), far(p, most / 4);
    says("n must be a number", [&] { papcoll::all_gatherv(comm, &in, v.data(), one, far, policy); });
}

/// A vector that cannot be resized: with agreed checks all ranks throw where one does, else each for itself,
/// before any message.
template <class Comm, class Policy>
void refusals(Comm& comm, int rank, int ranks, bool agreed, Policy const& policy) {
    int const bad = ranks - 1;
    std::vector<stubborn> const in(2, stubborn(rank));
    std::vector<stubborn> out(1, stubborn(-1));
    auto const gather = [&] { papcoll::gather(comm, in.data(), 2, out, bad, policy); };
    auto const all_gather = [&] { papcoll::iall_gather(comm, in.data(), 2, out, policy).wait(); };
    auto const opened = [&] {
        auto open = papcoll::open_all_gather(comm, out, 2, papcoll::ring{});
        open.contribute(in.data());
        open.wait();
    };
    auto const opened_in_place = [&] {
        auto open = papcoll::open_gather(comm, out, 2, bad, papcoll::linear{});
        if (rank == bad)
            open.contribute();
        else
            open.contribute(in.data());
        open.wait();
    };
    using mood = stubborn::mood;
    if (agreed) {
        mood_guard const guard(rank == bad ? mood::no_memory : mood::willing);
        auto const all_say = "bad_alloc (rank " + std::to_string(bad) + ")";
        says(all_say, gather);
        says(all_say, all_gather);
        says(all_say, opened);
        says(all_say, opened_in_place);
        if (rank == bad) CHECK(out.size() == 1);
        stubborn::now() = rank == bad ? mood::silent : mood::willing;
        says("without a message", gather);
        stubborn::now() = rank == bad ? mood::no_exception : mood::willing;
        says("no std::exception", gather);
    } else {
        mood_guard const guard(mood::no_memory);
        auto const gather_here = [&] { papcoll::gather(comm, in.data(), 2, out, rank, policy); };
        CHECK_THROWS_AS(gather_here(), std::bad_alloc);
        CHECK_THROWS_AS(all_gather(), std::bad_alloc);
        CHECK_THROWS_AS(opened(), std::bad_alloc);
        stubborn::now() = mood::no_exception;
        CHECK_THROWS_AS(gather_here(), int);
        CHECK(out.size() == 1);
    }
    all_gather(); // nothing is left of the calls before
    CHECK(out.size() == 2 * static_cast<std::size_t>(ranks));
    CHECK(out.back() == stubborn(bad));
}

template <class Comm, class Policy>
void all(Comm& comm, int rank, int ranks, Policy const& policy) {
    papcoll::attach(comm);
    auto const checked = [&](bool agreed) {
        fills(comm, rank, ranks, policy);
        fills_again(comm, rank, ranks, policy);
        fills_open(comm, rank, ranks);
        overlaps(comm, rank, ranks, policy);
        absurd_counts(comm, ranks, policy);
        refusals(comm, rank, ranks, agreed, policy);
        fills(comm, rank, ranks, policy);
    };
    checked(false);
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    checked(true);
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::off});
    fills(comm, rank, ranks, policy);
    fills_open(comm, rank, ranks);
}

} // namespace resize_suite
