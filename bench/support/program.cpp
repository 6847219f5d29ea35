// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#undef exit // as in options.cpp
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

auto in_mpi() -> bool {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun != 0 && ended == 0;
}

} // namespace

program::program()
    : m_app(std::make_unique<CLI::App>("Measures papcoll, beside the MPI library that it runs on",
                                       "papcoll-bench")) {
    m_app->require_subcommand(1);
}
program::~program() = default;

auto program::add(std::string const& name, std::string const& description, std::function<int()> level,
                  std::function<int()> run) -> CLI::App& {
    auto* const app = m_app->add_subcommand(name, description);
    m_commands.push_back({app, std::move(level), std::move(run)});
    return *app;
}
auto program::add_group(std::string const& name, std::string const& description) -> CLI::App& {
    auto* const app = m_app->add_subcommand(name, description);
    app->require_subcommand(1);
    return *app;
}
auto program::add_to(CLI::App& group, std::string const& name, std::string const& description,
                     std::function<int()> run) -> CLI::App& {
    auto* const app = group.add_subcommand(name, description);
    m_commands.push_back({app, [] { return without_mpi; }, std::move(run)});
    return *app;
}

auto program::chosen() const -> command const* {
    for (auto const& each : m_commands)
        if (each.app->parsed()) return &each;
    return nullptr;
}

auto program::main(int argc, char** argv) -> int {
    try {
        m_app->parse(argc, argv);
    } catch (CLI::ParseError const& error) { // help, and what is wrong with the options, from one rank alone
        bool wants_mpi = false;
        for (auto const& each : m_commands)
            wants_mpi =
                wants_mpi || (argc > 1 && each.app->get_name() == argv[1] && each.level() != without_mpi);
        if (!wants_mpi) return m_app->exit(error);
        MPI_Init(&argc, &argv);
        int const code = world_rank() == 0 ? m_app->exit(error) : error.get_exit_code();
        MPI_Finalize();
        return code;
    }
    auto const& wanted = *chosen();
    int const level = wanted.level();
    int provided = 0;
    if (level != without_mpi) MPI_Init_thread(&argc, &argv, level, &provided);
    int code = 1;
    try {
        code = wanted.run();
    } catch (std::exception const& error) {
        std::fprintf(stderr, "papcoll-bench %s: rank %d: %s\n", wanted.app->get_name().c_str(), world_rank(),
                     error.what());
        if (level != without_mpi) MPI_Abort(MPI_COMM_WORLD, 1); // others may be inside an operation
    }
    if (level != without_mpi) MPI_Finalize();
    return code;
}

auto world_rank() -> int {
    int rank = 0;
    if (in_mpi()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
auto world_size() -> int {
    int ranks = 1;
    if (in_mpi()) MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}
auto largest(double value) -> double {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}
auto resident_kib() -> long {
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}
auto library_version() -> std::string {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string const version(text, static_cast<std::size_t>(length));
    return version.substr(0, version.find_first_of(",\n"));
}

void show_progress(std::size_t done, std::size_t all, std::string const& what) {
    static bool const shown = world_rank() == 0 && isatty(STDERR_FILENO) != 0;
    if (!shown) return;
    if (done == all)
        std::fprintf(stderr, "\r\033[K");
    else
        std::fprintf(stderr, "\r\033[K%zu of %zu: %s", done + 1, all, what.c_str());
    std::fflush(stderr);
}

} // namespace bench
