// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/progress_engine.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

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
        if (m_left > 0) --m_left;
        return m_left == 0;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_left == 0; }
    [[nodiscard]] auto by_others() const -> int { return m_by_others; }

private:
    std::thread::id m_maker = std::this_thread::get_id();
    std::atomic<int> m_left;
    std::atomic<int> m_by_others = 0;
};

/// True when `condition` holds before long.
template <class Condition>
auto soon(Condition condition) -> bool {
    auto const end = std::chrono::steady_clock::now() + 20s;
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
    return condition();
}

} // namespace

TEST_CASE("a thread that has nothing to do steps again when it is wanted or resumed, not before") {
    std::atomic<int> taken = 0;
    progress_thread thread([&] {
        ++taken;
        return progress_thread::outcome::nothing_to_do;
    });
    thread.resume(); // nobody wants it
    std::this_thread::sleep_for(5ms);
    CHECK(taken == 0);
    thread.wanted();
    CHECK(soon([&] { return taken == 1; }));
    std::this_thread::sleep_for(5ms);
    CHECK(taken == 1);
    thread.resume();
    CHECK(soon([&] { return taken == 2; }));
    thread.unwanted();
    thread.resume();
    std::this_thread::sleep_for(5ms);
    CHECK(taken == 2);
}

TEST_CASE("the background rests while somebody waits, and goes on afterwards") {
    auto const engine = std::make_shared<progress_engine>(true);
    auto const awaited = std::make_shared<steps>(300), other = std::make_shared<steps>(1000);
    engine->add(awaited);
    engine->add(other);
    auto const keeper = progress_engine::keep_driving(engine);
    engine->wait(*awaited, [] { std::this_thread::sleep_for(50us); });
    CHECK(awaited->by_others() < 100); // at most what it did before the wait began
    CHECK(soon([&] { return other->finished(); }));
    CHECK(other->by_others() > 0);
    CHECK(engine->test(*awaited));
    CHECK(engine->retire(*awaited) == nullptr);
    CHECK(engine->test(*other));
    CHECK(engine->retire(*other) == nullptr);
}
