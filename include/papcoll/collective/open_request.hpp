// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/collective/argument_checks.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/executor/contribution.hpp>
#include <papcoll/executor/request.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// A split-phase collective: this rank has joined it before it has its own data, which contribute() adds.
/// Meanwhile the data of others moves, as that of any request (see request). papcoll must be attached to the
/// communicator, and at most 512 such operations may be under way on it at a time.
///
/// The other ranks cannot end without this rank's data. So an object that is destroyed, or assigned to,
/// before contribute() ends the program (std::terminate, after a line on standard error) in place of leaving
/// them to wait for ever; that includes an exception that passes by. Afterwards the destructor waits, as that
/// of any request. Used by one thread at a time.
template <class T>
class [[nodiscard]] open_request {
public:
    /// Of nothing, which has ended.
    open_request() = default;
    open_request(open_request&& other) noexcept = default;
    /// Waits for the operation that is replaced.
    auto operator=(open_request&& other) noexcept -> open_request& {
        if (this == &other) return *this;
        require_contribution();
        m_request = std::move(other.m_request);
        m_own = std::move(other.m_own);
        m_arrivals = std::move(other.m_arrivals);
        m_target = other.m_target;
        m_count = other.m_count;
        m_contributed = other.m_contributed;
        return *this;
    }
    open_request(open_request const&) = delete;
    auto operator=(open_request const&) -> open_request& = delete;
    ~open_request() { require_contribution(); }

    /// For the functions that begin such operations. `target`: where this rank's `count` elements belong;
    /// null: they are sent from where they are. `arrivals`: who is told that this rank has its data, if
    /// anyone.
    open_request(request&& begun, std::shared_ptr<contribution> own, T* target, std::size_t count,
                 std::shared_ptr<detail::arrival_answer> arrivals = nullptr)
        : m_request(std::move(begun))
        , m_own(std::move(own))
        , m_arrivals(std::move(arrivals))
        , m_target(target)
        , m_count(count) {}

    /// Adds this rank's elements, once, and begins to send them. They are copied to their place; where there
    /// is none, on ranks of a gather other than the root, they must stay until the request has ended. Throws
    /// std::invalid_argument for null data, or data that overlaps its place, std::logic_error for a second
    /// contribution, and what made the operation fail.
    void contribute(T const* in) {
        require_open();
        if (m_count > 0) {
            if (in == nullptr) detail::reject("in must not be null when there are elements");
            if (m_target != nullptr) {
                if (!detail::are_apart(in, m_count * sizeof(T), m_target, m_count * sizeof(T)))
                    detail::reject("in overlaps the place it belongs to; contribute() adds what is there");
                std::copy_n(in, m_count, m_target);
            }
        }
        give(in);
    }
    /// This rank's elements are in their place in the output. Throws std::logic_error where there is none.
    void contribute() {
        require_open();
        if (m_count > 0 && m_target == nullptr)
            throw std::logic_error("papcoll: this rank has no output; pass its elements to contribute");
        give(nullptr);
    }
    /// Whether contribute() was called.
    [[nodiscard]] auto contributed() const -> bool { return m_contributed; }

    /// Progresses without blocking. True when the operation has ended, which is not before contribute();
    /// throws what made it fail, once.
    auto test() -> bool {
        try {
            if (!m_request.test()) return false;
        } catch (...) {
            m_own.reset();
            throw;
        }
        m_own.reset();
        return true;
    }
    /// Waits until the operation has ended; throws what made it fail, once, and std::logic_error before
    /// contribute().
    void wait() {
        if (m_own && !m_own->there() && !m_request.ended())
            throw std::logic_error("papcoll: wait() before contribute() would never end");
        m_own.reset();
        m_request.wait();
    }

    /// As request's.
    [[nodiscard]] auto ended() const -> bool { return m_request.ended(); }
    /// As request's.
    void progress_or_yield() const { m_request.progress_or_yield(); }

private:
    void require_open() const {
        if (!m_own || m_own->there())
            throw std::logic_error("papcoll: the operation has this rank's data already, or has ended");
    }
    void require_contribution() noexcept {
        if (!m_own || m_own->there()) return;
        try {
            if (m_request.test()) return;
        } catch (...) { // it has failed: nobody waits for this rank any more
            return;
        }
        std::fputs("papcoll: a split-phase operation was dropped before contribute(); the other ranks would "
                   "wait for ever\n",
                   stderr);
        std::terminate();
    }
    void give(T const* data) {
        m_own->give(data);
        m_contributed = true;
        if (m_arrivals) m_arrivals->arrive();
        (void)test();
    }
    request m_request;
    std::shared_ptr<contribution> m_own; // null: ended
    std::shared_ptr<detail::arrival_answer> m_arrivals;
    T* m_target = nullptr;
    std::size_t m_count = 0;
    bool m_contributed = false;
};

namespace detail {

/// The policies with which a collective may be begun before the rank's data is there: the MPI library's own
/// cannot.
template <class P, collective_kind Operation>
concept split_phase_policy = collective_policy<P, Operation> && !std::same_as<P, native>;

/// Begins a call with late data.
template <class T, class Comm, class Policy>
[[nodiscard, gnu::always_inline]] inline auto begin_open(Comm& comm, call_description call,
                                                         Policy const& policy) -> open_request<T> {
    require_transportable<T>();
    auto const own = std::make_shared<contribution>();
    call.memory.late = own;
    auto&& used = as_policy(policy);
    auto const by = policy_ref::to(used);
    auto arrivals = by.arrivals(true);
    auto begun = begin_call(ranks_of(comm), call, by);
    return {std::move(begun), own, static_cast<T*>(call.late_target), call.late_count, std::move(arrivals)};
}
template <class T>
[[nodiscard]] auto describe_open(collective_kind operation, output const& out) -> call_description {
    auto call = call_description::of<T>(operation);
    call.out = out;
    call.in_place = operation == collective_kind::all_gather;
    return call;
}
/// The elements of the memory or the std::vector that a split-phase collective fills.
template <class Out>
struct output_elements {};
template <class T>
struct output_elements<T*> {
    using type = T;
};
template <class T>
struct output_elements<std::vector<T>> {
    using type = T;
};
template <class Out>
using elements_of_output = typename output_elements<std::decay_t<Out>>::type;

} // namespace detail

} // namespace papcoll::inline v0
