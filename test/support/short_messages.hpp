// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/mpi.hpp>

#include <cstddef>

/// MPI as it would be if its counts ended early: what is longer goes in pieces, as blocks of more than
/// INT_MAX bytes do.
template <std::size_t Most>
struct short_messages : papcoll::mpi_transport {
    using papcoll::mpi_transport::mpi_transport;
    explicit short_messages(papcoll::mpi_transport const& t)
        : papcoll::mpi_transport(t) {}

    [[nodiscard]] auto max_message_bytes() const -> std::size_t { return Most; }
    [[nodiscard]] auto borrowed() const -> short_messages {
        return short_messages(papcoll::mpi_transport::borrowed());
    }
};
