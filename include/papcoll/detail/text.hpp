// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace papcoll::inline v0::detail {

struct code_point {
    char32_t value = 0;
    std::size_t bytes = 0; ///< how long it is in UTF-8
};

/// The code point that begins a text in UTF-8 (RFC 3629); of 0 bytes when there is none, or an invalid one.
[[nodiscard]] inline auto first_code_point(std::string_view text) -> code_point {
    constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000}; // of so many bytes
    if (text.empty()) return {};
    auto const first = static_cast<unsigned char>(text.front());
    if (first < 0x80) return {first, 1};
    std::size_t const bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc0 || first > 0xf4 || text.size() < bytes) return {};
    char32_t value = first & (0xffU >> (bytes + 1));
    for (char const c : text.substr(1, bytes - 1)) {
        auto const next = static_cast<unsigned char>(c);
        if ((next & 0xc0U) != 0x80) return {};
        value = value << 6U | (next & 0x3fU);
    }
    bool const is_surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < least[bytes] || value > 0x10ffff || is_surrogate) return {};
    return {value, bytes};
}

/// Appends a code point in UTF-8.
inline void append_code_point(std::string& text, char32_t value) {
    auto const six_bits = [&](unsigned shift) {
        text += static_cast<char>(0x80U | (value >> shift & 0x3fU));
    };
    if (value < 0x80) {
        text += static_cast<char>(value);
    } else if (value < 0x800) {
        text += static_cast<char>(0xc0U | value >> 6U);
        six_bits(0);
    } else if (value < 0x10000) {
        text += static_cast<char>(0xe0U | value >> 12U);
        six_bits(6);
        six_bits(0);
    } else {
        text += static_cast<char>(0xf0U | value >> 18U);
        six_bits(12);
        six_bits(6);
        six_bits(0);
    }
}

/// Whether a code point takes a place of its own on a terminal: no control character, and none that turns the
/// direction of writing.
[[nodiscard]] constexpr auto is_printable(char32_t c) -> bool {
    bool const controls = c < 0x20 || (c >= 0x7f && c < 0xa0);
    bool const directs = c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
                         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
    return !controls && !directs;
}

/// A text of any origin, such as a line of a file that is no text at all, for a message: printable, and at
/// most `longest` bytes and an ellipsis.
[[nodiscard]] inline auto shown(std::string_view text, std::size_t longest = 200) -> std::string {
    std::string result;
    while (!text.empty()) {
        auto const next = first_code_point(text);
        bool const plain = next.bytes > 0 && is_printable(next.value);
        std::string_view const part = plain ? text.substr(0, next.bytes) : "?";
        if (result.size() + part.size() > longest) return result + "…";
        result += part;
        text.remove_prefix(next.bytes > 0 ? next.bytes : 1);
    }
    return result;
}
/// The same in quotation marks.
[[nodiscard]] inline auto in_quotes(std::string_view text, std::size_t longest = 40) -> std::string {
    return '"' + shown(text, longest) + '"';
}

} // namespace papcoll::inline v0::detail
