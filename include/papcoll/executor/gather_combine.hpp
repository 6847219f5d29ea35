// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/copy.hpp>
#include <papcoll/operators/combine.hpp>
#include <papcoll/operators/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

namespace papcoll::inline v0 {

/// Gathers the operands of all ranks on every rank, and combines them there in the order of ranks, in buffers
/// that are aligned alike: all get the same bits, whatever the operator.
template <transport Transport, transportable T, reduction_operator<T> Op>
class gather_combine_operation final : public operation {
public:
    /// n elements each; `in` may equal `out`. The program disseminates one block of n elements per rank.
    gather_combine_operation(std::shared_ptr<context<Transport>> const& c,
                             std::shared_ptr<message_program const> const& program, int tag, T const* in,
                             T* out, std::size_t n, Op op)
        : m_out(out)
        , m_count(n)
        , m_ranks(static_cast<std::size_t>(c->size()))
        , m_op(std::move(op))
        , m_operands(m_ranks * n) {
        std::copy_n(in, n, m_operands.data() + static_cast<std::size_t>(c->rank()) * n);
        m_gather = std::make_unique<copy_operation<Transport, T>>(c, program, tag, m_operands.data());
    }

    auto advance(bool block) -> bool override {
        bool const progressed = m_gather->advance(block);
        if (m_gather->finished() && !m_finished) combine_all();
        return progressed;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_failure; }
    auto abandon() noexcept -> bool override { return m_gather->abandon(); }

private:
    void combine_all() {
        m_finished = true;
        m_failure = m_gather->failure();
        if (m_failure) return;
        T* const operands = m_operands.data();
        try {
            for (std::size_t r = 1; r < m_ranks; ++r)
                detail::combine_into_left(operands, operands + r * m_count, m_count, m_op);
        } catch (...) {
            m_failure = std::current_exception();
        }
        std::copy_n(operands, m_count, m_out);
    }

    T* m_out;
    std::size_t m_count;
    std::size_t m_ranks;
    Op m_op;
    detail::element_buffer<T> m_operands;
    std::unique_ptr<copy_operation<Transport, T>> m_gather;
    bool m_finished = false;
    std::exception_ptr m_failure;
};

} // namespace papcoll::inline v0
