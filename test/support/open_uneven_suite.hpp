// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/open_all_gatherv.hpp>
#include <papcoll/context/attach.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "collective_suite.hpp"
#include "open_suite.hpp"

/// What open_all_gatherv promises on any communicator, and all split-phase collectives with agreed checks.
namespace open_suite {

/// Parts of uneven sizes with gaps between them, in rank order or from the last to the first.
struct uneven_elements {
    std::vector<std::size_t> sizes;
    bool falling;

    [[nodiscard]] auto displacements() const -> std::vector<int> {
        std::vector<int> begins(sizes.size());
        int next = 1;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            auto const r = falling ? sizes.size() - 1 - k : k;
            begins[r] = next;
            next += static_cast<int>(sizes[r]) + (sizes[r] > 0 ? 1 : 0);
        }
        return begins;
    }
    [[nodiscard]] auto part(int rank) const -> std::vector<double> {
        std::vector<double> v(sizes[static_cast<std::size_t>(rank)]);
        std::iota(v.begin(), v.end(), rank * 1e5);
        return v;
    }
    [[nodiscard]] auto nothing() const -> std::vector<double> {
        return std::vector<double>(std::accumulate(sizes.begin(), sizes.end(), std::size_t(2)) + sizes.size(),
                                   -7);
    }
    [[nodiscard]] auto whole() const -> std::vector<double> {
        auto v = nothing();
        auto const begins = displacements();
        for (std::size_t r = 0; r < sizes.size(); ++r) {
            auto const p = part(static_cast<int>(r));
            std::copy(p.begin(), p.end(), v.begin() + begins[r]);
        }
        return v;
    }
};

/// Another rank is late each time; one in three writes its part into the output.
template <class Comm, class Policy>
void gathers_uneven(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    int variant = 0;
    for (auto const& sizes : collective_suite::all_sizes(ranks)) {
        uneven_elements const e{sizes, variant % 2 == 1};
        CAPTURE(variant);
        auto out = e.nothing();
        auto const part = e.part(rank);
        auto const begins = e.displacements();
        auto open = papcoll::open_all_gatherv(comm, out.data(), sizes, begins, policy);
        CHECK_FALSE(open.test());
        if (rank == variant % ranks) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        auto const own = out.data() + begins[static_cast<std::size_t>(rank)];
        if ((variant + rank) % 3 == 0) {
            std::copy(part.begin(), part.end(), own);
            if (part.empty())
                open.contribute(nullptr);
            else
                open.contribute();
        } else {
            open.contribute(part.data());
        }
        open.wait();
        CHECK(out == e.whole());
        ++variant;
    }
}
/// Two under way, to which the ranks contribute one after the other, in the order that `turns` says.
template <class Comm, class Policy>
void contributes_in_order(Comm& comm, int rank, int ranks, std::vector<int> const& turns,
                          Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    uneven_elements const e{collective_suite::all_sizes(ranks)[4], false}; // some have none
    auto out = e.nothing();
    std::vector<double> packed;
    auto const part = e.part(rank);
    auto open = papcoll::open_all_gatherv(comm, out.data(), e.sizes, e.displacements(), policy);
    auto second = papcoll::open_all_gatherv(comm, packed, e.sizes, policy);
    int const turn = turns[static_cast<std::size_t>(rank)];
    std::this_thread::sleep_for(std::chrono::microseconds(150 * turn));
    (turn % 2 == 0 ? open : second).contribute(part.data());
    (void)open.test();
    (turn % 2 == 0 ? second : open).contribute(part.data());
    second.wait();
    open.wait();
    CHECK(out == e.whole());
    std::vector<double> expected;
    for (int r = 0; r < ranks; ++r)
        for (double const x : e.part(r)) expected.push_back(x);
    CHECK(packed == expected);
}
/// In all orders of up to four ranks, and rotated and reversed ones of more.
template <class Comm, class Policy>
void contributes_in_all_orders(Comm& comm, int rank, int ranks, Policy const& policy) {
    std::vector<int> turns(static_cast<std::size_t>(ranks));
    std::iota(turns.begin(), turns.end(), 0);
    if (ranks <= 4) {
        do contributes_in_order(comm, rank, ranks, turns, policy);
        while (std::next_permutation(turns.begin(), turns.end()));
        return;
    }
    for (int shift = 0; shift < ranks; shift += 2) {
        std::rotate(turns.begin(), turns.begin() + 2, turns.end());
        contributes_in_order(comm, rank, ranks, turns, policy);
        std::reverse(turns.begin(), turns.end());
        contributes_in_order(comm, rank, ranks, turns, policy);
    }
}
/// With every policy that all-gathers, told right and wrong arrivals.
template <class Comm>
void all_uneven(Comm& comm, int rank, int ranks) {
    gathers_uneven(comm, rank, ranks, papcoll::circulant{});
    gathers_uneven(comm, rank, ranks, papcoll::ring{});
    gathers_uneven(comm, rank, ranks, papcoll::neighbor_exchange{});
    gathers_uneven(comm, rank, ranks, papcoll::linear{});
    contributes_in_all_orders(comm, rank, ranks, papcoll::circulant{});
    for (auto const& arrivals : all_arrivals(ranks)) {
        papcoll::background_ring const ring{.arrivals = arrivals, .block_time = ticks{500'000}};
        papcoll::background_circulant const circulant{
            .arrivals = arrivals, .block_time = ticks{500'000}, .segments = 3};
        gathers_uneven(comm, rank, ranks, ring);
        gathers_uneven(comm, rank, ranks, circulant);
        gathers_uneven(comm, rank, ranks, papcoll::sorted_linear{.arrivals = arrivals, .first_bytes = 20});
    }
    auto const known = all_arrivals(ranks)[3];
    contributes_in_all_orders(comm, rank, ranks,
                              papcoll::background_ring{.arrivals = known, .block_time = ticks{100'000}});
    contributes_in_all_orders(comm, rank, ranks,
                              papcoll::background_circulant{.arrivals = known, .block_time = ticks{100'000}});
    contributes_in_all_orders(comm, rank, ranks, papcoll::sorted_linear{.arrivals = known});
}
/// Mistakes of open_all_gatherv throw and change nothing.
template <class Comm>
void uneven_mistakes(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    papcoll::background_ring const policy{};
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<int> const fours(p, 4), many(p + 1, 4), meeting(p, 2);
    std::vector<double> out(4 * p), part(4, rank);
    auto const call = [&](double* to, std::vector<int> const& sizes) {
        return [&comm, &policy, to, sizes] { (void)papcoll::open_all_gatherv(comm, to, sizes, policy); };
    };
    says("out must not be null", call(nullptr, fours));
    says("sizes must have one entry per rank", call(out.data(), many));
    says("sizes must not be negative", call(out.data(), std::vector<int>(p, -1)));
    says("displacements must have one entry",
         [&] { (void)papcoll::open_all_gatherv(comm, out.data(), fours, many, policy); });
    if (ranks > 1)
        says("two parts meet",
             [&] { (void)papcoll::open_all_gatherv(comm, out.data(), fours, meeting, policy); });
    auto open = papcoll::open_all_gatherv(comm, out, fours, policy);
    says("in must not be null", [&] { open.contribute(nullptr); });
    says("in overlaps", [&] { open.contribute(out.data() + 4 * static_cast<std::size_t>(rank)); });
    open.contribute(part.data());
    CHECK_THROWS_AS(open.contribute(), std::logic_error);
    open.wait();
    for (std::size_t i = 0; i < out.size(); ++i) CHECK_UNARY(out[i] == static_cast<double>(i / 4));
}

/// With agreed checks all ranks learn what is wrong on any, by test() or after contribute(); `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::background_circulant const policy{.arrivals = {}, .block_time = ticks{500'000}};
    auto const p = static_cast<std::size_t>(ranks);
    bool const last = rank == ranks - 1;
    std::vector<double> out(9 * p + 9), part(10, rank);
    auto const says = [&](std::string const& words, auto const& begin) {
        collective_suite::says(words, [&] {
            auto open = begin();
            if (rank % 2 == 0)
                while (!open.test()) std::this_thread::yield(); // it never ends, but fails
            open.contribute(part.data());
            open.wait();
        });
    };
    auto const uneven = [&](std::vector<int> const& sizes) {
        return [&, sizes] { return papcoll::open_all_gatherv(comm, out.data(), sizes, policy); };
    };
    std::vector<int> const nines(p, 9);
    if (ranks > 1) {
        says("ranks disagree on the count",
             [&] { return papcoll::open_all_gather(comm, out.data(), last ? std::size_t(8) : 9, policy); });
        says("ranks disagree on the root: from 0 to 1", [&] {
            return papcoll::open_gather(comm, out.data(), 9, last ? 1 : 0, papcoll::sorted_linear{});
        });
        auto other = nines;
        other[0] = 8;
        other[1] = 10; // of the same sum
        says("ranks disagree on the sizes", uneven(last ? other : nines));
        says("operation", [&] {
            return last ? papcoll::open_gather(comm, out.data(), 9, 0, papcoll::sorted_linear{})
                        : papcoll::open_all_gather(comm, out.data(), 9, policy);
        });
    }
    says("out must not be null",
         [&] { return papcoll::open_all_gather(comm, last ? nullptr : out.data(), 9, policy); });
    says("out must not be null", [&] {
        return papcoll::open_gather(comm, last ? nullptr : out.data(), 9, ranks - 1,
                                    papcoll::sorted_linear{});
    });
    says("out must not be null",
         [&] { return papcoll::open_all_gatherv(comm, last ? nullptr : out.data(), nines, policy); });
    says("sizes must have one entry", uneven(last ? std::vector<int>() : nines));
    says("sizes must not be negative", uneven(last ? std::vector<int>(p, -1) : nines));
    gathers_all(comm, rank, ranks, policy);
    gathers_uneven(comm, rank, ranks, policy);
    gathers_at_root(comm, rank, ranks, papcoll::sorted_linear{});
}

} // namespace open_suite
