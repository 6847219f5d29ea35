// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/transport/mpi_error.hpp>
#include <papcoll/transport/transport.hpp>

#include <mpi.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The two duplicates of a user's communicator, which live until nobody needs them or MPI is finalized.
class mpi_duplicates {
public:
    /// Collective, local: begins the duplication. SimGrid's MPI has no MPI_Comm_idup; there it is collective
    /// and waits.
    explicit mpi_duplicates(MPI_Comm user) {
        MPI_Comm_rank(user, &rank);
        MPI_Comm_size(user, &size);
        for (std::size_t i = 0; i < 2; ++i) {
#ifdef SMPI_H
            mpi_check("MPI_Comm_dup", MPI_Comm_dup(user, &comms[i]));
#else
            mpi_check("MPI_Comm_idup", MPI_Comm_idup(user, &comms[i], &m_requests[i]));
#endif
        }
        int provided = MPI_THREAD_SINGLE;
        MPI_Query_thread(&provided);
        concurrent = provided == MPI_THREAD_MULTIPLE;
        user_handle = static_cast<int>(MPI_Comm_c2f(user));
    }
    mpi_duplicates(mpi_duplicates const&) = delete;
    auto operator=(mpi_duplicates const&) -> mpi_duplicates& = delete;
    ~mpi_duplicates() { release(); }

    /// Whoever frees the user's communicator may ask while another thread drives: one of them tests.
    auto ready() -> bool {
        if (m_ready) return true;
        std::unique_lock const testing(m_testing, std::try_to_lock);
        if (!testing.owns_lock() || m_ready) return m_ready;
        int done = 0;
        mpi_check("MPI_Testall", MPI_Testall(2, m_requests.data(), &done, MPI_STATUSES_IGNORE));
        if (done != 0) {
            for (auto comm : comms)
                mpi_check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
            m_ready = true;
        }
        return m_ready;
    }

    /// Frees the communicators; called before MPI is finalized, or not at all.
    void release() noexcept {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0 && m_ready)
            for (auto& comm : comms)
                if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
        comms = {MPI_COMM_NULL, MPI_COMM_NULL};
        m_ready = true; // a duplication that is still under way is left to the end of MPI
    }

    int rank = 0;
    int size = 1;
    bool concurrent = false;
    int user_handle = 0; // Fortran's, of the user's communicator
    std::array<MPI_Comm, 2> comms = {MPI_COMM_NULL, MPI_COMM_NULL};
    std::shared_ptr<void> attachment;

private:
    std::array<MPI_Request, 2> m_requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::mutex m_testing;
    std::atomic<bool> m_ready = false;
};

} // namespace detail

/// Messages over MPI, on two duplicates of a user's communicator: nothing is ever sent on the user's own.
class mpi_transport {
public:
    using pending = MPI_Request;

    /// Collective over `comm`, but local: the duplication is completed by ready(). Throws
    /// std::invalid_argument for MPI_COMM_NULL and for an intercommunicator.
    explicit mpi_transport(MPI_Comm comm)
        : m_shared(std::make_shared<detail::mpi_duplicates>(checked(comm))) {}

    /// Throws std::invalid_argument unless papcoll can work on `comm`.
    static auto checked(MPI_Comm comm) -> MPI_Comm {
        if (comm == MPI_COMM_NULL) throw std::invalid_argument("papcoll: comm must not be MPI_COMM_NULL");
        int inter = 0;
        detail::mpi_check("MPI_Comm_test_inter", MPI_Comm_test_inter(comm, &inter));
        if (inter != 0) throw std::invalid_argument("papcoll: comm must not be an intercommunicator");
        return comm;
    }

    [[nodiscard]] auto rank() const -> int { return m_shared->rank; }
    [[nodiscard]] auto size() const -> int { return m_shared->size; }
    [[nodiscard]] auto ready() -> bool { return m_shared->ready(); }
    /// A number that is equal on ranks of one processor name (FNV-1a of it).
    [[nodiscard]] auto node() const -> std::uint64_t {
        std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
        int length = 0;
        detail::mpi_check("MPI_Get_processor_name", MPI_Get_processor_name(name.data(), &length));
        std::uint64_t hash = 14695981039346656037u;
        for (char const c : std::span(name).first(static_cast<std::size_t>(length)))
            hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
        return hash;
    }
    [[nodiscard]] auto concurrent() const -> bool { return m_shared->concurrent; }
    [[nodiscard]] auto max_message_bytes() const -> std::size_t {
        return static_cast<std::size_t>(std::numeric_limits<int>::max());
    }
    [[nodiscard]] auto attachment() -> std::shared_ptr<void>& { return m_shared->attachment; }

    [[nodiscard]] auto isend(channel ch, const_message_parts parts, int to, int tag) -> pending {
        pending request = MPI_REQUEST_NULL;
        with_datatype(parts, [&](void const* data, int count, MPI_Datatype type) {
#ifdef SMPI_H
            auto const post = ch == channel::data ? MPI_Issend : MPI_Isend;
#else
            auto const post = MPI_Isend;
#endif
            detail::mpi_check("MPI_Isend", post(data, count, type, to, tag, comm(ch), &request));
        });
        return request;
    }
    [[nodiscard]] auto irecv(channel ch, message_parts parts, int from, int tag) -> pending {
        pending request = MPI_REQUEST_NULL;
        with_datatype(parts, [&](void* data, int count, MPI_Datatype type) {
            detail::mpi_check("MPI_Irecv", MPI_Irecv(data, count, type, from, tag, comm(ch), &request));
        });
        return request;
    }
    void test_some(std::span<pending> pendings, std::vector<int>& done) {
        some(MPI_Testsome, "MPI_Testsome", pendings, done);
    }
    void wait_some(std::span<pending> pendings, std::vector<int>& done) {
#ifdef SMPI_H
        // Its MPI_Waitsome tests all others, too, and each test that fails costs simulated time.
        int index = MPI_UNDEFINED;
        detail::mpi_check("MPI_Waitany", MPI_Waitany(static_cast<int>(pendings.size()), pendings.data(),
                                                     &index, MPI_STATUS_IGNORE));
        if (index != MPI_UNDEFINED) done.push_back(index);
#else
        some(MPI_Waitsome, "MPI_Waitsome", pendings, done);
#endif
    }
#ifdef SMPI_H
    /// All messages on a simulated link share it, and a send below 64 KiB would end while its data is still
    /// there: so they are synchronous, and one at a time.
    static constexpr int most_sends = 1;
    /// Simulated time passes only in its calls, and so does the clock.
    void idle() { usleep(1); }
    [[nodiscard]] auto now() const -> ticks { return ticks(std::llround(MPI_Wtime() * 1e9)); }
#else
    void idle() { std::this_thread::yield(); }
#endif
    /// MPI cannot take a send back: the messages stay with the library.
    auto abandon(std::span<pending> pendings) noexcept -> bool { return !pendings.empty(); }

    [[nodiscard]] auto borrowed() const -> mpi_transport {
        auto copy = *this;
        copy.m_shared = std::shared_ptr<detail::mpi_duplicates>(std::shared_ptr<void>(), m_shared.get());
        return copy;
    }
    /// The duplicate that data travels on.
    [[nodiscard]] auto communicator() const -> MPI_Comm { return comm(channel::data); }
    /// The Fortran handle of the user's communicator.
    [[nodiscard]] auto user_handle() const -> int { return m_shared->user_handle; }

    /// Frees the duplicates; nothing can be sent afterwards.
    void release() noexcept { m_shared->release(); }

private:
    [[nodiscard]] auto comm(channel ch) const -> MPI_Comm {
        return m_shared->comms[ch == channel::data ? 0 : 1];
    }

    /// Calls post(data, count, datatype); several stretches are one element of a datatype of their addresses,
    /// so that the library packs them as it sends and nobody passes over the data before.
    template <class Byte, class Post>
    void with_datatype(basic_message_parts<Byte> const& parts, Post post) {
        if (parts.contiguous()) return post(parts.one().data(), static_cast<int>(parts.bytes()), MPI_BYTE);
        m_lengths.clear();
        m_addresses.clear();
        for (auto const& stretch : parts.several()) {
            MPI_Aint address = 0;
            detail::mpi_check("MPI_Get_address", MPI_Get_address(stretch.data(), &address));
            m_lengths.push_back(static_cast<int>(stretch.size()));
            m_addresses.push_back(address);
        }
        MPI_Datatype type = MPI_DATATYPE_NULL;
        detail::mpi_check("MPI_Type_create_hindexed",
                          MPI_Type_create_hindexed(static_cast<int>(m_lengths.size()), m_lengths.data(),
                                                   m_addresses.data(), MPI_BYTE, &type));
        detail::mpi_check("MPI_Type_commit", MPI_Type_commit(&type));
        post(MPI_BOTTOM, 1, type);
        detail::mpi_check("MPI_Type_free", MPI_Type_free(&type)); // the message keeps it to its end
    }

    template <class Routine>
    void some(Routine routine, char const* name, std::span<pending> pendings, std::vector<int>& done) {
        auto const before = done.size();
        done.resize(before + pendings.size());
        int count = 0;
        m_statuses.resize(pendings.size());
        int const code = routine(static_cast<int>(pendings.size()), pendings.data(), &count,
                                 done.data() + before, m_statuses.data());
        if (count == MPI_UNDEFINED) count = 0;
        done.resize(before + static_cast<std::size_t>(count));
        for (int i = 0; i < count && code == MPI_ERR_IN_STATUS; ++i)
            detail::mpi_check(name, m_statuses[static_cast<std::size_t>(i)].MPI_ERROR);
        detail::mpi_check(name, code);
    }

    std::shared_ptr<detail::mpi_duplicates> m_shared;
    std::vector<MPI_Status> m_statuses;
    std::vector<int> m_lengths;
    std::vector<MPI_Aint> m_addresses;
};

static_assert(transport<mpi_transport>);

} // namespace papcoll::inline v0
