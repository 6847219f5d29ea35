// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/progress_engine.hpp>
#include <papcoll/transport/mpi_error.hpp>

#include <mpi.h>

#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Base of the operations that are requests of the MPI library: it drives all of them together.
class native_operation : public operation {
public:
    auto advance(bool block) -> bool final {
        if (m_finished) return false;
        int done = 1;
        auto const count = static_cast<int>(m_requests.size());
        if (block)
            mpi_check("MPI_Waitall", MPI_Waitall(count, m_requests.data(), MPI_STATUSES_IGNORE));
        else
            mpi_check("MPI_Testall", MPI_Testall(count, m_requests.data(), &done, MPI_STATUSES_IGNORE));
        if (done == 0) return false;
        complete();
        m_finished = true;
        return true;
    }
    [[nodiscard]] auto finished() const -> bool final { return m_finished; }
    auto abandon() noexcept -> bool final { return true; }

protected:
    /// post(request) begins one operation of the MPI library, by `routine`.
    template <class Post>
    void post(char const* routine, Post post) {
        m_requests.push_back(MPI_REQUEST_NULL);
        mpi_check(routine, post(&m_requests.back()));
    }

private:
    /// What is left to do once the MPI library has ended.
    virtual void complete() {}

    std::vector<MPI_Request> m_requests;
    bool m_finished = false;
};

[[nodiscard]] inline auto native_rank(MPI_Comm comm) -> int {
    int rank = 0;
    mpi_check("MPI_Comm_rank", MPI_Comm_rank(comm, &rank));
    return rank;
}
[[nodiscard]] inline auto native_size(MPI_Comm comm) -> int {
    int size = 1;
    mpi_check("MPI_Comm_size", MPI_Comm_size(comm, &size));
    return size;
}

/// The buffer that MPI is given for the input: MPI_IN_PLACE says that it lies where the result goes.
[[nodiscard]] inline auto native_input(bool in_place, void const* in) -> void const* {
    return in_place ? MPI_IN_PLACE : in;
}

} // namespace detail

} // namespace papcoll::inline v0
