// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/all_to_all.hpp>
#include <papcoll/executor/butterfly.hpp>
#include <papcoll/executor/census.hpp>
#include <papcoll/executor/combine.hpp>
#include <papcoll/executor/combine_spread.hpp>
#include <papcoll/executor/copy.hpp>
#include <papcoll/executor/gather_combine.hpp>
#include <papcoll/executor/program_pieces.hpp>
#include <papcoll/executor/staged.hpp>
#include <papcoll/executor/triggered_gather.hpp>
#include <papcoll/policy/execution_plan.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

using plan_pointer = std::shared_ptr<execution_plan const>;

[[nodiscard]] inline auto program_in(plan_pointer const& plan, std::size_t stage = 0)
    -> std::shared_ptr<message_program const> {
    return executable({plan, &plan->stages[stage].program});
}

/// A plan of stages: `begin(i)` makes the operation of stage i.
template <class Begin>
[[nodiscard]] auto execute_stages(plan_pointer const& plan, Begin begin) -> std::shared_ptr<operation> {
    if (plan->stages.empty()) throw std::logic_error("papcoll: the policy's plan has no stages");
    if (plan->stages.size() == 1) return begin(std::size_t(0));
    return std::make_shared<staged_operation>(plan->stages.size(), std::move(begin));
}

/// A plan that only moves data: in place, at `data`. What is `own` of it may come later.
template <class T, transport Transport>
[[nodiscard]] auto execute_copy(std::shared_ptr<context<Transport>> const& c, plan_pointer const& plan,
                                int tag, T* data, contribution_pointer<T> const& own = nullptr)
    -> std::shared_ptr<operation> {
    return execute_stages(plan, [=](std::size_t stage) -> std::shared_ptr<operation> {
        if (plan->stages[stage].what != execution_stage::work::gather)
            return std::make_shared<copy_operation<Transport, T>>(c, program_in(plan, stage), tag, data, own);
        std::shared_ptr<triggered_gather_program const> const program(plan, &plan->stages[stage].gather);
        auto const part = program->parts[static_cast<std::size_t>(c->rank())];
        return std::make_shared<triggered_gather_operation<Transport, T>>(
            c, program, tag, data != nullptr ? data + part.offset : nullptr, data, own);
    });
}

/// A plan that reduces, and may spread the result at `buffers.out` afterwards; `count` elements.
template <class T, transport Transport, class Op>
[[nodiscard]] auto execute_reduction(std::shared_ptr<context<Transport>> const& c, plan_pointer const& plan,
                                     int tag, reduction_buffers<T> const& buffers, std::size_t count, Op op)
    -> std::shared_ptr<operation> {
    return execute_stages(plan, [=](std::size_t stage) -> std::shared_ptr<operation> {
        auto const program = program_in(plan, stage);
        switch (plan->stages[stage].what) {
        case execution_stage::work::reduce:
            return std::make_shared<combine_operation<Transport, T, Op>>(c, program, tag, buffers, op);
        case execution_stage::work::disseminate:
            return std::make_shared<copy_operation<Transport, T>>(c, program, tag, buffers.out);
        case execution_stage::work::reduce_spread:
            return std::make_shared<spread_operation<Transport, T, Op>>(c, program, tag, buffers, op);
        case execution_stage::work::butterfly:
            return std::make_shared<butterfly_operation<Transport, T, Op>>(
                c, std::shared_ptr<std::vector<butterfly_round> const>(plan, &plan->stages[stage].butterfly),
                tag, buffers.in, buffers.out, count, op);
        case execution_stage::work::gather_combine:
            return std::make_shared<gather_combine_operation<Transport, T, Op>>(c, program, tag, buffers.in,
                                                                                buffers.out, count, op);
        case execution_stage::work::gather:
        case execution_stage::work::exchange:
        case execution_stage::work::native:
            throw std::logic_error("papcoll: the policy's plan does not reduce");
        case execution_stage::work::census:
            break;
        }
        return std::make_shared<census_operation<Transport, T, Op>>(
            c, std::shared_ptr<std::vector<census_round> const>(plan, &plan->stages[stage].census), tag,
            buffers.in, buffers.out, count, op);
    });
}

/// A plan of an all-to-all of blocks of n elements; in place where in == out.
template <class T, transport Transport>
[[nodiscard]] auto execute_exchange(std::shared_ptr<context<Transport>> const& c, plan_pointer const& plan,
                                    int tag, T const* in, T* out, std::size_t n)
    -> std::shared_ptr<operation> {
    if (plan->stages.size() != 1 || plan->stages[0].what != execution_stage::work::exchange)
        throw std::logic_error("papcoll: the policy's plan does not exchange blocks");
    auto const& how = plan->stages[0].exchange;
    if (how.way == block_exchange::route::relayed)
        return std::make_shared<relayed_exchange_operation<Transport, T>>(c, tag, in, out, n);
    return std::make_shared<direct_exchange_operation<Transport, T>>(c, how, tag, in, out, n);
}

} // namespace papcoll::inline v0::detail
