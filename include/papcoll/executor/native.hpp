// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/progress_engine.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/transport/mpi_error.hpp>

#include <boost/mpi/datatype.hpp>
#include <mpi.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// The MPI datatype that `native` collectives use for a type that MPI does not know; by default its bytes. A
/// specialisation gives `static auto get() -> MPI_Datatype`, which stays its own.
template <class T>
struct native_datatype {};

namespace detail {

// The operator that the MPI library knows for a callable, where there is one.
template <class Op, class T>
struct known_operator : boost::mpi::is_mpi_op<Op, T> {};
template <class T>
struct known_operator<std::plus<>, T> : boost::mpi::is_mpi_op<std::plus<T>, T> {};
template <class T>
struct known_operator<std::multiplies<>, T> : boost::mpi::is_mpi_op<std::multiplies<T>, T> {};
template <class F, class T>
struct known_operator<commutative_operator<F>, T> : known_operator<F, T> {};

/// An operator as MPI sees it. MPI's callbacks carry no state, but their datatype does: a duplicate made for
/// this operation has the operator as an attribute, so operators with state work, and may throw.
template <class T, class Op>
class native_operator {
public:
    explicit native_operator(Op op)
        : m_op(std::move(op)) {
        if constexpr (is_known) {
            m_type = boost::mpi::get_mpi_datatype<T>();
            m_handle = known_operator<Op, T>::op();
        } else {
            make_datatype();
            mpi_check("MPI_Type_set_attr", MPI_Type_set_attr(m_type, key(), this));
            mpi_check("MPI_Op_create", MPI_Op_create(apply, is_commutative<Op, T>::value ? 1 : 0, &m_handle));
        }
    }
    native_operator(native_operator const&) = delete;
    auto operator=(native_operator const&) -> native_operator& = delete;
    ~native_operator() {
        if constexpr (!is_known) {
            MPI_Op_free(&m_handle);
            MPI_Type_free(&m_type);
        }
    }

    [[nodiscard]] auto type() const -> MPI_Datatype { return m_type; }
    [[nodiscard]] auto handle() const -> MPI_Op { return m_handle; }
    [[nodiscard]] auto failure() const -> std::exception_ptr { return m_failure; }

private:
    static constexpr bool is_known =
        boost::mpi::is_mpi_builtin_datatype<T>::value && known_operator<Op, T>::value;

    static auto key() -> int {
        static int const made = [] {
            int result = MPI_KEYVAL_INVALID;
            mpi_check(
                "MPI_Type_create_keyval",
                MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &result, nullptr));
            return result;
        }();
        return made;
    }
    void make_datatype() {
        if constexpr (requires { native_datatype<T>::get(); }) {
            mpi_check("MPI_Type_dup", MPI_Type_dup(native_datatype<T>::get(), &m_type));
        } else {
            static_assert(std::is_trivially_copyable_v<T>,
                          "papcoll: this type needs a Boost.MPI datatype; include papcoll/papcoll.hpp");
            mpi_check("MPI_Type_contiguous",
                      MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &m_type));
            mpi_check("MPI_Type_commit", MPI_Type_commit(&m_type));
        }
    }
    // MPI's convention: inout[i] = in[i] op inout[i], where `in` comes from the lower ranks.
    static void apply(void* in, void* inout, int* count, MPI_Datatype* type) {
        void* found = nullptr;
        int flag = 0;
        MPI_Type_get_attr(*type, key(), &found, &flag);
        auto& self = *static_cast<native_operator*>(found);
        auto const* const left = static_cast<T const*>(in);
        auto* const right = static_cast<T*>(inout);
        try {
            for (int i = 0; i < *count && !self.m_failure; ++i)
                right[i] = static_cast<T>(self.m_op(left[i], right[i]));
        } catch (...) {
            self.m_failure = std::current_exception();
        }
    }

    Op m_op;
    MPI_Datatype m_type = MPI_DATATYPE_NULL;
    MPI_Op m_handle = MPI_OP_NULL;
    std::exception_ptr m_failure;
};

/// Calls piece(send, receive, n) as MPI wants the buffers of a reduction, at least once, n at most `most`.
template <class T, class Piece>
void for_each_piece(bool is_root, T const* in, T* out, std::size_t count, Piece piece,
                    std::size_t most = std::numeric_limits<int>::max()) {
    std::size_t begin = 0;
    do {
        auto const n = static_cast<int>(std::min(most, count - begin));
        bool const in_place = is_root && in == out;
        piece(in_place ? MPI_IN_PLACE : static_cast<void const*>(in + begin), is_root ? out + begin : nullptr,
              n);
        begin += static_cast<std::size_t>(n);
    } while (begin < count);
}

[[nodiscard]] inline auto is_rank(MPI_Comm comm, int root) -> bool {
    int rank = 0;
    mpi_check("MPI_Comm_rank", MPI_Comm_rank(comm, &rank));
    return rank == root;
}

} // namespace detail

/// MPI_Ireduce on the user's communicator; counts beyond INT_MAX in several pieces.
template <class T, reduction_operator<T> Op>
class native_reduce_operation final : public operation {
public:
    /// `out` counts at the root alone, where it may equal `in`.
    native_reduce_operation(MPI_Comm comm, T const* in, T* out, std::size_t count, Op op, int root)
        : m_operator(std::move(op)) {
        detail::for_each_piece(
            detail::is_rank(comm, root), in, out, count, [&](void const* send, void* receive, int n) {
                m_requests.push_back(MPI_REQUEST_NULL);
                detail::mpi_check("MPI_Ireduce",
                                  MPI_Ireduce(send, receive, n, m_operator.type(), m_operator.handle(), root,
                                              comm, &m_requests.back()));
            });
    }

    auto advance(bool block) -> bool override {
        int done = 1;
        auto const count = static_cast<int>(m_requests.size());
        if (block)
            detail::mpi_check("MPI_Waitall", MPI_Waitall(count, m_requests.data(), MPI_STATUSES_IGNORE));
        else
            detail::mpi_check("MPI_Testall",
                              MPI_Testall(count, m_requests.data(), &done, MPI_STATUSES_IGNORE));
        m_finished = done != 0;
        return m_finished;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_operator.failure(); }
    auto abandon() noexcept -> bool override { return true; }

private:
    detail::native_operator<T, Op> m_operator;
    std::vector<MPI_Request> m_requests;
    bool m_finished = false;
};

/// MPI_Reduce itself, for calls that block: the library's tuned algorithms serve it alone.
template <class T, reduction_operator<T> Op>
void native_reduce(MPI_Comm comm, T const* in, T* out, std::size_t count, Op op, int root) {
    detail::native_operator<T, Op> const native(std::move(op));
    detail::for_each_piece(
        detail::is_rank(comm, root), in, out, count, [&](void const* send, void* receive, int n) {
            detail::mpi_check("MPI_Reduce",
                              MPI_Reduce(send, receive, n, native.type(), native.handle(), root, comm));
        });
    if (native.failure()) std::rethrow_exception(native.failure());
}

} // namespace papcoll::inline v0
