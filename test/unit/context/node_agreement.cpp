// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/attach.hpp>
#include <papcoll/context/node_agreement.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

/// Ranks whose numbers differ by three share a node.
struct three_nodes : endpoint {
    three_nodes(endpoint const& other) // NOLINT(google-explicit-constructor): a copy that borrows is one
        : endpoint(other) {}
    [[nodiscard]] auto node() const -> std::uint64_t {
        return ~static_cast<std::uint64_t>(rank() % 3); // numbers that fit into no int
    }
};

} // namespace

TEST_CASE("all ranks learn who shares a node, at every number of ranks") {
    for (int const ranks : {1, 2, 3, 4, 5, 7, 8, 13, 16, 17})
        for (std::uint64_t const seed : {0u, 9u}) {
            CAPTURE(ranks);
            papcoll::threads::run(ranks, options{.eager_limit = 0, .seed = seed}, [&](endpoint& given) {
                three_nodes self(given);
                papcoll::detail::node_agreement<three_nodes> agreement(self, 7);
                while (!agreement.advance(self, true)) continue;
                auto const nodes = agreement.result(self.rank());
                REQUIRE(nodes.size() == static_cast<std::size_t>(ranks));
                for (int r = 0; r < ranks; ++r) CHECK(nodes[static_cast<std::size_t>(r)] == r % 3);
            });
        }
}

TEST_CASE("threads share one node") {
    papcoll::threads::run(5, [](endpoint& self) {
        CHECK_THROWS_AS((void)papcoll::context_of(self), std::logic_error);
        papcoll::attach(self);
        CHECK(papcoll::context_of(self)->nodes() == std::vector<int>(5, 0));
    });
}
