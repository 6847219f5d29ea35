// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/mpi_error.hpp>

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What may leave a protocol at any time, and then still has messages to take in.
class leaver {
public:
    leaver() = default;
    leaver(leaver const&) = delete;
    auto operator=(leaver const&) -> leaver& = delete;
    virtual ~leaver() = default;

    /// Leaves, without waiting for others; threads have ended then. May be called again.
    virtual void leave() noexcept = 0;
    /// Takes in what has come; true when nothing is under way any more.
    virtual auto settle() noexcept -> bool = 0;
};

/// Those who work over MPI, and those who have left but cannot go before their last messages have come: MPI
/// does not take a posted receive back. They are let go at the next opportunity, at the latest when MPI is
/// finalized. There all ranks leave what they have not left yet, so that the last messages do come.
class __attribute__((visibility("default"))) mpi_leavers {
public:
    static auto instance() -> mpi_leavers& {
        static auto& leavers = *new mpi_leavers; // MPI may be finalized after statics are destroyed
        return leavers;
    }

    void add(std::shared_ptr<leaver> const& l) {
        std::lock_guard const lock(m_mutex);
        sweep();
        m_live.push_back(l);
    }
    /// It has left and is kept as long as it must be.
    void remove(std::shared_ptr<leaver> const& l) {
        std::lock_guard const lock(m_mutex);
        std::erase(m_live, l);
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized != 0) return;
        m_left.push_back(l);
        sweep();
    }

private:
    mpi_leavers() {
        int key = MPI_KEYVAL_INVALID;
        mpi_check("MPI_Comm_create_keyval",
                  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_ends, &key, this));
        mpi_check("MPI_Comm_set_attr", MPI_Comm_set_attr(MPI_COMM_SELF, key, this));
    }

    static auto mpi_ends(MPI_Comm, int, void*, void* state) -> int {
        auto& self = *static_cast<mpi_leavers*>(state);
        std::lock_guard const lock(self.m_mutex);
        for (auto const& l : self.m_live) l->leave();
        self.m_left.insert(self.m_left.end(), self.m_live.begin(), self.m_live.end());
        self.m_live.clear();
        for (self.sweep(); !self.m_left.empty(); self.sweep()) std::this_thread::yield();
        return MPI_SUCCESS;
    }
    void sweep() {
        std::erase_if(m_left, [](auto const& l) { return l->settle(); });
    }

    std::mutex m_mutex;
    std::vector<std::shared_ptr<leaver>> m_live, m_left;
};

} // namespace papcoll::inline v0::detail
