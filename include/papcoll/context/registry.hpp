// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/context/observer.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/transport/mpi.hpp>

#include <mpi.h>

#include <concepts>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Runs `op` to its end and throws what made it fail.
template <transport Transport>
void run_to_end(progress_engine& engine, std::shared_ptr<operation> const& op, Transport& t) {
    if (auto const failure = engine.run(op, [&] { t.idle(); })) std::rethrow_exception(failure);
}

/// Ends when all ranks of a user's communicator have begun it.
class mpi_barrier final : public operation {
public:
    explicit mpi_barrier(MPI_Comm comm) { mpi_check("MPI_Ibarrier", MPI_Ibarrier(comm, &m_request)); }

    auto advance(bool block) -> bool override {
        int done = 1;
        if (block)
            mpi_check("MPI_Wait", MPI_Wait(&m_request, MPI_STATUS_IGNORE));
        else
            mpi_check("MPI_Test", MPI_Test(&m_request, &done, MPI_STATUS_IGNORE));
        m_finished = done != 0;
        return m_finished;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }

private:
    MPI_Request m_request = MPI_REQUEST_NULL;
    bool m_finished = false;
};

/// The attributes by which papcoll finds its transport on a communicator, and the end of MPI. One for all
/// shared objects of a process, whatever visibility they are compiled with: what waits in one drives what
/// others began.
class __attribute__((visibility("default"))) mpi_registry {
public:
    static auto instance() -> mpi_registry& {
        static auto& registry = *new mpi_registry; // MPI may be finalized after statics are destroyed
        return registry;
    }

    /// The transport cached on `comm`, or null. Throws std::invalid_argument unless papcoll can work on it,
    /// and std::logic_error unless MPI runs.
    [[gnu::always_inline]] static auto find(MPI_Comm comm) -> mpi_transport* {
        auto const& last = last_found();
        if (comm == last.comm && last.transport != nullptr) return last.transport;
        return find_another(comm);
    }
    /// Waits for all ranks of `comm` while the engine drives. Collective calls of MPI that follow then wait
    /// for nobody who waits for an operation of papcoll's.
    void meet(MPI_Comm comm) {
        auto const all_here = std::make_shared<mpi_barrier>(mpi_transport::checked(comm));
        if (auto const failure = m_engine->run(all_here, [] { std::this_thread::yield(); }))
            std::rethrow_exception(failure);
    }
    /// Calls prepare(transport) for the transport of `comm`, made before where there is none, and keeps it
    /// unless that throws. Collective.
    template <class Prepare>
    void attach(MPI_Comm comm, Prepare prepare) {
        if (auto* const known = find(comm)) return prepare(*known);
        meet(comm);
        auto made = std::make_unique<mpi_transport>(comm);
        prepare(*made);
        std::lock_guard const lock(m_mutex);
        m_live.push_back(made.get());
        int const code = MPI_Comm_set_attr(comm, m_comm_key, made.get());
        if (code != MPI_SUCCESS) m_live.pop_back();
        mpi_check("MPI_Comm_set_attr", code);
        made.release(); // NOLINT(bugprone-unused-return-value): the attribute owns it
    }

    /// One for all communicators of the process: whoever waits for one operation progresses all.
    [[nodiscard]] auto engine() const -> std::shared_ptr<progress_engine> const& { return m_engine; }

private:
    mpi_registry()
        : m_engine((require_mpi(), std::make_shared<progress_engine>(is_concurrent()))) {
        mpi_check("MPI_Comm_create_keyval",
                  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_freed, &m_comm_key, this));
        mpi_check("MPI_Comm_create_keyval",
                  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_ends, &m_self_key, this));
        mpi_check("MPI_Comm_set_attr", MPI_Comm_set_attr(MPI_COMM_SELF, m_self_key, this));
    }

    struct found {
        MPI_Comm comm;
        mpi_transport* transport;
    };
    /// The communicator that was found last, without the object, whose making is guarded.
    static auto last_found() -> found& {
        constinit static found last{};
        return last;
    }
    [[gnu::noinline]] static auto find_another(MPI_Comm comm) -> mpi_transport* {
        require_mpi();
        return instance().find_in_mpi(comm);
    }
    /// MPI itself would end the program.
    static void require_mpi() {
        int begun = 0;
        int ended = 0;
        mpi_check("MPI_Initialized", MPI_Initialized(&begun));
        mpi_check("MPI_Finalized", MPI_Finalized(&ended));
        if (begun == 0)
            throw std::logic_error("papcoll: MPI is not initialised; make a boost::mpi::environment, or call "
                                   "MPI_Init, before the first collective");
        if (ended != 0)
            throw std::logic_error(
                "papcoll: MPI has been finalized; make all calls, and let plans and requests "
                "go, before that");
    }
    auto find_in_mpi(MPI_Comm comm) -> mpi_transport* {
        void* value = nullptr;
        int flag = 0;
        if (comm != MPI_COMM_NULL)
            mpi_check("MPI_Comm_get_attr", MPI_Comm_get_attr(comm, m_comm_key, &value, &flag));
        if (flag != 0) return remember(comm, static_cast<mpi_transport*>(value));
        mpi_transport::checked(comm);
        return nullptr;
    }
    static auto is_concurrent() -> bool {
        int provided = MPI_THREAD_SINGLE;
        mpi_check("MPI_Query_thread", MPI_Query_thread(&provided));
        return provided == MPI_THREAD_MULTIPLE;
    }
    /// Asked for again, it is found without MPI; not where several threads might ask.
    auto remember(MPI_Comm comm, mpi_transport* transport) -> mpi_transport* {
        if (!m_engine->concurrent()) last_found() = {comm, transport};
        return transport;
    }
    void forget_last() {
        if (!m_engine->concurrent()) last_found() = {};
    }
    static auto self(void* state) -> mpi_registry& { return *static_cast<mpi_registry*>(state); }

    auto take_live() -> mpi_transport* {
        std::lock_guard const lock(m_mutex);
        forget_last();
        if (m_live.empty()) return nullptr;
        auto* const last = m_live.back();
        m_live.pop_back();
        return last;
    }

    // Operations under way keep what they need of it, and so do calls that run by themselves. What ends with
    // an attachment may be a user's, who frees other communicators there: the lock is not held meanwhile.
    static auto comm_freed(MPI_Comm, int, void* value, void* state) -> int {
        std::unique_ptr<mpi_transport> const ended(static_cast<mpi_transport*>(value));
        {
            std::lock_guard const lock(self(state).m_mutex);
            std::erase(self(state).m_live, ended.get());
            self(state).forget_last();
        }
        if (auto* const attached = static_cast<context<mpi_transport>*>(ended->attachment().get()))
            attached->keep_for_call(*ended);
        ended->attachment().reset();
        return MPI_SUCCESS;
    }
    static auto mpi_ends(MPI_Comm, int, void*, void* state) -> int {
        auto& engine = *self(state).m_engine;
        engine.stop_background();
        if (engine.give_up_all(std::make_exception_ptr(
                std::logic_error("papcoll: MPI was finalized while the operation was "
                                 "under way; wait for its request before MPI_Finalize"))))
            std::fputs("papcoll: MPI_Finalize is called while requests are under way; wait for them before\n",
                       stderr);
        while (auto* const live = self(state).take_live()) {
            auto ended = *live; // whose communicator may be freed now, too
            ended.attachment().reset();
            ended.release();
        }
        return MPI_SUCCESS;
    }

    std::mutex m_mutex;
    std::shared_ptr<progress_engine> m_engine;
    int m_comm_key = MPI_KEYVAL_INVALID;
    int m_self_key = MPI_KEYVAL_INVALID;
    std::vector<mpi_transport*> m_live;
};

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

} // namespace papcoll::inline v0::detail
