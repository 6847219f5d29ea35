// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>
#include <papcoll/threads.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

using papcoll::threads::endpoint;

namespace {

/// What f throws, as an E and no other.
template <class E, class F>
auto words_of(F const& f) -> std::string {
    try {
        f();
    } catch (std::exception const& e) {
        return typeid(e) == typeid(E) ? e.what() : std::string("another type: ") + e.what();
    }
    return "nothing was thrown";
}
auto ends_with(std::string const& text, std::string const& end) -> bool {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
auto name(std::string const& what, int number, int rank) -> std::string {
    return " [" + what + ", operation " + std::to_string(number) + ", rank " + std::to_string(rank) + "]";
}

} // namespace

TEST_CASE("bad arguments name their operation, its number and the rank, in every form of a call") {
    papcoll::threads::run(3, [](endpoint& self) {
        papcoll::attach(self);
        std::vector<int> values(5, self.rank());
        papcoll::broadcast(self, values.data(), 5, 0);
        auto const says = [&](int number, auto const& call) {
            auto const text = words_of<std::invalid_argument>(call);
            CAPTURE(text);
            CHECK(text.starts_with("papcoll: root must be a rank (0 to 2), but is 7 ["));
            CHECK(ends_with(text, name("broadcast", number, self.rank())));
        };
        says(1, [&] { papcoll::broadcast(self, values.data(), 5, 7); });
        says(2, [&] { papcoll::ibroadcast(self, values.data(), 5, 7).wait(); });
        says(3, [&] { (void)papcoll::plan_broadcast<int>(self, 5, 7); });
        papcoll::observe(self, [](papcoll::collective_record const&) {});
        says(4, [&] { papcoll::broadcast(self, values.data(), 5, 7); });
        papcoll::broadcast(self, values.data(), 5, 1);
    });
}

TEST_CASE(
    "with agreed checks the message names the rank whose arguments are bad, and the one that reads it") {
    papcoll::threads::run(3, [](endpoint& self) {
        papcoll::attach(self, {.checks = papcoll::check_level::agreed});
        std::vector<int> const in(5, 1);
        std::vector<int> out(5);
        auto const text = words_of<papcoll::detail::refused_together>([&] {
            papcoll::reduce(self, self.rank() == 1 ? nullptr : in.data(), 5, out.data(), std::plus<>(), 0);
        });
        CHECK(text == "papcoll: in must not be null when there are elements (rank 1)" +
                          name("reduce", 0, self.rank()));
    });
}

namespace {

/// Has no plan on rank 1.
struct plans_elsewhere {
    int rank = 0;
    static constexpr bool reorders_operands = false;
    static constexpr auto provides(papcoll::collective_kind) -> bool { return true; }
    [[nodiscard]] auto name() const -> std::string_view { return "plans_elsewhere"; }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> { return {}; }
    void check(papcoll::call_shape const&) const {}
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const& link) const
        -> papcoll::program {
        if (rank == 1) throw std::domain_error("no plan");
        return papcoll::binomial_tree{}.plan(shape, link);
    }
};

} // namespace

TEST_CASE("what others have sent to a call whose plan fails is nobody else's") {
    enum { blocking, begun, in_its_turn };
    for (int const way : {blocking, begun, in_its_turn})
        papcoll::threads::run(2, [&](endpoint& self) {
            CAPTURE(way);
            papcoll::attach(self, {.checks = way == in_its_turn ? papcoll::check_level::agreed
                                                                : papcoll::check_level::local});
            int value = self.rank();
            plans_elsewhere const policy{self.rank()};
            auto const call = [&] {
                if (way == blocking)
                    papcoll::broadcast(self, &value, 1, 0, policy);
                else
                    papcoll::ibroadcast(self, &value, 1, 0, policy).wait();
            };
            if (self.rank() == 1)
                CHECK_THROWS_AS(call(), std::domain_error);
            else
                call();
            CHECK(papcoll::context_of(self)->tags()->has_spoilt() == (self.rank() == 1));
        });
}

TEST_CASE("who misses a value learns in which operation; what an operator throws stays as it is") {
    papcoll::threads::run(2, [](endpoint& self) {
        papcoll::attach(self);
        auto const op = [&](int a, int b) {
            if (self.rank() == 0) throw std::invalid_argument("not of papcoll");
            return a + b;
        };
        std::vector<int> const in(4, 1);
        std::vector<int> out(4);
        for (int number = 0; number < 3; ++number) { // the later ones repeat the first
            auto const call = [&] {
                papcoll::all_reduce(self, in.data(), 4, out.data(), op, papcoll::binomial_tree{});
            };
            if (self.rank() == 0)
                CHECK(words_of<std::invalid_argument>(call) == "not of papcoll");
            else
                CHECK(ends_with(words_of<papcoll::missing_value_error>(call), name("all_reduce", number, 1)));
        }
        auto const begun = [&] {
            papcoll::iall_reduce(self, in.data(), 4, out.data(), op, papcoll::binomial_tree{}).wait();
        };
        if (self.rank() == 0)
            CHECK(words_of<std::invalid_argument>(begun) == "not of papcoll");
        else
            CHECK(ends_with(words_of<papcoll::missing_value_error>(begun), name("all_reduce", 3, 1)));
    });
}

TEST_CASE("messages of another length name the operation") {
    papcoll::threads::run(2, [](endpoint& self) {
        papcoll::attach(self, {.node_memory = 0});
        std::vector<int> values(9, self.rank());
        auto const call = [&] {
            papcoll::broadcast(self, values.data(), self.rank() == 0 ? 9 : 5, 0, papcoll::binomial_tree{});
        };
        if (self.rank() == 0)
            call();
        else
            CHECK(ends_with(words_of<std::length_error>(call), name("broadcast", 0, 1)));
    });
}

TEST_CASE("with agreed checks ranks that make different calls learn which") {
    papcoll::threads::run(3, [](endpoint& self) {
        papcoll::attach(self, {.checks = papcoll::check_level::agreed});
        std::vector<int> const in(5, 1);
        std::vector<int> out(5);
        bool const reduces = self.rank() == 1;
        auto text = words_of<papcoll::detail::refused_together>([&] {
            if (reduces)
                papcoll::all_reduce(self, in.data(), 5, out.data(), std::plus<>());
            else
                papcoll::broadcast(self, out.data(), 5, 0);
        });
        CHECK(text == "papcoll: ranks disagree on the operation: broadcast and all_reduce" +
                          name(reduces ? "all_reduce" : "broadcast", 0, self.rank()));
        text = words_of<papcoll::detail::refused_together>([&] {
            if (reduces)
                (void)papcoll::plan_broadcast<int>(self, 5, 0);
            else
                papcoll::broadcast(self, out.data(), 5, 0);
        });
        CHECK(text.starts_with("papcoll: ranks disagree on the operation: "));
        CHECK(text.find("plan_broadcast") != std::string::npos);
    });
}
