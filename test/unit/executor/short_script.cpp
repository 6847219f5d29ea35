// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/short_script.hpp>
#include <papcoll/program/program_builder.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "../../support/short_scripts.hpp"

namespace {

using papcoll::memory;
using papcoll::message_windows;
using papcoll::program;
using papcoll::program_builder;
using papcoll::region;
using papcoll::detail::short_script;
using kind = short_script::step::kind;

constexpr region in(memory::in, 0, 1), out(memory::out, 0, 1);

/// Hears `receives` times of rank 1, and tells rank 2 as often, each when it has heard.
auto relay(int receives, message_windows const& windows) -> program {
    program_builder to;
    to.use(windows);
    for (int i = 0; i < receives; ++i) {
        to.receive(1, region(memory::out, static_cast<std::size_t>(i), 1));
        to.send(2, region(memory::out, static_cast<std::size_t>(i), 1));
    }
    return to.finish();
}

} // namespace

TEST_CASE("programs with messages are short if all sends fit into their window, and nobody admits them") {
    CHECK(short_script(relay(3, {.receives = 3, .sends = 3, .admission = false})).applies());
    CHECK(short_script(relay(3, {.receives = 1, .sends = 3, .admission = false})).applies());
    CHECK_FALSE(short_script(relay(3, {.receives = 3, .sends = 2, .admission = false})).applies());
    CHECK_FALSE(short_script(relay(3, {.receives = 3, .sends = 3, .admission = true})).applies());
    CHECK_FALSE(short_script(relay(33, {.receives = 99, .sends = 99, .admission = false})).applies());
}

TEST_CASE("receives begin ahead within their window, and what a message needs is waited for alone") {
    for (int const window : {1, 2, 5}) {
        auto const p = relay(4, {.receives = window, .sends = 4, .admission = false});
        short_script const script(p);
        CHECK_FALSE(short_scripts::broken_order(p, script));
        int ahead = 0;
        for (auto const& s : script.steps()) {
            if (s.what != kind::post) break;
            ++ahead;
        }
        CHECK(ahead == std::min(window, 4));
    }
}

TEST_CASE("scripts that lose the order, the window or each other are found out") {
    auto const wide = relay(4, {.receives = 4, .sends = 4, .admission = false});
    auto const narrow = relay(4, {.receives = 1, .sends = 4, .admission = false});
    CHECK(short_scripts::broken_order(narrow, short_script(wide)).value().find("window") !=
          std::string::npos);
    program_builder two;
    two.copy(out, in);
    two.send(1, out);
    auto const p = two.finish();
    program_builder other;
    other.send(1, in);
    other.copy(region(memory::scratch, other.scratch(1).offset(), 1), in);
    auto const q = other.finish();
    CHECK(short_scripts::broken_order(p, short_script(q)));

    program_builder nothing;
    program_builder hears;
    hears.receive(0, out);
    CHECK_FALSE(short_scripts::violation_of({q, hears.finish()}));
    CHECK(short_scripts::violation_of({q, nothing.finish()}).value().find("wait for each other") !=
          std::string::npos);
}
