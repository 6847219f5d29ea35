// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include <papcoll/analysis/draw.hpp>
#include <papcoll/analysis/metrics.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

namespace buddhabrot {

namespace {

using papcoll::ticks;

/// Arrivals and exits of all ranks, as the metrics want them.
struct arrivals_and_exits {
    std::vector<ticks> arrivals;
    std::vector<ticks> exits;

    explicit arrivals_and_exits(run_timing const& run) {
        for (auto const& rank : run) {
            arrivals.push_back(rank.arrived);
            exits.push_back(rank.left);
        }
    }
};

struct figures {
    double frame; // all in milliseconds
    double spread;
    double last_delay;
    double mean_elapsed;
};

auto milliseconds(ticks time) -> double { return std::chrono::duration<double, std::milli>(time).count(); }

auto figures_of(run_timing const& run) -> figures {
    arrivals_and_exits const times(run);
    auto const started = std::min_element(run.begin(), run.end(), [](auto const& a, auto const& b) {
                             return a.started < b.started;
                         })->started;
    return {milliseconds(*std::max_element(times.exits.begin(), times.exits.end()) - started),
            milliseconds(papcoll::imbalance(times.arrivals)),
            milliseconds(papcoll::last_delay(times.arrivals, times.exits)),
            milliseconds(papcoll::mean_elapsed(times.arrivals, times.exits))};
}

auto median(std::vector<double> values) -> double {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

auto in_milliseconds(std::vector<ticks> const& times) -> std::vector<double> {
    std::vector<double> values(times.size());
    std::transform(times.begin(), times.end(), values.begin(), milliseconds);
    return values;
}

auto median_figures(std::vector<frame_timing> const& frames, method which) -> figures {
    auto const median_of = [&](double figures::*member) {
        std::vector<double> values;
        for (std::size_t i = 1; i < frames.size(); ++i)
            values.push_back(figures_of(frames[i][which]).*member);
        return median(values);
    };
    return {median_of(&figures::frame), median_of(&figures::spread), median_of(&figures::last_delay),
            median_of(&figures::mean_elapsed)};
}

void print_figures(std::string const& label, figures const& native, figures const& ours) {
    std::printf("%8s | %10.1f %10.1f | %10.1f %10.1f | %10.1f %10.1f\n", label.c_str(), native.spread,
                ours.spread, native.last_delay, ours.last_delay, native.mean_elapsed, ours.mean_elapsed);
    std::fflush(stdout);
}

/// The frame whose last delay with papcoll is the (upper) median.
auto typical_frame(std::vector<frame_timing> const& frames) -> std::size_t {
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i < frames.size(); ++i) order.push_back(i);
    auto const delay = [&](std::size_t i) { return figures_of(frames[i][by_papcoll]).last_delay; };
    auto const middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
    std::nth_element(order.begin(), middle, order.end(),
                     [&](std::size_t a, std::size_t b) { return delay(a) < delay(b); });
    return *middle;
}

} // namespace

void show_progress(std::size_t done, std::size_t of) {
    constexpr std::size_t cells = 30;
    auto const filled = cells * done / of;
    std::fprintf(stderr, "\r[%s%s] %zu of %zu sums\033[K\r", std::string(filled, '#').c_str(),
                 std::string(cells - filled, '.').c_str(), done, of);
}

void print_header(int ranks, std::size_t bytes) {
    std::printf("Summing images of %.1f MiB from %d ranks. Times in milliseconds.\n\n",
                static_cast<double>(bytes) / 0x1p20, ranks);
    std::printf("%8s | %21s | %21s | %21s\n", "", "arrival spread", "last delay", "mean elapsed time");
    std::printf("%8s | %10s %10s | %10s %10s | %10s %10s\n", "frame", "MPI_Reduce", "papcoll", "MPI_Reduce",
                "papcoll", "MPI_Reduce", "papcoll");
}

void print_row(std::size_t frame, frame_timing const& timing) {
    print_figures(std::to_string(frame + 1) + (frame == 0 ? "*" : ""), figures_of(timing[mpi_reduce]),
                  figures_of(timing[by_papcoll]));
}

void print_summary(std::vector<frame_timing> const& frames, std::vector<ticks> const& errors, bool told) {
    auto const native = median_figures(frames, mpi_reduce);
    auto const ours = median_figures(frames, by_papcoll);
    print_figures("median", native, ours);
    std::printf("%8s | %21s | %20.2fx | %20.2fx\n", "gain", "", native.last_delay / ours.last_delay,
                native.mean_elapsed / ours.mean_elapsed);
    std::printf(
        "\n* Nothing is known yet about who arrives when; left out of the medians.\n"
        "Last delay: from the last arrival to the last exit, what the sum costs once nobody is missing.\n"
        "Mean elapsed time: how long a rank spends in the sum, waiting for others included.\n"
        "A frame took %.1f ms with MPI_Reduce and %.1f ms with papcoll, computing included.\n",
        native.frame, ours.frame);
    if (told)
        std::printf(
            "papcoll was told arrivals predicted from earlier frames, wrong by %.1f ms (median of means).\n",
            median(in_milliseconds(errors)));
}

void write_timeline(std::filesystem::path const& file, std::vector<frame_timing> const& frames) {
    auto const typical = typical_frame(frames);
    arrivals_and_exits const native(frames[typical][mpi_reduce]);
    arrivals_and_exits const ours(frames[typical][by_papcoll]);
    std::array<papcoll::timeline_group, 2> const groups{
        {{"MPI_Reduce", native.arrivals, native.exits}, {"papcoll", ours.arrivals, ours.exits}}};
    std::ofstream svg(file);
    svg << papcoll::draw_timeline(groups, "Buddhabrot, frame " + std::to_string(typical + 1));
    if (!svg.flush()) throw std::runtime_error("cannot write " + file.string());
}

} // namespace buddhabrot
