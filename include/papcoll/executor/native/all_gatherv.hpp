// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/elements.hpp>
#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/executor/native/operation.hpp>
#include <papcoll/executor/native/pieces.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The blocks of an all-gather of different sizes, as MPI takes them. Displacements may differ from rank to
/// rank, so the sizes alone decide which of MPI's routines are called: a rank whose blocks lie too far apart
/// for MPI gathers them side by side, and moves them at the end.
template <class T>
class native_gatherv {
public:
    native_gatherv(MPI_Comm comm, std::span<std::size_t const> sizes, std::span<std::size_t const> displs,
                   std::size_t most)
        : m_type(native_type<T>())
        , m_rank(static_cast<std::size_t>(native_rank(comm)))
        , m_most(most) {
        if (!native_fits(sizes, most)) return;
        m_sizes = native_ints(sizes);
        bool const staged = !native_fits(sizes, displs, most);
        std::size_t end = 0;
        m_displs.resize(displs.size());
        for (std::size_t r = 0; r < displs.size(); ++r) {
            if (sizes[r] > 0) m_displs[r] = static_cast<int>(staged ? end : displs[r]);
            end += sizes[r];
        }
        if (!staged) return;
        m_staging.provide(element_type_of<T>(), end);
        m_places.assign(displs.begin(), displs.end());
    }

    /// Calls gather(send, size, type, receive, sizes, displs, type) as MPI_Allgatherv wants its arguments, or
    /// broadcast(values, k, type, root), in pieces, for each block when MPI cannot count them together.
    template <class Gather, class Broadcast>
    void for_each(T const* in, T* out, std::span<std::size_t const> sizes,
                  std::span<std::size_t const> displs, Gather gather, Broadcast broadcast) {
        auto* const mine = sizes[m_rank] > 0 ? out + displs[m_rank] : out;
        if (!m_sizes.empty()) {
            bool const in_place = sizes[m_rank] > 0 && in == mine;
            // All of them: members that the datatype leaves out come back as they were.
            for_each_staged(out, [](T* staged, std::size_t n, T* place) { std::copy_n(place, n, staged); });
            gather(native_input(in_place, in), m_sizes[m_rank], m_type.get(),
                   m_places.empty() ? out : staging(), m_sizes.data(), m_displs.data(), m_type.get());
            return;
        }
        if (in != mine) std::copy_n(in, sizes[m_rank], mine);
        for (std::size_t r = 0; r < sizes.size(); ++r) {
            if (sizes[r] == 0) continue;
            for_each_part(
                sizes[r],
                [&](std::size_t begin, int k) {
                    broadcast(out + displs[r] + begin, k, m_type.get(), static_cast<int>(r));
                },
                m_most);
        }
    }
    /// Moves what was gathered side by side to where the caller wants it.
    void complete(T* out) {
        for_each_staged(out, [](T* staged, std::size_t n, T* place) { std::copy_n(staged, n, place); });
    }

private:
    /// Calls copy(staged, n, place) for each block that is gathered elsewhere than at its place.
    template <class Copy>
    void for_each_staged(T* out, Copy copy) {
        for (std::size_t r = 0; r < m_places.size(); ++r)
            if (m_sizes[r] > 0)
                copy(staging() + m_displs[r], static_cast<std::size_t>(m_sizes[r]), out + m_places[r]);
    }

    [[nodiscard]] auto staging() const -> T* { return reinterpret_cast<T*>(m_staging.data()); } // NOLINT

    native_handle m_type;
    std::size_t m_rank;
    std::size_t m_most;
    std::vector<int> m_sizes; // empty when the blocks are broadcast
    std::vector<int> m_displs;
    element_memory m_staging;          // where the displacements do not fit
    std::vector<std::size_t> m_places; // then: those that the caller gave
};

} // namespace detail

/// MPI_Iallgatherv on the user's communicator: rank r's sizes[r] elements at out + displs[r] on all ranks;
/// one size and one displacement for each. In place where in == out + displs[rank]. Where all of them have
/// more than `most` elements, each is broadcast in pieces; a rank on which a block ends beyond `most` needs
/// memory for all of them once more. The sizes and `most` agree on all ranks; so does whether it is in place,
/// but for ranks without elements.
template <class T>
class native_all_gatherv_operation final : public detail::native_operation {
public:
    native_all_gatherv_operation(MPI_Comm comm, T const* in, T* out, std::span<std::size_t const> sizes,
                                 std::span<std::size_t const> displs, std::size_t most = detail::native_most)
        : m_blocks(comm, sizes, displs, most)
        , m_out(out) {
        m_blocks.for_each(
            in, out, sizes, displs,
            [&](auto... arguments) {
                post("MPI_Iallgatherv",
                     [&](MPI_Request* request) { return MPI_Iallgatherv(arguments..., comm, request); });
            },
            [&](auto... arguments) {
                post("MPI_Ibcast",
                     [&](MPI_Request* request) { return MPI_Ibcast(arguments..., comm, request); });
            });
    }

private:
    void complete() override { m_blocks.complete(m_out); }

    detail::native_gatherv<T> m_blocks; // MPI reads its arrays until the end
    T* m_out;
};

/// MPI_Allgatherv itself, for calls that block. See native_all_gatherv_operation, which it does not match.
template <class T>
void native_all_gatherv(MPI_Comm comm, T const* in, T* out, std::span<std::size_t const> sizes,
                        std::span<std::size_t const> displs, std::size_t most = detail::native_most) {
    detail::native_gatherv<T> blocks(comm, sizes, displs, most);
    blocks.for_each(
        in, out, sizes, displs,
        [&](auto... arguments) { detail::mpi_check("MPI_Allgatherv", MPI_Allgatherv(arguments..., comm)); },
        [&](auto... arguments) { detail::mpi_check("MPI_Bcast", MPI_Bcast(arguments..., comm)); });
    blocks.complete(out);
}

} // namespace papcoll::inline v0
