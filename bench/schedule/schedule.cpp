// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "schedule.hpp"

#include <CLI/CLI.hpp>
#include <benchmark/benchmark.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "../support/program.hpp"

namespace bench {
namespace {

struct settings {
    bool table = false;
    table_1_settings table_1;
    std::vector<int> memory;
    std::vector<int> worst;
    CLI::App* app = nullptr;
};

auto run(settings const& s) -> int {
    if (s.table) print_table_1(s.table_1);
    if (!s.worst.empty()) print_worst_ranks(s.worst);
    if (!s.memory.empty()) print_memory(s.memory);
    if (s.table || !s.worst.empty() || !s.memory.empty()) return 0;
    check_trees();
    register_clairvoyant();
    auto words = s.app->remaining();
    words.insert(words.begin(), "papcoll-bench schedule");
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

} // namespace

void add_schedule(program& all) {
    auto const s = std::make_shared<settings>();
    auto& app =
        all.add("schedule",
                "How long schedules take to compute: Google Benchmark, whose --benchmark_… options it takes",
                without_mpi, [s] { return run(*s); });
    s->app = &app;
    app.allow_extras();
    add_flag(
        app, "--table", s->table,
        "the ratios of paper 1, Table 1, measured here, beside those published: 250 instances of every size "
        "to 512 take hours");
    add_option(app, "--instances", s->table_1.instances, "of the table, of each size", positive);
    add_option(app, "--largest", s->table_1.largest, "of the table: no more ranks than these", positive);
    add_option(app, "--keep", s->table_1.keep,
               "of the table: a file to which each measurement is added, and which a later run goes on from");
    add_option(app, "--memory", s->memory, "for these numbers of ranks and segments what each search holds",
               positive);
    add_option(app, "--worst", s->worst,
               "for these numbers of ranks the rank whose circulant schedule takes longest; such as "
               "576,1025,1152,16777216,16777215,11184811,2147483647",
               positive);
}

} // namespace bench
