// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>

#include <boost/mpi/communicator.hpp>

#include <memory>
#include <string>

#include "drawn.hpp"
#include "random_source.hpp"

namespace soak {

/// Where and how a rank makes a call.
struct call_site {
    std::shared_ptr<drawn_call const> what;
    boost::mpi::communicator comm;
    random_source own; ///< of this rank alone
    bool blocks;       ///< whether it waits in the call, where it may choose
    papcoll::arrival_source taken = {};
};

/// One call of a collective on one rank, with its buffers and what they must have at the end.
class call {
public:
    call() = default;
    call(call const&) = delete;
    auto operator=(call const&) -> call& = delete;
    virtual ~call() = default;

    /// Makes the call; a plan, all its runs, the last of which may be under way afterwards.
    virtual void begin() = 0;
    /// Adds this rank's data to an open operation, once.
    virtual void contribute() = 0;
    virtual auto test() -> bool = 0;
    virtual void wait() = 0;
    /// Lets go of the request, which waits for it.
    virtual void drop() = 0;
    /// After the end: the first wrong element of the results in words; empty: all are right.
    [[nodiscard]] virtual auto complaint() const -> std::string = 0;
    /// Makes an element of the result wrong; false where there is none.
    virtual auto spoil() -> bool = 0;
};

// Each with all types; made in a file of its own, for the compiler's sake.
[[nodiscard]] auto make_broadcast(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_reduce(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_all_reduce(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_gather(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_all_gather(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_all_gatherv(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_reduce_scatter(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_all_to_all(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_scatter(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_scatterv(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_gatherv(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_scan(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_exscan(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_barrier(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_all_to_allv(call_site site) -> std::unique_ptr<call>;
[[nodiscard]] auto make_reduce_scatter_block(call_site site) -> std::unique_ptr<call>;

[[nodiscard]] auto make_call(call_site site) -> std::unique_ptr<call>;

} // namespace soak
