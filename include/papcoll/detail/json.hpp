// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cctype>
#include <charconv>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace papcoll::inline v0::detail {

/// A JSON value (RFC 8259), as much of one as tuning tables need: objects have their members in the order of
/// their names. The library's only file format is small, and a general JSON library would cost every user
/// more time to compile than all of papcoll's collectives.
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

/// Reads one JSON text. Throws std::invalid_argument with the line of the first mistake.
class json_reader {
public:
    /// `name` is what errors call the text.
    static auto read(std::string_view text, std::string_view name) -> json_value {
        json_reader reader(text, name);
        auto value = reader.any(0);
        reader.skip_blanks();
        if (!reader.m_rest.empty()) reader.fail("there is more behind the value");
        return value;
    }

private:
    json_reader(std::string_view text, std::string_view name)
        : m_rest(text)
        , m_name(name) {}

    [[noreturn]] void fail(std::string_view what) const {
        throw std::invalid_argument("papcoll: " + std::string(m_name) + ":" + std::to_string(m_line) + ": " +
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
            if (!result.emplace(name, any(depth + 1)).second) fail("\"" + name + "\" is there twice");
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
            if (m_rest.empty() || static_cast<unsigned char>(m_rest.front()) < 0x20)
                fail("a string does not end");
            char const c = m_rest.front();
            m_rest.remove_prefix(1);
            if (c == '"') return result;
            result += c == '\\' ? escaped() : std::string(1, c);
        }
    }
    auto escaped() -> std::string {
        static constexpr std::string_view codes = "\"\\/bfnrt";
        static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (m_rest.empty()) fail("a string does not end");
        char const c = m_rest.front();
        if (c == 'u') fail("\\u is not supported: write the character itself, in UTF-8");
        auto const i = codes.find(c);
        if (i == std::string_view::npos) fail("a string has an unknown escape");
        m_rest.remove_prefix(1);
        return std::string(1, meanings[i]);
    }
    auto number() -> double {
        double result = 0;
        auto const [end, error] = std::from_chars(m_rest.data(), m_rest.data() + m_rest.size(), result);
        if (error != std::errc() || m_rest.front() == '+' ||
            std::isalpha(static_cast<unsigned char>(m_rest.front())) != 0)
            fail("a value is missing or malformed");
        m_rest.remove_prefix(static_cast<std::size_t>(end - m_rest.data()));
        return result;
    }

    std::string_view m_rest;
    std::string_view m_name;
    int m_line = 1;
};

} // namespace papcoll::inline v0::detail
