// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/mpi.hpp>

#include <boost/mpi/communicator.hpp>

namespace papcoll::inline v0 {

/// Messages over a Boost.MPI communicator, which it keeps alive.
class boost_mpi_transport : public mpi_transport {
public:
    /// As mpi_transport's.
    explicit boost_mpi_transport(boost::mpi::communicator const& comm)
        : mpi_transport(comm)
        , m_comm(comm) {}

    [[nodiscard]] auto borrowed() const -> boost_mpi_transport {
        auto copy = *this;
        static_cast<mpi_transport&>(copy) = mpi_transport::borrowed();
        copy.m_comm = boost::mpi::communicator();
        return copy;
    }

private:
    boost::mpi::communicator m_comm;
};

static_assert(transport<boost_mpi_transport>);

} // namespace papcoll::inline v0
