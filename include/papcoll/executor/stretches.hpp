// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/message_parts.hpp>

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <span>

namespace papcoll::inline v0::detail {

/// The stretches of memory that a message is made of; neighbours become one.
template <class Byte>
class stretch_list {
public:
    void add(std::span<Byte> next) {
        if (!m_list.empty() && m_list.back().data() + m_list.back().size() == next.data())
            m_list.back() = {m_list.back().data(), m_list.back().size() + next.size()};
        else
            m_list.push_back(next);
    }
    /// A view of this list.
    [[nodiscard]] auto parts() const -> basic_message_parts<Byte> {
        return basic_message_parts<Byte>(std::span<std::span<Byte> const>(m_list.data(), m_list.size()));
    }

private:
    boost::container::small_vector<std::span<Byte>, 2> m_list;
};

} // namespace papcoll::inline v0::detail
