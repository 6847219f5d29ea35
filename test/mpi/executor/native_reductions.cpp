// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>

#include "../../support/native_support.hpp"

using namespace native_test;

namespace {

template <class T, class Op>
void run_reduce(group const& g, T const* in, T* out, std::size_t n, Op op, int root, std::size_t most,
                form how) {
    auto call = describe<T>(collective_kind::reduce, in, n, out, root, op);
    call.in_place = in == out;
    run(g.comm(), call, most, how);
}
template <class T, class Op>
void run_all_reduce(group const& g, T const* in, std::size_t n, T* out, Op op, std::size_t most, form how) {
    auto call = describe<T>(collective_kind::all_reduce, in, n, out, 0, op);
    call.in_place = in == out;
    run(g.comm(), call, most, how);
}
template <class T, class Op>
void run_reduce_scatter(group const& g, T const* in, std::vector<std::size_t> const& sizes, T* out, Op op,
                        std::size_t most, form how) {
    auto call = describe<T>(collective_kind::reduce_scatter, in, 0, out, 0, op);
    call.parts = papcoll::detail::rank_sizes(sizes);
    call.in_place = in == out;
    run(g.comm(), call, most, how);
}

/// The elements begin, ... of all ranks, combined in rank order.
template <class T, class Op>
auto reduced(group const& g, std::size_t begin, std::size_t n, Op op) -> std::vector<T> {
    std::vector<T> result;
    for (std::size_t i = begin; i < begin + n; ++i) {
        auto value = element<T>(0, i);
        for (std::size_t r = 1; r < g.ranks(); ++r) value = op(value, element<T>(r, i));
        result.push_back(value);
    }
    return result;
}

template <class T, class Op>
void check_reduce(group const& g, std::size_t n, Op op, int root, std::size_t most, form how, bool in_place) {
    auto in = elements<T>(g.me(), n);
    std::vector<T> out(n);
    bool const is_root = g.rank() == root;
    auto* const to = in_place && is_root ? in.data() : is_root ? out.data() : nullptr;
    run_reduce(g, in.data(), to, n, op, root, most, how);
    if (is_root) CHECK((in_place ? in : out) == reduced<T>(g, 0, n, op));
    if (!is_root || !in_place) CHECK(in == elements<T>(g.me(), n));
}

template <class T, class Op>
void check_all_reduce(group const& g, std::size_t n, Op op, std::size_t most, form how, bool in_place) {
    auto in = elements<T>(g.me(), n);
    std::vector<T> out(n);
    auto* const to = in_place ? in.data() : out.data();
    run_all_reduce(g, in.data(), n, to, op, most, how);
    CHECK((in_place ? in : out) == reduced<T>(g, 0, n, op));
    if (!in_place) CHECK(in == elements<T>(g.me(), n));
}

template <class T, class Op>
void check_reduce_scatter(group const& g, std::vector<std::size_t> const& sizes, Op op, std::size_t most,
                          form how, bool in_place) {
    auto const me = static_cast<std::ptrdiff_t>(g.me());
    auto const begin = std::accumulate(sizes.begin(), sizes.begin() + me, std::size_t(0));
    auto const all = std::accumulate(sizes.begin(), sizes.end(), std::size_t(0));
    auto in = elements<T>(g.me(), all);
    std::vector<T> out(sizes[g.me()]);
    auto* const to = in_place ? in.data() : out.data();
    run_reduce_scatter(g, in.data(), sizes, to, op, most, how);
    auto const expected = reduced<T>(g, begin, sizes[g.me()], op);
    CHECK(std::equal(expected.begin(), expected.end(), to));
    if (!in_place) CHECK(in == elements<T>(g.me(), all));
}

template <class T, class Op>
void check_reductions(group const& g, Op op) {
    for (form const how : forms)
        for (std::size_t const most : limits(g.ranks()))
            for (bool const in_place : {false, true}) {
                for (std::size_t const n : {0U, 1U, 8U}) {
                    for (int const root : g.roots()) check_reduce<T>(g, n, op, root, most, how, in_place);
                    check_all_reduce<T>(g, n, op, most, how, in_place);
                }
                for (auto const& sizes : size_patterns(g.ranks()))
                    check_reduce_scatter<T>(g, sizes, op, most, how, in_place);
            }
}

/// Throws at every call, and says at which.
struct refuse {
    int calls = 0;

    auto operator()(record const&, record const&) -> record {
        throw std::runtime_error("call " + std::to_string(++calls));
    }
};

/// Runs a collective whose operator throws: some rank must hear of the first failure, and only of that.
template <class Call>
void check_refusal(group const& g, Call call) {
    int heard = 0;
    try {
        call();
    } catch (std::runtime_error const& e) {
        CHECK(std::string(e.what()) == "call 1");
        heard = 1;
    }
    int total = 0;
    MPI_Allreduce(&heard, &total, 1, MPI_INT, MPI_SUM, g.comm());
    CHECK((total > 0) == (g.size() > 1));
}

} // namespace

TEST_CASE("sums of floats") { check_reductions<float>(group(false), std::plus<>()); }

TEST_CASE("a user's type and an operator with state") {
    check_reductions<record>(group(false), papcoll::commutative(add_modulo{1009}));
}

TEST_CASE("an operator that does not commute keeps rank order") {
    check_reductions<matrix>(group(false), product());
}

TEST_CASE("MPI's own type with a user's operator") {
    check_reductions<int>(group(false), [](int a, int b) { return std::max(a, b); });
}

TEST_CASE("reductions stay within the communicator") { check_reductions<matrix>(group(true), product()); }

TEST_CASE("long vectors, for which the library has other algorithms") {
    group const g(false);
    for (form const how : forms)
        for (bool const in_place : {false, true})
            for (std::size_t const most : {1000000U, 3000U}) {
                std::size_t const n = 5003;
                check_reduce<matrix>(g, n, product(), g.size() - 1, most, how, in_place);
                check_all_reduce<matrix>(g, n, product(), most, how, in_place);
                check_all_reduce<float>(g, 10 * n, std::plus<>(), most, how, in_place);
                std::vector<std::size_t> sizes(g.ranks(), 700);
                sizes.back() = n;
                check_reduce_scatter<matrix>(g, sizes, product(), most, how, in_place);
                check_reduce_scatter<float>(g, sizes, std::plus<>(), most, how, in_place);
            }
}

TEST_CASE("what an operator throws first is rethrown after the communication") {
    group const g(false);
    for (form const how : forms)
        for (std::size_t const most : {1000U, 2U}) {
            std::vector<std::size_t> const sizes(g.ranks(), 3);
            auto const in = elements<record>(g.me(), 3 * g.ranks());
            std::vector<record> out(3);
            check_refusal(g, [&] { run_reduce(g, in.data(), out.data(), 3, refuse(), 0, most, how); });
            check_refusal(g, [&] { run_all_reduce(g, in.data(), 3, out.data(), refuse(), most, how); });
            check_refusal(g,
                          [&] { run_reduce_scatter(g, in.data(), sizes, out.data(), refuse(), most, how); });
            check_reduce<record>(g, 4, add_modulo{7}, 0, most, how, false);
        }
}
