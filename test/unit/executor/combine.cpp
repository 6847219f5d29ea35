// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/core.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <functional>
#include <vector>

#include "../../support/random_reduction.hpp"

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

/// Any scheduler with windows of one's own.
template <class Scheduler>
struct windowed {
    Scheduler algorithm;
    papcoll::message_windows windows;
    std::vector<papcoll::ticks> arrivals;
    int blocks = 1;

    static constexpr auto provides(papcoll::collective_kind operation) -> bool {
        return operation == papcoll::collective_kind::reduce;
    }
    static constexpr bool reorders_operands = true;
    [[nodiscard]] auto name() const -> char const* { return "windowed"; }
    void check(papcoll::call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::nullopt;
    }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const&) const
        -> papcoll::execution_plan {
        papcoll::problem const p{
            .ranks = shape.ranks, .root = shape.root, .blocks = blocks, .arrivals = arrivals, .owners = {}};
        return {{{papcoll::execution_stage::work::reduce,
                  papcoll::compile(
                      Scheduler::kind, algorithm.for_rank(p, shape.rank),
                      papcoll::ranges_of({shape.count, blocks}),
                      std::vector<bool>(static_cast<std::size_t>(blocks), shape.rank == shape.root), windows),
                  {}}}};
    }
};

template <class Policy>
void check_sum(endpoint& self, std::size_t n, int root, Policy const& policy) {
    std::vector<int> in(n), out(n, -1);
    for (std::size_t i = 0; i < n; ++i) in[i] = (self.rank() + 1) * static_cast<int>(i % 17 + 1);
    papcoll::reduce(self, in.data(), n, out.data(), std::plus<>(), root, policy);
    int const ranks = self.size() * (self.size() + 1) / 2;
    bool right = true;
    for (std::size_t i = 0; i < n && self.rank() == root; ++i)
        right = right && out[i] == ranks * static_cast<int>(i % 17 + 1);
    CHECK(right);
}

constexpr auto windows_of(int receives, int sends, bool admission, std::size_t tail, std::size_t longest)
    -> papcoll::message_windows {
    return {receives, sends, admission, tail, longest};
}
std::array const all_windows = {
    windows_of(1, 1, true, 0, 0),    windows_of(1, 1, true, 48, 0),  windows_of(2, 1, true, 16, 100),
    windows_of(1, 2, true, 16, 60),  windows_of(3, 3, true, 100, 0), windows_of(4, 1, true, 1, 1),
    windows_of(1, 4, true, 1000, 0), windows_of(1, 1, false, 0, 0),  windows_of(8, 8, false, 0, 60),
    windows_of(2, 5, false, 16, 0),
};

} // namespace

TEST_CASE("every window executes every schedule, whatever arrives first") {
    for (auto const& windows : all_windows)
        for (int const ranks : {2, 5, 8}) {
            CAPTURE(windows.receives);
            CAPTURE(windows.sends);
            CAPTURE(windows.tail_bytes);
            papcoll::threads::run(ranks, options{.eager_limit = 32, .seed = 5}, [&](endpoint& self) {
                for (std::uint64_t seed = 1; seed <= 6; ++seed)
                    check_sum(self, 300, static_cast<int>(seed) % ranks,
                              windowed<random_reduction>{{seed}, windows, {}, 1 + static_cast<int>(seed)});
            });
        }
}

TEST_CASE("long schedules with ranks that arrive one after the other end in every window") {
    for (auto const& windows : all_windows) {
        std::vector<papcoll::ticks> arrivals;
        for (int r = 0; r < 8; ++r) arrivals.emplace_back(r * 9000);
        papcoll::threads::run(8, [&](endpoint& self) {
            papcoll::clairvoyant_scheduler<papcoll::linear_search> const scheduler{.round =
                                                                                       papcoll::ticks(1000)};
            check_sum(self, 128 * 20, 0,
                      windowed<papcoll::clairvoyant_scheduler<papcoll::linear_search>>{scheduler, windows,
                                                                                       arrivals, 128});
        });
    }
}
