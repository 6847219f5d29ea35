// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "places.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace soak {
namespace {

auto rank_in_world() -> int {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
/// This rank's place among the members; -1: it is none.
auto place_in(drawn_communicator const& c) -> int {
    auto const found = std::find(c.members.begin(), c.members.end(), rank_in_world());
    return found == c.members.end() ? -1 : static_cast<int>(found - c.members.begin());
}

auto group_of(std::vector<int> const& members) -> MPI_Comm {
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &group);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 17, &made);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return made;
}

} // namespace

void places::keep(int id, MPI_Comm made) {
    m_comms.emplace(id, boost::mpi::communicator(made, boost::mpi::comm_take_ownership));
}

void places::make(std::vector<drawn_communicator> const& all) {
    auto const& first = all.front();
    if (first.from == origin::split) return split(all);
    if (first.from == origin::duplicate) {
        if (!contains(first.parent)) return;
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_dup(comm(first.parent), &made);
        keep(first.id, made);
    } else if (place_in(first) >= 0) {
        keep(first.id, group_of(first.members));
    }
}
void places::split(std::vector<drawn_communicator> const& all) {
    auto const mine = std::find_if(all.begin(), all.end(), [](auto const& c) { return place_in(c) >= 0; });
    bool const is_member = mine != all.end();
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, is_member ? mine->id : MPI_UNDEFINED, is_member ? place_in(*mine) : 0,
                   &made);
    if (is_member) keep(mine->id, made);
}

void places::restore(std::map<int, drawn_communicator> const& all) {
    for (auto const& [id, c] : all) {
        if (c.from == origin::world)
            m_comms.emplace(id, boost::mpi::communicator(MPI_COMM_WORLD, boost::mpi::comm_attach));
        else if (c.from == origin::self)
            m_comms.emplace(id, boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
        else if (c.members.empty())
            keep(id, [] {
                MPI_Comm made = MPI_COMM_NULL;
                MPI_Comm_dup(MPI_COMM_SELF, &made);
                return made;
            }());
        else
            split({c});
        if (!contains(id)) continue;
        if (c.attached) attach(id, c.how);
        if (c.monitor) begin_monitor(id, *c.monitor);
    }
}

void places::attach(int id, papcoll::attach_options const& how) const { papcoll::attach(comm(id), how); }

void places::begin_monitor(int id, drawn_monitor const& how) {
    papcoll::monitor_options options;
    options.thread = how.thread;
    options.poll = std::chrono::microseconds(200);
    options.pings = 5;
    m_monitors[id] = {how, std::make_unique<papcoll::arrival_monitor>(comm(id), options)};
}

auto places::take_arrivals(int id, random_source& own) -> papcoll::arrival_source {
    auto& [how, monitor] = m_monitors.at(id);
    if (how.orderly || own.percent(60)) monitor->computation_begin();
    for (auto reports = own.below(3); reports > 0; --reports) {
        if (own.percent(30)) std::this_thread::sleep_for(std::chrono::microseconds(own.below(300)));
        monitor->progress(static_cast<double>(own.between(0, 120)) / 100);
    }
    if (own.percent(50)) monitor->computation_end();
    return own.percent(50) ? papcoll::arrival_source(*monitor) : monitor->arrivals();
}

} // namespace soak
