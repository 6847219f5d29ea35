// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Compiled without the flags of the instruction set, so that it can tell that the processor lacks it.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

namespace {

/// Before the static initialisers of the suite, which are compiled for the instruction set already.
__attribute__((constructor(101))) void skip_without_instructions() {
    __builtin_cpu_init();
    if (PAPCOLL_PROCESSOR_HAS_IT) return;
    std::fputs("skipped: the processor lacks this instruction set\n", stderr);
    std::_Exit(77);
}

} // namespace

int main(int argc, char** argv) { return doctest::Context(argc, argv).run(); }
