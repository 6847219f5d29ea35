// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: pointers, iterators, views .* Boost.MPI's skeletons and contents
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/skeleton_and_content.hpp>
#include <boost/serialization/list.hpp>

#include <list>

void call(boost::mpi::communicator const& comm, std::list<int>& values) {
    papcoll::broadcast(comm, values, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(comm, boost::mpi::skeleton(values), 0);
#endif
}
