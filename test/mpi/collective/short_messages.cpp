// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 2 3 5
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include "../../support/short_messages.hpp"

#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/papcoll.hpp>

#include <mpi.h>

#include <cstddef>
#include <limits>

#include "../../support/mixed_suite.hpp"

TEST_CASE("blocks longer than the longest message are cut on the way") {
    short_messages<4099> t(MPI_COMM_WORLD);
    mixed_suite::lengths(t, t.rank(), t.size(), {0, 300, 3'000});
}

// Needs 2.2 GB for each rank: run it by hand at 2 ranks, with --no-skip.
TEST_CASE("more bytes than an int can count" * doctest::skip()) {
    papcoll::mpi_transport t(MPI_COMM_WORLD);
    std::size_t const n = static_cast<std::size_t>(std::numeric_limits<int>::max()) + 100'000;
    std::vector<char> values(n, static_cast<char>(t.rank() == 0 ? 'x' : 'y'));
    values.back() = static_cast<char>(t.rank() == 0 ? 'z' : 'y');
    papcoll::broadcast(t, values.data(), n, 0, papcoll::circulant{.block_bytes = n});
    CHECK(values[n / 2] == 'x');
    CHECK(values[n - 100'001] == 'x');
    CHECK(values.back() == 'z');
}
