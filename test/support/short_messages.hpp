// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/mpi.hpp>

#include <cstddef>
#include <memory>

/// MPI as it would be if its counts ended early: what is longer goes in pieces, as blocks of more than
/// INT_MAX bytes do. It counts the messages that this rank sends.
template <std::size_t Most>
struct short_messages : papcoll::mpi_transport {
    using papcoll::mpi_transport::mpi_transport;
    explicit short_messages(papcoll::mpi_transport const& t)
        : papcoll::mpi_transport(t) {}

    [[nodiscard]] auto max_message_bytes() const -> std::size_t { return Most; }
    [[nodiscard]] auto borrowed() const -> short_messages {
        short_messages result(papcoll::mpi_transport::borrowed());
        result.sent = sent;
        return result;
    }
    [[nodiscard]] auto isend(papcoll::channel ch, papcoll::const_message_parts parts, int to, int tag)
        -> pending {
        ++*sent;
        return papcoll::mpi_transport::isend(ch, parts, to, tag);
    }

    std::shared_ptr<int> sent = std::make_shared<int>(0);
};
