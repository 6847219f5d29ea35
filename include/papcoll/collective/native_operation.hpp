// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/call_checks.hpp>
#include <papcoll/collective/call_description.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/executor/native/operator.hpp>
#include <papcoll/executor/native/pieces.hpp>
#include <papcoll/transport/mpi_error.hpp>

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <list>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// A call made by the MPI library: by its nonblocking routines, which the engine drives, or by the blocking
/// ones, which it tunes better and which do not match the others. Counts beyond `most` go in several pieces.
class native_operation final : public operation {
public:
    /// Of calls that are begun or run all ranks say alike whether they are in place, but for those without
    /// elements. Those for which papcoll has chosen the library's routines need not: operands in place are
    /// copied where MPI's algorithms depend on it.
    enum class form { begun, run, chosen };

    /// Begins the call, of this shape, on this communicator, or runs it to its end.
    native_operation(MPI_Comm comm, call_description const& call, call_shape const& shape, form how,
                     std::size_t most = native_most)
        : m_comm(comm)
        , m_call(call)
        , m_shape(shape)
        , m_runs(how == form::run)
        , m_most(most)
        , m_type(call.elements->datatype()) {
        auto const* const traits = call.operator_traits;
        if (traits != nullptr)
            m_operator.emplace(call.elements->datatype(), call.memory.op, traits->commutative, traits->known);
        if (how == form::chosen && m_call.in_place) copy_operands();
        begin();
        if (m_runs) complete();
    }

    auto advance(bool block) -> bool override {
        if (m_finished) return false;
        int done = 1;
        auto const count = static_cast<int>(m_requests.size());
        if (block)
            mpi_check("MPI_Waitall", MPI_Waitall(count, m_requests.data(), MPI_STATUSES_IGNORE));
        else
            mpi_check("MPI_Testall", MPI_Testall(count, m_requests.data(), &done, MPI_STATUSES_IGNORE));
        if (done == 0) return false;
        complete();
        return true;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override {
        return m_operator ? m_operator->failure() : nullptr;
    }
    auto abandon() noexcept -> bool override { return true; }

private:
    void begin() {
        if (m_shape.count == 0 && !m_shape.is_uneven() && m_shape.operation != collective_kind::barrier)
            return; // on all ranks
        switch (m_shape.operation) {
        case collective_kind::broadcast:
            return broadcast(out(), m_call.n, m_call.root);
        case collective_kind::reduce:
            return for_each_part(
                m_call.n,
                [&](std::size_t begin, int k) {
                    reduce(is_root() && m_call.in_place, in(begin), is_root() ? out(begin) : nullptr, k,
                           m_call.root);
                },
                m_most);
        case collective_kind::all_reduce:
            return for_each_part(
                m_call.n,
                [&](std::size_t begin, int k) {
                    call({"MPI_Allreduce", "MPI_Iallreduce"}, MPI_Allreduce, MPI_Iallreduce,
                         input(m_call.in_place, in(begin)), out(begin), k, m_operator->type(),
                         m_operator->handle(), m_comm);
                },
                m_most);
        case collective_kind::scan:
            return for_each_part(
                m_call.n,
                [&](std::size_t begin, int k) {
                    call({"MPI_Scan", "MPI_Iscan"}, MPI_Scan, MPI_Iscan, input(m_call.in_place, in(begin)),
                         out(begin), k, m_operator->type(), m_operator->handle(), m_comm);
                },
                m_most);
        case collective_kind::exscan:
            return for_each_part(
                m_call.n,
                [&](std::size_t begin, int k) {
                    call({"MPI_Exscan", "MPI_Iexscan"}, MPI_Exscan, MPI_Iexscan,
                         input(m_call.in_place, in(begin)), out(begin), k, m_operator->type(),
                         m_operator->handle(), m_comm);
                },
                m_most);
        case collective_kind::barrier:
            return call({"MPI_Barrier", "MPI_Ibarrier"}, MPI_Barrier, MPI_Ibarrier, m_comm);
        case collective_kind::gather:
            if (m_call.parts.given()) return gatherv();
            return for_each_stripe([&](std::size_t begin, int k, int count, MPI_Datatype type) {
                call({"MPI_Gather", "MPI_Igather"}, MPI_Gather, MPI_Igather,
                     input(is_root() && m_call.in_place, in(begin)), k, m_type.get(),
                     is_root() ? out(begin) : nullptr, count, type, m_call.root, m_comm);
            });
        case collective_kind::all_gather:
            if (m_call.parts.given()) return all_gatherv();
            return for_each_stripe([&](std::size_t begin, int k, int count, MPI_Datatype type) {
                call({"MPI_Allgather", "MPI_Iallgather"}, MPI_Allgather, MPI_Iallgather,
                     input(m_call.in_place, in(begin)), k, m_type.get(), out(begin), count, type, m_comm);
            });
        case collective_kind::reduce_scatter:
            return reduce_scatter();
        case collective_kind::all_to_all:
            if (m_call.parts.given()) return all_to_allv();
            return for_each_stripe([&](std::size_t begin, int, int count, MPI_Datatype type) {
                call({"MPI_Alltoall", "MPI_Ialltoall"}, MPI_Alltoall, MPI_Ialltoall,
                     input(m_call.in_place, in(begin)), count, type, out(begin), count, type, m_comm);
            });
        case collective_kind::scatter:
            if (m_call.parts.given()) return scatterv();
            return for_each_stripe([&](std::size_t begin, int k, int count, MPI_Datatype type) {
                call({"MPI_Scatter", "MPI_Iscatter"}, MPI_Scatter, MPI_Iscatter,
                     is_root() ? in(begin) : nullptr, count, type,
                     output(is_root() && m_call.in_place, out(begin)), k, m_type.get(), m_call.root, m_comm);
            });
        }
    }

    // One call of the library

    struct routine_names {
        char const* blocking;
        char const* nonblocking;
    };
    template <class Blocking, class Nonblocking, class... Arguments>
    void call(routine_names names, Blocking blocking, Nonblocking nonblocking, Arguments... arguments) {
        if (m_runs) return mpi_check(names.blocking, blocking(arguments...));
        m_requests.push_back(MPI_REQUEST_NULL);
        mpi_check(names.nonblocking, nonblocking(arguments..., &m_requests.back()));
    }
    void broadcast(void* values, std::size_t n, int root) {
        for_each_part(
            n,
            [&](std::size_t begin, int k) {
                call({"MPI_Bcast", "MPI_Ibcast"}, MPI_Bcast, MPI_Ibcast, moved(values, begin), k,
                     m_type.get(), root, m_comm);
            },
            m_most);
    }
    void reduce(bool in_place, void const* send, void* receive, int k, int root) {
        if (in_place && root != 0 && fails_in_place) {
            in_place = false;
            send = copy_of(receive, static_cast<std::size_t>(k));
        }
        call({"MPI_Reduce", "MPI_Ireduce"}, MPI_Reduce, MPI_Ireduce, input(in_place, send), receive, k,
             m_operator->type(), m_operator->handle(), root, m_comm);
    }

    // MPICH up to 4.1 takes MPI_IN_PLACE for the address of a root other than rank 0 (its issue 6540), and
    // ends the program where a reduce-scatter in place has a block that is longer than those before it.
    // Later releases are not known to be right, so that all of them are kept from it.
#ifdef MPICH_VERSION
    static constexpr bool fails_in_place = true;
#else
    static constexpr bool fails_in_place = false;
#endif
    /// In place of MPI_IN_PLACE, of routines in which all ranks must say it; the others take it from the root
    /// alone.
    void copy_operands() {
        auto const n = operands_in_place();
        if (n.size == 0) return;
        m_call.memory.in = copy_of(out(n.offset), n.size);
        m_call.in_place = false;
    }
    [[nodiscard]] auto operands_in_place() const -> block_range {
        auto const ranks = static_cast<std::size_t>(m_shape.ranks);
        switch (m_shape.operation) {
        case collective_kind::all_reduce:
        case collective_kind::scan:
        case collective_kind::exscan:
            return {0, m_call.n};
        case collective_kind::all_gather:
            if (m_call.parts.given()) return m_call.parts.part(m_shape.rank);
            return {static_cast<std::size_t>(m_shape.rank) * m_call.n, m_call.n};
        case collective_kind::reduce_scatter:
            if (m_call.parts.given()) return {0, m_call.parts.end()};
            return {0, ranks * m_call.n};
        case collective_kind::all_to_all:
            if (!m_call.parts.given()) return {0, ranks * m_call.n};
            break; // parts of which each rank knows its own alone are never chosen
        case collective_kind::broadcast:
        case collective_kind::reduce:
        case collective_kind::gather:
        case collective_kind::scatter:
        case collective_kind::barrier:
            break;
        }
        return {};
    }
    /// Kept until the end.
    auto copy_of(void const* elements, std::size_t n) -> void const* {
        auto const& type = *m_call.elements->type;
        auto& copy = m_copies.emplace_back();
        copy.provide(type, n);
        type.copy(elements, copy.data(), n);
        return copy.data();
    }

    /// MPI_IN_PLACE says that the input lies where the result goes.
    static auto input(bool in_place, void const* in) -> void const* { return in_place ? MPI_IN_PLACE : in; }
    /// Of a scatter: the root's own part stays where it is.
    static auto output(bool in_place, void* out) -> void* { return in_place ? MPI_IN_PLACE : out; }
    [[nodiscard]] auto size() const -> std::size_t { return m_call.elements->type->size; }
    [[nodiscard]] auto moved(void* data, std::size_t elements) const -> void* {
        return static_cast<std::byte*>(data) + elements * size();
    }
    [[nodiscard]] auto in(std::size_t begin = 0) const -> void const* {
        return m_call.memory.in == nullptr ? nullptr
                                           : static_cast<std::byte const*>(m_call.memory.in) + begin * size();
    }
    [[nodiscard]] auto out(std::size_t begin = 0) const -> void* { return moved(m_call.out.data(), begin); }
    [[nodiscard]] auto is_root() const -> bool { return m_shape.rank == m_call.root; }

    template <class Stripe>
    void for_each_stripe(Stripe stripe) {
        m_blocks.emplace(m_type.get(), size(), m_call.n, m_shape.ranks, m_most);
        m_blocks->for_each(stripe);
    }

    // Blocks of different sizes

    /// Displacements may differ from rank to rank, so the sizes alone decide which of MPI's routines are
    /// called: a rank whose blocks lie too far apart for MPI gathers them side by side, and moves them at the
    /// end. Blocks that MPI cannot count together are broadcast one by one.
    void all_gatherv() {
        auto const sizes = m_call.parts.sizes();
        auto const begins = m_call.parts.displacements();
        auto const own = m_call.parts.part(m_shape.rank);
        if (!native_fits(sizes, m_most)) {
            if (!m_call.in_place && own.size > 0)
                m_call.elements->type->copy(in(), out(own.offset), own.size);
            for (std::size_t r = 0; r < sizes.size(); ++r)
                if (sizes[r] > 0) broadcast(out(begins[r]), sizes[r], static_cast<int>(r));
            return;
        }
        m_sizes = native_ints(sizes);
        lay_out(sizes, begins);
        auto const& type = *m_call.elements->type;
        // All of them: members that the datatype leaves out come back as they were.
        for_each_staged([&](void* staged, std::size_t n, void* place) { type.copy(place, staged, n); });
        bool const in_place = m_call.in_place && own.size > 0;
        void* to = m_staging.data() != nullptr ? m_staging.data() : out();
        // MPICH 4.0 forgets the displacement of a rank that is alone.
        if (m_shape.ranks == 1) to = moved(to, static_cast<std::size_t>(std::exchange(m_begins[0], 0)));
        call({"MPI_Allgatherv", "MPI_Iallgatherv"}, MPI_Allgatherv, MPI_Iallgatherv, input(in_place, in()),
             static_cast<int>(own.size), m_type.get(), to, m_sizes.data(), m_begins.data(), m_type.get(),
             m_comm);
    }
    void lay_out(std::span<std::size_t const> sizes, std::span<std::size_t const> begins) {
        bool const staged = !native_fits(sizes, begins, m_most);
        m_begins.resize(sizes.size());
        std::size_t end = 0;
        for (std::size_t r = 0; r < sizes.size(); ++r) {
            if (sizes[r] > 0) m_begins[r] = static_cast<int>(staged ? end : begins[r]);
            end += sizes[r];
        }
        if (staged) m_staging.provide(*m_call.elements->type, end);
    }
    /// Calls copy(staged, n, place) for each block that is gathered elsewhere than at its place.
    template <class Copy>
    void for_each_staged(Copy copy) {
        if (m_staging.data() == nullptr) return;
        auto const begins = m_call.parts.displacements();
        for (std::size_t r = 0; r < m_sizes.size(); ++r)
            if (m_sizes[r] > 0)
                copy(moved(m_staging.data(), static_cast<std::size_t>(m_begins[r])),
                     static_cast<std::size_t>(m_sizes[r]), out(begins[r]));
    }

    // Where each rank knows its own sizes alone, nobody can tell whether the others' fit: a rank whose
    // numbers do not fit throws.

    [[nodiscard]] auto own_count() const -> int {
        auto const n = m_call.parts.own(m_shape.rank)[0];
        require_fit(n <= m_most);
        return static_cast<int>(n);
    }
    static void require_fit(bool fits) {
        if (!fits)
            throw std::length_error(
                "papcoll: parts of different sizes of more than INT_MAX elements, or as far "
                "apart, are not for the policy native");
    }
    void count_parts(std::span<std::size_t const> sizes, std::span<std::size_t const> begins,
                     std::vector<int>& counts, std::vector<int>& places) const {
        for (std::size_t r = 0; r < sizes.size(); ++r)
            require_fit(sizes[r] <= m_most && (sizes[r] == 0 || begins[r] <= m_most - sizes[r]));
        counts = native_ints(sizes);
        places.resize(sizes.size());
        for (std::size_t r = 0; r < sizes.size(); ++r)
            places[r] = sizes[r] > 0 ? static_cast<int>(begins[r]) : 0;
    }
    void count_parts_of_root() {
        if (is_root()) count_parts(m_call.parts.sizes(), m_call.parts.displacements(), m_sizes, m_begins);
    }
    void gatherv() {
        count_parts_of_root();
        call({"MPI_Gatherv", "MPI_Igatherv"}, MPI_Gatherv, MPI_Igatherv,
             input(is_root() && m_call.in_place, in()), own_count(), m_type.get(),
             is_root() ? out() : nullptr, m_sizes.data(), m_begins.data(), m_type.get(), m_call.root, m_comm);
    }
    void scatterv() {
        count_parts_of_root();
        call({"MPI_Scatterv", "MPI_Iscatterv"}, MPI_Scatterv, MPI_Iscatterv, is_root() ? in() : nullptr,
             m_sizes.data(), m_begins.data(), m_type.get(), output(is_root() && m_call.in_place, out()),
             own_count(), m_type.get(), m_call.root, m_comm);
    }
    void all_to_allv() {
        auto const& leaving = m_call.parts.leaving();
        count_parts(leaving.sizes, leaving.displacements, m_leaving_sizes, m_leaving_begins);
        count_parts(m_call.parts.sizes(), m_call.parts.displacements(), m_sizes, m_begins);
        // Open MPI 4.1's MPI_Ialltoallv in place disturbs the calls behind it.
        bool const copies = m_call.in_place && !m_runs;
        if (copies) copy_leaving(leaving);
        call({"MPI_Alltoallv", "MPI_Ialltoallv"}, MPI_Alltoallv, MPI_Ialltoallv,
             copies ? m_copied.data() : input(m_call.in_place, in()), m_leaving_sizes.data(),
             m_leaving_begins.data(), m_type.get(), out(), m_sizes.data(), m_begins.data(), m_type.get(),
             m_comm);
    }
    void copy_leaving(part_list const& leaving) {
        auto const& type = *m_call.elements->type;
        m_copied.provide(type, leaving.end());
        for (std::size_t r = 0; r < leaving.sizes.size(); ++r)
            if (leaving.sizes[r] > 0)
                type.copy(out(leaving.displacements[r]),
                          m_copied.data() + leaving.displacements[r] * type.size, leaving.sizes[r]);
    }

    /// Blocks that MPI cannot count together are reduced one by one.
    void reduce_scatter() {
        std::vector<std::size_t> const equal(
            m_call.parts.given() ? 0 : static_cast<std::size_t>(m_shape.ranks), m_call.n);
        auto const sizes = m_call.parts.given() ? m_call.parts.sizes() : std::span(equal);
        if (native_fits(sizes, m_most) && !m_call.parts.given())
            return call({"MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block"}, MPI_Reduce_scatter_block,
                        MPI_Ireduce_scatter_block, input(m_call.in_place, in()), out(),
                        static_cast<int>(m_call.n), m_operator->type(), m_operator->handle(), m_comm);
        if (native_fits(sizes, m_most)) {
            m_sizes = native_ints(sizes);
            auto const* const from =
                m_call.in_place && fails_in_place
                    ? copy_of(out(), std::accumulate(sizes.begin(), sizes.end(), std::size_t(0)))
                    : input(m_call.in_place, in());
            return call({"MPI_Reduce_scatter", "MPI_Ireduce_scatter"}, MPI_Reduce_scatter,
                        MPI_Ireduce_scatter, from, out(), m_sizes.data(), m_operator->type(),
                        m_operator->handle(), m_comm);
        }
        std::size_t first = 0;
        for (int r = 0; r < m_shape.ranks; ++r) {
            auto const n = sizes[static_cast<std::size_t>(r)];
            bool const mine = r == m_shape.rank;
            // In place a block is reduced where it lies: its sum could otherwise cover operands.
            auto* const result = m_call.in_place ? out(first) : out();
            if (n > 0)
                for_each_part(
                    n,
                    [&](std::size_t begin, int k) {
                        reduce(mine && m_call.in_place, in(first + begin),
                               mine ? moved(result, begin) : nullptr, k, r);
                    },
                    m_most);
            if (mine && result != out()) m_own_result = {first, n};
            first += n;
        }
    }

    /// What is left to do once the library has ended.
    void complete() {
        auto const& type = *m_call.elements->type;
        for_each_staged([&](void* staged, std::size_t n, void* place) { type.copy(staged, place, n); });
        if (m_own_result.size > 0) type.copy(out(m_own_result.offset), out(), m_own_result.size);
        m_finished = true;
    }

    MPI_Comm m_comm;
    call_description m_call;
    call_shape m_shape;
    bool m_runs;
    std::size_t m_most;
    native_handle m_type;
    std::optional<native_operator> m_operator;
    std::vector<MPI_Request> m_requests;
    std::optional<native_blocks> m_blocks;
    // MPI reads them until the end.
    std::vector<int> m_sizes, m_begins, m_leaving_sizes, m_leaving_begins;
    element_memory m_staging;           // where displacements do not fit
    element_memory m_copied;            // what leaves, in place
    std::list<element_memory> m_copies; // of what is reduced in place
    block_range m_own_result;           // which must be moved to the beginning
    bool m_finished = false;
};

/// The MPI library's own blocking routine.
inline void run_native(MPI_Comm comm, call_description const& call, call_shape const& shape,
                       std::size_t most = native_most) {
    native_operation const ended(comm, call, shape, native_operation::form::run, most);
    if (auto const failure = ended.failure()) std::rethrow_exception(failure);
}

} // namespace papcoll::inline v0::detail
