// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/context/registry.hpp>
#include <papcoll/transport/communicator.hpp>
#include <papcoll/transport/mpi.hpp>

#include <mpi.h>

#include <concepts>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0 {

namespace detail {

/// The transport behind `comm`; null where papcoll is not attached to an MPI communicator.
template <communicator Comm>
[[nodiscard, gnu::always_inline]] inline auto find_transport(Comm&& comm) {
    if constexpr (transport<std::remove_cvref_t<Comm>>)
        return &comm;
    else
        return mpi_registry::find(static_cast<MPI_Comm>(comm));
}
template <class Comm>
using transport_type = std::remove_cvref_t<decltype(*find_transport(std::declval<Comm&>()))>;

/// The context in the transport's attachment; null where there is none. It must not own its transport, which
/// owns it; so what is returned keeps both alive.
template <transport Transport>
[[nodiscard]] auto context_in(Transport& t) -> std::shared_ptr<context<Transport>> {
    struct pair {
        Transport owner;
        std::shared_ptr<void> attached;
    };
    auto const& slot = t.attachment();
    if (!slot) return nullptr;
    auto both = std::make_shared<pair>(pair{t, slot});
    auto* const found = static_cast<context<Transport>*>(slot.get());
    return {std::move(both), found};
}

/// The same where the caller keeps the transport.
template <transport Transport>
[[nodiscard]] auto raw_context_in(Transport& t) -> context<Transport>* {
    return static_cast<context<Transport>*>(t.attachment().get());
}

/// The engine that drives the operations of this rank.
template <transport Transport>
[[nodiscard]] auto engine_in(Transport& t) -> std::shared_ptr<progress_engine> {
    auto const known = context_in(t);
    return known ? known->engine() : engine_of(t);
}

/// The context of `comm`; null where papcoll is not attached.
template <communicator Comm>
[[nodiscard]] auto find_context(Comm&& comm) -> std::shared_ptr<context<transport_type<Comm>>> {
    auto* const transport = find_transport(comm);
    return transport != nullptr ? context_in(*transport) : nullptr;
}

/// Lets the ranks agree and keeps the result in the transport's attachment, or leaves that as it was.
template <transport Transport>
void attach_transport(Transport& t, attach_options const& options);

} // namespace detail

/// Attaches papcoll to `comm`, after which any operation can be called on it: collective, waits for all ranks
/// while papcoll's other operations progress. A *blocking* collective or `observe` attaches by itself, with
/// default options, where it is the first; `i…`, `plan_…` and `open_…` calls throw std::logic_error on a
/// communicator that is not attached. May be called again with other options while no operation is under way
/// on `comm`.
///
/// papcoll sends on a duplicate that it makes here, one per communicator and without the attributes of the
/// original. It goes when the communicator is freed, or with MPI. While attach runs the program must not call
/// MPI on `comm` in another thread; afterwards papcoll uses `comm` itself for nothing but what the policy
/// `native` asks for.
///
/// Cost: two collective calls of the MPI library, a ping between pairs of ranks and 3 ⌈log2 P⌉ small
/// messages; `papcoll-bench attach` measures it.
///
/// Throws std::invalid_argument for a null communicator or an intercommunicator, and on all ranks where one
/// of them has wrong options or they disagree on the environment; `comm` is then not attached.
template <communicator Comm>
void attach(Comm&& comm, attach_options const& options = {}) {
    if constexpr (transport<std::remove_cvref_t<Comm>>)
        detail::attach_transport(comm, options);
    else
        detail::mpi_registry::instance().attach(
            static_cast<MPI_Comm>(comm), [&](mpi_transport& t) { detail::attach_transport(t, options); });
}

namespace detail {

/// The context of `comm`, attached to where it was not.
template <communicator Comm>
[[nodiscard]] auto attached_context(Comm&& comm) {
    auto found = find_context(comm);
    if (found) return found;
    attach(comm);
    return find_context(comm);
}
/// The transport of `comm`, which papcoll attaches to where it must.
template <communicator Comm>
[[nodiscard]] auto usable_transport(Comm&& comm) -> auto& {
    if constexpr (!transport<std::remove_cvref_t<Comm>>) (void)attached_context(comm);
    return *find_transport(comm);
}

} // namespace detail

/// The context of `comm`. Throws std::logic_error where papcoll is not attached to it.
template <communicator Comm>
[[nodiscard]] auto context_of(Comm&& comm) {
    auto found = detail::find_context(comm);
    if (!found)
        throw std::logic_error(
            "papcoll: papcoll is not attached to the communicator. Blocking collectives attach "
            "to it by themselves; before i…, plan_… and open_… calls, and before context_of, "
            "call papcoll::attach(comm) on all its ranks");
    return found;
}

/// Lets all operations of this process that are under way progress, without blocking; true when anything was
/// done. A program that was not initialised with MPI_THREAD_MULTIPLE calls it now and then where it computes
/// for long, or waits by other means than papcoll's, while requests are under way; otherwise a thread of
/// papcoll's does. See request.
inline auto progress() -> bool { return detail::mpi_registry::instance().engine()->progress(); }

/// From now on `told` is called on this rank after each of papcoll's operations on `comm`, in place of whom
/// it was before: a tracer, if one is loaded. Calls with `native` are MPI's and not reported. Local once
/// papcoll is attached to `comm`; before, it attaches, collectively. Must not be called while an operation is
/// under way on `comm`. It adds two readings of the clock, a record and a copy of `told` to a call.
///
///     papcoll::observe(world, [](papcoll::collective_record const& seen) {
///         std::cerr << seen.operation << ' ' << (seen.exit - seen.entry).count() << " ns\n";
///     });
template <communicator Comm>
void observe(Comm&& comm, observer const& told) {
    detail::attached_context(comm)->observed_by() = told;
}

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/context/impl/attach.hpp>
#endif
