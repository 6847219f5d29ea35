// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/schedule/problem.hpp>

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

/// papcoll's arrival monitor, with one of its predictors.
class watcher {
public:
    virtual ~watcher() = default;
    virtual void begin() = 0;
    virtual void progress(double fraction) = 0;
    virtual void end() = 0;
    /// Collective; empty where nothing is predicted.
    [[nodiscard]] virtual auto arrivals() -> std::vector<papcoll::ticks> = 0;
    /// The same, known later.
    [[nodiscard]] virtual auto ask() -> papcoll::arrival_source = 0;
};

/// `reports_alone`: it predicts from the reports of this repetition, not from others before. `patience` is
/// the monitor's.
[[nodiscard]] auto make_watcher(MPI_Comm comm, bool reports_alone, papcoll::ticks patience)
    -> std::unique_ptr<watcher>;

/// Integer work that no compiler removes; its time is all on the core.
class worker {
public:
    /// Measures how fast this rank is.
    void calibrate();
    void work(papcoll::ticks duration) {
        spin(static_cast<std::uint64_t>(m_steps_per_ns * static_cast<double>(duration.count())));
    }
    [[nodiscard]] auto steps_for(papcoll::ticks duration) const -> std::uint64_t {
        return static_cast<std::uint64_t>(m_steps_per_ns * static_cast<double>(duration.count()));
    }
    void spin(std::uint64_t steps);

private:
    volatile std::uint64_t m_state = 1;
    double m_steps_per_ns = 1;
};

} // namespace bench
