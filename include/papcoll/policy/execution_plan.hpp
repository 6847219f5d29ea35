// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/triggered_gather_program.hpp>
#include <papcoll/schedule/block_exchange.hpp>
#include <papcoll/schedule/butterfly_round.hpp>
#include <papcoll/schedule/census_round.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// One part of the execution of a collective on one rank.
struct execution_stage {
    enum class work {
        reduce,         ///< a reduction from the user's data to the owners of the blocks
        disseminate,    ///< a dissemination of the owners' blocks
        gather,         ///< a triggered gather: all ranks' parts to the root
        reduce_spread,  ///< a reduction to the owners whose results spread meanwhile (compile_spread)
        butterfly,      ///< every rank exchanges partial results with others, all in one order
        gather_combine, ///< every rank gets all ranks' data and combines it in the order of ranks
        census,         ///< every rank combines partial results of all others, in an order of its own
        exchange,       ///< every rank gets a block from every other
        native          ///< the MPI library's own nonblocking routine does it all
    } what;
    /// Of gather_combine: one block per rank, in a buffer of papcoll's. Of butterfly, census, exchange
    /// and native: unused.
    message_program program = {};
    /// Of census alone.
    std::vector<census_round> census = {};
    /// Of gather alone.
    triggered_gather_program gather = {};
    /// Of exchange alone.
    block_exchange exchange = {};
    /// Of butterfly alone.
    std::vector<butterfly_round> butterfly = {};

    /// The memory behind it.
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return program.held_bytes() + gather.held_bytes() + detail::held_bytes(census) +
               detail::held_bytes(butterfly);
    }
};

/// How a collective is executed on one rank: stages one after the other, each as soon as the one before has
/// ended on this rank.
struct execution_plan {
    std::vector<execution_stage> stages;

    /// All the memory that it takes.
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        auto sum = sizeof(execution_plan) + detail::held_bytes(stages);
        for (auto const& stage : stages) sum += stage.held_bytes();
        return sum;
    }
};

namespace detail {

[[nodiscard]] inline auto stage_of(message_program program) -> execution_stage {
    auto const what = program.kind == schedule_kind::reduction ? execution_stage::work::reduce
                                                               : execution_stage::work::disseminate;
    return {what, std::move(program), {}};
}
template <class... Stages>
[[nodiscard]] auto plan_of(Stages&&... stages) -> execution_plan {
    execution_plan plan;
    plan.stages.reserve(sizeof...(stages));
    (plan.stages.push_back(std::forward<Stages>(stages)), ...);
    return plan;
}

} // namespace detail

} // namespace papcoll::inline v0
