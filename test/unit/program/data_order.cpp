// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/program/data_order.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <set>
#include <vector>

using papcoll::memory;
using papcoll::region;
using papcoll::detail::data_order;
using number = data_order::index;

namespace {

/// The same element by element.
class by_element {
public:
    explicit by_element(bool in_place)
        : m_in_place(in_place) {}

    void read(region const& r, number i, std::set<number>& waits) {
        each(r, [&](element& e) {
            if (e.written) waits.insert(e.writer);
            e.readers.insert(i);
        });
    }
    void write(region const& r, number i, std::set<number>& waits) {
        each(r, [&](element& e) {
            if (e.written && e.writer != i) waits.insert(e.writer);
            for (auto const reader : e.readers)
                if (reader != i) waits.insert(reader);
            e = {true, i, {}};
        });
    }

private:
    struct element {
        bool written = false;
        number writer = 0;
        std::set<number> readers = {};
    };
    template <class F>
    void each(region const& r, F f) {
        auto const where = m_in_place && r.where() == memory::in ? memory::out : r.where();
        for (auto e = r.offset(); e < r.end(); ++e) f(m_elements[static_cast<std::size_t>(where)][e]);
    }

    bool m_in_place;
    std::array<std::array<element, 64>, 3> m_elements;
};

} // namespace

TEST_CASE("an instruction waits for the last write, and a write for the reads since, element by element") {
    std::mt19937 random(1);
    auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    for (int turn = 0; turn < 300; ++turn) {
        bool const in_place = turn % 2 == 0;
        data_order order(in_place);
        by_element expected(in_place);
        for (number i = 0; i < 40; ++i) {
            std::vector<number> waits;
            std::set<number> all;
            // All that an instruction reads comes before what it writes.
            for (std::size_t k = below(4); k > 0; --k) {
                region const r(static_cast<memory>(below(3)), below(40), below(20));
                order.read(r, i, waits);
                expected.read(r, i, all);
            }
            for (std::size_t k = below(3); k > 0; --k) {
                region const r(static_cast<memory>(below(3)), below(40), below(20));
                order.write(r, i, waits);
                expected.write(r, i, all);
            }
            CHECK(std::set<number>(waits.begin(), waits.end()) == all);
            CHECK(all.count(i) == 0);
        }
    }
}

TEST_CASE("in place `in` and `out` are one memory, and scratch is another") {
    for (bool const in_place : {false, true}) {
        data_order order(in_place);
        std::vector<number> waits;
        order.read({memory::in, 5, 10}, 0, waits);
        order.write({memory::scratch, 5, 10}, 1, waits);
        CHECK(waits.empty());
        order.write({memory::out, 14, 10}, 2, waits);
        CHECK(waits == (in_place ? std::vector<number>{0} : std::vector<number>{}));
    }
}

TEST_CASE("the size of memory does not count") {
    data_order order(false);
    std::vector<number> waits;
    auto const huge = std::size_t(1) << 60;
    order.write({memory::scratch, 0, huge}, 0, waits);
    order.read({memory::scratch, huge / 2, 1}, 1, waits);
    order.write({memory::scratch, huge / 4, huge / 2}, 2, waits);
    CHECK(waits == std::vector<number>{0, 0, 0, 1, 0});
}
