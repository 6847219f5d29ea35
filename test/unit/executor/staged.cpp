// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/staged.hpp>

#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// Ends after some calls; writes down what happens.
class stage final : public papcoll::operation {
public:
    stage(std::string& log, char name, int steps, bool fails)
        : m_log(log)
        , m_name(name)
        , m_steps(steps)
        , m_fails(fails) {
        m_log += '<';
        m_log += name;
    }
    auto advance(bool) -> bool override {
        m_log += m_name;
        if (m_steps > 0) --m_steps;
        if (m_steps == 0) m_log += '>';
        return true;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_steps == 0; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override {
        return m_fails ? std::make_exception_ptr(std::runtime_error(std::string(1, m_name))) : nullptr;
    }
    auto abandon() noexcept -> bool override {
        m_log += '!';
        return m_name == 'b';
    }

private:
    std::string& m_log;
    char m_name;
    int m_steps;
    bool m_fails;
};

struct staged {
    explicit staged(std::vector<int> steps, std::string failing = "")
        : operation(steps.size(), [this, steps, failing](std::size_t i) {
            char const name = static_cast<char>('a' + i);
            return std::make_shared<stage>(log, name, steps[i], failing.find(name) != std::string::npos);
        }) {}

    void run() {
        while (!operation.finished()) operation.advance(true);
    }
    [[nodiscard]] auto failure() const -> std::string {
        if (!operation.failure()) return "";
        try {
            std::rethrow_exception(operation.failure());
        } catch (std::runtime_error const& e) {
            return e.what();
        }
    }

    std::string log;
    papcoll::staged_operation operation;
};

} // namespace

TEST_CASE("a stage begins when the one before has finished, and is advanced at once") {
    staged s({2, 1, 3});
    CHECK(s.log == "<a");
    CHECK(s.operation.advance(false));
    CHECK(s.log == "<aa");
    CHECK_FALSE(s.operation.finished());
    CHECK(s.operation.advance(false));
    CHECK(s.log == "<aaa><bb><cc");
    CHECK_FALSE(s.operation.finished());
    s.run();
    CHECK(s.log == "<aaa><bb><cccc>");
    CHECK(s.failure().empty());
}

TEST_CASE("one stage alone is itself") {
    staged s({1});
    CHECK_FALSE(s.operation.finished());
    s.run();
    CHECK(s.log == "<aa>");
}

TEST_CASE("after a failure the rest is carried out, and the first failure is told") {
    for (auto const& failing : {"a", "b", "c", "ab", "bc", "ac"}) {
        staged s({1, 2, 1}, failing);
        s.run();
        CHECK(s.log == "<aa><bbb><cc>");
        CHECK(s.failure() == std::string(1, failing[0]));
    }
}

TEST_CASE("the stage under way is abandoned") {
    staged s({1, 5});
    s.operation.advance(false);
    CHECK(s.operation.abandon());
    CHECK(s.log == "<aa><bb!");
    staged first({5, 1});
    CHECK_FALSE(first.operation.abandon());
}
