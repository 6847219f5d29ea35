// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <functional>
#include <thread>

#include "../../support/native_support.hpp"

using namespace native_test;

namespace {

template <class T>
void check_broadcast(group const& g, std::size_t n, int root, std::size_t most, form how) {
    auto const sent = elements<T>(static_cast<std::size_t>(root), n);
    auto values = g.rank() == root ? sent : std::vector<T>(n);
    run(g.comm(), describe<T>(collective_kind::broadcast, nullptr, n, values.data(), root), most, how);
    CHECK(values == sent);
}

/// All ranks' elements, one after another.
template <class T>
auto gathered(group const& g, std::size_t n) -> std::vector<T> {
    std::vector<T> result;
    for (std::size_t r = 0; r < g.ranks(); ++r)
        for (auto const& x : elements<T>(r, n)) result.push_back(x);
    return result;
}

template <class T>
void check_gather(group const& g, std::size_t n, int root, std::size_t most, form how, bool in_place) {
    bool const is_root = g.rank() == root;
    auto const mine = elements<T>(g.me(), n);
    std::vector<T> out(is_root ? n * g.ranks() : 0);
    auto call = describe<T>(collective_kind::gather, mine.data(), n, out.data(), root);
    if (in_place && is_root) {
        call.memory.in = nullptr;
        call.in_place = true;
        std::copy(mine.begin(), mine.end(), out.data() + g.me() * n);
    }
    run(g.comm(), call, most, how);
    CHECK(out == (is_root ? gathered<T>(g, n) : std::vector<T>()));
}

template <class T>
void check_all_gather(group const& g, std::size_t n, std::size_t most, form how, bool in_place) {
    auto const mine = elements<T>(g.me(), n);
    std::vector<T> out(n * g.ranks());
    auto* const place = out.data() + g.me() * n;
    if (in_place) std::copy(mine.begin(), mine.end(), place);
    auto call = describe<T>(collective_kind::all_gather, in_place ? nullptr : mine.data(), n, out.data(), 0);
    call.in_place = in_place;
    run(g.comm(), call, most, how);
    CHECK(out == gathered<T>(g, n));
}

template <class T>
void check_all_to_all(group const& g, std::size_t n, std::size_t most, form how, bool in_place) {
    auto const sent = elements<T>(g.me(), n * g.ranks());
    auto out = in_place ? sent : std::vector<T>(n * g.ranks());
    auto const* const in = in_place ? out.data() : sent.data();
    auto call = describe<T>(collective_kind::all_to_all, in, n, out.data(), 0);
    call.in_place = in_place;
    run(g.comm(), call, most, how);
    std::vector<T> expected;
    for (std::size_t r = 0; r < g.ranks(); ++r)
        for (std::size_t i = 0; i < n; ++i) expected.push_back(element<T>(r, g.me() * n + i));
    CHECK(out == expected);
}

/// Where blocks go: the first rank's last, with `gap` elements between. An empty block lies nowhere.
auto displacements(std::vector<std::size_t> const& sizes, std::size_t gap = 2) -> std::vector<std::size_t> {
    std::vector<std::size_t> result(sizes.size(), std::size_t(1) << 40);
    std::size_t end = 2;
    for (std::size_t r = sizes.size(); r-- > 0;)
        if (sizes[r] > 0) {
            result[r] = end;
            end += sizes[r] + gap;
        }
    return result;
}

template <class T>
void check_all_gatherv(group const& g, std::vector<std::size_t> const& sizes, std::size_t most, form how,
                       bool in_place, std::size_t gap = 2) {
    auto const displs = displacements(sizes, gap);
    std::vector<T> out((10 + gap) * g.ranks() + 2);
    auto expected = out;
    for (std::size_t r = 0; r < g.ranks(); ++r)
        for (std::size_t i = 0; i < sizes[r]; ++i) expected[displs[r] + i] = element<T>(r, i);
    auto const mine = elements<T>(g.me(), sizes[g.me()]);
    auto call = describe<T>(collective_kind::all_gather, mine.data(), 0, out.data(), 0);
    call.parts = {sizes, displs};
    call.in_place = in_place;
    if (in_place && !mine.empty()) std::copy(mine.begin(), mine.end(), out.data() + displs[g.me()]);
    run(g.comm(), call, most, how);
    CHECK(out == expected);
}

/// All operations that move elements, of one type.
template <class T>
void check_moves(group const& g) {
    for (form const how : forms)
        for (std::size_t const most : limits(g.ranks())) {
            for (std::size_t const n : {0U, 1U, 8U})
                for (int const root : g.roots()) check_broadcast<T>(g, n, root, most, how);
            for (bool const in_place : {false, true}) {
                for (std::size_t const n : {0U, 1U, 8U}) {
                    for (int const root : g.roots()) check_gather<T>(g, n, root, most, how, in_place);
                    check_all_gather<T>(g, n, most, how, in_place);
                    check_all_to_all<T>(g, n, most, how, in_place);
                }
                for (auto const& sizes : size_patterns(g.ranks()))
                    check_all_gatherv<T>(g, sizes, most, how, in_place);
            }
        }
}

} // namespace

TEST_CASE("elements of MPI's own types arrive where they should") { check_moves<int>(group(false)); }

TEST_CASE("elements of a user's type arrive where they should") { check_moves<record>(group(false)); }

TEST_CASE("a datatype may leave members out") { check_moves<labelled>(group(false)); }

TEST_CASE("elements stay within the communicator") { check_moves<record>(group(true)); }

TEST_CASE("long vectors, for which the library has other algorithms") {
    group const g(false);
    for (form const how : forms)
        for (bool const in_place : {false, true})
            for (std::size_t const most : {1000000U, 20000U}) {
                check_broadcast<record>(g, 50001, 0, most, how);
                check_gather<record>(g, 5003, 0, most, how, in_place);
                check_all_gather<record>(g, 5003, most, how, in_place);
                check_all_to_all<record>(g, 5003, most, how, in_place);
            }
}

TEST_CASE("members that a datatype leaves out are not touched") {
    group const g(false);
    std::vector<labelled> values(3, labelled{g.rank() + 1, g.rank()});
    auto const call =
        describe<labelled>(collective_kind::broadcast, nullptr, values.size(), values.data(), g.size() - 1);
    run(g.comm(), call, 2, form::blocking);
    CHECK(values == std::vector<labelled>(3, labelled{g.size(), g.rank()}));
}

TEST_CASE("blocks that lie too far away for MPI are gathered, too") {
    group const g(false);
    for (form const how : forms)
        for (std::size_t const beyond : {0U, 1U}) {
            // All blocks fit, but the first rank's, which lies last, ends at 5 ranks or one element beyond.
            std::vector<std::size_t> const sizes(g.ranks(), 3);
            auto const end = displacements(sizes).front() + 3;
            check_all_gatherv<int>(g, sizes, end - beyond, how, false);
        }
}

TEST_CASE("blocks that lie too far away for MPI on one rank alone are gathered on all ranks") {
    group const g(false);
    for (form const how : forms)
        for (bool const in_place : {false, true})
            for (int const far : {0, g.size() - 1}) {
                std::size_t const gap = g.rank() == far ? 40 : 0;
                std::size_t const most = 12 * g.ranks() + 2; // all blocks fit, and without gaps their ends
                for (auto const& sizes : size_patterns(g.ranks())) {
                    check_all_gatherv<int>(g, sizes, most, how, in_place, gap);
                    check_all_gatherv<record>(g, sizes, most, how, in_place, gap);
                }
            }
}

TEST_CASE("members that a datatype leaves out are not touched where blocks lie too far away, either") {
    group const g(false);
    std::vector<std::size_t> const sizes(g.ranks(), 1);
    auto const displs = displacements(sizes, 40);
    std::vector<labelled> out(41 * g.ranks() + 2, labelled{-1, 5});
    auto expected = out;
    for (std::size_t r = 0; r < g.ranks(); ++r) expected[displs[r]].value = static_cast<int>(r);
    labelled const mine{g.rank(), 6};
    auto call = describe<labelled>(collective_kind::all_gather, &mine, 0, out.data(), 0);
    call.parts = {sizes, displs};
    run(g.comm(), call, g.ranks(), form::blocking);
    CHECK(out == expected);
}

TEST_CASE("blocks beyond INT_MAX are cut into stripes that MPI can count") {
    std::size_t const most = std::numeric_limits<int>::max();
    for (std::size_t const n : {most / 13, most / 13 + 1, most, 3 * most + 7}) {
        auto const element = papcoll::detail::native_type<record>();
        papcoll::detail::native_blocks blocks(element.get(), sizeof(record), n, 13, most);
        std::size_t end = 0;
        blocks.for_each([&](std::size_t begin, int k, int count, MPI_Datatype type) {
            auto const width = static_cast<std::size_t>(k);
            CHECK(begin == end);
            CHECK((width > 0 && 13 * width <= most));
            MPI_Count bytes = 0;
            MPI_Type_size_x(type, &bytes);
            CHECK(static_cast<std::size_t>(bytes * count) == width * sizeof(record));
            MPI_Aint low = 1;
            MPI_Aint extent = 0;
            MPI_Type_get_extent(type, &low, &extent);
            CHECK(low == 0);
            CHECK(static_cast<std::size_t>(extent * count) == n * sizeof(record));
            end = begin + width;
        });
        CHECK(end == n);
    }
}

TEST_CASE("operations progress together, whichever a rank waits for first") {
    group const g(false);
    papcoll::progress_engine engine(false);
    std::size_t const n = 5;
    auto values = g.rank() == 0 ? elements<int>(0, n) : std::vector<int>(n);
    auto const mine = elements<int>(g.me(), n);
    std::vector<int> all(n * g.ranks());
    std::vector<int> sums(n);
    auto const begun = [&](call_description const& call) {
        return std::make_shared<native_operation>(g.comm(), call, shape_on(g.comm(), call),
                                                  native_operation::form::begun);
    };
    std::vector<std::shared_ptr<papcoll::operation>> const operations{
        begun(describe<int>(collective_kind::broadcast, nullptr, n, values.data(), 0)),
        begun(describe<int>(collective_kind::all_gather, mine.data(), n, all.data(), 0)),
        begun(describe<int>(collective_kind::all_reduce, mine.data(), n, sums.data(), 0, std::plus<>()))};
    for (auto const& o : operations) engine.start(o);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        auto const& o = *operations[(i + g.me()) % operations.size()];
        engine.wait(o, [] { std::this_thread::yield(); });
        CHECK(engine.retire(o) == nullptr);
    }
    CHECK(values == elements<int>(0, n));
    CHECK(all == gathered<int>(g, n));
    for (std::size_t i = 0; i < n; ++i) {
        int sum = 0;
        for (std::size_t r = 0; r < g.ranks(); ++r) sum += element<int>(r, i);
        CHECK(sums[i] == sum);
    }
}
