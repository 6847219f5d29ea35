// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/request.hpp>

#include <concepts>
#include <exception>
#include <iterator>

namespace papcoll::inline v0 {

namespace detail {

/// A request, or another object that waits for one, such as an open_request.
template <class R>
concept waitable = requires(R& r, R const& c) {
    { r.test() } -> std::same_as<bool>;
    r.wait();
    { c.ended() } -> std::same_as<bool>;
    c.progress_or_yield();
};

/// Calls wait() of requests that have ended, all of them; throws what made the first fail.
template <class Iterator>
void retire_all(Iterator first, Iterator last) {
    std::exception_ptr failure;
    for (; first != last; ++first) try {
            first->wait();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    if (failure) std::rethrow_exception(failure);
}

} // namespace detail

/// Waits until all requests in [first, last) have ended, and then throws what made the first of them fail, if
/// any did. They progress together, whatever their order.
template <std::forward_iterator Iterator>
requires detail::waitable<std::iter_value_t<Iterator>>
void wait_all(Iterator first, Iterator last) { detail::retire_all(first, last); }

/// Waits until one of the requests in [first, last) has ended and returns its position; throws what made it
/// fail. Requests of nothing have ended. `last` where there are no requests.
template <std::forward_iterator Iterator>
requires detail::waitable<std::iter_value_t<Iterator>>
[[nodiscard]] auto wait_any(Iterator first, Iterator last) -> Iterator {
    while (first != last) {
        for (auto r = first; r != last; ++r)
            if (r->ended()) {
                r->wait();
                return r;
            }
        first->progress_or_yield();
    }
    return last;
}

/// Progresses without blocking; true when all requests in [first, last) have ended. Then throws what made the
/// first of them fail, if any did; before, none is changed.
template <std::forward_iterator Iterator>
requires detail::waitable<std::iter_value_t<Iterator>>
[[nodiscard]] auto test_all(Iterator first, Iterator last) -> bool {
    bool progressed = false;
    for (auto r = first; r != last; ++r) {
        if (r->ended()) continue;
        if (!progressed) r->progress_or_yield();
        progressed = true;
        if (!r->ended()) return false;
    }
    detail::retire_all(first, last);
    return true;
}

} // namespace papcoll::inline v0
