// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// The memory of one message: one stretch of bytes, or several that follow each other on the wire. A view:
/// the list of stretches is only needed during the call that it is given to.
template <class Byte>
class basic_message_parts {
public:
    /// Contiguous bytes.
    using stretch = std::span<Byte>;

    basic_message_parts() = default;
    template <class U, std::size_t N>
    requires std::convertible_to<std::span<U, N>, stretch>
    basic_message_parts(std::span<U, N> one) // NOLINT(google-explicit-constructor): as a span would
        : m_one(one)
        , m_bytes(one.size()) {}
    explicit basic_message_parts(std::span<stretch const> several) {
        for (auto const& s : several) m_bytes += s.size();
        if (several.size() == 1)
            m_one = several.front();
        else
            m_several = several;
    }

    /// How many bytes all stretches have together.
    [[nodiscard]] auto bytes() const -> std::size_t { return m_bytes; }
    /// Whether there is one stretch at most.
    [[nodiscard]] auto contiguous() const -> bool { return m_several.empty(); }
    /// All of it, when contiguous.
    [[nodiscard]] auto one() const -> stretch { return m_one; }
    /// The stretches, when not.
    [[nodiscard]] auto several() const -> std::span<stretch const> { return m_several; }

    /// `count` bytes from `begin` on; `list` holds the stretches of the result where it has several.
    [[nodiscard]] auto slice(std::size_t begin, std::size_t count, std::vector<stretch>& list) const
        -> basic_message_parts {
        if (contiguous()) return m_one.subspan(begin, count);
        list.clear();
        for (auto const& s : m_several) {
            auto const skipped = std::min(begin, s.size());
            auto const taken = std::min(count, s.size() - skipped);
            if (taken > 0) list.push_back(s.subspan(skipped, taken));
            begin -= skipped;
            count -= taken;
        }
        return basic_message_parts(std::span<stretch const>(list));
    }

private:
    stretch m_one;
    std::span<stretch const> m_several;
    std::size_t m_bytes = 0;
};

/// Memory that a message is received in.
using message_parts = basic_message_parts<std::byte>;
/// Memory that a message is sent from.
using const_message_parts = basic_message_parts<std::byte const>;

} // namespace papcoll::inline v0
