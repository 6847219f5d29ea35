// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <sstream>

namespace buddhabrot {

namespace {

constexpr int quick_frames = 4;
constexpr std::size_t quick_samples = 1'000'000;

void declare(CLI::App& app, options& o, bool& quick) {
    app.add_option("--width", o.width,
                   "Width of the picture in pixels; a frame has 15 times its square in bytes")
        ->check(CLI::Range(16, 4096))
        ->capture_default_str();
    auto* frames = app.add_option("--frames", o.frames, "Number of frames that the picture is the sum of")
                       ->check(CLI::Range(2, 100000))
                       ->capture_default_str();
    auto* samples = app.add_option("--samples", o.samples, "Orbits to trace per frame, all ranks together")
                        ->check(CLI::Range(1, 2'000'000'000))
                        ->capture_default_str();
    app.add_option("--max-iterations", o.max_iterations, "Length limit of orbits in the last frame")
        ->check(CLI::Range(100, 10'000'000))
        ->capture_default_str();
    app.add_option("--output", o.output, "Folder for the picture and the timeline")->capture_default_str();
    app.add_option("--seed", o.seed, "The same seed gives the same picture")->capture_default_str();
    app.add_flag("--automatic", o.automatic,
                 "Let papcoll choose how to sum, by its tables or as the environment says, and do not tell "
                 "it the arrivals");
    app.add_flag("--quick", quick, "Few frames and samples, to see that it works")
        ->excludes(frames)
        ->excludes(samples);
}

} // namespace

auto parse(int argc, char** argv, bool speaks, int& exit_code) -> std::optional<options> {
    options o;
    bool quick = false;
    CLI::App app(
        "Sums Buddhabrot images over all ranks, with MPI_Reduce and with papcoll, and compares the two");
    declare(app, o, quick);
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& stop) {
        std::ostringstream silence;
        exit_code = speaks ? app.exit(stop) : app.exit(stop, silence, silence);
        return {};
    }
    if (quick) {
        o.frames = quick_frames;
        o.samples = quick_samples;
    }
    return o;
}

} // namespace buddhabrot
