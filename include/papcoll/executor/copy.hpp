// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/contribution.hpp>
#include <papcoll/executor/exchange.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/stretches.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The blocks of a dissemination: they arrive where the user wants them and are sent from there, but for
/// those that this rank only passes on.
template <transportable T>
class copy_store {
public:
    using message = message_program::message;
    using use_list = std::span<message_program::block_use const>;

    struct outgoing {
        stretch_list<std::byte const> list;
        std::vector<std::byte> staging;
    };
    struct incoming {
        stretch_list<std::byte> list;
        std::vector<std::byte> staging;
    };

    /// `data` has the blocks of the program at their offsets, those that this rank owns filled. What overlaps
    /// `late` is sent when that is there, and without `data` from there.
    copy_store(message_program const& program, int, T* data, contribution_pointer<T> late = nullptr)
        : m_program(program)
        , m_data(data)
        , m_late(std::move(late))
        , m_there(program.owned)
        , m_scratch(program.scratch > 0 ? std::make_unique<element_buffer<T>>(program.scratch) : nullptr) {}

    [[nodiscard]] auto failure() const -> std::exception_ptr const& { return m_failure.get(); }
    void fail(std::exception_ptr const& why) { m_failure.note(why); }
    [[nodiscard]] auto settled() const -> bool { return true; }
    [[nodiscard]] auto awaits_data() const -> bool { return m_late && !m_late->there(); }
    void deliver() {}

    [[nodiscard]] auto may_leave(use_list uses) const -> bool {
        return std::all_of(uses.begin(), uses.end(), [&](auto const& use) {
            return m_there[static_cast<std::size_t>(use.block)] && !is_late(use.block);
        });
    }
    auto leave(message const& m, use_list uses, outgoing& o) -> const_message_parts {
        if constexpr (wire_format<T>::is_bytes) {
            for (auto const& use : uses) o.list.add(std::as_bytes(source(use.block)));
            if (!o.list.better_packed()) return o.list.parts();
            o.staging.resize(o.list.bytes());
            o.list.gather(o.staging.data());
            return std::span<std::byte const>(o.staging);
        } else {
            o.staging.resize(wire_format<T>::bytes(m.elements));
            std::size_t used = 0;
            for (auto const& use : uses)
                if (!m_failure)
                    used += wire_format<T>::pack(source(use.block).data(), m_program.size(use.block),
                                                 std::span(o.staging).subspan(used));
            return std::span<std::byte const>(o.staging); // with its slack: both ends count the same bytes
        }
    }
    void left(outgoing&) {}
    auto make_room(message const& m, use_list uses, incoming& i) -> message_parts {
        if constexpr (wire_format<T>::is_bytes) {
            for (auto const& use : uses) i.list.add(std::as_writable_bytes(block(use.block)));
            if (!i.list.better_packed()) return i.list.parts();
            i.staging.resize(i.list.bytes());
            return std::span<std::byte>(i.staging);
        } else {
            i.staging.resize(wire_format<T>::bytes(m.elements));
            return std::span<std::byte>(i.staging);
        }
    }
    void arrived(message const&, use_list uses, [[maybe_unused]] incoming const& i) {
        [[maybe_unused]] std::size_t read = 0;
        if constexpr (wire_format<T>::is_bytes) {
            if (!i.staging.empty() && !m_failure) i.list.scatter(i.staging.data());
        }
        for (auto const& use : uses) {
            if constexpr (!wire_format<T>::is_bytes) {
                if (!m_failure)
                    read += wire_format<T>::unpack(std::span<std::byte const>(i.staging).subspan(read),
                                                   block(use.block).data(), m_program.size(use.block));
            }
            m_there[static_cast<std::size_t>(use.block)] = true;
        }
    }

private:
    [[nodiscard]] auto is_late(int b) const -> bool {
        return awaits_data() && !is_passed_on(b) &&
               m_late->overlaps(m_program.blocks[static_cast<std::size_t>(b)]);
    }
    [[nodiscard]] auto is_passed_on(int b) const -> bool { return m_scratch && !m_program.is_owned(b); }
    [[nodiscard]] auto source(int b) const -> std::span<T const> {
        if (is_passed_on(b)) return block(b);
        T const* const from = m_data != nullptr ? m_data : m_late->data();
        return {from + m_program.offset(b), m_program.size(b)};
    }
    [[nodiscard]] auto block(int b) const -> std::span<T> {
        return {(is_passed_on(b) ? m_scratch->data() : m_data) + m_program.offset(b), m_program.size(b)};
    }

    message_program const& m_program;
    T* m_data;
    contribution_pointer<T> m_late;
    std::vector<bool> m_there;
    first_failure m_failure;
    std::unique_ptr<element_buffer<T>> m_scratch;
};

} // namespace detail

/// Executes one rank's share of a dissemination in place, see exchange_operation. Its arguments behind the
/// tag: `T* data`, and optionally `contribution_pointer<T> late`.
template <transport Transport, transportable T>
using copy_operation = exchange_operation<Transport, detail::copy_store<T>>;

} // namespace papcoll::inline v0
