// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/failures.hpp>
#include <papcoll/context/node_memory.hpp>
#include <papcoll/executor/message_flow.hpp>

#include <exception>
#include <stdexcept>
#include <string>

namespace papcoll::inline v0::detail {

/// What to throw for a message of rank `peer` that is not whole.
[[nodiscard]] inline auto failure_of(arrival_of_message what, int peer) -> std::exception_ptr {
    if (what == arrival_of_message::nothing) return std::make_exception_ptr(missing_value_error(peer));
    return std::make_exception_ptr(
        std::length_error("papcoll: rank " + std::to_string(peer) +
                          " sent a message of another length than this rank expects; do all ranks give the "
                          "same count, root and policy?"));
}

/// What to throw for what rank `peer` tells by the memory of the node.
[[nodiscard]] inline auto failure_of(node_memory::news what, int peer) -> std::exception_ptr {
    if (what == node_memory::news::failed) return std::make_exception_ptr(missing_value_error(peer));
    return std::make_exception_ptr(std::invalid_argument(
        "papcoll: rank " + std::to_string(peer) +
        " makes another call than this rank; do all ranks make the same calls, with the same count, root and "
        "policy? PAPCOLL_CHECKS=agreed in the environment says what differs"));
}

/// The first failure of an operation on this rank.
class first_failure {
public:
    void note(std::exception_ptr const& why) {
        if (!m_first) m_first = why;
    }
    /// True when the message is whole; its failure is noted otherwise.
    auto check(arrival_of_message what, int peer) -> bool {
        if (what == arrival_of_message::whole) return true;
        note(failure_of(what, peer));
        return false;
    }
    /// Calls f() unless something has failed; what it throws is the failure.
    template <class F>
    void attempt(F f) {
        if (m_first) return;
        try {
            f();
        } catch (...) {
            m_first = std::current_exception();
        }
    }
    [[nodiscard]] auto get() const -> std::exception_ptr const& { return m_first; }
    explicit operator bool() const { return m_first != nullptr; }

private:
    std::exception_ptr m_first;
};

} // namespace papcoll::inline v0::detail
