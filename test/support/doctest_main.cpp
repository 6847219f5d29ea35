// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "selected_tests.hpp"

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    int const failed = context.run();
    if (context.shouldExit()) return failed;
    return selected_tests::number == 0 ? 1 : failed;
}
