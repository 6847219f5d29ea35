// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/papcoll.hpp>

#include <boost/mpi/inplace.hpp>
#include <boost/serialization/access.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

/// Values without an MPI datatype; called by all ranks of `comm`.
namespace serialized_suite {

using strings = std::vector<std::string>;
using counts = std::map<std::string, int>;

/// Of another length on every rank: some empty, some of several kilobytes.
inline auto text(int rank, int i = 0) -> std::string {
    return std::string(static_cast<std::size_t>(rank * 7919 % 5 * (i % 3) * 700), '.') + "<" +
           std::to_string(rank) + "," + std::to_string(i) + ">";
}
inline auto texts(int rank, std::size_t n) -> strings {
    strings result;
    for (std::size_t i = 0; i < n; ++i) result.push_back(text(rank, static_cast<int>(i)));
    return result;
}
inline auto joined(int ranks, std::size_t n) -> strings {
    strings result(n);
    for (std::size_t i = 0; i < n; ++i)
        for (int r = 0; r < ranks; ++r) result[i] += text(r, static_cast<int>(i));
    return result;
}

template <class Comm, class Policy>
void broadcasts(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    for (int root = 0; root < ranks; ++root) {
        CAPTURE(root);
        std::string one = text(rank, 2);
        papcoll::broadcast(comm, one, root, policy);
        CHECK(one == text(root, 2));
        auto several = texts(rank, 5);
        papcoll::broadcast(comm, several.data(), several.size(), root, policy);
        CHECK(several == texts(root, 5));
        papcoll::broadcast(comm, several.data(), std::size_t(0), root, policy);
        counts map;
        for (int i = 0; i <= rank; ++i) map[text(rank)] = i;
        papcoll::ibroadcast(comm, map, root, policy).wait();
        CHECK(map == counts{{text(root), root}});
    }
    auto plan = papcoll::plan_broadcast<std::string>(comm, 3, ranks / 2, policy);
    for (int i = 0; i < 2; ++i) {
        auto several = texts(rank + i, 3);
        plan.run(several.data());
        CHECK(several == texts(ranks / 2 + i, 3));
    }
}

/// Concatenation: in rank order.
template <class Comm, class Policy>
void concatenations(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    for (int root = 0; root < ranks; ++root)
        for (std::size_t const n : {0u, 1u, 4u}) {
            CAPTURE(root);
            auto const in = texts(rank, n);
            auto const before = in;
            strings out;
            if (rank == root)
                papcoll::reduce(comm, in, out, std::plus<>(), root, policy);
            else
                papcoll::reduce(comm, in, std::plus<>(), root, policy);
            CHECK(out == (rank == root ? joined(ranks, n) : strings()));
            CHECK(in == before);
            papcoll::all_reduce(comm, in, out, std::plus<>(), policy);
            CHECK(out == joined(ranks, n));
        }
    auto own = text(rank);
    CHECK(papcoll::all_reduce(comm, own, std::plus<>(), policy) == joined(ranks, 1)[0]);
    papcoll::reduce(comm, boost::mpi::inplace(own), std::plus<>(), ranks - 1, policy);
    CHECK(own == (rank == ranks - 1 ? joined(ranks, 1)[0] : text(rank)));
    auto in_place = texts(rank, 3);
    papcoll::all_reduce(comm, boost::mpi::inplace(in_place.data()), std::size_t(3), std::plus<>(), policy);
    CHECK(in_place == joined(ranks, 3));
    auto plan = papcoll::plan_all_reduce<std::string>(comm, 2, std::plus<>(), policy);
    strings out(2);
    auto const in = texts(rank, 2);
    plan.run(in.data(), out.data());
    CHECK(out == joined(ranks, 2));
}

/// Word counts: maps that add up, by policies that reorder operands, too.
struct add_counts {
    auto operator()(counts a, counts const& b) const -> counts {
        for (auto const& [word, n] : b) a[word] += n;
        return a;
    }
};
template <class Comm, class Policy>
void word_counts(Comm& comm, int rank, int ranks, Policy const& policy) {
    counts mine{{"all", 1}, {"rank " + std::to_string(rank), 1}}, expected{{"all", ranks}}, sum;
    for (int r = 0; r < ranks; ++r) expected["rank " + std::to_string(r)] = 1;
    papcoll::reduce(comm, mine, sum, papcoll::commutative(add_counts()), ranks / 2, policy);
    CHECK(sum == (rank == ranks / 2 ? expected : counts()));
    papcoll::all_reduce(comm, mine, sum, papcoll::commutative(add_counts()), policy);
    CHECK(sum == expected);
}

template <class Comm, class Policy>
void all_gathers(Comm& comm, int rank, int ranks, Policy const& policy) {
    for (std::size_t const n : {0u, 1u, 3u}) {
        auto const in = texts(rank, n);
        strings out, expected;
        for (int r = 0; r < ranks; ++r)
            for (auto const& t : texts(r, n)) expected.push_back(t);
        papcoll::all_gather(comm, in.data(), n, out, policy);
        CHECK(out == expected);
    }
    auto both = texts(rank, 3);
    CHECK_THROWS_AS(papcoll::all_gather(comm, both.data(), 1, both, policy), std::invalid_argument);
    CHECK(both == texts(rank, 3));
}

/// What belongs to ranks, in parts of equal numbers of values.
template <class Comm, class Gather, class Scatter, class Exchange>
void parts(Comm& comm, int rank, int ranks, Gather const& gathers, Scatter const& scatters,
           Exchange const& exchanges) {
    (void)papcoll::detail::attached_context(comm);
    int const root = ranks / 2;
    for (std::size_t const n : {0u, 1u, 3u}) {
        strings all;
        for (int r = 0; r < ranks; ++r)
            for (auto const& t : texts(r, n)) all.push_back(t);
        auto const mine = texts(rank, n);
        strings out;
        papcoll::gather(comm, mine.data(), n, out, root, gathers);
        CHECK(out == (rank == root ? all : strings()));
        papcoll::scatter(comm, all, out, n, root, scatters);
        CHECK(out == mine);
        auto leaving = all;
        for (auto& t : leaving) t += " from " + std::to_string(rank);
        papcoll::all_to_all(comm, leaving, n, out, exchanges);
        strings expected;
        for (int r = 0; r < ranks; ++r)
            for (auto const& t : mine) expected.push_back(t + " from " + std::to_string(r));
        CHECK(out == expected);
    }
    std::string one = text(rank, 1);
    papcoll::scatter(comm, rank == root ? texts(0, static_cast<std::size_t>(ranks)) : strings(), one, root,
                     scatters);
    CHECK(one == text(0, rank));
}
/// Concatenations of the ranks up to each, or before it.
template <class Comm, class Policy>
void prefixes(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    for (std::size_t const n : {1u, 4u}) {
        auto const in = texts(rank, n);
        strings out(n);
        papcoll::scan(comm, in.data(), n, out.data(), std::plus<>(), policy);
        CHECK(out == joined(rank + 1, n));
        papcoll::exscan(comm, in.data(), n, out.data(), std::plus<>(), policy);
        CHECK(out == (rank == 0 ? joined(1, n) : joined(rank, n)));
        out = in;
        papcoll::iscan(comm, boost::mpi::inplace(out.data()), n, std::plus<>(), policy).wait();
        CHECK(out == joined(rank + 1, n));
    }
    CHECK(papcoll::exscan(comm, text(rank), std::plus<>(), policy) == (rank == 0 ? "" : joined(rank, 1)[0]));
    (void)ranks;
}

/// A vector as one value, of another length on each rank.
template <class Comm>
void vectors(Comm& comm, int rank, int ranks) {
    using list = std::vector<int>;
    auto const of = [](int r) { return list(static_cast<std::size_t>(r + 1), r); };
    int const root = ranks - 1;
    std::vector<list> all, expected;
    for (int r = 0; r < ranks; ++r) expected.push_back(of(r));
    auto mine = of(rank);
    papcoll::gather(comm, mine, all, root);
    CHECK(all == (rank == root ? expected : std::vector<list>()));
    if (rank != root) papcoll::gather(comm, mine, root);
    if (rank == root) papcoll::gather(comm, mine, all, root);
    papcoll::all_gather(comm, mine, all);
    CHECK(all == expected);
    papcoll::broadcast(comm, mine, root);
    CHECK(mine == of(root));
    if (rank == root)
        papcoll::scatter(comm, all, mine, root);
    else
        papcoll::scatter(comm, mine, root);
    CHECK(mine == of(rank));
}

/// Its bytes are an address; it says itself how it travels. Trivially copyable.
class box {
public:
    box() = default;
    explicit box(int value)
        : m_value(kept(value)) {}
    [[nodiscard]] auto value() const -> int { return *m_value; }
    /// Whether the thread that runs this rank has made the value.
    [[nodiscard]] auto is_of_this_rank() const -> bool {
        return std::any_of(values().begin(), values().end(), [&](int const& v) { return &v == m_value; });
    }

private:
    friend class boost::serialization::access;
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        int v = Archive::is_saving::value ? *m_value : 0;
        archive& v;
        if (Archive::is_loading::value) m_value = kept(v);
    }
    static auto values() -> std::list<int>& {
        static thread_local std::list<int> list;
        return list;
    }
    static auto kept(int value) -> int const* { return &values().emplace_back(value); }

    int const* m_value = nullptr;
};
static_assert(std::is_trivially_copyable_v<box>);

/// What says how it is serialized is not sent as its bytes.
template <class Comm, class Policy>
void boxes(Comm& comm, int rank, int ranks, Policy const& policy) {
    box one(rank);
    papcoll::broadcast(comm, one, ranks - 1, policy);
    CHECK(one.is_of_this_rank());
    CHECK(one.value() == ranks - 1);
    std::array<box, 2> pair{box(rank), box(-rank)};
    papcoll::broadcast(comm, pair, 0, policy);
    CHECK(pair[1].is_of_this_rank());
    CHECK(pair[0].value() == 0);
    auto const add =
        papcoll::commutative([](box const& a, box const& b) { return box(a.value() + b.value()); });
    auto const sum = papcoll::all_reduce(comm, box(rank), add, policy);
    CHECK(sum.is_of_this_rank());
    CHECK(sum.value() == ranks * (ranks - 1) / 2);
    std::vector<box> all;
    papcoll::all_gather(comm, box(rank), all, papcoll::circulant{});
    for (int r = 0; r < ranks; ++r) CHECK(all[static_cast<std::size_t>(r)].value() == r);
    CHECK(all.front().is_of_this_rank());
}

/// Different operations at once, completed in different orders, while one rank is late.
template <class Comm, class Policy>
void in_flight(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    if (rank == ranks / 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::string const own = text(rank, 1);
    std::string sum, down = text(rank, 2), sum_of_all;
    std::vector<papcoll::request> pending;
    pending.push_back(papcoll::ireduce(comm, own, sum, std::plus<>(), 0, policy));
    pending.push_back(papcoll::ibroadcast(comm, down, ranks - 1, policy));
    pending.push_back(papcoll::iall_reduce(comm, own, sum_of_all, std::plus<>(), policy));
    for (std::size_t k = 0; k < 3; ++k) pending[rank % 2 == 0 ? k : 2 - k].wait();
    auto const expected = joined(ranks, 2)[1];
    CHECK(sum == (rank == 0 ? expected : ""));
    CHECK(down == text(ranks - 1, 2));
    CHECK(sum_of_all == expected);
}

/// Some ranks wait within the call and others later, while they have another one under way; short values and
/// long ones in turn.
template <class Comm>
void in_several_forms(Comm& comm, int rank, int ranks) {
    auto const n = static_cast<std::size_t>(ranks);
    for (std::size_t const length : {3u, 300u, 2'000u, 100'000u})
        for (int blocking = 0; blocking < 3; ++blocking) { // ranks, of three
            std::string const own = std::string(length, 'x') + std::to_string(rank);
            std::string const first = std::string(length, 'x') + "0";
            std::vector<std::string> all(n), parts(n, own);
            std::string sum, down = own, part;
            std::string expected;
            for (int r = 0; r < ranks; ++r) expected += std::string(length, 'x') + std::to_string(r);
            if (rank % 3 == blocking) {
                papcoll::all_gather(comm, own, all);
                papcoll::broadcast(comm, down, 0);
                papcoll::scatter(comm, parts, part, 0);
                papcoll::all_reduce(comm, own, sum, std::plus<>());
            } else {
                auto gathered = papcoll::iall_gather(comm, own, all);
                auto came = papcoll::ibroadcast(comm, down, 0);
                auto scattered = papcoll::iscatter(comm, parts, part, 0);
                papcoll::iall_reduce(comm, own, sum, std::plus<>()).wait();
                scattered.wait(), came.wait(), gathered.wait();
            }
            CHECK(down == first);
            CHECK(part == first);
            CHECK(sum == expected);
            for (int r = 0; r < ranks; ++r)
                CHECK(all[static_cast<std::size_t>(r)] == std::string(length, 'x') + std::to_string(r));
        }
}

/// A class of a user's, which may refuse to be saved or loaded.
class fragile {
public:
    fragile() = default;
    explicit fragile(int value, bool saves = true)
        : m_value(value)
        , m_saves(saves) {}
    [[nodiscard]] auto value() const -> int { return m_value; }
    /// The thread that runs this rank refuses to load.
    static auto refuses_to_load() -> bool& {
        static thread_local bool refuses = false;
        return refuses;
    }
    friend auto operator+(fragile const& a, fragile const& b) -> fragile {
        return fragile(a.m_value + b.m_value, a.m_saves && b.m_saves);
    }

private:
    friend class boost::serialization::access;
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        if (Archive::is_saving::value && !m_saves) throw std::domain_error("cannot be saved");
        archive& m_value;
        if (Archive::is_loading::value && refuses_to_load()) throw std::domain_error("cannot be loaded");
    }

    int m_value = 0;
    bool m_saves = true;
};

enum class outcome { none, own, missing };
template <class F>
auto outcome_of(F const& f) -> outcome {
    try {
        f();
    } catch (std::domain_error const&) {
        return outcome::own;
    } catch (papcoll::missing_value_error const&) {
        return outcome::missing;
    }
    return outcome::none;
}

/// What fails is thrown where it fails and by those who miss a value for it; nobody hangs, and the next call
/// works.
template <class Comm, class Policy>
void failures(Comm& comm, int rank, int ranks, Policy const& policy) {
    auto const op = std::plus<>();
    for (int bad = 0; bad < ranks; ++bad)
        for (bool const saving : {true, false}) {
            CAPTURE(bad);
            CAPTURE(saving);
            bool const mine = rank == bad;
            fragile const in(rank, !(mine && saving));
            fragile out, down = in;
            fragile::refuses_to_load() = mine && !saving;

            auto const broadcast = outcome_of([&] { papcoll::broadcast(comm, down, 0, policy); });
            if (ranks > 1 && saving && bad == 0) // the root has nothing to give
                CHECK(broadcast == (rank == 0 ? outcome::own : outcome::missing));
            else
                CHECK(broadcast == (mine && !saving && rank != 0 ? outcome::own : outcome::none));

            auto const reduce = outcome_of([&] { papcoll::reduce(comm, in, out, op, 0, policy); });
            if (saving && mine && bad != 0) CHECK(reduce == outcome::own);
            if (saving && bad != 0 && rank == 0) CHECK(reduce == outcome::missing);
            if (!saving && bad == 0 && rank == 0 && ranks > 1) CHECK(reduce == outcome::own);
            if (saving && bad == 0) CHECK(reduce == outcome::none); // the sum stays where it is
            if (!mine && rank != 0) CHECK(reduce != outcome::own);

            auto const all = outcome_of([&] { papcoll::all_reduce(comm, in, out, op, policy); });
            if (ranks > 1 && saving) CHECK(all == (mine ? outcome::own : outcome::missing));
            if (ranks > 1 && !saving && mine) CHECK(all == outcome::own);

            fragile::refuses_to_load() = false;
            CHECK(papcoll::all_reduce(comm, fragile(rank), op, policy).value() == ranks * (ranks - 1) / 2);
        }
    auto const throws = [&](fragile const& a, fragile const& b) {
        if (rank == 0) throw std::domain_error("cannot be combined");
        return a + b;
    };
    fragile out;
    auto const all = outcome_of([&] { papcoll::all_reduce(comm, fragile(rank), out, throws, policy); });
    if (ranks > 1) CHECK(all == (rank == 0 ? outcome::own : outcome::missing));
}

/// All ranks get what one of them has combined, though each would combine something else.
template <class Comm>
void combined_once(Comm& comm, int rank, int ranks) {
    int calls = 0;
    auto const op = [&](std::string const& a, std::string const& b) {
        ++calls;
        return a + std::to_string(rank) + b;
    };
    std::string sum;
    papcoll::all_reduce(comm, std::string("x"), sum, op);
    std::string of_first = sum;
    papcoll::broadcast(comm, of_first, 0);
    CHECK(sum == of_first);
    int all_calls = 0;
    papcoll::all_reduce(comm, calls, all_calls, std::plus<>());
    CHECK(all_calls == ranks - 1);
}

/// n that differ are found out where the values are read.
template <class Comm, class Policy>
void lengths_that_differ(Comm& comm, int rank, int ranks, Policy const& policy) {
    if (ranks == 1) return;
    strings values(5);
    auto const call = [&] { papcoll::broadcast(comm, values.data(), rank == 0 ? 5u : 4u, 0, policy); };
    if (rank == 0)
        call();
    else
        CHECK_THROWS_AS(call(), std::length_error);
}

template <class Comm>
void all(Comm& comm, int rank, int ranks) {
    auto const in_order = [&](auto const& policy) {
        broadcasts(comm, rank, ranks, policy);
        concatenations(comm, rank, ranks, policy);
        word_counts(comm, rank, ranks, policy);
        in_flight(comm, rank, ranks, policy);
        failures(comm, rank, ranks, policy);
    };
    in_order(papcoll::binomial_tree{});
    in_order(papcoll::fibonacci_tree{.segments = 4}); // a value cannot be cut: some blocks are empty
    in_order(papcoll::greedy_tree{.transfer_time = papcoll::ticks(3), .compute_time = papcoll::ticks(7)});
    broadcasts(comm, rank, ranks, papcoll::circulant{});
    word_counts(comm, rank, ranks, papcoll::circulant{});
    word_counts(comm, rank, ranks, papcoll::circulant{.block_bytes = 1});
    word_counts(comm, rank, ranks, papcoll::arrival_tree{});
    combined_once(comm, rank, ranks);
    boxes(comm, rank, ranks, papcoll::binomial_tree{});
    boxes(comm, rank, ranks, papcoll::automatic{});
    all_gathers(comm, rank, ranks, papcoll::circulant{});
    all_gathers(comm, rank, ranks, papcoll::dissemination{.radix = 3});
    all_gathers(comm, rank, ranks, papcoll::linear{});
    all_gathers(comm, rank, ranks, papcoll::sorted_linear{});
    all_gathers(comm, rank, ranks, papcoll::neighbor_exchange{});
    all_gathers(comm, rank, ranks, papcoll::background_ring{});
    all_gathers(comm, rank, ranks, papcoll::automatic{});
    lengths_that_differ(comm, rank, ranks, papcoll::binomial_tree{});
    parts(comm, rank, ranks, papcoll::linear{}, papcoll::linear{}, papcoll::all_to_all_linear{});
    parts(comm, rank, ranks, papcoll::knomial_tree{}, papcoll::knomial_tree{}, papcoll::all_to_all_bruck{});
    parts(comm, rank, ranks, papcoll::sorted_linear{}, papcoll::automatic{}, papcoll::automatic{});
    prefixes(comm, rank, ranks, papcoll::prefix_doubling{});
    prefixes(comm, rank, ranks, papcoll::prefix_chain{});
    prefixes(comm, rank, ranks, papcoll::automatic{});
    vectors(comm, rank, ranks);
    in_several_forms(comm, rank, ranks);
}

} // namespace serialized_suite
