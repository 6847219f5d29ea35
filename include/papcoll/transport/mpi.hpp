// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/transport/mpi_error.hpp>
#include <papcoll/transport/shared_segment.hpp>
#include <papcoll/transport/transport.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// papcoll's duplicate of a user's communicator, which lives until nobody needs it or MPI is finalized. It
/// has none of the attributes of the original, so no callback of the user's runs for it.
class mpi_duplicate {
public:
    /// Collective over `user`; waits in MPI for all its ranks.
    explicit mpi_duplicate(MPI_Comm user)
        : user_handle(static_cast<int>(MPI_Comm_c2f(user))) {
        mpi_check("MPI_Comm_rank", MPI_Comm_rank(user, &rank));
        mpi_check("MPI_Comm_size", MPI_Comm_size(user, &size));
        int provided = MPI_THREAD_SINGLE;
        mpi_check("MPI_Query_thread", MPI_Query_thread(&provided));
        concurrent = provided == MPI_THREAD_MULTIPLE;
        int* highest_tag = nullptr;
        int known = 0;
        mpi_check("MPI_Comm_get_attr", MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest_tag, &known));
        if (known != 0) tags = std::max(*highest_tag / 2, tags);
        MPI_Group group = MPI_GROUP_NULL;
        mpi_check("MPI_Comm_group", MPI_Comm_group(user, &group));
        int const made = MPI_Comm_create(user, group, &comm);
        MPI_Group_free(&group);
        mpi_check("MPI_Comm_create", made);
        mpi_check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    }
    mpi_duplicate(mpi_duplicate const&) = delete;
    auto operator=(mpi_duplicate const&) -> mpi_duplicate& = delete;
    ~mpi_duplicate() { release(); }

    /// Frees the communicator; called before MPI is finalized, or not at all.
    void release() noexcept {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0 && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
        comm = MPI_COMM_NULL;
    }

    int rank = 0;
    int size = 1;
    bool concurrent = false;
    int tags = tag_count;
    int user_handle; // Fortran's, of the user's communicator
    MPI_Comm comm = MPI_COMM_NULL;
    shared_segment segment; // while it is handed round
    std::shared_ptr<void> attachment;
};

} // namespace detail

/// Messages over MPI, on a duplicate of a user's communicator: nothing is ever sent on the user's own. The
/// two channels have tags of their own there.
class mpi_transport {
public:
    using pending = MPI_Request;

    /// Collective over `comm`; waits in MPI for all its ranks, while operations that are under way stand
    /// still. `attach` makes one without that. Throws std::invalid_argument for MPI_COMM_NULL and for an
    /// intercommunicator.
    explicit mpi_transport(MPI_Comm comm)
        : m_shared(std::make_shared<detail::mpi_duplicate>(checked(comm))) {}

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
    /// Half of those that MPI has: each channel has its own.
    [[nodiscard]] auto tags() const -> int { return m_shared->tags; }
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
            detail::mpi_check("MPI_Isend",
                              post(data, count, type, to, wire_tag(ch, tag), communicator(), &request));
        });
        return request;
    }
    [[nodiscard]] auto irecv(channel ch, message_parts parts, int from, int tag) -> pending {
        pending request = MPI_REQUEST_NULL;
        with_datatype(parts, [&](void* data, int count, MPI_Datatype type) {
            detail::mpi_check(
                "MPI_Irecv", MPI_Irecv(data, count, type, from, wire_tag(ch, tag), communicator(), &request));
        });
        return request;
    }
    void test_some(std::span<pending> pendings, std::vector<completion>& done) {
        some(MPI_Testsome, "MPI_Testsome", pendings, done);
    }
    void wait_some(std::span<pending> pendings, std::vector<completion>& done) {
#ifdef SMPI_H
        // Its MPI_Waitsome tests all others, too, and each test that fails costs simulated time.
        int index = MPI_UNDEFINED;
        MPI_Status status;
        detail::mpi_check("MPI_Waitany",
                          MPI_Waitany(static_cast<int>(pendings.size()), pendings.data(), &index, &status));
        if (index != MPI_UNDEFINED) done.push_back({index, bytes_of(status)});
#else
        some(MPI_Waitsome, "MPI_Waitsome", pendings, done);
#endif
    }
    /// Waits for one receive, and returns how many bytes came, as a completion says it.
    [[nodiscard]] auto wait_received(pending& one) -> std::size_t {
        MPI_Status status;
        status.MPI_ERROR = MPI_Wait(&one, &status);
        if (status.MPI_ERROR == MPI_SUCCESS) return bytes_of(status);
        (void)is_too_long("MPI_Wait", status); // throws of anything else
        forget(one);
        return completion::too_long;
    }
    /// Sends a message and waits for it.
    void send(channel ch, const_message_parts parts, int to, int tag) {
        with_datatype(parts, [&](void const* data, int count, MPI_Datatype type) {
            detail::mpi_check("MPI_Send", MPI_Send(data, count, type, to, wire_tag(ch, tag), communicator()));
        });
    }
    /// Receives a message and returns how many bytes came, as a completion says it.
    [[nodiscard]] auto receive(channel ch, message_parts parts, int from, int tag) -> std::size_t {
        MPI_Status status;
        with_datatype(parts, [&](void* data, int count, MPI_Datatype type) {
            status.MPI_ERROR = MPI_Recv(data, count, type, from, wire_tag(ch, tag), communicator(), &status);
        });
        if (status.MPI_ERROR == MPI_SUCCESS) return bytes_of(status);
        (void)is_too_long("MPI_Recv", status); // throws of anything else
        return completion::too_long;
    }
    /// Waits for one send.
    void wait_sent(pending& one) { detail::mpi_check("MPI_Wait", MPI_Wait(&one, MPI_STATUS_IGNORE)); }
#ifdef SMPI_H
    /// All messages on a simulated link share it, and a send below 64 KiB would end while its data is still
    /// there: so they are synchronous, and one at a time.
    static constexpr int most_sends = 1;
    /// Simulated time passes only in its calls, and so does the clock.
    void idle() { usleep(1); }
    [[nodiscard]] auto now() const -> ticks { return ticks(std::llround(MPI_Wtime() * 1e9)); }
#else
    void idle() { std::this_thread::yield(); }
    /// Lets the library see to all its messages.
    void progress() {
        int flag = 0;
        detail::mpi_check("MPI_Iprobe", MPI_Iprobe(MPI_ANY_SOURCE, wire_tag(channel::control, tag_count - 1),
                                                   communicator(), &flag, MPI_STATUS_IGNORE));
    }
    /// Makes memory of so many bytes for the ranks of this node, of zeros; they open it until it is
    /// forgotten. Throws std::system_error.
    [[nodiscard]] auto make_segment(std::size_t bytes, segment_key& key) -> std::shared_ptr<std::byte> {
        auto made = m_shared->segment.make(bytes);
        key = m_shared->segment.key();
        return made;
    }
    /// Opens the memory of so many bytes that another rank has made; see transport.
    [[nodiscard]] auto open_segment(segment_key const& key, std::size_t bytes) -> std::shared_ptr<std::byte> {
        return detail::shared_segment::open(key, bytes);
    }
    /// Nobody opens this memory any more.
    void forget_segment(segment_key const&) noexcept { m_shared->segment.close(); }
#endif
    /// Receives are cancelled, or waited for where their message is under way. MPI cannot take a send back:
    /// these stay with the library.
    auto abandon(std::span<pending> receives, std::span<pending> sends) noexcept -> bool {
        for (auto& request : receives) {
            if (request == MPI_REQUEST_NULL) continue;
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        return std::any_of(sends.begin(), sends.end(), [](pending p) { return p != MPI_REQUEST_NULL; });
    }

    [[nodiscard]] auto borrowed() const -> mpi_transport {
        auto copy = *this;
        copy.m_shared = std::shared_ptr<detail::mpi_duplicate>(std::shared_ptr<void>(), m_shared.get());
        return copy;
    }
    /// The duplicate.
    [[nodiscard]] auto communicator() const -> MPI_Comm { return m_shared->comm; }
    /// The Fortran handle of the user's communicator.
    [[nodiscard]] auto user_handle() const -> int { return m_shared->user_handle; }

    /// Frees the duplicate; nothing can be sent afterwards.
    void release() noexcept { m_shared->release(); }

private:
    [[nodiscard]] static constexpr auto wire_tag(channel ch, int tag) -> int {
        return 2 * tag + (ch == channel::data ? 0 : 1);
    }
    [[nodiscard]] static auto bytes_of(MPI_Status const& status) -> std::size_t {
        int bytes = 0; // undefined for sends, whose completions have none
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        return static_cast<std::size_t>(bytes);
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
    void some(Routine routine, char const* name, std::span<pending> pendings, std::vector<completion>& done) {
        if (m_indices.size() < pendings.size()) make_room(pendings.size());
        int count = 0;
        int const code = routine(static_cast<int>(pendings.size()), pendings.data(), &count, m_indices.data(),
                                 m_statuses.data());
        if (code != MPI_ERR_IN_STATUS) detail::mpi_check(name, code);
        for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) {
            int const position = m_indices[static_cast<std::size_t>(i)];
            auto const& status = m_statuses[static_cast<std::size_t>(i)];
            if (code == MPI_ERR_IN_STATUS && is_too_long(name, status)) {
                forget(pendings[static_cast<std::size_t>(position)]);
                done.push_back({position, completion::too_long});
            } else {
                done.push_back({position, bytes_of(status)});
            }
        }
    }
    /// For more than are asked for now: how many end together varies with time.
    void make_room(std::size_t pendings) {
        auto const room = std::max<std::size_t>(2 * pendings, 64);
        m_indices.resize(room);
        m_statuses.resize(room);
    }
    static auto is_too_long(char const* name, MPI_Status const& status) -> bool {
        int what = MPI_SUCCESS;
        MPI_Error_class(status.MPI_ERROR, &what);
        if (what != MPI_ERR_TRUNCATE) detail::mpi_check(name, status.MPI_ERROR);
        return what == MPI_ERR_TRUNCATE;
    }
    /// Some libraries keep a request that has failed.
    static void forget(pending& request) {
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }

    std::shared_ptr<detail::mpi_duplicate> m_shared;
    std::vector<int> m_indices;
    std::vector<MPI_Status> m_statuses;
    std::vector<int> m_lengths;
    std::vector<MPI_Aint> m_addresses;
};

static_assert(transport<mpi_transport>);

} // namespace papcoll::inline v0
