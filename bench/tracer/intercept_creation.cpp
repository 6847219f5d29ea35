// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// How communicators come into being, as far as their attributes do not tell (the duplicating functions): see
// communicators.hpp. Only intracommunicators are traced, so those between groups are left out.
#include <mpi.h>

#include "communicators.hpp"
#include "recorder.hpp"

#define LIST(...) __VA_ARGS__

#define CREATES(Name, parameters, arguments)                                                                 \
    int MPI_##Name(MPI_Comm parent, parameters, MPI_Comm* child) {                                           \
        tracer::creation const now;                                                                          \
        int const result = PMPI_##Name(parent, arguments, child);                                            \
        if (result == MPI_SUCCESS && tracer::recorder::instance().is_active())                               \
            tracer::child_created(parent, *child);                                                           \
        return result;                                                                                       \
    }

extern "C" {

CREATES(Comm_split, LIST(int color, int key), LIST(color, key))
CREATES(Comm_split_type, LIST(int type, int key, MPI_Info info), LIST(type, key, info))
CREATES(Comm_create, MPI_Group group, group)
CREATES(Cart_create, LIST(int dimensions, int const* sizes, int const* periods, int reorder),
        LIST(dimensions, sizes, periods, reorder))
CREATES(Cart_sub, int const* remain, remain)
CREATES(Graph_create, LIST(int nodes, int const* index, int const* edges, int reorder),
        LIST(nodes, index, edges, reorder))
CREATES(Dist_graph_create,
        LIST(int n, int const* sources, int const* degrees, int const* to, int const* weights, MPI_Info info,
             int reorder),
        LIST(n, sources, degrees, to, weights, info, reorder))
CREATES(Dist_graph_create_adjacent,
        LIST(int in_degree, int const* sources, int const* source_weights, int out_degree, int const* to,
             int const* weights, MPI_Info info, int reorder),
        LIST(in_degree, sources, source_weights, out_degree, to, weights, info, reorder))

int MPI_Comm_create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* child) {
    tracer::creation const now;
    int const result = PMPI_Comm_create_group(parent, group, tag, child);
    if (result == MPI_SUCCESS && tracer::recorder::instance().is_active())
        tracer::child_of_group_created(parent, tag, *child);
    return result;
}

} // extern "C"
