// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/transport/mpi_error.hpp>

#include <boost/mpi/datatype.hpp>
#include <mpi.h>

#include <exception>
#include <functional>
#include <utility>

namespace papcoll::inline v0 {

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
/// this operation has the operator as an attribute, so operators with state work, and may throw. The first
/// exception is kept; the operator is not called again.
template <class T, class Op>
class native_operator {
public:
    explicit native_operator(Op op)
        : m_op(std::move(op))
        , m_type(native_type<T>()) {
        if constexpr (is_known) {
            m_handle = known_operator<Op, T>::op();
        } else {
            m_type = native_handle::duplicate(m_type);
            mpi_check("MPI_Type_set_attr", MPI_Type_set_attr(m_type.get(), key(), this));
            mpi_check("MPI_Op_create", MPI_Op_create(apply, is_commutative<Op, T>::value ? 1 : 0, &m_handle));
        }
    }
    native_operator(native_operator const&) = delete;
    auto operator=(native_operator const&) -> native_operator& = delete;
    ~native_operator() {
        if constexpr (!is_known) MPI_Op_free(&m_handle);
    }

    [[nodiscard]] auto type() const -> MPI_Datatype { return m_type.get(); }
    [[nodiscard]] auto handle() const -> MPI_Op { return m_handle; }
    [[nodiscard]] auto failure() const -> std::exception_ptr { return m_failure; }
    void rethrow_failure() const {
        if (m_failure) std::rethrow_exception(m_failure);
    }

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
    native_handle m_type;
    MPI_Op m_handle = MPI_OP_NULL;
    std::exception_ptr m_failure;
};

} // namespace detail

} // namespace papcoll::inline v0
