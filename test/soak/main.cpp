// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Makes as many random calls of all collectives as it is asked for, several of them under way together, and
// compares every result with what this rank computes alone. See CONTRIBUTING.md.
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "drawing.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "places.hpp"
#include "runner.hpp"
#include "watchdog.hpp"

namespace soak {
namespace {

/// Of one rank at 10 %, 50 % and 100 % of the calls.
class memory_record {
public:
    explicit memory_record(options const& o)
        : m_marks{o.from + (o.calls - o.from) / 10, o.from + (o.calls - o.from) / 2, o.calls} {}

    void look(std::uint64_t calls_made) {
        while (m_next < m_marks.size() && calls_made >= m_marks[m_next]) m_resident[m_next++] = resident();
    }
    [[nodiscard]] auto values() const -> std::array<double, 3> const& { return m_resident; }
    [[nodiscard]] auto growth() const -> double {
        return std::max(m_resident[1], m_resident[2]) - m_resident[0];
    }

private:
    std::array<std::uint64_t, 3> m_marks;
    std::array<double, 3> m_resident{};
    std::size_t m_next = 0;
};

template <std::size_t N>
auto largest(std::array<double, N> mine) -> std::array<double, N> {
    std::array<double, N> result{};
    MPI_Allreduce(mine.data(), result.data(), static_cast<int>(N), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
}

void make_calls(options const& o, int rank, int ranks, watchdog& w, memory_record& memory,
                std::uint64_t& compared) {
    drawing draws(o, ranks);
    places all;
    runner makes(o, rank, all, w);
    auto living = draws.communicators();
    auto b = draws.next();
    while (b.first + b.calls <= o.from) {
        living = draws.communicators();
        b = draws.next();
    }
    w.enter("restoring communicators");
    all.restore(living);
    for (; b.first < o.calls; b = draws.next()) {
        makes.run(b);
        memory.look(b.first + b.calls);
    }
    w.enter("ending");
    compared = makes.compared();
}

/// What the ranks would do.
void print_calls(options const& o, int ranks) {
    drawing draws(o, ranks);
    for (auto b = draws.next(); b.first < o.calls; b = draws.next()) {
        if (b.first + b.calls <= o.from) continue;
        std::puts("-- a batch");
        for (auto const& e : b.events) std::puts(words(e).c_str());
    }
}

auto run(options const& o) -> int {
    boost::mpi::communicator const world;
    if (o.list) {
        if (world.rank() == 0) print_calls(o, world.size());
        return EXIT_SUCCESS;
    }
    watchdog w(o, world.rank(), world.size());
    memory_record memory(o);
    std::uint64_t compared = 0;
    auto const start = std::chrono::steady_clock::now();
    make_calls(o, world.rank(), world.size(), w, memory, compared);
    std::chrono::duration<double> const time = std::chrono::steady_clock::now() - start;

    w.enter("telling the memory");
    auto const used = largest(memory.values());
    auto const growth = largest(std::array{memory.growth()})[0];
    bool const grows = o.memory_bound > 0 && can_tell_growth() && growth > o.memory_bound;
    if (world.rank() == 0) {
        auto const calls = static_cast<double>(o.calls - std::min(o.from, o.calls));
        std::printf(
            "soak: seed %llu, %d ranks, %s: %.0f calls in %.1f s, %.0f per second; rank 0 compared %llu\n",
            static_cast<unsigned long long>(o.seed), world.size(), o.multiple ? "multiple" : "single", calls,
            time.count(), calls / time.count(), static_cast<unsigned long long>(compared));
        std::printf("soak: MiB resident at 10 %%, 50 %%, 100 %%: %.1f, %.1f, %.1f; largest growth %.1f\n",
                    used[0], used[1], used[2], growth);
        if (grows) std::printf("soak: memory grows by more than %.1f MiB\n", o.memory_bound);
    }
    return grows ? EXIT_FAILURE : EXIT_SUCCESS;
}

} // namespace
} // namespace soak

int main(int argc, char** argv) {
    soak::options options;
    try {
        options = soak::parse(argc, argv);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "soak: %s\n%s", e.what(), soak::usage().c_str());
        return 2;
    }
    if (options.help) return std::puts(soak::usage().c_str()) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    soak::watchdog::claim_signal();
    auto const wanted = options.multiple ? boost::mpi::threading::multiple : boost::mpi::threading::single;
    boost::mpi::environment const environment(wanted);
    if (boost::mpi::environment::thread_level() < wanted) {
        std::fprintf(stderr, "soak: this MPI has no MPI_THREAD_MULTIPLE\n");
        return 2;
    }
    return soak::run(options);
}
