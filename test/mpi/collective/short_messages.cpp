// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 2 3 5
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include "../../support/short_messages.hpp"

#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/papcoll.hpp>

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>

#include "../../support/mixed_suite.hpp"

TEST_CASE("blocks longer than the longest message are cut on the way") {
    short_messages<4099> t(MPI_COMM_WORLD);
    mixed_suite::lengths(t, t.rank(), t.size(), {0, 300, 3'000});
}

TEST_CASE("short serialized values take no message on a node, and longer ones one for each receiver") {
    short_messages<4099> t(MPI_COMM_WORLD);
    papcoll::attach(t);
    auto const sent_for = [&](std::size_t length) {
        std::string text(t.rank() == 0 ? length : 3, 'x');
        papcoll::broadcast(t, text, 0, papcoll::binomial_tree{});
        int const before = *t.sent;
        papcoll::broadcast(t, text, 0, papcoll::binomial_tree{});
        CHECK(text == std::string(length, 'x'));
        return *t.sent - before;
    };
    auto const sent_by_all_for = [&](std::size_t length) {
        return papcoll::all_reduce(t, sent_for(length), std::plus<>());
    };
    CHECK(sent_by_all_for(10) == 0);
    CHECK(sent_by_all_for(700) == 0);
    CHECK(sent_by_all_for(1'100) == t.size() - 1);
    CHECK(sent_by_all_for(5'000) == 2 * (t.size() - 1)); // in pieces
    CHECK(sent_by_all_for(10) == 0);
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
