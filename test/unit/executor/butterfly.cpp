// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/attach.hpp>
#include <papcoll/executor/butterfly.hpp>
#include <papcoll/scheduler/butterfly.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

/// A piece of the sequence of ranks, [first, last]: joining is associative, not commutative, and notices
/// what does not belong together.
struct stretch {
    int first = -1;
    int last = -1;
};
struct join {
    auto operator()(stretch const& a, stretch const& b) const -> stretch {
        return a.last + 1 == b.first && b.first >= 0 ? stretch{a.first, b.last} : stretch{-9, -9};
    }
};

template <class T, class Op>
void run(endpoint& self, T const* in, T* out, std::size_t n, Op op) {
    auto const c = papcoll::detail::attached_context(self);
    auto const rounds = std::make_shared<std::vector<papcoll::butterfly_round> const>(
        papcoll::butterfly(self.size(), self.rank()));
    auto const operation = std::make_shared<papcoll::butterfly_operation<endpoint, T, Op>>(
        c, rounds, c->next_tag(c->tags()), in, out, n, op);
    if (auto const failure = c->engine()->run(operation, [&] { self.idle(); }))
        std::rethrow_exception(failure);
}

void keeps_order(endpoint& self, bool in_place) {
    for (std::size_t const n : {std::size_t(0), std::size_t(1), std::size_t(77)}) {
        std::vector<stretch> values(n, {self.rank(), self.rank()}), result(in_place ? 0 : n);
        run(self, values.data(), in_place ? values.data() : result.data(), n, join{});
        for (auto const& s : in_place ? values : result) {
            CHECK(s.first == 0);
            CHECK(s.last == self.size() - 1);
        }
    }
}

} // namespace

TEST_CASE("a butterfly joins the operands in rank order on every rank") {
    for (int ranks = 1; ranks <= 20; ++ranks)
        for (bool const in_place : {false, true}) {
            CAPTURE(ranks);
            papcoll::threads::run(ranks, [&](endpoint& self) { keeps_order(self, in_place); });
        }
}

TEST_CASE("also with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8, 13})
        for (std::uint64_t const seed : {1u, 2u, 3u})
            papcoll::threads::run(ranks, options{.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                                  [](endpoint& self) { keeps_order(self, false); });
}

TEST_CASE("an operator that throws is reported where it threw and where its result is missing") {
    for (int const ranks : {2, 3, 8}) {
        std::vector<int> thrown(static_cast<std::size_t>(ranks));
        papcoll::threads::run(ranks, [&](endpoint& self) {
            bool const bad = self.rank() == 0;
            auto const op = [bad](int a, int b) {
                if (bad) throw std::runtime_error("operator");
                return a + b;
            };
            int const in = 1;
            int out = 0;
            try {
                run(self, &in, &out, 1, op);
            } catch (papcoll::missing_value_error const&) {
                thrown[static_cast<std::size_t>(self.rank())] = 2;
            } catch (std::runtime_error const& e) {
                thrown[static_cast<std::size_t>(self.rank())] = std::string(e.what()) == "operator" ? 1 : -1;
            }
            if (thrown[static_cast<std::size_t>(self.rank())] == 0) CHECK(out == ranks);
            keeps_order(self, false);
        });
        // After its first round rank 0 has nothing to give: at 8 ranks that is missing on 2, 4 and 6.
        CHECK(thrown[0] == 1);
        for (std::size_t r = 1; r < thrown.size(); ++r) CHECK(thrown[r] != 1);
        CHECK(std::count(thrown.begin(), thrown.end(), 2) == (ranks == 8 ? 3 : ranks == 3 ? 2 : 0));
    }
}
