// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/native_operation.hpp>

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <vector>

namespace native_test {

/// The three ways to run a collective.
enum class form { blocking, waited, tested };
inline constexpr form forms[] = {form::blocking, form::waited, form::tested};

/// Drives an operation to its end and rethrows what its operator threw.
inline void finish(papcoll::operation& operation, form how) {
    CHECK(!operation.finished());
    while (!operation.finished()) operation.advance(how == form::waited);
    CHECK(!operation.advance(how == form::waited));
    CHECK(operation.finished());
    if (operation.failure()) std::rethrow_exception(operation.failure());
}

using papcoll::collective_kind;
using papcoll::detail::call_description;
using papcoll::detail::native_operation;

inline auto shape_on(MPI_Comm comm, call_description const& call) -> papcoll::call_shape {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    return papcoll::detail::shape_of(call, ranks, rank);
}
/// Runs a call by the MPI library's routines, at most `most` elements in one of them.
inline void run(MPI_Comm comm, call_description const& call, std::size_t most, form how) {
    auto const shape = shape_on(comm, call);
    if (how == form::blocking) return papcoll::detail::run_native(comm, call, shape, most);
    native_operation operation(comm, call, shape, native_operation::form::begun, most);
    finish(operation, how);
}
template <class T, class... Op>
auto describe(collective_kind operation, T const* in, std::size_t n, T* out, int root, Op... op)
    -> call_description {
    auto call = call_description::of<T>(operation, op...);
    call.memory.in = in;
    call.n = n;
    call.out = out;
    call.root = root;
    return call;
}

/// A communicator of one's own: all ranks, or one of two parts, whose ranks are in reversed order.
class group {
public:
    explicit group(bool halved) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_split(MPI_COMM_WORLD, halved ? rank % 2 : 0, halved ? -rank : rank, &m_comm);
        MPI_Comm_rank(m_comm, &m_rank);
        MPI_Comm_size(m_comm, &m_size);
    }
    group(group const&) = delete;
    auto operator=(group const&) -> group& = delete;
    ~group() { MPI_Comm_free(&m_comm); }

    [[nodiscard]] auto comm() const -> MPI_Comm { return m_comm; }
    [[nodiscard]] auto rank() const -> int { return m_rank; }
    [[nodiscard]] auto size() const -> int { return m_size; }
    [[nodiscard]] auto ranks() const -> std::size_t { return static_cast<std::size_t>(m_size); }
    [[nodiscard]] auto me() const -> std::size_t { return static_cast<std::size_t>(m_rank); }
    [[nodiscard]] auto roots() const -> std::vector<int> {
        return m_size == 1 ? std::vector<int>{0} : std::vector<int>{0, m_size - 1};
    }

private:
    MPI_Comm m_comm = MPI_COMM_NULL;
    int m_rank = 0;
    int m_size = 1;
};

/// A user's type of 24 bytes.
struct record {
    std::int64_t key = 0;
    double weight = 0;
    std::uint32_t parts[2] = {};

    auto operator==(record const& other) const -> bool {
        return key == other.key && weight == other.weight && parts[0] == other.parts[0] &&
               parts[1] == other.parts[1];
    }
};
static_assert(sizeof(record) == 24);

/// 2 × 2 matrices, whose product does not commute.
struct matrix {
    std::uint64_t a = 0, b = 0, c = 0, d = 0;

    auto operator==(matrix const& other) const -> bool {
        return a == other.a && b == other.b && c == other.c && d == other.d;
    }
};
struct product {
    auto operator()(matrix const& x, matrix const& y) const -> matrix {
        return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
    }
};

/// Adds keys modulo a number, which is the operator's state.
struct add_modulo {
    std::int64_t modulus;

    auto operator()(record const& x, record const& y) const -> record {
        return {(x.key + y.key) % modulus,
                x.weight + y.weight,
                {x.parts[0] ^ y.parts[0], x.parts[1] + y.parts[1]}};
    }
};

/// Has an MPI datatype, of its first half: the second one does not travel.
struct labelled {
    int value = 0;
    int label = 0;

    auto operator==(labelled const& other) const -> bool {
        return value == other.value && label == other.label;
    }
};

/// The i-th element that a rank contributes.
template <class T>
auto element(std::size_t rank, std::size_t i) -> T {
    auto const n = static_cast<std::uint32_t>(rank * 1000 + i + 1);
    if constexpr (std::same_as<T, record>)
        return {n, 0.5 * n, {n * 7, n * n}};
    else if constexpr (std::same_as<T, matrix>)
        return {n, 1, 2 * n + 1, n % 5};
    else if constexpr (std::same_as<T, labelled>)
        return {static_cast<int>(n), 0};
    else
        return static_cast<T>(n % 4093); // sums of few are exact in a float
}
template <class T>
auto elements(std::size_t rank, std::size_t n) -> std::vector<T> {
    std::vector<T> result;
    for (std::size_t i = 0; i < n; ++i) result.push_back(element<T>(rank, i));
    return result;
}

/// The limits of MPI's counts to test with: its own, one element, and such that the last piece is narrower.
inline auto limits(std::size_t ranks) -> std::vector<std::size_t> {
    return {std::numeric_limits<int>::max(), 1, 3 * ranks + 1};
}

/// Sizes of blocks: equal, with zeros, one rank alone, none.
inline auto size_patterns(std::size_t ranks) -> std::vector<std::vector<std::size_t>> {
    std::vector<std::vector<std::size_t>> result(4, std::vector<std::size_t>(ranks));
    for (std::size_t r = 0; r < ranks; ++r) {
        result[0][r] = 3;
        result[1][r] = r * 2 % 3 * 2;
        result[2][r] = r + 1 == ranks ? 9 : 0;
    }
    return result;
}

} // namespace native_test

template <>
struct papcoll::native_datatype<native_test::labelled> {
    static auto get() -> MPI_Datatype { return MPI_INT; }
};
