// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// papcoll-bench with `run` alone, which is all that simulated ranks can do: run.sh builds it.
#include "../support/program.hpp"

auto main(int argc, char** argv) -> int {
    bench::program all;
    bench::add_run(all);
    return all.main(argc, argv);
}
