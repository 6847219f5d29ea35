// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/settings.hpp>
#include <papcoll/detail/hash.hpp>
#include <papcoll/detail/json.hpp>
#include <papcoll/detail/read_file.hpp>
#include <papcoll/detail/text.hpp>
#include <papcoll/policy/automatic_choice.hpp>
#include <papcoll/policy/call_shape.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Which policy a collective takes, by operation, ranks and bytes: what bench/tune found on a machine.
///
///     {"papcoll_tuning": 1,
///      "choices": [
///        {"operation": "reduce", "ranks": 16, "bytes": 65536, "policy": "circulant", "block_bytes": 8192},
///        …]}
///
/// Other members, such as the evidence, are left alone. A call takes the entry of its operation whose number
/// of ranks is nearest, and among those the one whose bytes are nearest, both as ratios; of two as near the
/// smaller.
class tuning_table {
public:
    struct entry {
        collective_kind operation;
        int ranks;
        std::size_t bytes;
        tuned_choice choice;
    };

    tuning_table() = default;
    explicit tuning_table(std::vector<entry> entries)
        : m_entries(std::move(entries))
        , m_hash(hash_of(m_entries)) {}

    /// Throws std::invalid_argument with the line of the mistake; `name` is what errors call the text.
    static auto parse(std::string_view text, std::string_view name = "tuning table") -> tuning_table {
        auto const document = detail::json_reader::read(text, name);
        auto const* const version = number_in(document, "papcoll_tuning");
        if (version == nullptr || *version != 1)
            fail(name, document.line,
                 "\"papcoll_tuning\" must be 1: this is no tuning table of this version");
        auto const* const choices = document.find("choices");
        auto const* const list = choices == nullptr ? nullptr : choices->get_if<detail::json_value::array>();
        if (list == nullptr) fail(name, document.line, "\"choices\" must be an array");
        std::vector<entry> entries;
        for (auto const& value : *list) entries.push_back(entry_of(value, name));
        return tuning_table(std::move(entries));
    }
    /// Throws std::invalid_argument for a file that is no tuning table or cannot be read: it must be a
    /// regular file of at most 16 MiB.
    static auto read(std::string const& path) -> tuning_table {
        auto const text = detail::read_file(path);
        if (!text)
            throw std::invalid_argument("papcoll: cannot read " + detail::shown(path) +
                                        ": it must be a file of at most 16 MiB");
        return parse(*text, path);
    }

    /// Equal for tables that are equal.
    [[nodiscard]] auto hash() const -> std::int64_t { return m_hash; }
    [[nodiscard]] auto entries() const -> std::vector<entry> const& { return m_entries; }
    /// The nearest entry, or null when the table has none for the operation.
    [[nodiscard]] auto find(collective_kind operation, int ranks, std::size_t bytes) const -> entry const* {
        entry const* best = nullptr;
        for (auto const& e : m_entries)
            if (e.operation == operation && (best == nullptr || nearer(e, *best, ranks, bytes))) best = &e;
        return best;
    }

private:
    // |log(a/b)|: integers in, and compared alone, so that all ranks decide alike.
    static auto distance(double a, double b) -> double {
        return std::max(a, b) / std::max(std::min(a, b), 1.0);
    }
    static auto nearer(entry const& a, entry const& b, int ranks, std::size_t bytes) -> bool {
        auto const measure = [&](entry const& e) {
            return std::pair(distance(e.ranks, ranks),
                             distance(static_cast<double>(e.bytes), static_cast<double>(bytes)));
        };
        auto const da = measure(a);
        auto const db = measure(b);
        if (da != db) return da < db;
        return std::pair(a.ranks, a.bytes) < std::pair(b.ranks, b.bytes);
    }

    [[noreturn]] static void fail(std::string_view name, int line, std::string const& what) {
        throw std::invalid_argument("papcoll: " + detail::shown(name) + ":" + std::to_string(line) + ": " +
                                    what);
    }
    static auto number_in(detail::json_value const& value, std::string_view member) -> double const* {
        auto const* const found = value.find(member);
        return found == nullptr ? nullptr : found->get_if<double>();
    }
    static auto whole_number(detail::json_value const& value, std::string const& member, double least,
                             std::string_view name) -> double {
        auto const* const found = number_in(value, member);
        if (found == nullptr || !(*found >= least) || *found > 9e15 || *found != std::floor(*found))
            fail(name, value.line,
                 "\"" + member + "\" must be a whole number of at least " +
                     std::to_string(static_cast<int>(least)));
        return *found;
    }
    static auto text_in(detail::json_value const& value, std::string const& member, std::string_view name)
        -> std::string const& {
        auto const* const found = value.find(member);
        auto const* const text = found == nullptr ? nullptr : found->get_if<std::string>();
        if (text == nullptr) fail(name, value.line, "\"" + member + "\" must be a string");
        return *text;
    }
    static auto entry_of(detail::json_value const& value, std::string_view name) -> entry {
        auto const& operation = text_in(value, "operation", name);
        auto const kind = collective_of(operation);
        if (!kind) fail(name, value.line, "there is no operation " + detail::in_quotes(operation));
        entry e{*kind,
                static_cast<int>(std::min(whole_number(value, "ranks", 1, name), 2147483647.0)),
                static_cast<std::size_t>(whole_number(value, "bytes", 0, name)),
                {text_in(value, "policy", name), {}}};
        if (value.find("block_bytes") != nullptr)
            e.choice.block_bytes = static_cast<std::size_t>(whole_number(value, "block_bytes", 1, name));
        return e;
    }

    static auto hash_of(std::vector<entry> const& entries) -> std::int64_t {
        std::string text;
        for (auto const& e : entries)
            text += std::string(to_string(e.operation)) + '/' + std::to_string(e.ranks) + '/' +
                    std::to_string(e.bytes) + '/' + e.choice.policy + '/' +
                    std::to_string(e.choice.block_bytes.value_or(0)) + ';';
        return static_cast<std::int64_t>(detail::hash_text(text));
    }

    std::vector<entry> m_entries;
    std::int64_t m_hash = hash_of({});
};

namespace detail {

/// The table of that text, of which the last one is kept; null where there is no text. Throws
/// std::invalid_argument where rank 0 could not read the file, or it is no table.
[[nodiscard]] inline auto parsed(tuning_text const* text) -> std::shared_ptr<tuning_table const> {
    if (text == nullptr || !text->named) return nullptr;
    if (!text->content)
        throw std::invalid_argument("papcoll: rank 0 cannot read its PAPCOLL_TUNING_FILE: it must be a file "
                                    "of at most 16 MiB");
    static std::mutex mutex;
    static std::string last_text;
    static std::shared_ptr<tuning_table const> last;
    std::lock_guard const lock(mutex);
    if (!last || last_text != *text->content) {
        last =
            std::make_shared<tuning_table const>(tuning_table::parse(*text->content, "PAPCOLL_TUNING_FILE"));
        last_text = *text->content;
    }
    return last;
}

} // namespace detail

} // namespace papcoll::inline v0
