// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Prints the policy that a tuning table has: read_table FILE OPERATION RANKS BYTES
#include <papcoll/policy/tuning_table.hpp>

#include <cstdio>
#include <cstdlib>

auto main(int argc, char** argv) -> int {
    if (argc != 5) return 2;
    auto const table = papcoll::tuning_table::read(argv[1]);
    auto const operation = papcoll::collective_of(argv[2]);
    if (!operation) return 2;
    auto const* const entry =
        table.find(*operation, std::atoi(argv[3]), static_cast<std::size_t>(std::atoll(argv[4])));
    if (entry == nullptr) return 1;
    std::puts(entry->choice.policy.c_str());
    return 0;
}
