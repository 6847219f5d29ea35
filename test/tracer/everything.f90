! Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
! The Fortran twin of everything.c, with mpif.h.
program everything
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 3, most = 16
  integer :: rank, ranks, root, i, error, request
  integer :: buffer_out(n * most * most), buffer_in(n * most * most)
  integer :: counts(most), own(most), at(most), byte_at(most), types(most)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  root = ranks - 1
  buffer_out = rank
  do i = 1, ranks
    counts(i) = i
    own(i) = rank + 1
    at(i) = (i - 1) * ranks
    byte_at(i) = (i - 1) * ranks * 4
    types(i) = MPI_INTEGER
  end do
  call blocking()
  call nonblocking()
  call neighbours()
  call delays()
  call MPI_Finalize(error)

contains

  subroutine blocking()
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Bcast(buffer_out, n, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    call MPI_Gather(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    call MPI_Gatherv(buffer_out, rank + 1, MPI_INTEGER, buffer_in, counts, at, MPI_INTEGER, root, &
                     MPI_COMM_WORLD, error)
    call MPI_Scatter(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    call MPI_Scatterv(buffer_out, counts, at, MPI_INTEGER, buffer_in, rank + 1, MPI_INTEGER, root, &
                      MPI_COMM_WORLD, error)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, buffer_in, n, MPI_INTEGER, MPI_COMM_WORLD, error)
    call MPI_Allgatherv(buffer_out, rank + 1, MPI_INTEGER, buffer_in, counts, at, MPI_INTEGER, &
                        MPI_COMM_WORLD, error)
    call MPI_Alltoall(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, MPI_COMM_WORLD, error)
    call MPI_Alltoallv(buffer_out, own, at, MPI_INTEGER, buffer_in, counts, at, MPI_INTEGER, MPI_COMM_WORLD, error)
    call MPI_Alltoallw(buffer_out, own, byte_at, types, buffer_in, counts, byte_at, types, MPI_COMM_WORLD, error)
    call MPI_Reduce(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, error)
    call MPI_Allreduce(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (buffer_in(1) /= ranks * root) call MPI_Abort(MPI_COMM_WORLD, 1, error) ! all have the root's value
    call MPI_Reduce_scatter(buffer_out, buffer_in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Reduce_scatter_block(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Scan(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Exscan(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end subroutine

  subroutine finish()
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end subroutine

  subroutine nonblocking()
    call MPI_Ibarrier(MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Ibcast(buffer_out, n, MPI_INTEGER, root, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Igather(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, root, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Igatherv(buffer_out, rank + 1, MPI_INTEGER, buffer_in, counts, at, MPI_INTEGER, root, &
                      MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Iscatter(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, root, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Iscatterv(buffer_out, counts, at, MPI_INTEGER, buffer_in, rank + 1, MPI_INTEGER, root, &
                       MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Iallgather(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Iallgatherv(buffer_out, rank + 1, MPI_INTEGER, buffer_in, counts, at, MPI_INTEGER, &
                         MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Ialltoall(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Ialltoallv(buffer_out, own, at, MPI_INTEGER, buffer_in, counts, at, MPI_INTEGER, &
                        MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Ialltoallw(buffer_out, own, byte_at, types, buffer_in, counts, byte_at, types, &
                        MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Ireduce(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Iallreduce(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Ireduce_scatter(buffer_out, buffer_in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Ireduce_scatter_block(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Iscan(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, error)
    call finish()
    call MPI_Iexscan(buffer_out, buffer_in, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, error)
    call finish()
  end subroutine

  ! Everybody's neighbours in a ring: the one before it and the one after it.
  subroutine neighbours()
    integer :: ring, one_each(2), sizes(2), mirrored(2), places(2)
    integer(kind=MPI_ADDRESS_KIND) :: byte_places(2)
    one_each = 1
    sizes = [1, 2]
    mirrored = [2, 1] ! what I send forwards, others get from behind
    places = [0, 1]
    byte_places = [0, 4]
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, error)
    call MPI_Neighbor_allgather(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, ring, error)
    call MPI_Neighbor_allgatherv(buffer_out, 1, MPI_INTEGER, buffer_in, one_each, places, MPI_INTEGER, ring, error)
    call MPI_Neighbor_alltoall(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, ring, error)
    call MPI_Neighbor_alltoallv(buffer_out, mirrored, places, MPI_INTEGER, buffer_in, sizes, places, MPI_INTEGER, &
                                ring, error)
    call MPI_Neighbor_alltoallw(buffer_out, mirrored, byte_places, types, buffer_in, sizes, byte_places, types, &
                                ring, error)
    call MPI_Ineighbor_allgather(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, ring, request, error)
    call finish()
    call MPI_Ineighbor_allgatherv(buffer_out, 1, MPI_INTEGER, buffer_in, one_each, places, MPI_INTEGER, ring, &
                                  request, error)
    call finish()
    call MPI_Ineighbor_alltoall(buffer_out, n, MPI_INTEGER, buffer_in, n, MPI_INTEGER, ring, request, error)
    call finish()
    call MPI_Ineighbor_alltoallv(buffer_out, mirrored, places, MPI_INTEGER, buffer_in, sizes, places, MPI_INTEGER, &
                                 ring, request, error)
    call finish()
    call MPI_Ineighbor_alltoallw(buffer_out, mirrored, byte_places, types, buffer_in, sizes, byte_places, types, &
                                 ring, request, error)
    call finish()
    call MPI_Comm_free(ring, error)
  end subroutine

  subroutine delays()
    double precision :: until
    do i = 1, 6
      call MPI_Barrier(MPI_COMM_WORLD, error)
      until = MPI_Wtime() + 0.04d0 * mod(2 * rank + 1, ranks)
      do while (MPI_Wtime() < until)
        call sleep_a_little()
      end do
      call MPI_Alltoall(buffer_out, 1, MPI_INTEGER, buffer_in, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    end do
  end subroutine

  ! Others need the core, too.
  subroutine sleep_a_little()
    use iso_c_binding, only: c_int
    interface
      integer(c_int) function usleep(microseconds) bind(c)
        import c_int
        integer(c_int), value :: microseconds
      end function
    end interface
    if (usleep(1000_c_int) /= 0) return
  end subroutine

end program
