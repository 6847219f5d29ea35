// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench pattern: a file of arrivals, in the form that papcoll::read_arrivals and `run --arrivals`
// read.
#include <papcoll/arrival/pattern_file.hpp>
#include <papcoll/arrival/patterns.hpp>

#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/program.hpp"

namespace bench {
namespace {

struct pattern_settings {
    int ranks = 8;
    std::string shape = "random", output;
    double magnitude_ms = 1;
    std::uint64_t seed = 1;
    bool plain = false;
};

/// A line for each rank and nothing else, for programs that are not papcoll's.
void write_plain(std::ostream& out, std::vector<papcoll::ticks> const& arrivals) {
    for (auto const arrival : arrivals) out << arrival.count() << '\n';
}

void write_plain(std::string const& file, std::vector<papcoll::ticks> const& arrivals) {
    std::ofstream out(file);
    write_plain(out, arrivals);
    out.close();
    if (!out) throw std::runtime_error(file + ": cannot be written");
}

auto run_pattern(pattern_settings const& s) -> int {
    auto const shape = papcoll::arrival_shape_of(s.shape);
    if (!shape) throw std::invalid_argument("no shape " + s.shape);
    papcoll::ticks const magnitude{std::llround(s.magnitude_ms * 1e6)};
    auto const arrivals = papcoll::arrival_pattern(*shape, s.ranks, magnitude, s.seed);
    if (s.plain && s.output.empty())
        write_plain(std::cout, arrivals);
    else if (s.plain)
        write_plain(s.output, arrivals);
    else if (s.output.empty())
        papcoll::write_arrivals(std::cout, arrivals);
    else
        papcoll::write_arrivals(s.output, arrivals);
    return 0;
}

} // namespace

void add_pattern(program& all) {
    auto const s = std::make_shared<pattern_settings>();
    std::string shapes;
    for (auto const shape : papcoll::all_arrival_shapes())
        shapes += (shapes.empty() ? "" : ", ") + std::string(to_string(shape));
    auto& app = all.add("pattern", "Writes a file of arrivals, for run --arrivals and for programs",
                        without_mpi, [s] { return run_pattern(*s); });
    add_option(app, "--ranks", s->ranks, "", between(1, 100'000'000));
    add_option(app, "--shape", s->shape, shapes);
    add_option(app, "--magnitude", s->magnitude_ms, "of the latest arrival, in ms", between(0, 1e9));
    add_seed(app, s->seed);
    add_flag(app, "--plain", s->plain,
             "one line per rank, in nanoseconds, without the head that papcoll reads");
    add_option(app, "-o,--output", s->output, "default: standard output");
}

} // namespace bench
