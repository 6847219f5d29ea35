// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "options.hpp"

namespace bench {

inline constexpr int without_mpi = -1;

/// papcoll-bench: its subcommands, one parser, one start and end of MPI.
class program {
public:
    program();
    ~program();

    /// A subcommand, whose options are to be added. `level` is the thread level that it wants of MPI, asked
    /// for when the options are known; `run` returns the exit status, and throws for what stops all ranks.
    auto add(std::string const& name, std::string const& description, std::function<int()> level,
             std::function<int()> run) -> CLI::App&;
    auto add(std::string const& name, std::string const& description, int level, std::function<int()> run)
        -> CLI::App& {
        return add(
            name, description, [level] { return level; }, std::move(run));
    }
    /// A subcommand that has subcommands of its own, which need no MPI.
    auto add_group(std::string const& name, std::string const& description) -> CLI::App&;
    auto add_to(CLI::App& group, std::string const& name, std::string const& description,
                std::function<int()> run) -> CLI::App&;

    auto main(int argc, char** argv) -> int;

private:
    struct command {
        CLI::App* app;
        std::function<int()> level, run;
    };
    [[nodiscard]] auto chosen() const -> command const*;

    std::unique_ptr<CLI::App> m_app;
    std::list<command> m_commands;
};

/// Of MPI_COMM_WORLD; 0 and 1 where MPI is not in use.
[[nodiscard]] auto world_rank() -> int;
[[nodiscard]] auto world_size() -> int;
/// The largest over all ranks: of times that of the slowest one.
[[nodiscard]] auto largest(double value) -> double;
/// Kibibytes of this process that are in memory.
[[nodiscard]] auto resident_kib() -> long;
/// The MPI library's name and version.
[[nodiscard]] auto library_version() -> std::string;
/// How far a long measurement has come: a line on rank 0's standard error, where that is a terminal.
void show_progress(std::size_t done, std::size_t all, std::string const& what);

void add_run(program& all);
void add_beside(program& all);
void add_choice(program& all);
void add_overlap(program& all);
void add_guidelines(program& all);
void add_learning(program& all);
void add_attach(program& all);
void add_clock(program& all);
void add_monitor(program& all);
void add_pattern(program& all);
void add_model(program& all);
void add_schedule(program& all);

} // namespace bench
