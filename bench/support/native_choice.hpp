// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/call_shape.hpp>

#include <mpi.h>

#include <stdexcept>
#include <string>

#ifdef SMPI_H
namespace simgrid::smpi::colls {
// Exported by libsimgrid and called by smpirun for --cfg=smpi/<collective>:<algorithm>; in no installed
// header.
void set_allgather(std::string const& name);
void set_allreduce(std::string const& name);
void set_alltoall(std::string const& name);
void set_bcast(std::string const& name);
void set_reduce(std::string const& name);
void set_reduce_scatter(std::string const& name);
} // namespace simgrid::smpi::colls
#endif

namespace bench {

/// "native:<algorithm>" is the MPI library's own collective, told to use that algorithm.
[[nodiscard]] inline auto native_algorithm(std::string const& policy) -> std::string {
    return policy.rfind("native:", 0) == 0 ? policy.substr(7) : std::string();
}

/// Makes the next call of this collective use `algorithm`. Under SimGrid alone: the choice belongs to all
/// ranks there, who therefore each make it right before the call and take it back behind. (Open MPI is told
/// by --mca coll_tuned_… before it starts.)
inline void choose_native([[maybe_unused]] papcoll::collective_kind kind,
                          [[maybe_unused]] std::string const& algorithm) {
#ifdef SMPI_H
    using papcoll::collective_kind;
    namespace colls = simgrid::smpi::colls;
    switch (kind) {
    case collective_kind::broadcast:
        return colls::set_bcast(algorithm);
    case collective_kind::reduce:
        return colls::set_reduce(algorithm);
    case collective_kind::all_reduce:
        return colls::set_allreduce(algorithm);
    case collective_kind::all_gather:
        return colls::set_allgather(algorithm);
    case collective_kind::all_to_all:
        return colls::set_alltoall(algorithm);
    case collective_kind::reduce_scatter:
        return colls::set_reduce_scatter(algorithm);
    default:
        break;
    }
#endif
    throw std::invalid_argument("no algorithm " + algorithm + " can be chosen here");
}

} // namespace bench
