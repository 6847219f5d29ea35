// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/executor/request.hpp>

#include <memory>
#include <utility>

namespace papcoll::inline v0 {

namespace detail {

template <bool Blocking>
struct barrier_function : collective_forms<collective_kind::barrier, Blocking> {
    using typename collective_forms<collective_kind::barrier, Blocking>::result;

    template <communicator Comm, collective_policy<collective_kind::barrier> Policy = automatic>
    auto operator()(Comm&& comm, Policy const& policy = {}) const -> result {
        return this->make(comm, this->template described<Policy, char>(), policy);
    }
};

} // namespace detail

/// A barrier prepared once and made again and again. Collective to make and to run, in the same order as
/// other collectives on its communicator, to which papcoll is attached (see attach). Made by plan_barrier.
template <class Comm>
class barrier_plan {
public:
    /// Returns when all ranks have called it.
    void run() {
        auto call = m_call;
        m_prepared->run(call);
    }
    /// run that returns at once.
    [[nodiscard]] auto start() -> request {
        auto call = m_call;
        return m_prepared->begin(call);
    }

    /// For plan_barrier.
    template <class Policy>
    barrier_plan(Comm comm, detail::call_description call, Policy const& policy)
        : m_comm(std::move(comm))
        , m_call(std::move(call)) {
        detail::require_communicator<Comm, Policy>();
        auto&& used = detail::as_policy(policy);
        m_prepared = detail::prepare_call(detail::ranks_of(m_comm), m_call, detail::policy_ref::to(used));
    }

private:
    Comm m_comm;
    detail::call_description m_call;
    std::shared_ptr<detail::prepared_call> m_prepared;
};

namespace detail {

struct plan_barrier_function {
    template <communicator Comm, collective_policy<collective_kind::barrier> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, Policy const& policy = {}) const {
        return barrier_plan<Comm>(comm, barrier_function<true>::described<Policy, char>(), policy);
    }
};

} // namespace detail

/// Returns when all ranks have called it.
///
///     barrier(comm[, policy])
///
/// Must agree on all ranks: the policy with all its members.
///
/// Cost with `dissemination{.radix = k}`: ⌈log_k P⌉ rounds of k − 1 empty messages; without a radix also, if
/// that is shorter in the model, ⌊log2 P⌋ rounds (two more unless P is a power of two), or a message of each
/// rank to one and back.
///
/// Throws std::invalid_argument, before any message of the operation, for members of the policy that cannot
/// be; with agreed checks on all ranks if it does on any, or if they disagree. Throws mpi_error where MPI
/// fails.
///
///     papcoll::barrier(world);
inline constexpr detail::explained<detail::barrier_function<true>> barrier{};

/// barrier that returns at once: the request ends when all ranks have called it.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::ibarrier(world);
inline constexpr detail::explained<detail::barrier_function<false>> ibarrier{};

/// plan_barrier(comm[, policy]) prepares barriers, which `run()` makes. Collective, on an attached `comm`
/// (see attach). Throws as barrier does.
///
///     auto meet = papcoll::plan_barrier(world);
///     meet.run();
inline constexpr detail::plan_barrier_function plan_barrier{};

} // namespace papcoll::inline v0
