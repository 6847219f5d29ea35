// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// What Boost.MPI and Boost.Serialization define. papcoll knows the names without their headers, which are
// seldom there where Boost.MPI is not used; what they say of a type holds where they are included.
namespace boost::mpi {

template <class T>
struct is_mpi_datatype;
template <class T>
struct skeleton_proxy;
class content;
class packed_skeleton_iarchive;
class packed_skeleton_oarchive;

template <class T>
struct maximum;
template <class T>
struct minimum;
template <class Op, class T>
struct is_commutative;
template <class Op, class T>
struct is_mpi_op;

template <class T>
struct inplace_t;

} // namespace boost::mpi

namespace boost::serialization {

class access;
template <class T>
struct is_bitwise_serializable;

} // namespace boost::serialization

namespace boost::archive {

class binary_oarchive;

} // namespace boost::archive

namespace papcoll::inline v0::detail {

/// Whether Boost says so, as far as its header is included.
template <template <class...> class Trait, class... Ts>
concept says_true = requires {
    requires static_cast<bool>(Trait<Ts...>::value);
};

} // namespace papcoll::inline v0::detail
