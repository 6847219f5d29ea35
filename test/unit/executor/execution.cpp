// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/all_gather.hpp>
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/reduce.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/program/whole_operands.hpp>
#include <papcoll/scheduler/butterfly.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../../support/own_program.hpp"
#include "../../support/random_reduction.hpp"
#include "../../support/sanitized.hpp"

using papcoll::block_places;
using papcoll::block_range;
using papcoll::call_shape;
using papcoll::memory;
using papcoll::message_windows;
using papcoll::program_builder;
using papcoll::ranges_of;
using papcoll::region;
using papcoll::schedule_kind;
using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

std::array const all_windows = {
    message_windows{.receives = 1, .sends = 1, .admission = true},
    message_windows{.receives = 1, .sends = 1, .admission = true, .tail_bytes = 48},
    message_windows{.receives = 2, .sends = 1, .admission = true, .tail_bytes = 1000, .longest_elements = 5},
    message_windows{.receives = 1, .sends = 3, .admission = true, .tail_bytes = 16, .longest_elements = 4},
    message_windows{.receives = 3, .sends = 3, .admission = true, .tail_bytes = 100},
    message_windows{.receives = 4, .sends = 1, .admission = true, .tail_bytes = 1, .longest_elements = 1},
    message_windows{.receives = 1, .sends = 1, .admission = false},
    message_windows{.receives = 8, .sends = 8, .admission = false, .longest_elements = 4},
    // Short messages are not admitted, longer ones are.
    message_windows{.tail_bytes = 9, .unadmitted_elements = 4, .unadmitted = 2},
    message_windows{.longest_elements = 8, .unadmitted_elements = 4},
};
std::array const all_options = {
    options{},
    options{.eager_limit = 0, .seed = 5},
    options{.eager_limit = 32, .seed = 6, .max_message_bytes = 7},
};

/// Operands at their offsets in `in`, results of the root at theirs in `out`.
auto places_of(std::vector<block_range> const& blocks, bool is_root) -> block_places {
    block_places places{std::vector<region>(blocks.size()), std::vector<region>(blocks.size()),
                        std::vector<bool>(blocks.size(), is_root)};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        places.held[b] = region(memory::in, blocks[b].offset, blocks[b].size);
        if (is_root) places.result[b] = region(memory::out, blocks[b].offset, blocks[b].size);
    }
    return places;
}

/// Digits: who was combined, and in which order.
auto append(long a, long b) -> long {
    long shift = 10;
    while (shift <= b) shift *= 10;
    return a * shift + b;
}

template <class Policy>
void check_sum(endpoint& self, std::size_t n, int root, Policy const& policy, bool blocking) {
    std::vector<int> in(n), out(n, -1);
    for (std::size_t i = 0; i < n; ++i) in[i] = (self.rank() + 1) * static_cast<int>(i % 17 + 1);
    auto const operands = in;
    if (blocking)
        papcoll::reduce(self, in.data(), n, out.data(), std::plus<>(), root, policy);
    else
        papcoll::ireduce(self, in.data(), n, out.data(), std::plus<>(), root, policy).wait();
    int const ranks = self.size() * (self.size() + 1) / 2;
    bool right = true;
    for (std::size_t i = 0; i < n; ++i)
        right = right && out[i] == (self.rank() == root ? ranks * static_cast<int>(i % 17 + 1) : -1);
    CHECK(right);
    CHECK(in == operands);
}

} // namespace

TEST_CASE("every window executes every reduction, whatever arrives first, cut before or when it begins") {
    for (auto const& windows : all_windows)
        for (int const ranks : {2, 5, 8})
            for (auto const& o : all_options)
                papcoll::threads::run(ranks, o, [&](endpoint& self) {
                    papcoll::attach(self);
                    for (std::uint64_t seed = 1; seed <= test_support::at_most<std::uint64_t>(4, 1); ++seed) {
                        int const blocks = 1 + static_cast<int>(seed);
                        auto const write = [&](program_builder& to, call_shape const& shape) {
                            papcoll::problem const p{.ranks = ranks, .root = shape.root, .blocks = blocks};
                            to.use(windows);
                            lower(to, schedule_kind::reduction,
                                  random_reduction{seed}.for_rank(p, shape.rank), shape.rank,
                                  places_of(ranges_of({shape.count, blocks}), shape.rank == shape.root));
                        };
                        auto const limit = seed % 2 == 0 ? std::size_t(0) : std::size_t(1'000'000);
                        check_sum(self, 60, static_cast<int>(seed) % ranks, own_program{write, limit},
                                  seed % 4 < 2);
                    }
                });
}

TEST_CASE("operands are combined in the order of the program") {
    // Rank 0 combines what it gets from 3, then from 1, then from 2.
    for (auto const& o : all_options)
        for (bool const blocking : {true, false})
            papcoll::threads::run(4, o, [&](endpoint& self) {
                papcoll::attach(self);
                own_program const policy{[](program_builder& to, call_shape const& shape) {
                    region const in(memory::in, 0, shape.count), out(memory::out, 0, shape.count);
                    if (shape.rank > 0) {
                        to.send(0, in);
                        return;
                    }
                    auto held = in;
                    for (int const from : {3, 1, 2}) {
                        auto const theirs = to.scratch(shape.count);
                        to.receive(from, theirs);
                        to.combine(out, held, theirs);
                        held = out;
                    }
                }};
                std::vector<long> in(9, self.rank() + 1), out(9);
                if (blocking)
                    papcoll::reduce(self, in.data(), in.size(), out.data(), append, 0, policy);
                else
                    papcoll::ireduce(self, in.data(), in.size(), out.data(), append, 0, policy).wait();
                if (self.rank() == 0) CHECK(out == std::vector<long>(9, 1423));
            });
}

TEST_CASE("while a rank combines messages come in and the next are admitted") {
    using kibibyte = std::array<int, 256>;
    constexpr std::size_t n = 2000;
    std::atomic<bool> third_has_left{false};
    std::atomic<std::size_t> combined_before{0};
    papcoll::threads::run(4, options{.eager_limit = 0, .seed = 3}, [&](endpoint& self) {
        papcoll::attach(self);
        // Rank 0 admits the message of rank 3 when that of rank 2 is in, and it combines that of rank 1
        // first.
        own_program const policy{[](program_builder& to, call_shape const& shape) {
            to.use({.receives = 1, .sends = 1, .admission = true});
            region const in(memory::in, 0, shape.count), out(memory::out, 0, shape.count);
            if (shape.rank > 0) {
                to.send(0, in);
                return;
            }
            auto held = in;
            for (int const from : {1, 2, 3}) {
                auto const theirs = to.scratch(shape.count);
                to.receive(from, theirs);
                to.combine(out, held, theirs);
                held = out;
            }
        }};
        auto const slow = [&](kibibyte const& a, kibibyte const& b) {
            if (!third_has_left) {
                ++combined_before;
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            kibibyte sum = a;
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
            return sum;
        };
        kibibyte mine;
        mine.fill(self.rank() + 1);
        std::vector<kibibyte> in(n, mine), out(n);
        papcoll::reduce(self, in.data(), n, out.data(), slow, 0, policy);
        if (self.rank() == 3) third_has_left = true;
        if (self.rank() == 0) {
            mine.fill(10);
            CHECK(out == std::vector<kibibyte>(n, mine));
        }
    });
    CHECK(combined_before < n);
}

TEST_CASE("an operator that throws in the middle of a combination ends the operation on all ranks") {
    constexpr std::size_t n = 300;
    papcoll::threads::run(3, options{}, [&](endpoint& self) {
        papcoll::attach(self);
        std::size_t calls = 0;
        auto const fails = [&](long a, long b) {
            if (++calls == 2 * n / 3) throw std::runtime_error("enough");
            std::this_thread::sleep_for(std::chrono::microseconds(50)); // interrupted after a few elements
            return a + b;
        };
        own_program const policy{[](program_builder& to, call_shape const& shape) {
            region const in(memory::in, 0, shape.count), out(memory::out, 0, shape.count);
            if (shape.rank > 0) return (void)to.send(0, in);
            auto const theirs = to.scratch(shape.count), other = to.scratch(shape.count);
            to.receive(1, theirs);
            to.combine(out, in, theirs);
            to.receive(2, other);
            to.combine(out, out, other);
        }};
        std::vector<long> in(n, 1), out(n);
        auto const call = [&] { papcoll::reduce(self, in.data(), n, out.data(), fails, 0, policy); };
        if (self.rank() == 0)
            CHECK_THROWS_WITH_AS(call(), doctest::Contains("enough"), std::runtime_error);
        else
            CHECK_NOTHROW(call());
        if (self.rank() == 0) CHECK(calls == 2 * n / 3);
    });
}

TEST_CASE("a butterfly joins the operands in rank order on every rank, in place or not") {
    auto const write = [](program_builder& to, call_shape const& shape) {
        write_butterfly(to, papcoll::butterfly(shape.ranks, shape.rank), shape.rank, shape.count);
    };
    for (int ranks = 1; ranks <= test_support::at_most(9, 5); ++ranks)
        for (auto const& o : all_options)
            papcoll::threads::run(ranks, o, [&](endpoint& self) {
                papcoll::attach(self);
                long expected = 1;
                for (int r = 1; r < ranks; ++r) expected = append(expected, r + 1);
                for (std::size_t const n : {std::size_t(0), std::size_t(1), std::size_t(77)}) {
                    std::vector<long> values(n, self.rank() + 1), result(n);
                    papcoll::all_reduce(self, values.data(), n, result.data(), append, own_program{write});
                    CHECK(result == std::vector<long>(n, expected));
                    papcoll::all_reduce(self, papcoll::inplace(values.data()), n, append, own_program{write});
                    CHECK(values == std::vector<long>(n, expected));
                }
            });
}

TEST_CASE("an operator that throws is reported where it threw and where its result is missing") {
    auto const write = [](program_builder& to, call_shape const& shape) {
        write_butterfly(to, papcoll::butterfly(shape.ranks, shape.rank), shape.rank, shape.count);
    };
    for (int const ranks : {2, 3, 8})
        for (bool const blocking : {true, false}) {
            std::vector<int> thrown(static_cast<std::size_t>(ranks));
            papcoll::threads::run(ranks, [&](endpoint& self) {
                papcoll::attach(self);
                bool const bad = self.rank() == 0;
                auto& mine = thrown[static_cast<std::size_t>(self.rank())];
                auto const op = [bad](int a, int b) {
                    if (bad) throw std::runtime_error("operator");
                    return a + b;
                };
                int const in = 1;
                int out = 0;
                try {
                    if (blocking)
                        papcoll::all_reduce(self, &in, 1, &out, op, own_program{write});
                    else
                        papcoll::iall_reduce(self, &in, 1, &out, op, own_program{write}).wait();
                } catch (papcoll::missing_value_error const&) {
                    mine = 2;
                } catch (std::runtime_error const& e) {
                    mine = std::string(e.what()) == "operator" ? 1 : -1;
                }
                if (mine == 0) CHECK(out == ranks);
                // The next call is none the worse for it.
                papcoll::all_reduce(self, &in, 1, &out, std::plus<>(), own_program{write});
                CHECK(out == ranks);
            });
            // After its first round rank 0 has nothing to give: at 8 ranks that is missing on 2, 4 and 6.
            CHECK(thrown[0] == 1);
            for (std::size_t r = 1; r < thrown.size(); ++r) CHECK(thrown[r] != 1);
            CHECK(std::count(thrown.begin(), thrown.end(), 2) == (ranks == 8 ? 3 : ranks == 3 ? 2 : 0));
        }
}

TEST_CASE("both ends decide alike which messages are admitted, whatever the sizes of the blocks") {
    std::mt19937 random(11);
    auto const at_most = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n + 1)); };
    for (int repetition = 0; repetition < test_support::at_most(40, 10); ++repetition) {
        int const ranks = 2 + at_most(5);
        int const each = 1 + at_most(4);
        std::vector<std::size_t> cuts; // the size of each block in a rank's part
        std::size_t part = 0;
        for (int b = 0; b < each; ++b) {
            cuts.push_back(static_cast<std::size_t>(at_most(9)));
            part += cuts.back();
        }
        message_windows windows;
        windows.receives = 1 + at_most(1);
        windows.tail_bytes = static_cast<std::size_t>(at_most(20));
        windows.longest_elements = static_cast<std::size_t>(at_most(12));
        windows.unadmitted_elements = static_cast<std::size_t>(at_most(9));
        windows.unadmitted = 1 + at_most(2);
        options const o{.eager_limit = static_cast<std::size_t>(at_most(1) * at_most(40)), .seed = random()};
        // The parts go round, some of their blocks a step behind.
        auto const write = [&](program_builder& to, call_shape const& shape) {
            block_places places;
            papcoll::rank_schedule share;
            auto const begin = static_cast<std::size_t>(shape.rank) * part;
            to.copy(region(memory::out, begin, part), region(memory::in, 0, part));
            for (int b = 0; b < ranks * each; ++b) {
                int const owner = b / each;
                auto offset = static_cast<std::size_t>(owner) * part;
                for (int k = 0; k < b % each; ++k) offset += cuts[static_cast<std::size_t>(k)];
                region const at(memory::out, offset, cuts[static_cast<std::size_t>(b % each)]);
                places.owned.push_back(owner == shape.rank);
                places.held.push_back(owner == shape.rank ? at : region());
                places.result.push_back(owner == shape.rank ? region() : at);
                for (int s = 0; s + 1 < ranks; ++s) {
                    int const from = (owner + s) % ranks, to_rank = (from + 1) % ranks;
                    papcoll::step_type const step = s + b % each % 2;
                    if (from == shape.rank) share.sends.push_back({step, to_rank, b});
                    if (to_rank == shape.rank) share.receives.push_back({step, from, b});
                }
            }
            to.use(windows);
            lower(to, schedule_kind::dissemination, share, shape.rank, places);
        };
        CAPTURE(repetition);
        papcoll::threads::run(ranks, o, [&](endpoint& self) {
            papcoll::attach(self);
            std::vector<int> mine(part), all(part * static_cast<std::size_t>(ranks), -1),
                expected(all.size());
            for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(7 * i + 1);
            std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(part) * self.rank(), part,
                        mine.begin());
            papcoll::all_gather(self, mine.data(), part, all.data(), own_program{write});
            CHECK(all == expected);
        });
    }
}

TEST_CASE("a plan is executed again and again, on other data") {
    auto const write = [](program_builder& to, call_shape const& shape) {
        write_butterfly(to, papcoll::butterfly(shape.ranks, shape.rank), shape.rank, shape.count);
    };
    papcoll::threads::run(5, options{.eager_limit = 0, .seed = 9}, [&](endpoint& self) {
        papcoll::attach(self);
        auto plan = papcoll::plan_all_reduce<int>(self, 3, std::plus<>(), own_program{write});
        for (int turn = 0; turn < 10; ++turn) {
            std::vector<int> const in(3, turn + self.rank());
            std::vector<int> out(3);
            if (turn % 2 == 0)
                plan.run(in.data(), out.data());
            else
                plan.start(in.data(), out.data()).wait();
            CHECK(out == std::vector<int>(3, 5 * turn + 10));
        }
    });
}

TEST_CASE("a send that could begin does not wait behind a receive that cannot") {
    // Rank 0 has to pass on what came from rank 2 before rank 1 sends what rank 0 receives first.
    auto const write = [](program_builder& to, call_shape const& shape) {
        region const in(memory::in, 0, shape.count);
        region const out(memory::out, 0, shape.count);
        auto const other = to.scratch(shape.count);
        if (shape.rank == 0) {
            to.receive(2, out);
            auto const first = to.receive(1, other);
            to.after(first);
            to.receive(1, to.scratch(shape.count));
            to.send(1, out);
        } else if (shape.rank == 1) {
            to.receive(0, out);
            to.send(0, out);
            to.send(0, out);
        } else {
            to.send(0, in);
            to.copy(out, in);
        }
    };
    papcoll::threads::run(3, options{.eager_limit = 0, .seed = 3}, [&](endpoint& self) {
        papcoll::attach(self);
        int const mine = self.rank() + 1;
        for (int turn = 0; turn < 3; ++turn) {
            int out = 0;
            papcoll::all_reduce(self, &mine, 1, &out, std::plus<>(), own_program{write});
            CHECK(out == 3);
        }
    });
}
