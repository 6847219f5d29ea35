// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "communicators.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace tracer {

namespace {

int key = MPI_KEYVAL_INVALID;
std::atomic<std::uint64_t> freed{0};
thread_local bool is_creating = false;

/// splitmix64's finisher over the sum: order matters.
auto mix(std::uint64_t seed, std::uint64_t value) -> std::uint64_t {
    auto z = seed * 0x9e3779b97f4a7c15U + value + 0x632be59bd9b4e019U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

/// The members' ranks in MPI_COMM_WORLD, in their order.
auto world_ranks_of(MPI_Comm comm) -> std::vector<int> {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int size = 0;
    PMPI_Group_size(group, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::vector<int> world_ranks(ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return world_ranks;
}
/// A hash of them.
auto members_hash(MPI_Comm comm) -> std::uint64_t {
    auto const world_ranks = world_ranks_of(comm);
    auto hash = static_cast<std::uint64_t>(world_ranks.size());
    for (int const rank : world_ranks) hash = mix(hash, static_cast<std::uint64_t>(rank));
    return hash;
}

/// How often `which` has been asked for.
auto occurrence(std::pair<std::uint64_t, std::uint64_t> const& which) -> std::uint64_t {
    static std::mutex mutex;
    static auto& seen = *new std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;
    std::lock_guard const lock(mutex);
    return seen[which]++;
}

auto find(MPI_Comm comm) -> communicator* {
    void* found = nullptr;
    int flag = 0;
    PMPI_Comm_get_attr(comm, key, &found, &flag);
    return flag != 0 ? static_cast<communicator*>(found) : nullptr;
}

/// Whether it has members of another MPI_COMM_WORLD, as it may after MPI_Intercomm_merge: their files are not
/// ours.
auto has_others(MPI_Comm comm) -> bool {
    auto const ranks = world_ranks_of(comm);
    return std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) != ranks.end();
}

auto attach(MPI_Comm comm, std::uint64_t id) -> communicator& {
    auto made = std::make_unique<communicator>();
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &made->rank);
    PMPI_Comm_size(comm, &made->size);
    made->id = id;
    made->is_left_out = inter != 0 || has_others(comm);
    PMPI_Comm_set_attr(comm, key, made.get());
    return *made.release();
}

/// MPI_Comm_dup and its relatives call it on all members, in the same order per parent.
auto copied(MPI_Comm, int, void*, void* value, void* copy, int* flag) -> int {
    *flag = 0;
    if (is_creating) return MPI_SUCCESS;
    auto& parent = *static_cast<communicator*>(value);
    auto child = std::make_unique<communicator>();
    child->id = mix(parent.id, mix(parent.children++, 0));
    child->rank = parent.rank;
    child->size = parent.size;
    child->is_left_out = parent.is_left_out;
    *static_cast<communicator**>(copy) = child.release();
    *flag = 1;
    return MPI_SUCCESS;
}

auto released(MPI_Comm, int, void* value, void*) -> int {
    ++freed; // before the memory goes: see communicator_of
    delete static_cast<communicator*>(value);
    return MPI_SUCCESS;
}

} // namespace

void begin_communicators() {
    PMPI_Comm_create_keyval(copied, released, &key, nullptr);
    attach(MPI_COMM_WORLD, communicator::world_id);
    attach(MPI_COMM_SELF, mix(communicator::world_id, members_hash(MPI_COMM_SELF)));
}

auto communicator_of(MPI_Comm comm) -> communicator& {
    // Looking an attribute up takes a lock. A handle can mean another communicator once one has been freed.
    struct last_seen {
        MPI_Comm comm = MPI_COMM_NULL;
        std::uint64_t freed = 0;
        communicator* found = nullptr;
    };
    thread_local last_seen last;
    auto const freed_now = freed.load();
    if (last.comm == comm && last.freed == freed_now && last.found != nullptr) return *last.found;
    auto* found = find(comm);
    if (found == nullptr) {
        auto const members = members_hash(comm);
        found = &attach(comm, mix(members, occurrence({members, 0})));
    }
    last = {comm, freed_now, found};
    return *found;
}

creation::creation() { is_creating = true; }
creation::~creation() { is_creating = false; }

void child_created(MPI_Comm parent, MPI_Comm child) {
    auto const number = communicator_of(parent).children++;
    if (child == MPI_COMM_NULL) return;
    attach(child, mix(communicator_of(parent).id, mix(number, members_hash(child))));
}

void child_of_group_created(MPI_Comm parent, int tag, MPI_Comm child) {
    if (child == MPI_COMM_NULL) return;
    auto const members = mix(members_hash(child), static_cast<std::uint64_t>(tag));
    auto const family = mix(communicator_of(parent).id, members);
    attach(child, mix(family, occurrence({family, 1})));
}

} // namespace tracer
