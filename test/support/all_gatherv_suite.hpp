// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>

#include <boost/mpi/inplace.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "collective_suite.hpp"

/// What all_gatherv promises on any communicator; called by all ranks of `comm`.
namespace all_gatherv_suite {

/// Where the parts lie in the output.
enum class layout { packed, in_order, backwards_with_gaps };

struct one_call {
    int rank;
    std::vector<std::size_t> sizes;
    layout where = layout::packed;
    bool in_place = false;
    int variant = 0;
    std::vector<double> in = {};
    std::vector<double> out = {}; // with a guard at both ends

    [[nodiscard]] auto of(std::size_t by, std::size_t i) const -> double {
        return static_cast<double>(by) * 1e6 + variant * 1e5 + static_cast<double>(i);
    }
    /// With gaps the displacements differ from rank to rank.
    [[nodiscard]] auto displacements() const -> std::vector<std::size_t> {
        std::vector<std::size_t> begins(sizes.size());
        std::size_t const gap = where == layout::backwards_with_gaps ? static_cast<std::size_t>(rank % 3) : 0;
        std::size_t next = gap;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            std::size_t const r = where == layout::backwards_with_gaps ? sizes.size() - 1 - k : k;
            begins[r] = next;
            next += sizes[r] + gap;
        }
        return begins;
    }
    [[nodiscard]] auto with(std::size_t first, std::size_t last) const -> std::vector<double> {
        auto const begins = displacements();
        std::size_t end = 0;
        for (std::size_t r = 0; r < sizes.size(); ++r) end = std::max(end, begins[r] + sizes[r]);
        std::vector<double> v(end + 2, -7);
        for (std::size_t r = first; r < last; ++r)
            for (std::size_t i = 0; i < sizes[r]; ++i) v[1 + begins[r] + i] = of(r, i);
        return v;
    }
    void reset(int new_variant) {
        variant = new_variant;
        auto const me = static_cast<std::size_t>(rank);
        in.resize(sizes[me]);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = of(me, i);
        out = in_place ? with(me, me + 1) : with(0, 0);
    }
    /// f(what, arguments...): sizes and displacements as users have them.
    template <class F>
    auto apply(F f) {
        std::vector<int> const counts(sizes.begin(), sizes.end());
        auto const begins = displacements();
        auto* const to = out.data() + 1;
        if (in_place)
            return where == layout::packed ? f(boost::mpi::inplace(to), counts)
                                           : f(boost::mpi::inplace(to), counts, begins);
        double const* const from = in.data();
        return where == layout::packed ? f(from, to, sizes) : f(from, to, counts, begins);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        apply([&](auto const&... arguments) { papcoll::all_gatherv(comm, arguments..., policy); });
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        return apply(
            [&](auto const&... arguments) { return papcoll::iall_gatherv(comm, arguments..., policy); });
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        return where == layout::packed
                   ? papcoll::plan_all_gatherv<double>(comm, sizes, policy)
                   : papcoll::plan_all_gatherv<double>(comm, sizes, displacements(), policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (in_place)
            plan.run(boost::mpi::inplace(out.data() + 1));
        else
            plan.run(in.data(), out.data() + 1);
    }
    void check() const {
        CAPTURE(sizes);
        CAPTURE(where);
        CAPTURE(in_place);
        CHECK(out == with(0, sizes.size()));
    }
};

inline auto calls(int rank, int ranks) -> std::vector<one_call> {
    std::vector<one_call> result;
    int k = 0;
    for (auto const& sizes : collective_suite::all_sizes(ranks))
        for (auto const where : {layout::packed, layout::in_order, layout::backwards_with_gaps})
            result.push_back({rank, sizes, where, ++k % 4 == 0});
    return result;
}
inline auto some(int rank, int ranks) -> std::vector<one_call> {
    auto const sizes = collective_suite::all_sizes(ranks);
    return {{rank, sizes[4]},
            {rank, sizes[6], layout::backwards_with_gaps},
            {rank, sizes[5], layout::in_order, true},
            {rank, sizes[4], layout::backwards_with_gaps, true}};
}

template <class Comm, class Policy>
void promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, calls(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some(rank, ranks), policy);
    collective_suite::late_ranks(comm, rank, ranks, some(rank, ranks)[1], policy);
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
    (void)papcoll::detail::attached_context(comm);
    std::vector<int> sizes, expected, out(5);
    for (int r = 0; r < ranks; ++r) {
        sizes.push_back(r % 3);
        expected.insert(expected.end(), static_cast<std::size_t>(r % 3), r);
    }
    std::vector<int> const mine(static_cast<std::size_t>(rank % 3), rank);
    papcoll::all_gatherv(comm, mine, out, sizes, policy);
    CHECK(out == expected);
    out.clear();
    papcoll::iall_gatherv(comm, mine, out, sizes, policy).wait();
    CHECK(out == expected);
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm>
void bad_arguments(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    using list = std::vector<long>;
    auto const p = static_cast<std::size_t>(ranks);
    papcoll::circulant const good{};
    std::vector<double> in(4), out(4 * p + 4);
    auto const call = [&](double const* from, double* to, list const& sizes, list const& begins,
                          papcoll::circulant const& policy) {
        return [&comm, from, to, sizes, begins, policy] {
            if (begins.empty())
                papcoll::all_gatherv(comm, from, to, sizes, policy);
            else
                papcoll::all_gatherv(comm, from, to, sizes, begins, policy);
        };
    };
    list const fours(p, 4), none;
    list negative = fours, huge = fours, meeting(p), behind(p);
    negative[p / 2] = -1;
    huge[0] = 1L << 61;
    for (std::size_t r = 0; r < p; ++r) {
        meeting[r] = static_cast<long>(3 * r);
        behind[r] = static_cast<long>(4 * r);
    }
    behind[0] = -4;
    collective_suite::one_by_one(comm, some(rank, ranks), good);
    says("sizes must have one entry per rank", call(in.data(), out.data(), list(p + 1, 1), none, good));
    says("displacements must have one entry", call(in.data(), out.data(), fours, list(p + 1), good));
    says("sizes must not be negative", call(in.data(), out.data(), negative, none, good));
    says("displacements must not be negative", call(in.data(), out.data(), fours, behind, good));
    says("n must be", call(in.data(), out.data(), huge, none, good));
    says("in must not be null", call(nullptr, out.data(), fours, none, good));
    says("out must not be null", call(in.data(), nullptr, fours, none, good));
    says("in and out overlap", call(out.data() + 4 * p - 1, out.data(), fours, none, good));
    says("block_bytes", call(in.data(), out.data(), fours, none, {.block_bytes = 0}));
    if (ranks > 1) says("two parts meet", call(in.data(), out.data(), fours, meeting, good));
    says("sizes[rank]", [&] { papcoll::all_gatherv(comm, std::vector<double>(3), out, fours, good); });
    says("sizes[rank] (4) elements, but has 1",
         [&] { papcoll::all_gatherv(comm, in[0], out.data(), fours, good); });
    says("sizes must", [&] { (void)papcoll::plan_all_gatherv<int>(comm, negative, good); });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::circulant const good{.block_bytes = 64};
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<double> in(9), out(9 * p + 9);
    bool const last = rank == ranks - 1;
    auto const says = [&](std::string const& words, std::vector<int> const& sizes,
                          papcoll::circulant const& policy) {
        collective_suite::says(words,
                               [&] { papcoll::all_gatherv(comm, in.data(), out.data(), sizes, policy); });
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
    says("(rank " + std::to_string(ranks - 1) + ")", last ? std::vector<int>() : nines, good);
    collective_suite::says("sizes[rank]", [&] {
        papcoll::all_gatherv(comm, std::vector<double>(last ? 8 : 9), out, nines, good);
    });
    collective_suite::one_by_one(comm, some(rank, ranks), good);
}

} // namespace all_gatherv_suite
