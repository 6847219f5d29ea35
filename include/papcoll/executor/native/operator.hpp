// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/boost_mpi_names.hpp>
#include <papcoll/executor/elements.hpp>
#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/transport/mpi_error.hpp>

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0 {

namespace detail {

/// The MPI library's own operator for Op on T, one of its own types: of the standard's function objects on
/// numbers, and what Boost.MPI says of others.
template <class Op, class T>
struct known_operator {
    static constexpr bool value = says_true<boost::mpi::is_mpi_op, Op, T>;
    static auto op() -> MPI_Op { return boost::mpi::is_mpi_op<Op, T>::op(); }
};
/// What MPI_SUM takes.
template <class T>
inline constexpr bool is_mpi_number = is_complex<T>::value || std::floating_point<T> ||
                                      (std::integral<T> && !std::same_as<T, bool> &&
                                       !std::same_as<T, wchar_t> && !std::same_as<T, char>);

/// What bitwise and logical operations take.
template <class T>
inline constexpr bool is_mpi_integer = is_mpi_number<T>&& std::is_integral_v<T>;

// NOLINTBEGIN(bugprone-macro-parentheses): names of templates
#define PAPCOLL_MPI_OPERATOR(functor, handle, which)                                                         \
    template <class U, class T>                                                                              \
    requires is_mpi_number<T> && which<T> &&                                                                 \
        (std::is_void_v<U> || std::same_as<U, T>)struct known_operator<functor<U>, T> {                      \
        static constexpr bool value = true;                                                                  \
        static auto op() -> MPI_Op { return handle; }                                                        \
    };
PAPCOLL_MPI_OPERATOR(std::plus, MPI_SUM, is_mpi_number)
PAPCOLL_MPI_OPERATOR(std::multiplies, MPI_PROD, is_mpi_number)
PAPCOLL_MPI_OPERATOR(std::bit_and, MPI_BAND, is_mpi_integer)
PAPCOLL_MPI_OPERATOR(std::bit_or, MPI_BOR, is_mpi_integer)
PAPCOLL_MPI_OPERATOR(std::bit_xor, MPI_BXOR, is_mpi_integer)
PAPCOLL_MPI_OPERATOR(std::logical_and, MPI_LAND, is_mpi_integer)
PAPCOLL_MPI_OPERATOR(std::logical_or, MPI_LOR, is_mpi_integer)
#undef PAPCOLL_MPI_OPERATOR
// NOLINTEND(bugprone-macro-parentheses)

template <class F, class T>
struct known_operator<commutative_operator<F>, T> : known_operator<F, T> {};

/// Whether MPI has an operator of its own that does the same.
template <class T, class Op>
inline constexpr bool is_known_operator = is_mpi_type<T>&& known_operator<Op, T>::value;
/// Null: it has none.
template <class T, class Op>
[[nodiscard]] constexpr auto known_operator_of() -> MPI_Op (*)() {
    if constexpr (is_known_operator<T, Op>)
        return [] { return known_operator<Op, T>::op(); };
    else
        return nullptr;
}

/// An operator as MPI sees it. MPI's callbacks carry no state, but their datatype does: a duplicate made for
/// this operation has the operator as an attribute, so operators with state work, and may throw. The first
/// exception is kept; the operator is not called again.
class native_operator {
public:
    /// `known` in place of `op`, unless null.
    native_operator(native_handle type, combiner op, bool commutative, MPI_Op (*known)())
        : m_op(std::move(op))
        , m_type(std::move(type))
        , m_is_known(known != nullptr) {
        if (m_is_known) {
            m_handle = known();
        } else {
            m_type = native_handle::duplicate(m_type);
            mpi_check("MPI_Type_set_attr", MPI_Type_set_attr(m_type.get(), key(), this));
            mpi_check("MPI_Op_create", MPI_Op_create(apply, commutative ? 1 : 0, &m_handle));
        }
    }
    native_operator(native_operator const&) = delete;
    auto operator=(native_operator const&) -> native_operator& = delete;
    ~native_operator() {
        if (!m_is_known) MPI_Op_free(&m_handle);
    }

    [[nodiscard]] auto type() const -> MPI_Datatype { return m_type.get(); }
    [[nodiscard]] auto handle() const -> MPI_Op { return m_handle; }
    [[nodiscard]] auto failure() const -> std::exception_ptr { return m_failure; }

private:
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
        if (self.m_failure) return;
        try {
            self.m_op(in, inout, inout, static_cast<std::size_t>(*count));
        } catch (...) {
            self.m_failure = std::current_exception();
        }
    }

    combiner m_op;
    native_handle m_type;
    bool m_is_known;
    MPI_Op m_handle = MPI_OP_NULL;
    std::exception_ptr m_failure;
};

} // namespace detail

} // namespace papcoll::inline v0
