// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/call_description.hpp>
#include <papcoll/executor/request.hpp>
#include <papcoll/policy/policy_ref.hpp>
#include <papcoll/transport/communicator.hpp>
#include <papcoll/transport/transport.hpp>

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <memory>

// What all collectives call. None of it depends on the types of a call.
namespace papcoll::inline v0 {

namespace detail {

/// Runs a call to its end; attaches papcoll to the communicator where it must.
template <transport Transport>
void run_call(Transport& t, call_description& call, policy_ref policy);
/// Begins a call; papcoll must be attached. Afterwards the description knows where late data belongs.
template <transport Transport>
[[nodiscard]] auto begin_call(Transport& t, call_description& call, policy_ref policy) -> request;

/// What a plan works on that has buffers of its own; null where this rank has nothing. They are there as long
/// as the plan.
struct plan_buffers {
    void* in = nullptr;
    std::size_t in_size = 0;
    void* out = nullptr;
    std::size_t out_size = 0;
    /// Whether this rank is the root, of a collective that has one.
    bool is_root = false;
};

/// A call that is planned once and made again and again with other buffers.
class prepared_call {
public:
    prepared_call() = default;
    prepared_call(prepared_call const&) = delete;
    auto operator=(prepared_call const&) -> prepared_call& = delete;
    virtual ~prepared_call() = default;

    /// Another one of the same call, without buffers of its own.
    [[nodiscard]] virtual auto copy() const -> std::unique_ptr<prepared_call> = 0;
    /// Buffers for all calls that are made from now on, and no others, without arguments. Collective.
    virtual auto own_buffers() -> plan_buffers = 0;
    virtual void run(call_description& call) = 0;
    [[nodiscard]] virtual auto begin(call_description& call) -> request = 0;
};
/// Collective; papcoll must be attached.
template <transport Transport>
[[nodiscard]] auto prepare_call(Transport& t, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call>;

inline namespace compiled_by_papcoll_impl_hpp {

// The same on the user's communicator.

template <std::same_as<MPI_Comm> Comm>
void run_call(Comm comm, call_description& call, policy_ref policy);
template <std::same_as<MPI_Comm> Comm>
[[nodiscard]] auto begin_call(Comm comm, call_description& call, policy_ref policy) -> request;
template <std::same_as<MPI_Comm> Comm>
[[nodiscard]] auto prepare_call(Comm comm, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call>;

} // namespace compiled_by_papcoll_impl_hpp

/// What the functions above take for a communicator.
template <communicator Comm>
[[nodiscard]] auto ranks_of(Comm& comm) -> decltype(auto) {
    if constexpr (transport<Comm>)
        return (comm);
    else
        return static_cast<MPI_Comm>(comm);
}

} // namespace detail

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/collective/impl/run_call.hpp>
#endif
