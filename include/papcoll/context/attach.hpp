// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/transport/mpi.hpp>

#include <mpi.h>

#include <cmath>
#include <concepts>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The attributes by which papcoll finds its transport on a communicator, and the end of MPI.
class mpi_registry {
public:
    static auto instance() -> mpi_registry& {
        static auto& registry = *new mpi_registry; // MPI may be finalized after statics are destroyed
        return registry;
    }

    /// The transport cached on `comm`, or null.
    auto find(MPI_Comm comm) -> mpi_transport* {
        if (comm == MPI_COMM_NULL) return nullptr;
        void* found = nullptr;
        int flag = 0;
        mpi_check("MPI_Comm_get_attr", MPI_Comm_get_attr(comm, m_comm_key, &found, &flag));
        return flag != 0 ? static_cast<mpi_transport*>(found) : nullptr;
    }
    /// The transport cached on `comm`; made, collectively but locally, by the first call.
    auto transport_of(MPI_Comm comm) -> mpi_transport& {
        if (auto* const known = find(comm)) return *known;
        std::lock_guard const lock(m_mutex);
        auto made = std::make_unique<mpi_transport>(comm);
        mpi_check("MPI_Comm_set_attr", MPI_Comm_set_attr(comm, m_comm_key, made.get()));
        m_live.push_back(made.get());
        return *made.release();
    }

    /// One for all communicators of the process: whoever waits for one operation progresses all.
    [[nodiscard]] auto engine() const -> std::shared_ptr<progress_engine> const& { return m_engine; }

private:
    mpi_registry()
        : m_engine(std::make_shared<progress_engine>(is_concurrent())) {
        mpi_check("MPI_Comm_create_keyval",
                  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_freed, &m_comm_key, this));
        mpi_check("MPI_Comm_create_keyval",
                  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_ends, &m_self_key, this));
        mpi_check("MPI_Comm_set_attr", MPI_Comm_set_attr(MPI_COMM_SELF, m_self_key, this));
    }

    static auto is_concurrent() -> bool {
        int provided = MPI_THREAD_SINGLE;
        mpi_check("MPI_Query_thread", MPI_Query_thread(&provided));
        return provided == MPI_THREAD_MULTIPLE;
    }
    static auto self(void* state) -> mpi_registry& { return *static_cast<mpi_registry*>(state); }

    static auto comm_freed(MPI_Comm, int, void* value, void* state) -> int {
        std::unique_ptr<mpi_transport> const ended(static_cast<mpi_transport*>(value));
        // The duplication may need the communicator to its end; all ranks free it, so all progress.
        try {
            while (!ended->ready()) ended->idle();
        } catch (mpi_error const& e) {
            return e.error_class();
        }
        std::lock_guard const lock(self(state).m_mutex);
        std::erase(self(state).m_live, ended.get());
        ended->attachment().reset();
        return MPI_SUCCESS;
    }
    static auto mpi_ends(MPI_Comm, int, void*, void* state) -> int {
        self(state).m_engine->stop_background();
        std::lock_guard const lock(self(state).m_mutex);
        for (auto* transport : self(state).m_live) {
            transport->attachment().reset();
            transport->release();
        }
        return MPI_SUCCESS;
    }

    std::mutex m_mutex;
    std::shared_ptr<progress_engine> m_engine;
    int m_comm_key = MPI_KEYVAL_INVALID;
    int m_self_key = MPI_KEYVAL_INVALID;
    std::vector<mpi_transport*> m_live;
};

} // namespace detail

/// What a collective may be called on: a transport, an MPI_Comm, or anything that converts to one, such as a
/// boost::mpi::communicator.
template <class Comm>
concept communicator = transport<std::remove_cvref_t<Comm>> || std::convertible_to<Comm, MPI_Comm>;

/// The transport behind `comm`.
template <communicator Comm>
auto transport_of(Comm&& comm) -> auto& {
    if constexpr (transport<std::remove_cvref_t<Comm>>)
        return comm;
    else
        return detail::mpi_registry::instance().transport_of(static_cast<MPI_Comm>(comm));
}

namespace detail {

template <transport Transport>
[[nodiscard]] auto engine_of(Transport const& t) -> std::shared_ptr<progress_engine> {
    if constexpr (std::derived_from<Transport, mpi_transport>)
        return mpi_registry::instance().engine();
    else
        return std::make_shared<progress_engine>(t.concurrent());
}

/// A tracer in the process sees what papcoll does.
template <transport Transport>
[[nodiscard]] auto first_observer(Transport const& t) -> observer {
    if constexpr (std::derived_from<Transport, mpi_transport>)
        return tracer_observer(t.user_handle());
    else
        return {};
}

/// The context kept in the transport's attachment. It must not own its transport, which owns it; so what is
/// returned keeps both alive.
template <transport Transport>
[[nodiscard]] auto context_in(Transport& t) -> std::shared_ptr<context<Transport>> {
    struct pair {
        Transport owner;
        std::shared_ptr<void> attached;
    };
    auto& slot = t.attachment();
    if (!slot) {
        auto made = std::make_shared<context<Transport>>(t.borrowed(), engine_of(t));
        made->observed_by() = first_observer(t);
        slot = std::move(made);
    }
    auto* const found = static_cast<context<Transport>*>(slot.get());
    auto both = std::make_shared<pair>(pair{t, slot});
    return std::shared_ptr<context<Transport>>(std::move(both), found);
}

} // namespace detail

/// The context of `comm`, made by the first call on it. Ranks make it in the same order among their
/// collective calls on `comm`.
template <communicator Comm>
auto context_of(Comm&& comm) {
    auto& transport = transport_of(comm);
    return detail::context_in(transport);
}

namespace detail {

template <transport Transport>
class attach_operation final : public operation {
public:
    explicit attach_operation(std::shared_ptr<context<Transport>> c)
        : m_context(std::move(c)) {}
    auto advance(bool block) -> bool override { return m_done = m_context->prepare(block); }
    [[nodiscard]] auto finished() const -> bool override { return m_done; }

private:
    std::shared_ptr<context<Transport>> m_context;
    bool m_done = false;
};

} // namespace detail

/// Attaches papcoll to `comm`: collective, waits for all ranks. Without it the first operation on `comm`
/// attaches with default options, as the first state of its request. May be called again with other options
/// while no operation is under way on `comm`.
///
/// Throws std::invalid_argument for a null communicator, an intercommunicator, or a link of negative cost.
template <communicator Comm>
void attach(Comm&& comm, attach_options const& options = {}) {
    if (options.link && (options.link->latency < ticks{0} || !(options.link->per_byte >= 0) ||
                         std::isinf(options.link->per_byte)))
        throw std::invalid_argument("papcoll: options.link must have finite costs that are not negative");
    auto const c = context_of(comm);
    using transport_type = std::remove_cvref_t<decltype(c->transport_layer())>;
    c->configure(options);
    auto const op = std::make_shared<detail::attach_operation<transport_type>>(c);
    if (auto const failure = c->engine()->run(op, [&] { c->transport_layer().idle(); }))
        std::rethrow_exception(failure);
}

/// From now on `told` is called on this rank after each of papcoll's operations on `comm`, in place of whom
/// it was before: a tracer, if one is loaded. Calls with `native` are MPI's and not reported. Local once
/// papcoll is attached to `comm`; before, it begins to attach, so that all ranks must call it, in the same
/// order among their collective calls on `comm`. Must not be called while an operation is under way on
/// `comm`.
///
///     papcoll::observe(world, [](papcoll::collective_record const& seen) {
///         std::cerr << seen.operation << ' ' << (seen.exit - seen.entry).count() << " ns\n";
///     });
template <communicator Comm>
void observe(Comm&& comm, observer const& told) {
    context_of(comm)->observed_by() = told;
}

} // namespace papcoll::inline v0
