// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/program/program_builder.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../../support/program_lists.hpp"

namespace {

using papcoll::memory;
using papcoll::program;
using papcoll::program_builder;
using papcoll::region;
using program_lists::action;
using waits = std::vector<program::index>;

auto in(std::size_t offset, std::size_t size) -> region { return {memory::in, offset, size}; }
auto out(std::size_t offset, std::size_t size) -> region { return {memory::out, offset, size}; }

auto waits_of(program const& p, program::index i) -> waits {
    auto const all = p.waits_of(i);
    return {all.begin(), all.end()};
}
auto regions_of(program const& p, program::index i) -> std::vector<region> {
    auto const all = p.regions_of(i);
    return {all.begin(), all.end()};
}

} // namespace

TEST_CASE("an instruction waits for what the data asks for, and for nothing else") {
    program_builder to;
    auto const s = to.scratch(10);
    to.receive(1, s);                              // 0
    to.receive(2, out(0, 5));                      // 1
    to.send(1, in(0, 10));                         // 2
    to.send(2, s.part(5, 5));                      // 3: reads what 0 writes
    to.combine(out(0, 5), in(0, 5), s.part(0, 5)); // 4: reads what 0 writes, writes where 1 does
    to.receive(1, s.part(0, 5));                   // 5: writes what 4 reads, and 0 wrote
    to.copy(out(5, 5), in(5, 5));                  // 6
    to.send(1, out(3, 4));                         // 7: reads what 4 and 6 write
    auto const p = to.finish();
    CHECK(p.size() == 8);
    for (program::index const free : {0u, 1u, 2u, 6u}) CHECK(waits_of(p, free).empty());
    CHECK(waits_of(p, 3) == waits{0});
    CHECK(waits_of(p, 4) == waits{0, 1});
    CHECK(waits_of(p, 5) == waits{0, 4});
    CHECK(waits_of(p, 7) == waits{4, 6});
    CHECK(p.scratch == 10);
    CHECK_FALSE(p.in_place);
}

TEST_CASE("in place a write of the result waits for the reads of the operands") {
    for (bool const in_place : {false, true}) {
        program_builder to(in_place);
        to.send(1, in(2, 4));
        to.receive(2, out(0, 3));
        to.receive(2, out(6, 3));
        auto const p = to.finish();
        CHECK(waits_of(p, 1) == (in_place ? waits{0} : waits{}));
        CHECK(waits_of(p, 2).empty());
        CHECK(p.in_place == in_place);
    }
}

TEST_CASE("an order that the data does not ask for") {
    program_builder to;
    auto const first = to.receive(1, std::vector<region>());
    auto const second = to.send(1, in(0, 1));
    to.after(first);
    to.after(second);
    to.send(2, in(0, 1));
    auto const p = to.finish();
    CHECK(waits_of(p, 1).empty());
    CHECK(waits_of(p, 2) == waits{first, second});
    CHECK(p.order.empty());
}

TEST_CASE("what has no elements, or is there already, is left out") {
    program_builder to(true);
    to.copy(out(3, 0), in(0, 0));
    to.copy(out(3, 2), in(3, 2)); // the same memory
    to.copy(out(3, 2), out(3, 2));
    to.combine(out(0, 0), in(0, 0), to.scratch(0));
    region const parts[] = {in(0, 2), in(2, 0), in(2, 3), in(6, 1)};
    to.send(1, parts);
    to.receive(1, std::vector<region>());
    auto const p = to.finish();
    CHECK(p.size() == 2);
    CHECK(regions_of(p, 0) == std::vector{in(0, 5), in(6, 1)}); // neighbours are one
    CHECK(p.elements_of(0) == 6);
    CHECK(p.elements_of(1) == 0);
    program_builder apart;
    apart.copy(out(3, 2), in(3, 2));
    CHECK(apart.finish().size() == 1);
}

TEST_CASE("combinations of neighbours are one") {
    program_builder to;
    auto const s = to.scratch(8);
    std::vector<region> threes;
    for (std::size_t at : {0u, 2u, 4u}) threes.insert(threes.end(), {out(at, 2), in(at, 2), s.part(at, 2)});
    threes.insert(threes.end(), {out(6, 2), s.part(6, 2), in(6, 2)});
    to.combine(threes);
    to.combine_alike(out(0, 2), out(0, 2), s.part(0, 2));
    auto const p = to.finish();
    CHECK(p.size() == 2);
    CHECK(regions_of(p, 0) ==
          std::vector{out(0, 6), in(0, 6), s.part(0, 6), out(6, 2), s.part(6, 2), in(6, 2)});
    CHECK_FALSE(p.instructions[0].alike);
    CHECK(p.instructions[1].alike);
    CHECK(p.elements_of(0) == 8);
}

TEST_CASE("messages, combinations and copies are cut into pieces of about equal size") {
    for (std::size_t const n : {1u, 7u, 8u, 15u, 16u, 17u, 100u}) {
        auto const written = [&](std::size_t limit) {
            program_builder to;
            to.use({.longest_elements = 8});
            auto const s = to.scratch(n);
            region const halves[] = {s.part(0, n / 2), s.part(n / 2, n - n / 2)};
            to.receive(1, halves);
            to.combine(out(0, n), in(0, n), s);
            to.copy(out(n, n), out(0, n));
            to.send(2, out(n, n));
            return to.finish(limit);
        };
        auto const cut = written(1'000'000);
        CHECK_FALSE(cut.uncut);
        auto const pieces = (n + 7) / 8;
        for (auto const what : {action::send, action::receive, action::combine, action::copy}) {
            CHECK(program_lists::count(cut, what) == pieces);
            CHECK(program_lists::elements(cut, what) == n);
        }
        for (auto const& m : program_lists::messages(cut, action::send)) {
            CHECK(m.elements <= 8);
            CHECK(m.elements >= n / pieces);
        }
        // Piece k of one depends on piece k of the one before alone.
        for (program::index i = 0; i < cut.size(); ++i) CHECK(cut.waits_of(i).size() <= (i < pieces ? 0 : 1));
        // Kept uncut it becomes the same when it is executed.
        auto const kept = written(0);
        CHECK(kept.uncut == (pieces > 1));
        if (kept.uncut) CHECK(kept.size() == 4);
        CHECK(program_lists::are_same(program_lists::executed(kept), cut));
    }
}

TEST_CASE("both ends of a message are cut alike, whatever regions they have") {
    std::mt19937 random(3);
    for (int turn = 0; turn < 200; ++turn) {
        auto const n = random() % 1000;
        papcoll::message_windows const windows{.longest_elements = 1 + random() % 100};
        auto const scattered = [&](memory where) {
            std::vector<region> regions;
            for (std::size_t at = 0; at < n;) {
                auto const size = std::min<std::size_t>(1 + random() % 50, n - at);
                regions.emplace_back(where, at + regions.size(), size);
                at += size;
            }
            return regions;
        };
        program_builder sender, receiver;
        sender.use(windows);
        receiver.use(windows);
        sender.send(1, scattered(memory::in));
        receiver.receive(0, scattered(memory::out));
        auto const sent = program_lists::lengths(sender.finish(), action::send, 1);
        CHECK(sent == program_lists::lengths(receiver.finish(), action::receive, 0));
    }
}

TEST_CASE("an order holds for all the pieces") {
    program_builder to;
    auto const short_one = to.send(1, in(0, 1));
    to.use({.longest_elements = 2});
    auto const received = to.receive(1, out(0, 6));
    to.after(received);
    to.after(short_one);
    to.send(2, in(0, 4));
    auto const p = to.finish();
    CHECK(p.size() == 6);
    CHECK(waits_of(p, 4) == waits{0, 1, 2, 3});
    CHECK(waits_of(p, 5).empty()); // sends leave in order anyway
}

TEST_CASE("windows are kept once, and those of a message are its own") {
    program_builder to;
    papcoll::message_windows const narrow{.receives = 1, .sends = 1};
    to.send(1, in(0, 1));
    to.use(narrow);
    to.send(1, in(0, 1));
    to.use({.receives = 8, .sends = 8, .admission = false});
    to.send(1, in(0, 1));
    auto const p = to.finish();
    CHECK(p.windows.size() == 2);
    CHECK(p.windows_of(1) == narrow);
    CHECK(p.windows_of(0) == p.windows_of(2));
    CHECK(p.windows_of(0).sends == 8);
    CHECK_FALSE(p.windows_of(0).admits(1'000));
}

TEST_CASE("what admission and windows depend on") {
    papcoll::message_windows const w{
        .receives = 1, .sends = 2, .admission = true, .unadmitted_elements = 10, .unadmitted = 8};
    CHECK_FALSE(w.admits(10));
    CHECK(w.admits(11));
    CHECK(w.limit(10, w.sends) == 8);
    CHECK(w.limit(11, w.sends) == 2);
    papcoll::message_windows const open{.sends = 3, .admission = false};
    CHECK(open.limit(10, open.sends) == 3);
}

TEST_CASE("more scratch memory than there can be is refused") {
    program_builder to;
    auto const most = std::numeric_limits<std::size_t>::max() / 4;
    CHECK(to.scratch(most).size() == most);
    CHECK_THROWS_AS(to.scratch(1), std::length_error);
    CHECK_THROWS_AS(program_builder().scratch(most + 1), std::length_error);
}

TEST_CASE("what is appended leaves the windows of later messages alone") {
    papcoll::message_windows const asks{.receives = 1, .sends = 1, .admission = true};
    program_builder inner;
    inner.use(asks);
    inner.send(1, in(0, 4));
    auto const part = inner.finish();
    program_builder to;
    to.append(part);
    to.send(2, in(0, 4));
    auto const p = to.finish();
    CHECK(p.windows_of(0) == asks);
    CHECK_FALSE(p.windows_of(1).admission);
}

TEST_CASE("programs that are MPI's work, or share memory, are not appended") {
    program native;
    native.native = true;
    program_builder to, sharing;
    CHECK_THROWS_AS(to.append(native), std::invalid_argument);
    sharing.share(4, 1);
    CHECK_THROWS_AS(to.append(sharing.finish()), std::invalid_argument);
}

TEST_CASE("an instruction waits for earlier ones alone, and an order that nothing follows orders nothing") {
    program_builder to;
    CHECK_THROWS_AS(to.after(0), std::invalid_argument);
    to.use({.receives = 1, .sends = 1, .admission = false, .longest_elements = 2});
    to.send(1, in(0, 4));
    CHECK_THROWS_AS(to.after(1), std::invalid_argument);
    to.after(0);
    auto const p = to.finish();
    CHECK(p.size() == 2);
    CHECK(p.waits.empty());
}
