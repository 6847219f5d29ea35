/* Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0 */
/* A C program with one call of every collective and of its nonblocking form, then delayed ones. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { block = 3, most_ranks = 16, room = block * most_ranks * most_ranks };

static int rank, ranks, root;
static int out[room], in[room];
static int counts[most_ranks], own[most_ranks], at[most_ranks], byte_at[most_ranks], spread[most_ranks];
static MPI_Datatype types[most_ranks];
static int const own_size[2] = {1, 1}, mirrored[2] = {2, 1}; /* what I send forwards, others get from behind */

static void blocking(void) {
    MPI_Comm const all = MPI_COMM_WORLD;
    MPI_Barrier(all);
    MPI_Bcast(out, block, MPI_INT, root, all);
    MPI_Gather(rank == root ? MPI_IN_PLACE : out, block, MPI_INT, in, block, MPI_INT, root, all);
    MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, at, MPI_INT, root, all);
    MPI_Scatter(out, block, MPI_INT, in, block, MPI_INT, root, all);
    MPI_Scatterv(out, counts, at, MPI_INT, in, rank + 1, MPI_INT, root, all);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, block, MPI_INT, all);
    MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, at, MPI_INT, all);
    MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, all);
    MPI_Alltoallv(out, own, spread, MPI_INT, in, counts, at, MPI_INT, all);
    MPI_Alltoallw(out, own, byte_at, types, in, counts, byte_at, types, all);
    MPI_Reduce(out, in, block, MPI_INT, MPI_SUM, root, all);
    MPI_Allreduce(out, in, block, MPI_INT, MPI_SUM, all);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, all);
    MPI_Reduce_scatter_block(out, in, block, MPI_INT, MPI_SUM, all);
    MPI_Scan(out, in, block, MPI_INT, MPI_SUM, all);
    MPI_Exscan(out, in, block, MPI_INT, MPI_SUM, all);
}

static MPI_Request request;
static void finish(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

static void nonblocking(void) {
    MPI_Comm const all = MPI_COMM_WORLD;
    MPI_Ibarrier(all, &request), finish();
    MPI_Ibcast(out, block, MPI_INT, root, all, &request), finish();
    MPI_Igather(out, block, MPI_INT, in, block, MPI_INT, root, all, &request), finish();
    MPI_Igatherv(out, rank + 1, MPI_INT, in, counts, at, MPI_INT, root, all, &request), finish();
    MPI_Iscatter(out, block, MPI_INT, in, block, MPI_INT, root, all, &request), finish();
    MPI_Iscatterv(out, counts, at, MPI_INT, in, rank + 1, MPI_INT, root, all, &request), finish();
    MPI_Iallgather(out, block, MPI_INT, in, block, MPI_INT, all, &request), finish();
    MPI_Iallgatherv(out, rank + 1, MPI_INT, in, counts, at, MPI_INT, all, &request), finish();
    MPI_Ialltoall(out, block, MPI_INT, in, block, MPI_INT, all, &request), finish();
    MPI_Ialltoallv(out, own, spread, MPI_INT, in, counts, at, MPI_INT, all, &request), finish();
    MPI_Ialltoallw(out, own, byte_at, types, in, counts, byte_at, types, all, &request), finish();
    MPI_Ireduce(out, in, block, MPI_INT, MPI_SUM, root, all, &request), finish();
    MPI_Iallreduce(out, in, block, MPI_INT, MPI_SUM, all, &request), finish();
    MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, all, &request), finish();
    MPI_Ireduce_scatter_block(out, in, block, MPI_INT, MPI_SUM, all, &request), finish();
    MPI_Iscan(out, in, block, MPI_INT, MPI_SUM, all, &request), finish();
    MPI_Iexscan(out, in, block, MPI_INT, MPI_SUM, all, &request), finish();
}

/* Everybody's neighbours in a ring: the one before it and the one after it. */
static void neighbours(void) {
    MPI_Comm ring;
    int const periodic = 1;
    int const sizes[2] = {1, 2}, places[2] = {0, 1};
    MPI_Aint const byte_places[2] = {0, sizeof(int)};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    MPI_Neighbor_allgather(out, block, MPI_INT, in, block, MPI_INT, ring);
    MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, own_size, places, MPI_INT, ring);
    MPI_Neighbor_alltoall(out, block, MPI_INT, in, block, MPI_INT, ring);
    MPI_Neighbor_alltoallv(out, mirrored, places, MPI_INT, in, sizes, places, MPI_INT, ring);
    MPI_Neighbor_alltoallw(out, mirrored, byte_places, types, in, sizes, byte_places, types, ring);
    MPI_Ineighbor_allgather(out, block, MPI_INT, in, block, MPI_INT, ring, &request), finish();
    MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, own_size, places, MPI_INT, ring, &request), finish();
    MPI_Ineighbor_alltoall(out, block, MPI_INT, in, block, MPI_INT, ring, &request), finish();
    MPI_Ineighbor_alltoallv(out, mirrored, places, MPI_INT, in, sizes, places, MPI_INT, ring, &request), finish();
    MPI_Ineighbor_alltoallw(out, mirrored, byte_places, types, in, sizes, byte_places, types, ring, &request),
        finish();
    MPI_Comm_free(&ring);
}

static void delays(void) {
    int const late = 40 * ((2 * rank + 1) % ranks);
    struct timespec const pause = {0, late * 1000000L};
    for (int i = 0; i < 6; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        nanosleep(&pause, NULL);
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > most_ranks) return 1;
    root = ranks - 1;
    for (int i = 0; i < ranks; ++i) { /* rank i contributes i + 1 elements to everybody */
        counts[i] = i + 1;
        own[i] = rank + 1;
        at[i] = i * ranks;
        spread[i] = i * ranks;
        byte_at[i] = i * ranks * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    blocking();
    nonblocking();
    neighbours();
    delays();
    MPI_Finalize();
    return 0;
}
