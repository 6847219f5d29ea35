// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/gatherv.hpp>
#include <papcoll/collective/scatterv.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/policy/knomial_tree.hpp>
#include <papcoll/policy/linear.hpp>

#include <boost/mpi/inplace.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "collective_suite.hpp"

/// What gatherv and scatterv promise on any communicator; called by all ranks of `comm`. Only the root looks
/// at the sizes of others: elsewhere the lists that are given are wrong.
namespace rooted_parts_suite {

/// Where the parts lie at the root.
enum class layout { packed, backwards_with_gaps };

/// Parts of different sizes at the root.
struct parts {
    int rank;
    int root;
    std::vector<std::size_t> sizes;
    layout where = layout::packed;
    bool in_place = false;
    int variant = 0;

    [[nodiscard]] auto is_root() const -> bool { return rank == root; }
    [[nodiscard]] auto stays() const -> bool { return in_place && is_root(); }
    [[nodiscard]] auto ranks() const -> std::size_t { return sizes.size(); }
    [[nodiscard]] auto own() const -> std::size_t { return sizes[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] auto part(std::size_t of) const -> std::vector<double> {
        std::vector<double> v(sizes[of]);
        for (std::size_t i = 0; i < v.size(); ++i)
            v[i] = static_cast<double>(of) * 1e6 + variant * 1e5 + static_cast<double>(i);
        return v;
    }
    [[nodiscard]] auto begins() const -> std::vector<std::size_t> {
        std::vector<std::size_t> result(ranks());
        std::size_t const gap = where == layout::packed ? 0 : 2;
        std::size_t next = gap;
        for (std::size_t k = 0; k < ranks(); ++k) {
            std::size_t const r = where == layout::packed ? k : ranks() - 1 - k;
            result[r] = next;
            next += sizes[r] + gap;
        }
        return result;
    }
    /// The root's memory with the parts of these ranks, and guards around them.
    [[nodiscard]] auto at_root(std::size_t first, std::size_t last) const -> std::vector<double> {
        auto const at = begins();
        std::size_t end = 0;
        for (std::size_t r = 0; r < ranks(); ++r) end = std::max(end, at[r] + sizes[r]);
        std::vector<double> v(end + 2, -7);
        for (std::size_t r = first; r < last; ++r)
            std::ranges::copy(part(r), v.begin() + 1 + static_cast<std::ptrdiff_t>(at[r]));
        return v;
    }
    [[nodiscard]] static auto guarded(std::vector<double> v) -> std::vector<double> {
        v.insert(v.begin(), -7);
        v.push_back(-7);
        return v;
    }
};

struct gatherv_call : parts {
    std::vector<double> in = {};
    std::vector<double> out = {};

    void reset(int new_variant) {
        variant = new_variant;
        auto const me = static_cast<std::size_t>(rank);
        in = part(me);
        out = stays() ? at_root(me, me + 1) : at_root(0, 0);
    }
    template <class Function, class Comm, class Policy>
    auto call(Function const& function, Comm& comm, Policy const& policy) {
        auto const values = boost::mpi::inplace(out.data() + 1);
        if (stays() && where == layout::packed) return function(comm, values, sizes, root, policy);
        if (stays()) return function(comm, values, sizes, begins(), root, policy);
        if (is_root() && where == layout::packed)
            return function(comm, in.data(), own(), out.data() + 1, sizes, root, policy);
        if (is_root()) return function(comm, in, out.data() + 1, sizes, begins(), root, policy);
        if (variant % 2 == 1) return function(comm, in, root, policy);
        if (where == layout::packed) return function(comm, in.data(), own(), root, policy);
        return function(comm, in.data(), own(), out.data() + 1, std::vector{-4}, root, policy);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        call(papcoll::gatherv, comm, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        return call(papcoll::igatherv, comm, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        if (is_root()) return papcoll::plan_gatherv<double>(comm, sizes, begins(), root, policy);
        return papcoll::plan_gatherv<double>(comm, own(), root, policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (stays())
            plan.run(boost::mpi::inplace(out.data() + 1));
        else if (is_root())
            plan.run(in.data(), out.data() + 1);
        else
            plan.run(in.data());
    }
    void check() const {
        CAPTURE(root);
        CAPTURE(in_place);
        CHECK(out == (is_root() ? at_root(0, ranks()) : at_root(0, 0)));
        CHECK(in == part(static_cast<std::size_t>(rank)));
    }
};

struct scatterv_call : parts {
    std::vector<double> in = {};
    std::vector<double> out = {};

    void reset(int new_variant) {
        variant = new_variant;
        in = at_root(0, ranks());
        out = guarded(std::vector<double>(own(), -9));
    }
    template <class Function, class Comm, class Policy>
    auto call(Function const& function, Comm& comm, Policy const& policy) {
        auto const values = boost::mpi::inplace(in.data() + 1);
        double const* const from = in.data() + 1;
        if (stays() && where == layout::packed) return function(comm, values, sizes, root, policy);
        if (stays()) return function(comm, values, sizes, begins(), root, policy);
        if (where == layout::packed && (is_root() || variant % 2 == 1))
            return function(comm, is_root() ? from : nullptr, sizes, out.data() + 1, root, policy);
        if (is_root()) return function(comm, from, sizes, begins(), out.data() + 1, own(), root, policy);
        return function(comm, out.data() + 1, own(), root, policy);
    }
    template <class Comm, class Policy>
    void run(Comm& comm, Policy const& policy) {
        call(papcoll::scatterv, comm, policy);
    }
    template <class Comm, class Policy>
    auto begin(Comm& comm, Policy const& policy) -> papcoll::request {
        return call(papcoll::iscatterv, comm, policy);
    }
    template <class Comm, class Policy>
    auto prepare(Comm& comm, Policy const& policy) {
        if (is_root()) return papcoll::plan_scatterv<double>(comm, sizes, begins(), root, policy);
        return papcoll::plan_scatterv<double>(comm, own(), root, policy);
    }
    template <class Plan>
    void run_plan(Plan& plan) {
        if (stays())
            plan.run(boost::mpi::inplace(in.data() + 1));
        else if (is_root())
            plan.run(in.data() + 1, out.data() + 1);
        else
            plan.run(out.data() + 1);
    }
    void check() const {
        CAPTURE(root);
        CAPTURE(in_place);
        CHECK(out ==
              guarded(stays() ? std::vector<double>(own(), -9) : part(static_cast<std::size_t>(rank))));
        CHECK(in == at_root(0, ranks()));
    }
};

template <class Call>
auto calls(int rank, int ranks) -> std::vector<Call> {
    std::vector<Call> result;
    for (auto const& sizes : collective_suite::all_sizes(ranks))
        for (int const root : {0, ranks / 2, ranks - 1})
            for (auto const where : {layout::packed, layout::backwards_with_gaps})
                for (bool const in_place : {false, true})
                    result.push_back(Call{{rank, root, sizes, where, in_place}});
    return result;
}
template <class Call>
auto some(int rank, int ranks) -> std::vector<Call> {
    auto const sizes = collective_suite::all_sizes(ranks);
    return {Call{{rank, 0, sizes[4]}}, Call{{rank, ranks - 1, sizes[5], layout::backwards_with_gaps}},
            Call{{rank, ranks / 2, sizes[6], layout::packed, true}},
            Call{{rank, ranks / 2, sizes[3], layout::backwards_with_gaps, true}}, Call{{rank, 0, sizes[0]}}};
}

template <class Call, class Comm, class Policy>
void promises_of(Comm& comm, int rank, int ranks, Policy const& policy) {
    collective_suite::one_by_one(comm, calls<Call>(rank, ranks), policy);
    collective_suite::in_flight(comm, rank, some<Call>(rank, ranks), policy);
    auto const uneven = collective_suite::all_sizes(ranks)[4];
    collective_suite::late_ranks(comm, rank, ranks, Call{{rank, ranks / 3, uneven}}, policy);
    collective_suite::planned(comm, some<Call>(rank, ranks), policy);
    for (auto const& sizes : collective_suite::long_sizes(ranks))
        collective_suite::one_by_one(comm, std::vector{Call{{rank, ranks / 2, sizes}}}, policy);
}
template <class Comm, class Policy>
void gatherv_promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    promises_of<gatherv_call>(comm, rank, ranks, policy);
}
template <class Comm, class Policy>
void scatterv_promises(Comm& comm, int rank, int ranks, Policy const& policy) {
    promises_of<scatterv_call>(comm, rank, ranks, policy);
}

/// Vectors are resized; parts of a scatterv may overlap.
template <class Comm, class Policy>
void forms(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    int const root = ranks / 2;
    std::vector<int> sizes, begins, all, reached;
    for (int r = 0; r < ranks; ++r) {
        sizes.push_back(r + 1);
        begins.push_back(r);
        all.insert(all.end(), static_cast<std::size_t>(r + 1), r);
    }
    for (int i = 0; i < 2 * ranks; ++i) reached.push_back(i);
    std::vector<int> const mine(static_cast<std::size_t>(rank + 1), rank);
    std::vector<int> out(99);
    papcoll::gatherv(comm, mine, out, sizes, root, policy);
    CHECK(out == (rank == root ? all : std::vector<int>(99)));
    papcoll::scatterv(comm, all, sizes, out, root, policy);
    CHECK(out == mine);
    papcoll::iscatterv(comm, reached, sizes, begins, out, mine.size(), root, policy).wait();
    CHECK(out.size() == mine.size());
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == rank + static_cast<int>(i));
}

/// Mistakes throw before anything is sent: the next call of all ranks works.
template <class Comm, class Policy>
void bad_arguments(Comm& comm, int rank, int ranks, Policy const& good) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<double> in(4 * p), out(4 * p + 4);
    std::vector<int> sizes(p, 4), negative = sizes, few(p - 1, 4), together(p, 0);
    negative.back() = -3;
    int const other = ranks > 1 ? (rank + 1) % ranks : -1;
    auto const good_calls = [&] {
        collective_suite::one_by_one(comm, some<gatherv_call>(rank, ranks), good);
        collective_suite::one_by_one(comm, some<scatterv_call>(rank, ranks), good);
    };
    auto const gather = [&](auto const& list, double const* from, std::size_t n, double* to, int root) {
        return [&, from, n, to, root, list] { papcoll::gatherv(comm, from, n, to, list, root, good); };
    };
    auto const scatter = [&](auto const& list, double const* from, double* to, int root) {
        return [&, from, to, root, list] { papcoll::scatterv(comm, from, list, to, root, good); };
    };
    good_calls();
    says("sizes must not be negative, but have -3", gather(negative, in.data(), 4, out.data(), rank));
    says("sizes must have one entry per rank", gather(few, in.data(), 4, out.data(), rank));
    says("sizes must have one entry per rank", [&] { papcoll::gatherv(comm, in.data(), 4, rank, good); });
    says("the root's own elements must be sizes[root] (4), but are 3",
         gather(sizes, in.data(), 3, out.data(), rank));
    says("in must not be null", gather(sizes, nullptr, 4, out.data(), rank));
    says("out must not be null", gather(sizes, in.data(), 4, nullptr, rank));
    says("in and out overlap", gather(sizes, out.data() + 3, 4, out.data(), rank));
    says("root must be a rank", gather(sizes, in.data(), 4, out.data(), ranks));
    says("sizes must not be negative, but have -3", scatter(negative, in.data(), out.data(), rank));
    says("sizes must have one entry per rank", scatter(few, in.data(), out.data(), rank));
    says("in must not be null", scatter(sizes, nullptr, out.data(), rank));
    says("out must not be null", scatter(sizes, in.data(), nullptr, rank));
    says("in and out overlap", scatter(sizes, in.data(), in.data() + 4 * p - 1, rank));
    says("root must be a rank", scatter(sizes, in.data(), out.data(), -1));
    if (ranks > 1) {
        says("displacements must keep the parts of the ranks apart",
             [&] { papcoll::gatherv(comm, in.data(), 4, out.data(), sizes, together, rank, good); });
        says("in must not be null", gather(sizes, nullptr, 4, out.data(), other));
        says("out must not be null", scatter(sizes, in.data(), nullptr, other));
        says("inplace(values) is for the root",
             [&] { papcoll::gatherv(comm, boost::mpi::inplace(out.data()), sizes, other, good); });
        says("inplace(values) is for the root",
             [&] { papcoll::scatterv(comm, boost::mpi::inplace(out.data()), sizes, other, good); });
    }
    good_calls();
}
/// Policies that need equal sizes.
template <class Comm>
void refused_policies(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    std::vector<int> const sizes(static_cast<std::size_t>(ranks), 1);
    std::vector<int> all(sizes.size());
    int one = 0;
    collective_suite::says("knomial_tree is for parts of equal sizes", [&] {
        papcoll::gatherv(comm, &one, 1, all.data(), sizes, 0, papcoll::knomial_tree{});
    });
    collective_suite::says("knomial_tree is for parts of equal sizes", [&] {
        papcoll::scatterv(comm, all.data(), sizes, &one, 0, papcoll::knomial_tree{});
    });
    collective_suite::one_by_one(comm, some<gatherv_call>(rank, ranks), papcoll::linear{});
}

/// With agreed checks, the same on all ranks; `comm` stays so.
template <class Comm>
void agreed_checks(Comm& comm, int rank, int ranks) {
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    papcoll::linear const good;
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<double> in(4 * p), out(4 * p);
    std::vector<int> const sizes(p, 4);
    bool const last = rank == ranks - 1;
    if (ranks > 1)
        collective_suite::says("ranks disagree on the root: from 0 to 1", [&] {
            papcoll::gatherv(comm, in.data(), 4, out.data(), sizes, last ? 1 : 0, good);
        });
    if (ranks > 1)
        collective_suite::says("ranks disagree", [&] { // one of them gathers equal parts
            if (last)
                papcoll::gather(comm, in.data(), 4, out.data(), 0, good);
            else
                papcoll::gatherv(comm, in.data(), 4, out.data(), sizes, 0, good);
        });
    collective_suite::says("in must not be null", [&] {
        papcoll::gatherv(comm, last ? nullptr : in.data(), 4, out.data(), sizes, 0, good);
    });
    collective_suite::one_by_one(comm, some<gatherv_call>(rank, ranks), good);
    collective_suite::one_by_one(comm, some<scatterv_call>(rank, ranks), good);
}

} // namespace rooted_parts_suite
