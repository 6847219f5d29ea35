// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/execute.hpp>
#include <papcoll/executor/compile_program.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/executor/serialized_exchange.hpp>
#include <papcoll/executor/serialized_stores.hpp>
#include <papcoll/policy/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Writes into a shape that there are `parts` times n elements. Where they must be serialized, the n of a
/// part are one element: nobody knows before where they could be cut.
template <class T>
void set_elements(call_shape& shape, std::size_t n, std::size_t parts = 1) {
    shape.count = serializable<T> ? (n > 0 ? parts : 0) : n * parts;
    shape.element_bytes = serializable<T> ? std::max<std::size_t>(n, 1) * sizeof(T) : sizeof(T);
}

/// A triggered gather as a program: there is no first piece of a value that could tell that more follows, so
/// the root just receives from one rank after the other.
[[nodiscard]] inline auto program_of_gather(triggered_gather_program const& gather, int rank)
    -> message_program {
    rank_schedule share;
    step_type step = 0;
    for (int const from : gather.order) {
        if (rank == gather.root) share.receives.push_back({step, from, from});
        if (rank == from) share.sends.push_back({step, gather.root, from});
        ++step;
    }
    std::vector<bool> owned(gather.parts.size(), false);
    owned[static_cast<std::size_t>(rank)] = true;
    message_windows const one_by_one{
        .receives = 1, .sends = 1, .admission = false, .tail_bytes = 0, .longest_elements = 0};
    return compile(schedule_kind::dissemination, share, gather.parts, std::move(owned), one_by_one);
}
/// The program of a stage, its elements replaced by n values each.
[[nodiscard]] inline auto program_of_values(execution_stage const& stage, int rank, std::size_t n)
    -> std::shared_ptr<message_program const> {
    auto program =
        stage.what == execution_stage::work::gather ? program_of_gather(stage.gather, rank) : stage.program;
    for (auto& block : program.blocks) block = {block.offset * n, block.size * n};
    return std::make_shared<message_program const>(std::move(program));
}

/// A plan that only moves values: at `data`, n for each element of the shape.
template <serializable T, transport Transport>
[[nodiscard]] auto execute_serialized_copy(std::shared_ptr<context<Transport>> const& c,
                                           plan_pointer const& plan, int tag, T* data, std::size_t n)
    -> std::shared_ptr<operation> {
    using copy = serialized_operation<Transport, serialized_copy_store<T>>;
    auto const failure = std::make_shared<std::exception_ptr>();
    return execute_stages(plan, [=](std::size_t stage) -> std::shared_ptr<operation> {
        return std::make_shared<copy>(c, program_of_values(plan->stages[stage], c->rank(), n), tag, data,
                                      failure);
    });
}

/// A plan that reduces n values, and may spread the result at `buffers.out` afterwards.
template <serializable T, transport Transport, class Op>
[[nodiscard]] auto execute_serialized_reduction(std::shared_ptr<context<Transport>> const& c,
                                                plan_pointer const& plan, int tag,
                                                reduction_buffers<T> const& buffers, std::size_t n, Op op)
    -> std::shared_ptr<operation> {
    using combine = serialized_operation<Transport, serialized_combine_store<T, Op>>;
    using copy = serialized_operation<Transport, serialized_copy_store<T>>;
    auto const failure = std::make_shared<std::exception_ptr>();
    return execute_stages(plan, [=](std::size_t stage) -> std::shared_ptr<operation> {
        auto const program = program_of_values(plan->stages[stage], c->rank(), n);
        switch (plan->stages[stage].what) {
        case execution_stage::work::reduce:
            return std::make_shared<combine>(c, program, tag, buffers, op, failure);
        case execution_stage::work::disseminate:
            return std::make_shared<copy>(c, program, tag, buffers.out, failure);
        default:
            throw std::logic_error("papcoll: the policy's plan is not for values that must be serialized");
        }
    });
}

/// An all-reduce as a reduction to rank 0 and a broadcast from there: for values that are one piece.
template <block_policy P>
struct reduce_then_broadcast {
    P policy;

    static constexpr bool reorders_operands = P::reorders_operands;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_reduce;
    }
    [[nodiscard]] auto name() const -> std::string_view { return policy.name(); }
    void check(call_shape const& shape) const { policy.check(shape); }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return policy.fingerprint();
    }
    [[nodiscard]] auto plan(call_shape shape, link_model const& link) const -> execution_plan {
        shape.root = 0;
        shape.operation = collective_kind::reduce;
        auto result = policy.plan(shape, link);
        shape.operation = collective_kind::broadcast;
        for (auto& stage : policy.plan(shape, link).stages) result.stages.push_back(std::move(stage));
        return result;
    }
};

/// What an all-reduce of such values does with a policy. One that reduces, but does not broadcast, has plans
/// of its own for an all-reduce that go to a root and back.
template <class T, class P>
[[nodiscard]] auto all_reduce_policy(P const& policy) {
    if constexpr (serializable<T> && block_policy<P>) {
        static_assert(P::provides(collective_kind::reduce),
                      "papcoll: values that must be serialized are all-reduced by a reduction to a root and "
                      "the way back, which this policy does not have; choose another, such as arrival_tree");
        if constexpr (P::provides(collective_kind::broadcast))
            return reduce_then_broadcast<P>{policy};
        else
            return policy;
    } else {
        return policy;
    }
}

} // namespace papcoll::inline v0::detail
