// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "watcher.hpp"

#include <papcoll/arrival/predictors/linear_extrapolation.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>

#include <algorithm>
#include <limits>

#include "../support/start_together.hpp"

namespace bench {
namespace {

template <class Predictor>
class watcher_by final : public watcher {
public:
    watcher_by(MPI_Comm comm, ticks patience)
        : m_monitor(comm, {.patience = patience,
                           .clock = [] { return shared_time::instance().clock().local_now(); }}) {}
    void begin() override { m_monitor.computation_begin(); }
    void progress(double fraction) override { m_monitor.progress(fraction); }
    void end() override { m_monitor.computation_end(); }
    [[nodiscard]] auto arrivals() -> std::vector<ticks> override {
        papcoll::arrival_source const known = m_monitor.arrivals();
        return known.given() ? std::vector<ticks>(known.times().begin(), known.times().end())
                             : std::vector<ticks>();
    }
    [[nodiscard]] auto ask() -> papcoll::arrival_source override { return m_monitor; }

private:
    papcoll::basic_arrival_monitor<papcoll::mpi_transport, Predictor> m_monitor;
};

} // namespace

auto make_watcher(MPI_Comm comm, bool reports_alone, ticks patience) -> std::unique_ptr<watcher> {
    (void)agree_on_start(comm); // from here on there is a clock
    if (reports_alone) return std::make_unique<watcher_by<papcoll::linear_extrapolation>>(comm, patience);
    return std::make_unique<watcher_by<papcoll::default_predictor>>(comm, patience);
}

void worker::calibrate() {
    constexpr std::uint64_t probe = 5'000'000;
    auto best = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < 5; ++i) {
        auto const begin = papcoll::steady_now();
        spin(probe);
        best = std::min(best, std::int64_t{(papcoll::steady_now() - begin).count()});
    }
    m_steps_per_ns = static_cast<double>(probe) / static_cast<double>(best);
}

void worker::spin(std::uint64_t steps) {
    auto x = m_state;
    for (std::uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
    m_state = x; // volatile: the work is not removed
}

} // namespace bench
