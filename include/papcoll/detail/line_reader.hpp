// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <istream>
#include <string_view>
#include <vector>

namespace papcoll::inline v0::detail {

/// The lines of a text, which end with a newline, in memory that does not grow with what the text has.
class line_reader {
public:
    /// The longest line, in bytes.
    static constexpr std::size_t longest = std::size_t(64) << 10;

    explicit line_reader(std::istream& in)
        : m_in(in)
        , m_buffer(longest + 1) {}

    /// Goes to the next line; false when there is none, and when it is too long.
    auto next() -> bool {
        if (!m_in.good()) return false;
        m_in.getline(m_buffer.data(), static_cast<std::streamsize>(m_buffer.size()));
        auto const taken = static_cast<std::size_t>(m_in.gcount());
        m_too_long = m_in.fail() && !m_in.eof() && taken == longest;
        if (!m_in.fail() || m_too_long) ++m_number;
        if (m_in.fail()) return false;
        m_cut = m_in.eof();
        m_line = {m_buffer.data(), m_cut ? taken : taken - 1};
        return true;
    }

    [[nodiscard]] auto line() const -> std::string_view { return m_line; }
    /// Of the line, or of the one that is too long; the first is 1.
    [[nodiscard]] auto number() const -> std::size_t { return m_number; }
    /// Whether the text ends with the line, but without a newline.
    [[nodiscard]] auto cut() const -> bool { return m_cut; }
    [[nodiscard]] auto too_long() const -> bool { return m_too_long; }
    /// Whether reading failed.
    [[nodiscard]] auto bad() const -> bool { return m_in.bad(); }

private:
    std::istream& m_in;
    std::vector<char> m_buffer;
    std::string_view m_line;
    std::size_t m_number = 0;
    bool m_cut = false;
    bool m_too_long = false;
};

} // namespace papcoll::inline v0::detail
