// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/block_store.hpp>
#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/operators/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What went wrong on this rank, shared by the stages of an operation: what fails first counts, and from then
/// on the rank has no values to send.
using shared_failure = std::shared_ptr<std::exception_ptr>;

/// Calls f(); an exception becomes the failure.
template <class F>
void attempt(std::exception_ptr& failure, F f) {
    if (failure) return;
    try {
        f();
    } catch (...) {
        failure = std::current_exception();
    }
}

/// The blocks of a reduction: what leaves is saved, what arrives is loaded and combined in the order of the
/// schedule, the operand of the lower rank on the left.
template <serializable T, reduction_operator<T> Op>
class serialized_combine_store {
public:
    using block_use = message_program::block_use;
    using use_list = std::span<block_use const>;

    serialized_combine_store(message_program const& program, int rank, reduction_buffers<T> const& buffers,
                             Op op, shared_failure failure)
        : m_program(program)
        , m_failure(std::move(failure))
        , m_blocks(program, buffers, std::move(op), rank) {}

    [[nodiscard]] auto failure() const -> std::exception_ptr { return *m_failure; }
    [[nodiscard]] auto settled() const -> bool { return m_blocks.nothing_waits(); }
    void deliver() {
        attempt(*m_failure, [&] { m_blocks.deliver(); });
    }

    [[nodiscard]] auto may_leave(use_list uses) const -> bool {
        return std::all_of(uses.begin(), uses.end(), [&](auto const& use) { return m_blocks.is_next(use); });
    }
    auto leave(block_use const& use) -> content {
        content saved;
        T const* const data = m_blocks.where(use.block).data;
        attempt(*m_failure,
                [&] { saved = content(archive_format<T>::save(data, m_program.size(use.block))); });
        m_blocks.give_away(use.block, false);
        return saved;
    }
    void arrived(block_use const& use, int peer, content const& from) {
        auto const size = m_program.size(use.block);
        auto const holder = std::make_shared<element_buffer<T>>(size);
        attempt(*m_failure, [&] {
            if (from.is_missing()) throw missing_value_error(peer);
            archive_format<T>::load(from.bytes(), holder->data(), size);
        });
        if (*m_failure) m_blocks.fail(*m_failure);
        m_blocks.arrived(use, peer, holder->data(), holder);
        if (m_blocks.failure()) *m_failure = m_blocks.failure();
    }

private:
    message_program const& m_program;
    shared_failure m_failure;
    block_store<T, Op> m_blocks;
};

/// The blocks of a dissemination: passed on as they came, and loaded when all is done.
template <serializable T>
class serialized_copy_store {
public:
    using block_use = message_program::block_use;
    using use_list = std::span<block_use const>;

    serialized_copy_store(message_program const& program, int, T* data, shared_failure failure)
        : m_program(program)
        , m_data(data)
        , m_failure(std::move(failure))
        , m_has_values(!*m_failure)
        , m_there(program.owned)
        , m_contents(program.blocks.size())
        , m_from(program.blocks.size(), -1) {}

    [[nodiscard]] auto failure() const -> std::exception_ptr { return *m_failure; }
    [[nodiscard]] auto settled() const -> bool { return true; }
    void deliver() {
        for (std::size_t b = 0; b < m_contents.size(); ++b)
            if (m_from[b] >= 0)
                attempt(*m_failure, [&] {
                    if (m_contents[b].is_missing()) throw missing_value_error(m_from[b]);
                    auto const& range = m_program.blocks[b];
                    archive_format<T>::load(m_contents[b].bytes(), m_data + range.offset, range.size);
                });
    }

    [[nodiscard]] auto may_leave(use_list uses) const -> bool {
        return std::all_of(uses.begin(), uses.end(), [&](auto const& use) { return m_there[index(use)]; });
    }
    auto leave(block_use const& use) -> content {
        auto& held = m_contents[index(use)];
        if (m_program.is_owned(use.block) && held.is_missing() && m_has_values)
            attempt(*m_failure, [&] {
                held = content(
                    archive_format<T>::save(m_data + m_program.offset(use.block), m_program.size(use.block)));
            });
        return held;
    }
    void arrived(block_use const& use, int peer, content from) {
        m_contents[index(use)] = std::move(from);
        m_there[index(use)] = true;
        m_from[index(use)] = peer;
    }

private:
    static auto index(block_use const& use) -> std::size_t { return static_cast<std::size_t>(use.block); }

    message_program const& m_program;
    T* m_data;
    shared_failure m_failure;
    bool m_has_values; // false: the stage before left none
    std::vector<bool> m_there;
    std::vector<content> m_contents;
    std::vector<int> m_from; // from which rank each came
};

} // namespace papcoll::inline v0::detail
