// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/reduce_scatter_block.hpp>
#include <papcoll/context/attach.hpp>

#include <boost/mpi/inplace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "collective_suite.hpp"

/// What reduce_scatter promises on any communicator; called by all ranks of `comm`.
namespace reduce_scatter_suite {

struct one_call {
    int rank;
    std::vector<std::size_t> sizes;
    bool in_place = false;
    int variant = 0;
    std::vector<double> in = {};
    std::vector<double> out = {}; // with a guard at both ends

    [[nodiscard]] auto mine() const -> std::size_t { return sizes[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] auto total() const -> std::size_t {
        return std::accumulate(sizes.begin(), sizes.end(), std::size_t(0));
    }
    [[nodiscard]] auto of(int by, std::size_t i) const -> double {
        return (by + 1) * 100.0 + variant + static_cast<double>((i * static_cast<std::size_t>(by + 3)) % 97);
    }
    void reset(int new_variant) {
        variant = new_variant;
        in.resize(total());
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = of(rank, i);
        out.assign(mine() + 2, -7);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        if (in_place)
            papcoll::reduce_scatter(comm, boost::mpi::inplace(in.data()), sizes, std::plus<>(), policy);
        else
            papcoll::reduce_scatter(comm, in.data(), sizes, out.data() + 1, std::plus<>(), policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        std::vector<std::uint16_t> const counts(sizes.begin(), sizes.end()); // gone when it ends
        if (in_place)
            return papcoll::ireduce_scatter(comm, boost::mpi::inplace(in.data()), counts, std::plus<>(),
                                            policy);
        return papcoll::ireduce_scatter(comm, in.data(), counts, out.data() + 1, std::plus<>(), policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return papcoll::plan_reduce_scatter<double>(comm, sizes, std::plus<>(), policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (in_place)
            plan.run(boost::mpi::inplace(in.data()));
        else
            plan.run(in.data(), out.data() + 1);
    }
    void check() const {
        CAPTURE(sizes);
        CAPTURE(in_place);
        std::size_t first = 0;
        for (int r = 0; r < rank; ++r) first += sizes[static_cast<std::size_t>(r)];
        std::vector<double> expected(mine() + 2, -7);
        for (std::size_t i = 0; i < mine(); ++i) {
            expected[i + 1] = 0;
            for (int r = 0; r < static_cast<int>(sizes.size()); ++r) expected[i + 1] += of(r, first + i);
        }
        if (in_place) {
            CHECK(std::equal(expected.begin() + 1, expected.end() - 1, in.begin()));
            return;
        }
        CHECK(out == expected);
        bool untouched = true;
        for (std::size_t i = 0; i < in.size(); ++i) untouched = untouched && in[i] == of(rank, i);
        CHECK(untouched);
    }
};

inline auto calls(int rank, int ranks) -> std::vector<one_call> {
    std::vector<one_call> result;
    for (auto const& sizes : collective_suite::all_sizes(ranks))
        for (bool const in_place : {false, true}) result.push_back({rank, sizes, in_place});
    return result;
}
inline auto some(int rank, int ranks) -> std::vector<one_call> {
    auto const sizes = collective_suite::all_sizes(ranks);
    return {{rank, sizes[4]}, {rank, sizes[6]}, {rank, sizes[5], true}, {rank, sizes[3]}};
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, calls(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, some(rank, ranks)[2], policy);
    collective_suite::planned(comm, some(rank, ranks), policy);
}

/// Long parts, which are cut, among short ones, which are not.
template <class Comm, class Policy>
void long_parts(Comm& comm, int rank, int ranks, Policy const& policy) {
    for (auto const& link : collective_suite::some_links()) {
        papcoll::attach(comm, papcoll::attach_options{.link = link});
        std::vector<one_call> calls;
        for (auto const& sizes : collective_suite::long_sizes(ranks)) calls.push_back({rank, sizes});
        collective_suite::one_by_one(comm, calls, policy);
    }
}

template <class Comm, class Policy>
void forms(Comm& comm, int rank, int ranks, Policy const& policy) {
    std::vector<int> sizes;
    for (int r = 0; r < ranks; ++r) sizes.push_back((r + 1) % 3);
    auto const total = static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0));
    std::vector<int> const in(total, rank + 1);
    std::vector<int> out(50);
    papcoll::reduce_scatter(comm, in, sizes, out, std::plus<>(), policy);
    CHECK(out == std::vector<int>(static_cast<std::size_t>((rank + 1) % 3), ranks * (ranks + 1) / 2));
}

/// Equal sizes, by reduce_scatter_block.
template <class Comm, class Policy>
void blocks(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    for (std::size_t const n : {0u, 1u, 7u, 900u}) {
        auto const all = n * static_cast<std::size_t>(ranks);
        std::vector<double> in(all), expected(n), out(n, -9), resized(99);
        for (std::size_t i = 0; i < all; ++i) in[i] = rank + 1000.0 * static_cast<double>(i);
        for (std::size_t i = 0; i < n; ++i) {
            auto const at = static_cast<double>(static_cast<std::size_t>(rank) * n + i);
            expected[i] = ranks * (ranks - 1) / 2 + ranks * 1000.0 * at;
        }
        auto const plus = std::plus<double>();
        papcoll::reduce_scatter_block(comm, in.data(), n, out.data(), plus, policy);
        CHECK(out == expected);
        papcoll::reduce_scatter_block(comm, in, n, resized, plus, policy);
        CHECK(resized == expected);
        auto plan = papcoll::plan_reduce_scatter_block<double>(comm, n, plus, policy);
        out.assign(n, -9);
        plan.run(in.data(), out.data());
        CHECK(out == expected);
        papcoll::ireduce_scatter_block(comm, boost::mpi::inplace(in.data()), n, plus, policy).wait();
        CHECK(std::equal(expected.begin(), expected.end(), in.begin()));
        collective_suite::says("in must have n elements for each rank", [&] {
            papcoll::reduce_scatter_block(comm, in, n + 1, resized, plus, policy);
        });
    }
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    using list = std::vector<long>;
    auto const p = static_cast<std::size_t>(ranks);
    papcoll::circulant const good{};
    std::vector<double> in(4 * p), out(4);
    auto const call = [&](double const* from, list const& sizes, double* to,
                          papcoll::circulant const& policy) {
        return [&comm, from, to, sizes, policy] {
            papcoll::reduce_scatter(comm, from, sizes, to, std::plus<>(), policy);
        };
    };
    list const fours(p, 4);
    list negative = fours, huge = fours;
    negative[p / 2] = -1;
    huge[0] = 1L << 61;
    collective_suite::one_by_one(comm, some(rank, ranks), good);
    says("sizes must have one entry per rank", call(in.data(), list(p + 1, 1), out.data(), good));
    says("sizes must not be negative", call(in.data(), negative, out.data(), good));
    says("n must be", call(in.data(), huge, out.data(), good));
    says("in must not be null", call(nullptr, fours, out.data(), good));
    says("out must not be null", call(in.data(), fours, nullptr, good));
    says("in and out overlap", call(in.data(), fours, in.data(), good));
    says("in and out overlap", call(in.data(), fours, in.data() + 4 * p - 1, good));
    says("block_bytes", call(in.data(), fours, out.data(), {.block_bytes = 0}));
    says("as many elements", [&] {
        papcoll::reduce_scatter(comm, std::vector<double>(4 * p + 1), fours, out, std::plus<>(), good);
    });
    says("sizes must", [&] { (void)papcoll::plan_reduce_scatter<int>(comm, negative, std::plus<>(), good); });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::circulant const good{.block_bytes = 64};
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<double> in(9 * p), out(10);
    bool const last = rank == ranks - 1;
    auto const says = [&](std::string const& words, std::vector<int> const& sizes,
                          papcoll::circulant const& policy) {
        collective_suite::says(words, [&] {
            papcoll::reduce_scatter(comm, in.data(), sizes, out.data(), std::plus<>(), policy);
        });
    };
    std::vector<int> const nines(p, 9);
    if (ranks > 1) {
        auto other = nines;
        other[1] = 8;
        says("ranks disagree on the count", last ? other : nines, good);
        other[0] = 10; // of the same sum
        says("ranks disagree on the sizes", last ? other : nines, good);
        says("policy", nines, {.block_bytes = last ? 65 : 64});
    }
    says("sizes must not be negative", last ? std::vector<int>(p, -1) : nines, good);
    says("sizes must have one entry", last ? std::vector<int>(p + 2, 1) : nines, good);
    collective_suite::says("as many elements", [&] {
        papcoll::reduce_scatter(comm, std::vector<double>(9 * p - (last ? 1 : 0)), nines, out, std::plus<>(),
                                good);
    });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

} // namespace reduce_scatter_suite
