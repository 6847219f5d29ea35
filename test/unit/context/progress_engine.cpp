// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/progress_engine.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using papcoll::progress_engine;
using papcoll::progress_thread;
using namespace std::chrono_literals;

namespace {

/// Ends after so many steps, and counts those of other threads than the one that made it.
class steps final : public papcoll::operation {
public:
    explicit steps(int left)
        : m_left(left) {}
    auto advance(bool) -> bool override {
        if (std::this_thread::get_id() != m_maker) ++m_by_others;
        if (m_left == 0) ++m_beyond;
        if (m_left > 0) --m_left;
        return m_left == 0;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_left == 0; }
    [[nodiscard]] auto left() const -> int { return m_left; }
    /// Steps after its end.
    [[nodiscard]] auto beyond() const -> int { return m_beyond; }
    [[nodiscard]] auto by_others() const -> int { return m_by_others; }

private:
    std::thread::id m_maker = std::this_thread::get_id();
    std::atomic<int> m_left;
    std::atomic<int> m_by_others = 0;
    std::atomic<int> m_beyond = 0;
};

/// Does something at its first step, and ends with the second.
template <class Call>
class caller final : public papcoll::operation {
public:
    explicit caller(Call call)
        : m_call(std::move(call)) {}
    auto advance(bool) -> bool override {
        if (++m_steps == 1) m_call();
        return true;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_steps >= 2; }
    [[nodiscard]] auto taken() const -> int { return m_steps; }

private:
    Call m_call;
    int m_steps = 0;
};

/// True when `condition` holds before long.
template <class Condition>
auto soon(Condition condition) -> bool {
    auto const end = std::chrono::steady_clock::now() + 20s;
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
    return condition();
}

} // namespace

TEST_CASE("a thread that has nothing to do steps again when it is resumed, not before") {
    std::atomic<int> taken = 0;
    progress_thread thread([&] {
        ++taken;
        return progress_thread::outcome::nothing_to_do;
    });
    std::this_thread::sleep_for(5ms);
    CHECK(taken == 0);
    thread.resume();
    CHECK(soon([&] { return taken == 1; }));
    std::this_thread::sleep_for(5ms);
    CHECK(taken == 1);
    thread.resume();
    CHECK(soon([&] { return taken == 2; }));
    thread.stop();
    thread.resume();
    std::this_thread::sleep_for(5ms);
    CHECK(taken == 2);
}

TEST_CASE("the background rests while somebody waits, and goes on afterwards") {
    progress_engine engine(true);
    auto const awaited = std::make_shared<steps>(300), other = std::make_shared<steps>(1000);
    engine.start(awaited);
    engine.start(other);
    engine.wait(*awaited, [] { std::this_thread::sleep_for(50us); });
    CHECK(awaited->by_others() < 100); // at most what it did before the wait began
    CHECK(soon([&] { return engine.ended(*other); }));
    CHECK(other->by_others() > 0);
    CHECK(engine.ended(*awaited));
    CHECK(engine.retire(*awaited) == nullptr);
    CHECK(engine.retire(*other) == nullptr);
}

TEST_CASE("where one thread alone may drive nothing progresses by itself, but by progress()") {
    progress_engine engine(false);
    auto const op = std::make_shared<steps>(3);
    engine.start(op);
    std::this_thread::sleep_for(5ms);
    CHECK_FALSE(engine.ended(*op));
    while (!engine.ended(*op)) engine.progress();
    CHECK(op->by_others() == 0);
    CHECK_FALSE(engine.progress()); // nothing is left
}

TEST_CASE("beginning an operation does not poll those that are under way") {
    progress_engine engine(false);
    std::vector<std::shared_ptr<steps>> operations;
    for (int i = 0; i < 100; ++i) {
        operations.push_back(std::make_shared<steps>(1000));
        engine.start(operations.back());
    }
    for (auto const& op : operations) CHECK(op->left() == 999);
}

TEST_CASE("what an operation waits for within a step progresses, with all others, and ends once") {
    for (bool const concurrent : {false, true}) {
        CAPTURE(concurrent);
        progress_engine engine(concurrent);
        auto const early = std::make_shared<steps>(1), before = std::make_shared<steps>(50),
                   after = std::make_shared<steps>(3), innermost = std::make_shared<steps>(30);
        auto const within = std::make_shared<caller<std::function<void()>>>([&] {
            CHECK(engine.is_driven_here());
            CHECK(engine.run(innermost, [] {}) == nullptr);
            while (!engine.test(*before)) std::this_thread::yield();
            engine.wait(*early, [] {}); // which ended in the same round, before this step
        });
        auto const outer = std::make_shared<caller<std::function<void()>>>([&] {
            CHECK(engine.run(within, [] {}) == nullptr);
            CHECK(engine.ended(*after));
        });
        engine.add(early);
        engine.add(before);
        engine.add(outer);
        engine.add(after);
        engine.wait(*outer, [] {});
        CHECK(outer->taken() == 2);
        CHECK(within->taken() == 2);
        CHECK(engine.ended(*early));
        for (auto const& op : {early, before, after, innermost}) {
            CHECK(op->left() == 0);
            CHECK(op->beyond() == 0);
        }
        CHECK_FALSE(engine.is_driven_here());
    }
}

TEST_CASE("what fails within a step of another fails there alone") {
    progress_engine engine(false);
    auto const bad = std::make_shared<caller<void (*)()>>([] { throw std::runtime_error("within"); });
    auto const outer = std::make_shared<caller<std::function<void()>>>([&] {
        auto const failure = engine.run(bad, [] {});
        REQUIRE(failure != nullptr);
        CHECK_THROWS_WITH(std::rethrow_exception(failure), "within");
    });
    engine.start(outer);
    CHECK(bad->taken() == 1);
    engine.wait(*outer, [] {});
    CHECK(engine.retire(*outer) == nullptr);
    CHECK(bad->taken() == 1);
}

TEST_CASE("what is begun within the step of an operation that runs alone progresses with it") {
    progress_engine engine(false);
    auto const begun = std::make_shared<steps>(2);
    auto const alone = std::make_shared<caller<std::function<void()>>>([&] { engine.add(begun); });
    CHECK(engine.run(alone, [] {}) == nullptr);
    CHECK(begun->left() == 1);
    engine.wait(*begun, [] {});
}

TEST_CASE("what ends with an operation may use the engine") {
    struct last_words final : papcoll::operation {
        explicit last_words(progress_engine& of)
            : engine(of) {}
        ~last_words() override { (void)engine.is_driven_here(); }
        auto advance(bool) -> bool override { return true; }
        [[nodiscard]] auto finished() const -> bool override { return true; }

        progress_engine& engine;
    };
    progress_engine engine(false);
    std::weak_ptr<last_words> seen;
    auto other = std::make_shared<last_words>(engine);
    seen = other;
    auto const outer = std::make_shared<caller<std::function<void()>>>([&] {
        engine.wait(*other, [] {});
        CHECK(engine.retire(*other) == nullptr);
        other.reset(); // the round has it still
    });
    engine.add(outer);
    engine.add(other);
    engine.wait(*outer, [] {});
    CHECK(seen.expired());
}
