// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>

#include <boost/mpi/communicator.hpp>

#include <map>
#include <memory>
#include <vector>

#include "drawn.hpp"
#include "random_source.hpp"

namespace soak {

/// This rank's communicators and their monitors, by the numbers that were drawn for them.
class places {
public:
    /// Whether this rank is in a communicator that there is.
    [[nodiscard]] auto contains(int id) const -> bool { return m_comms.count(id) > 0; }
    [[nodiscard]] auto comm(int id) const -> boost::mpi::communicator const& { return m_comms.at(id); }

    /// Collective over the members, or over the world where it is split.
    void make(std::vector<drawn_communicator> const& all);
    void free(int id) { m_comms.erase(id); }
    /// As they are in the middle of a run; collective over the world.
    void restore(std::map<int, drawn_communicator> const& all);

    void attach(int id, papcoll::attach_options const& how) const;
    void begin_monitor(int id, drawn_monitor const& how);
    void end_monitor(int id) { m_monitors.erase(id); }
    void synchronise(int id) { m_monitors.at(id).monitor->synchronise(5); }
    /// What the monitor says, after reports of this rank as it likes.
    [[nodiscard]] auto take_arrivals(int id, random_source& own) -> papcoll::arrival_source;

private:
    struct held_monitor {
        drawn_monitor how;
        std::unique_ptr<papcoll::arrival_monitor> monitor;
    };

    void split(std::vector<drawn_communicator> const& all);
    void keep(int id, MPI_Comm made);

    std::map<int, boost::mpi::communicator> m_comms;
    std::map<int, held_monitor> m_monitors;
};

} // namespace soak
