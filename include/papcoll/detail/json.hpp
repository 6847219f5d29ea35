// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/text.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace papcoll::inline v0::detail {

/// A JSON value: objects have their members in the order of their names.
struct json_value {
    using array = std::vector<json_value>;
    using object = std::map<std::string, json_value, std::less<>>;

    std::variant<std::nullptr_t, bool, double, std::string, array, object> value = nullptr;
    int line = 0; ///< where it begins

    template <class T>
    [[nodiscard]] auto get_if() const -> T const* {
        return std::get_if<T>(&value);
    }
    /// The member of that name, or null when this is no object or has none.
    [[nodiscard]] auto find(std::string_view name) const -> json_value const* {
        auto const* const members = get_if<object>();
        if (members == nullptr) return nullptr;
        auto const found = members->find(name);
        return found == members->end() ? nullptr : &found->second;
    }
};

/// Reads one JSON text, strictly as RFC 8259 has it, within its liberties: a byte order mark is skipped, no
/// name is twice in an object, values are nested at most 32 deep, numbers are doubles and in their range.
/// Throws std::invalid_argument with the line of the first mistake.
///
/// papcoll has a reader of its own because Debian 12's Boost has no Boost.JSON, its property_tree loses the
/// types of values, and nlohmann's library would be one more dependency of every program and 2 s more to
/// compile for each file that includes papcoll; test/unit/detail/json.cpp compares the two.
class json_reader {
public:
    /// `name` is what errors call the text.
    static auto read(std::string_view text, std::string_view name) -> json_value {
        json_reader reader(text, name);
        if (text.size() > most_bytes) reader.fail("the text is longer than 16 MiB");
        reader.take_word("\xef\xbb\xbf");
        auto value = reader.any(0);
        reader.skip_blanks();
        if (!reader.m_rest.empty()) reader.fail("there is more behind the value");
        return value;
    }

private:
    static constexpr std::size_t most_bytes = std::size_t(16) << 20;

    json_reader(std::string_view text, std::string_view name)
        : m_rest(text)
        , m_name(name) {}

    [[noreturn]] void fail(std::string_view what) const {
        throw std::invalid_argument("papcoll: " + shown(m_name) + ":" + std::to_string(m_line) + ": " +
                                    std::string(what));
    }
    void skip_blanks() {
        while (!m_rest.empty() &&
               std::string_view(" \t\r\n").find(m_rest.front()) != std::string_view::npos) {
            if (m_rest.front() == '\n') ++m_line;
            m_rest.remove_prefix(1);
        }
    }
    auto take(char c) -> bool {
        skip_blanks();
        if (m_rest.empty() || m_rest.front() != c) return false;
        m_rest.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        if (!take(c)) fail(std::string("'") + c + "' is missing");
    }
    auto take_word(std::string_view word) -> bool {
        if (m_rest.substr(0, word.size()) != word) return false;
        m_rest.remove_prefix(word.size());
        return true;
    }

    auto any(int depth) -> json_value {
        if (depth > 32) fail("values are nested too deeply");
        skip_blanks();
        int const line = m_line;
        return {content(depth), line};
    }
    auto content(int depth) -> decltype(json_value::value) {
        if (m_rest.empty()) fail("a value is missing");
        switch (m_rest.front()) {
        case '{':
            return members(depth);
        case '[':
            return elements(depth);
        case '"':
            return string();
        default:
            break;
        }
        if (take_word("true")) return true;
        if (take_word("false")) return false;
        if (take_word("null")) return nullptr;
        return number();
    }
    auto members(int depth) -> json_value::object {
        json_value::object result;
        expect('{');
        if (take('}')) return result;
        do {
            skip_blanks();
            auto name = string();
            expect(':');
            if (!result.emplace(name, any(depth + 1)).second) fail(in_quotes(name) + " is there twice");
        } while (take(','));
        expect('}');
        return result;
    }
    auto elements(int depth) -> json_value::array {
        json_value::array result;
        expect('[');
        if (take(']')) return result;
        do result.push_back(any(depth + 1));
        while (take(','));
        expect(']');
        return result;
    }
    auto string() -> std::string {
        if (m_rest.empty() || m_rest.front() != '"') fail("a string is missing");
        m_rest.remove_prefix(1);
        std::string result;
        for (;;) {
            if (m_rest.empty() || m_rest.front() == '\n') fail("a string does not end");
            if (take_word("\"")) return result;
            if (take_word("\\"))
                append_code_point(result, escaped());
            else
                result += character();
        }
    }
    auto character() -> std::string_view {
        auto const text = m_rest.substr(0, first_code_point(m_rest).bytes);
        if (text.empty()) fail("a string is not in UTF-8");
        if (static_cast<unsigned char>(text.front()) < 0x20) fail("a string has a control character");
        m_rest.remove_prefix(text.size());
        return text;
    }
    auto escaped() -> char32_t {
        constexpr std::string_view codes = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (take_word("u")) return escaped_number();
        auto const i = m_rest.empty() ? std::string_view::npos : codes.find(m_rest.front());
        if (i == std::string_view::npos) fail("a string has an unknown escape");
        m_rest.remove_prefix(1);
        return static_cast<unsigned char>(meanings[i]);
    }
    // Of a code point beyond 16 bits in two parts, a surrogate pair.
    auto escaped_number() -> char32_t {
        char32_t const first = four_digits();
        if (first < 0xd800 || first > 0xdfff) return first;
        char32_t const second = first < 0xdc00 && take_word("\\u") ? four_digits() : 0;
        if (second < 0xdc00 || second > 0xdfff) fail("a string has half of a surrogate pair");
        return 0x10000 + ((first - 0xd800) << 10U) + (second - 0xdc00);
    }
    auto four_digits() -> char32_t {
        auto const text = m_rest.substr(0, 4);
        std::uint16_t value = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
        if (text.size() < 4 || error != std::errc() || end != text.data() + 4)
            fail("\\u needs four hexadecimal digits");
        m_rest.remove_prefix(4);
        return value;
    }
    auto number() -> double {
        auto const text = m_rest.substr(0, number_length());
        if (text.empty()) fail("a value is missing or malformed");
        double result = 0;
        auto const error = std::from_chars(text.data(), text.data() + text.size(), result).ec;
        if (error != std::errc()) fail("the number " + shown(text, 40) + " is out of range");
        m_rest.remove_prefix(text.size());
        return result;
    }
    /// How long the number is that the text begins with; 0: it begins with none.
    [[nodiscard]] auto number_length() const -> std::size_t {
        std::size_t n = 0;
        auto const is_one_of = [&](std::string_view set) {
            return n < m_rest.size() && set.find(m_rest[n]) != std::string_view::npos;
        };
        auto const digits = [&] {
            auto const begin = n;
            while (is_one_of("0123456789")) ++n;
            return n - begin;
        };
        if (is_one_of("-")) ++n;
        bool const is_zero = is_one_of("0");
        auto const whole = digits();
        if (whole == 0 || (is_zero && whole > 1)) return 0;
        if (is_one_of(".") && (++n, digits() == 0)) return 0;
        if (!is_one_of("eE")) return n;
        ++n;
        if (is_one_of("+-")) ++n;
        return digits() == 0 ? 0 : n;
    }

    std::string_view m_rest;
    std::string_view m_name;
    int m_line = 1;
};

} // namespace papcoll::inline v0::detail
