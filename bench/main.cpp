// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "support/program.hpp"

auto main(int argc, char** argv) -> int {
    bench::program all;
    bench::add_run(all);
    bench::add_beside(all);
    bench::add_choice(all);
    bench::add_overlap(all);
    bench::add_guidelines(all);
    bench::add_learning(all);
    bench::add_attach(all);
    bench::add_clock(all);
    bench::add_monitor(all);
    bench::add_pattern(all);
    bench::add_model(all);
#ifdef PAPCOLL_BENCH_SCHEDULE
    bench::add_schedule(all);
#endif
    return all.main(argc, argv);
}
