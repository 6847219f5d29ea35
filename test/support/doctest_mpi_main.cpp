// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// The main of all tests that run under mpirun. Every rank runs every test case; ranks that fail print, in
// rank order, and the program fails when one rank does.
#include <mpi.h>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "pretended_nodes.hpp"
#include "selected_tests.hpp"

namespace {

auto output() -> std::ostringstream& {
    static std::ostringstream stream;
    return stream;
}

auto world_rank() -> int {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void print() {
    std::cerr << "--- rank " + std::to_string(world_rank()) + "\n" + output().str() << std::flush;
}

// A rank that leaves a test case early would let the others wait for its messages for ever: once such a rank
// is found all are ended, a moment later, so that ranks which fail at the same place can print, too.
struct abort_on_early_exit : deaf_listener {
    explicit abort_on_early_exit(doctest::ContextOptions const&) {}

    void log_assert(doctest::AssertData const& data) override {
        if (data.m_failed && (data.m_at & doctest::assertType::is_require) != 0) m_left_early = true;
    }
    void test_case_exception(doctest::TestCaseException const&) override { m_left_early = true; }
    void test_case_end(doctest::CurrentTestCaseStats const&) override {
        if (!m_left_early) return;
        print();
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }

    bool m_left_early = false;
};

/// PAPCOLL_TEST_THREADS: single, mixed (odd ranks single, as Open MPI numbers them), else multiple.
auto thread_level() -> int {
    auto const text = [](char const* name) {
        char const* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    auto const wanted = text("PAPCOLL_TEST_THREADS");
    auto const rank = text("OMPI_COMM_WORLD_RANK");
    bool const odd = !rank.empty() && (rank.back() - '0') % 2 == 1;
    bool const single = wanted == "single" || (wanted == "mixed" && odd);
    return single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
}

REGISTER_LISTENER("abort_on_early_exit", 1, abort_on_early_exit);

} // namespace

// In place of the MPI library's.
int MPI_Get_processor_name(char* name, int* length) {
    if (test_support::node_of == nullptr) return PMPI_Get_processor_name(name, length);
    *length = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "node %d", test_support::node_of(world_rank()));
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, thread_level(), &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    doctest::Context context(argc, argv);
    context.setOption("no-colors", true);
    context.setCout(&output());
    int const failed = context.run();
    int const mine = selected_tests::number == 0 ? 1 : failed;

    int worst = 0;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int rank = 0; rank < ranks; ++rank) {
        if (rank == world_rank() && (mine != 0 || (worst == 0 && rank == 0))) print();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return worst;
}
