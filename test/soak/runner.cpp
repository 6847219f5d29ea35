// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "runner.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>

namespace soak {
namespace {

using namespace std::chrono_literals;

constexpr int any_communicator = -1;

} // namespace

void runner::run(batch const& b) {
    m_own = random_source(mixed(m_options.seed, b.first, m_rank, 1));
    try {
        plan(b);
        bool const is_late = m_own.percent(10);
        if (is_late) std::this_thread::sleep_for(std::chrono::microseconds(m_own.below(3000)));
        for (auto const& e : permuted(b.events)) {
            delay();
            perform(e);
            if (!may_swap(e)) look_after_some();
        }
        finish_all(any_communicator);
    } catch (std::exception const& e) {
        m_watchdog.fail(std::string("an exception: ") + e.what());
    }
}

/// Chooses in which calls this rank waits.
void runner::plan(batch const& b) {
    m_blocks.clear();
    for (auto const& e : b.events)
        if (e.what == act::begin) m_blocks[e.call.get()] = m_own.percent(25);
}

/// Beginnings that wait for nobody, one after the other, may change places, but not on one communicator.
auto runner::permuted(std::vector<event> const& events) -> std::vector<event> {
    auto result = events;
    for (std::size_t pass = 0; pass < 2; ++pass)
        for (std::size_t i = 1; i < result.size(); ++i)
            if (may_swap(result[i - 1]) && may_swap(result[i]) &&
                result[i - 1].communicator != result[i].communicator && m_own.percent(40))
                std::swap(result[i - 1], result[i]);
    return result;
}
auto runner::may_swap(event const& e) const -> bool {
    if (e.what != act::begin || e.call->policy.source == arrivals_from::the_monitor) return false;
    auto const form = e.call->form;
    return form == call_form::begun || form == call_form::open ||
           (form == call_form::any && !m_blocks.at(e.call.get()));
}

void runner::perform(event const& e) {
    auto const id = e.communicator;
    bool const is_mine = e.what == act::make || e.what == act::end_monitor || m_places.contains(id);
    if (!is_mine) return;
    if (e.what == act::free) finish_all(id);
    if (e.what != act::begin && e.what != act::contribute) m_watchdog.enter(words(e));
    switch (e.what) {
    case act::make:
        return m_places.make(e.made);
    case act::free:
        return m_places.free(id);
    case act::attach:
        return m_places.attach(id, e.how);
    case act::monitor:
        return m_places.begin_monitor(id, e.monitor);
    case act::end_monitor:
        return m_places.end_monitor(id);
    case act::synchronise:
        return m_places.synchronise(id);
    case act::begin:
        return begin(e);
    case act::contribute:
        return contribute(e);
    }
}

void runner::begin(event const& e) {
    auto const number = e.call->number;
    if (m_options.stall == number && m_rank == 0) {
        m_watchdog.enter("staying away from", e.call);
        for (;;) std::this_thread::sleep_for(1s);
    }
    call_site site{e.call, m_places.comm(e.communicator), random_source(mixed(e.call->key, m_rank, 2)),
                   m_blocks.at(e.call.get())};
    if (e.call->policy.source == arrivals_from::the_monitor) {
        m_watchdog.enter("taking arrivals for", e.call);
        site.taken = m_places.take_arrivals(e.communicator, m_own);
    }
    m_watchdog.enter("beginning", e.call);
    m_under_way.push_back({e.call, make_call(std::move(site)), e.call->form != call_form::open});
    m_under_way.back().running->begin();
    m_watchdog.begun(e.call);
}

void runner::contribute(event const& e) {
    auto const found =
        std::find_if(m_under_way.begin(), m_under_way.end(), [&](auto const& u) { return u.what == e.call; });
    m_watchdog.enter("contributing to", e.call);
    found->running->contribute();
    found->contributed = true;
}

void runner::delay() {
    auto const way = m_own.between(0, 99);
    if (way < 10) std::this_thread::yield();
    if (way >= 10 && way < 16) std::this_thread::sleep_for(std::chrono::microseconds(m_own.below(200)));
    if (way == 16) std::this_thread::sleep_for(std::chrono::microseconds(m_own.below(2000)));
}

/// Tests or waits for some calls.
void runner::look_after_some() {
    while (m_own.percent(35)) {
        if (m_under_way.empty()) return;
        auto const i = m_own.below(m_under_way.size());
        auto const& chosen = m_under_way[i];
        m_watchdog.enter("testing", chosen.what);
        if (chosen.running->test()) finish(i);
    }
    if (!m_own.percent(20)) return;
    if (auto const some = waitable(any_communicator); !some.empty()) finish(m_own.one_of(some));
}

/// Those that this rank may wait for: its data is there.
auto runner::waitable(int communicator) const -> std::vector<std::size_t> {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < m_under_way.size(); ++i)
        if (m_under_way[i].contributed &&
            (communicator == any_communicator || m_under_way[i].what->communicator == communicator))
            result.push_back(i);
    return result;
}

/// Waits for a call, unless it has ended, and compares.
void runner::finish(std::size_t index) {
    auto const ended = std::move(m_under_way[index]);
    m_under_way.erase(m_under_way.begin() + static_cast<std::ptrdiff_t>(index));
    m_watchdog.enter("waiting for", ended.what);
    auto const way = m_own.between(0, 99);
    if (way < 25) {
        while (!ended.running->test()) std::this_thread::yield();
    } else if (way < 90) {
        ended.running->wait();
    } else {
        ended.running->drop();
    }
    m_watchdog.ended(ended.what);
    compare(ended);
}
void runner::finish_all(int communicator) {
    for (auto open = waitable(communicator); !open.empty(); open = waitable(communicator))
        finish(m_own.one_of(open));
}

void runner::compare(under_way const& ended) {
    m_watchdog.enter("comparing the result of", ended.what);
    if (m_options.wrong && ended.what->number >= *m_options.wrong && !m_spoilt)
        m_spoilt = ended.running->spoil();
    if (m_options.leak && ended.what->number >= *m_options.leak) {
        static std::vector<std::vector<char>> lost;
        lost.emplace_back(std::size_t(1) << 20, 'x');
    }
    if (auto const complaint = ended.running->complaint(); !complaint.empty())
        m_watchdog.fail("a wrong result: " + complaint);
    ++m_compared;
}

} // namespace soak
