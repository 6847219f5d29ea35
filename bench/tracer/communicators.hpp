// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

namespace tracer {

/// What the tracer keeps on every communicator, as an attribute. Its id is the same on all of its ranks and,
/// but for collisions of 64-bit hashes, no other communicator's. No message is needed for it: it is computed
/// from the parent's id, from how many communicators the parent has had, and from the members' ranks in
/// MPI_COMM_WORLD; all members know these, because communicators are created collectively.
struct communicator {
    static constexpr std::uint64_t world_id = 1;

    std::uint64_t id = 0;
    int rank = 0;
    int size = 0;
    bool is_left_out = false;               ///< between groups, or with members of another MPI_COMM_WORLD
    std::atomic<std::uint64_t> calls{0};    ///< collectives begun, recorded or not
    std::atomic<std::uint64_t> children{0}; ///< communicators created
    std::atomic<std::uint32_t> number_in_file{0}; ///< 0: not yet mentioned there
};

/// To be called once MPI is initialised, before anything else here.
void begin_communicators();

/// What is kept on `comm`, which is neither null nor freed. One that was created in a way that the tracer
/// does not intercept gets its id here, from its members and the number of such communicators they had; so
/// these must be used first in the same order on all members.
auto communicator_of(MPI_Comm comm) -> communicator&;

/// While it lives, this thread creates communicators whose creation is reported below; Open MPI's
/// MPI_Comm_create_group copies attributes, as if it duplicated.
class creation {
public:
    creation();
    creation(creation const&) = delete;
    auto operator=(creation const&) -> creation& = delete;
    ~creation();
};

/// To be called by all members of `parent` after they have created `child` of it, which may be null.
void child_created(MPI_Comm parent, MPI_Comm child);

/// After MPI_Comm_create_group, which only the members of `child` call.
void child_of_group_created(MPI_Comm parent, int tag, MPI_Comm child);

} // namespace tracer
