// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/settings.hpp>
#include <papcoll/detail/hash.hpp>
#include <papcoll/detail/impl.hpp>
#include <papcoll/detail/json.hpp>
#include <papcoll/detail/read_file.hpp>
#include <papcoll/detail/text.hpp>
#include <papcoll/policy/tuning_table.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail::tuning {

/// |log(a/b)|, as a ratio: integers in, and compared alone, so that all ranks decide alike.
[[nodiscard]] inline auto ratio(double a, double b) -> double {
    return std::max(a, b) / std::max(std::min(a, b), 1.0);
}
[[nodiscard]] inline auto nearer(tuning_table::entry const& a, tuning_table::entry const& b, int ranks,
                                 std::size_t bytes) -> bool {
    auto const measure = [&](tuning_table::entry const& e) {
        return std::pair(ratio(e.ranks, ranks),
                         ratio(static_cast<double>(e.bytes), static_cast<double>(bytes)));
    };
    auto const da = measure(a);
    auto const db = measure(b);
    if (da != db) return da < db;
    return std::pair(a.ranks, a.bytes) < std::pair(b.ranks, b.bytes);
}

[[noreturn]] inline void fail(std::string_view name, int line, std::string const& what) {
    throw std::invalid_argument("papcoll: " + shown(name) + ":" + std::to_string(line) + ": " + what);
}
[[nodiscard]] inline auto number_in(json_value const& value, std::string_view member) -> double const* {
    auto const* const found = value.find(member);
    return found == nullptr ? nullptr : found->get_if<double>();
}
[[nodiscard]] inline auto whole_number(json_value const& value, std::string const& member, double least,
                                       std::string_view name) -> double {
    auto const* const found = number_in(value, member);
    if (found == nullptr || !(*found >= least) || *found > 9e15 || *found != std::floor(*found))
        fail(name, value.line,
             "\"" + member + "\" must be a whole number of at least " +
                 std::to_string(static_cast<int>(least)));
    return *found;
}
[[nodiscard]] inline auto text_in(json_value const& value, std::string const& member, std::string_view name)
    -> std::string const& {
    auto const* const found = value.find(member);
    auto const* const text = found == nullptr ? nullptr : found->get_if<std::string>();
    if (text == nullptr) fail(name, value.line, "\"" + member + "\" must be a string");
    return *text;
}
[[nodiscard]] inline auto entry_of(json_value const& value, std::string_view name) -> tuning_table::entry {
    auto const& operation = text_in(value, "operation", name);
    auto const kind = collective_of(operation);
    if (!kind) fail(name, value.line, "there is no operation " + in_quotes(operation));
    tuning_table::entry e{*kind,
                          static_cast<int>(std::min(whole_number(value, "ranks", 1, name), 2147483647.0)),
                          static_cast<std::size_t>(whole_number(value, "bytes", 0, name)),
                          {text_in(value, "policy", name), {}}};
    if (value.find("block_bytes") != nullptr)
        e.choice.block_bytes = static_cast<std::size_t>(whole_number(value, "block_bytes", 1, name));
    if (value.find("radix") != nullptr)
        e.choice.radix = static_cast<int>(std::min(whole_number(value, "radix", 2, name), 2147483647.0));
    return e;
}

[[nodiscard]] inline auto as_json(tuning_table::entry const& e) -> std::string {
    std::string policy;
    for (char const c : e.choice.policy) {
        if (c == '"' || c == '\\') policy += '\\';
        policy += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    auto const block =
        e.choice.block_bytes ? ", \"block_bytes\": " + std::to_string(*e.choice.block_bytes) : std::string();
    auto const radix = e.choice.radix ? ", \"radix\": " + std::to_string(*e.choice.radix) : std::string();
    return "  {\"operation\": \"" + std::string(to_string(e.operation)) +
           "\", \"ranks\": " + std::to_string(e.ranks) + ", \"bytes\": " + std::to_string(e.bytes) +
           ", \"policy\": \"" + policy + "\"" + block + radix + "}";
}

[[nodiscard]] inline auto hash_of(std::vector<tuning_table::entry> const& entries) -> std::int64_t {
    std::string text;
    for (auto const& e : entries)
        text += std::string(to_string(e.operation)) + '/' + std::to_string(e.ranks) + '/' +
                std::to_string(e.bytes) + '/' + e.choice.policy + '/' +
                std::to_string(e.choice.block_bytes.value_or(0)) + '/' +
                std::to_string(e.choice.radix.value_or(0)) + ';';
    return static_cast<std::int64_t>(hash_text(text));
}

/// What this rank's variable says, which is rank 0's where all were started alike.
[[nodiscard]] inline auto tuning_file_of(std::string const& path) -> std::string {
    return path.empty() ? "" : " (" + shown(path) + ')';
}

} // namespace detail::tuning

PAPCOLL_IMPL tuning_table::tuning_table(std::vector<entry> entries)
    : m_entries(std::move(entries))
    , m_hash(detail::tuning::hash_of(m_entries)) {}
PAPCOLL_IMPL auto tuning_table::parse(std::string_view text, std::string_view name) -> tuning_table {
    auto const document = detail::json_reader::read(text, name);
    auto const* const version = detail::tuning::number_in(document, "papcoll_tuning");
    if (version == nullptr || *version != 1)
        detail::tuning::fail(name, document.line,
                             "\"papcoll_tuning\" must be 1: this is no tuning table of this version");
    auto const* const choices = document.find("choices");
    auto const* const list = choices == nullptr ? nullptr : choices->get_if<detail::json_value::array>();
    if (list == nullptr) detail::tuning::fail(name, document.line, "\"choices\" must be an array");
    std::vector<entry> entries;
    for (auto const& value : *list) entries.push_back(detail::tuning::entry_of(value, name));
    return tuning_table(std::move(entries));
}
PAPCOLL_IMPL auto tuning_table::read(std::string const& path) -> tuning_table {
    auto const text = detail::read_file(path);
    if (!text)
        throw std::invalid_argument("papcoll: cannot read " + detail::shown(path) +
                                    ": it must be there, a file of at most 16 MiB");
    return parse(*text, path);
}
PAPCOLL_IMPL auto tuning_table::text() const -> std::string {
    std::string list;
    for (auto const& e : m_entries) list += (list.empty() ? "" : ",\n") + detail::tuning::as_json(e);
    return "{\"papcoll_tuning\": 1,\n \"choices\": [\n" + list + "\n ]}\n";
}
PAPCOLL_IMPL auto tuning_table::find(collective_kind operation, int ranks, std::size_t bytes) const
    -> entry const* {
    entry const* best = nullptr;
    for (auto const& e : m_entries)
        if (e.operation == operation && (best == nullptr || detail::tuning::nearer(e, *best, ranks, bytes)))
            best = &e;
    return best;
}

PAPCOLL_IMPL auto detail::parsed(tuning_text const* text) -> std::shared_ptr<tuning_table const> {
    if (text == nullptr || !text->named) return nullptr;
    if (!text->content)
        throw std::invalid_argument("papcoll: rank 0 cannot read its PAPCOLL_TUNING_FILE" +
                                    tuning::tuning_file_of(environment_settings::instance().tuning_file()) +
                                    ": it must be there, a file of at most 16 MiB");
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

} // namespace papcoll::inline v0
