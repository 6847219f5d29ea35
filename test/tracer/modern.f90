! Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
! Module mpi_f08, whose error codes are optional, and communicators made by it.
program modern
  use mpi_f08
  implicit none
  integer :: rank, ranks, values(4), sums(4)
  type(MPI_Comm) :: half, copy
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  values = rank
  call MPI_Allreduce(values, sums, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (sums(4) /= ranks * (ranks - 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  call MPI_Comm_dup(half, copy)
  call MPI_Bcast(values, 2, MPI_INTEGER, 0, half)
  call MPI_Ibarrier(copy, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Comm_free(copy)
  call MPI_Comm_free(half)
  call MPI_Finalize()
end program
