// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../support/options.hpp"

namespace bench {

/// Where ranks meet between calls that are timed: by nonblocking routines on a communicator of its own, so
/// that neither a library's blocking ones nor what it keeps of the communicator are at hand for the next
/// call, and the other's are not.
class meeting_point {
public:
    explicit meeting_point(MPI_Comm comm) { MPI_Comm_dup(comm, &m_comm); }
    meeting_point(meeting_point const&) = delete;
    auto operator=(meeting_point const&) -> meeting_point& = delete;
    ~meeting_point() { MPI_Comm_free(&m_comm); }

    void meet();
    [[nodiscard]] auto largest(double value) -> double;

private:
    MPI_Comm m_comm = MPI_COMM_NULL;
};

/// The buffers of one size on the ranks of a communicator: `n` elements, of which each rank has `part` where
/// they are divided.
struct buffers {
    buffers(MPI_Comm comm, std::size_t bytes);

    MPI_Comm comm;
    std::shared_ptr<meeting_point> between;
    std::size_t n, part;
    std::vector<float> in, out;
    std::vector<std::size_t> sizes;
    std::vector<int> counts;
    /// Of the program: read and written before each call that is timed, where there is any.
    std::vector<char> others = {};
};

/// One collective as a user calls it, by default: of the MPI library, and of papcoll.
struct collective {
    std::string name;
    std::function<void(buffers&)> mpi, papcoll;
    /// The same by plans, made for these buffers and used with buffers of that size alone: on the user's
    /// buffers, and on buffers of the plan's own.
    std::function<std::function<void(buffers&)>(buffers&)> plan, buffered_plan;
};
[[nodiscard]] auto all_collectives() -> std::vector<collective>;
/// The same of Boost.MPI, with a string on each rank, of as many bytes as the elements of the buffers; there
/// are no plans.
[[nodiscard]] auto all_collectives_of_strings() -> std::vector<collective>;

/// The options of subcommands that time collectives of many sizes.
struct call_settings {
    std::vector<std::size_t> sizes;
    effort repeat;
    int calls = 1;
    std::vector<std::string> operations = {};
    std::string json = {};

    /// Adds --sizes, --operations, those of `repeat`, and --json.
    void add_to(CLI::App& app);
    void add_calls(CLI::App& app);
    [[nodiscard]] auto wants(std::string_view operation) const -> bool;
};

/// Microseconds of one call of `calls` in a row, of the slowest rank; from rest, where all leave two meetings
/// together, or at a time that they agree on before each goes through b.others.
[[nodiscard]] auto time_of(std::function<void(buffers&)> const& call, buffers& b, int calls) -> double;

/// What rank 0 of `comm` says, on all of its ranks.
[[nodiscard]] auto agreed(MPI_Comm comm, bool of_rank_0) -> bool;

/// A call that takes turns with others, and what it took.
struct contestant {
    std::function<void(buffers&)> call;
    std::vector<double> times = {}; ///< microseconds
};

/// All take turns, each time another one first, as often as `s` says. `is_narrow` is asked now and then,
/// since it sorts. `after` is told how many rounds were made, and may drop contestants, the same on all
/// ranks.
void take_turns(buffers& b, std::vector<contestant*> all, call_settings const& s,
                std::function<bool(std::vector<contestant*> const&)> const& is_narrow,
                std::function<void(int rounds, std::vector<contestant*>&)> const& after = {});

} // namespace bench
