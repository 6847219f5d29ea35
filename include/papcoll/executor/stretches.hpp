// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/message_parts.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace papcoll::inline v0::detail {

/// The stretches of memory that a message is made of; neighbours become one.
template <class Byte>
class stretch_list {
public:
    void clear() { m_list.clear(); }
    void add(std::span<Byte> next) {
        if (!m_list.empty() && m_list.back().data() + m_list.back().size() == next.data())
            m_list.back() = {m_list.back().data(), m_list.back().size() + next.size()};
        else
            m_list.push_back(next);
    }
    /// Whether a copy costs less than sending from several places, which takes a datatype of the addresses.
    [[nodiscard]] auto better_packed() const -> bool {
        return m_list.size() > 1 && bytes() <= longest_packed_bytes;
    }
    [[nodiscard]] auto bytes() const -> std::size_t {
        std::size_t sum = 0;
        for (auto const& s : m_list) sum += s.size();
        return sum;
    }
    /// All bytes of the list, copied one behind the other to `to`.
    void gather(std::byte* to) const {
        for (auto const& s : m_list) to = std::copy(s.begin(), s.end(), to);
    }
    /// The bytes at `from` go to the places of the list.
    void scatter(std::byte const* from) const {
        for (auto const& s : m_list) {
            std::copy_n(from, s.size(), s.begin());
            from += s.size();
        }
    }
    /// A view of this list.
    [[nodiscard]] auto parts() const -> basic_message_parts<Byte> {
        return basic_message_parts<Byte>(std::span<std::span<Byte> const>(m_list.data(), m_list.size()));
    }

private:
    static constexpr std::size_t longest_packed_bytes = std::size_t(4) << 10;

    boost::container::small_vector<std::span<Byte>, 2> m_list;
};

} // namespace papcoll::inline v0::detail
