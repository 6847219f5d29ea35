// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/hash.hpp>
#include <papcoll/detail/read_file.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The tuning table that rank 0's environment names.
struct tuning_text {
    bool named = false;
    /// None when rank 0 cannot read it.
    std::optional<std::string> content = {};
};

} // namespace detail

/// What the environment asks of papcoll, read once per process. Ranks must agree on it, or attachment throws
/// on all of them.
///
///     PAPCOLL_<OPERATION>_ALGORITHM   the policy that `automatic` takes for that collective, such as
///                                     PAPCOLL_REDUCE_ALGORITHM=circulant
///     PAPCOLL_TUNING_FILE             a tuning table, see tuning_table; that of rank 0 counts, which reads
///     it
///                                     when papcoll attaches
///     PAPCOLL_REPORT=1                rank 0 says on stderr what `automatic` chose and why (need not agree)
class environment_settings {
public:
    using lookup = std::function<char const*(char const*)>;

    /// Of this process.
    static auto instance() -> environment_settings const& {
        static auto const& settings =
            *new environment_settings([](char const* name) { return std::getenv(name); }, all_names());
        return settings;
    }

    /// From any environment: `get(name)` returns null for what is not set. `names`: all that is set, among
    /// which misspelt names are found.
    explicit environment_settings(lookup const& get, std::vector<std::string_view> const& names = {}) {
        for (auto const name : names)
            if (is_algorithm(name) && (known() + ',').find(std::string(name) + ',') == std::string::npos)
                m_unknown = name;
        for (auto const operation : operations) {
            auto const variable = variable_of(operation);
            if (auto const* const value = get(variable.c_str()); value != nullptr && *value != '\0')
                m_algorithms.emplace(variable, value);
        }
        if (auto const* const file = get("PAPCOLL_TUNING_FILE"); file != nullptr) m_tuning_file = file;
        auto const* const report = get("PAPCOLL_REPORT");
        m_report = report != nullptr && std::string_view(report) == "1";
    }

    /// The policy asked for, by the name of the operation in capitals; empty: none.
    [[nodiscard]] auto algorithm(std::string_view operation) const -> std::string_view {
        auto const found = m_algorithms.find(variable_of(operation));
        return found == m_algorithms.end() ? std::string_view() : std::string_view(found->second);
    }
    /// The name of a variable that looks like an algorithm's and is none; empty: there is none.
    [[nodiscard]] auto unknown() const -> std::string const& { return m_unknown; }
    /// The variable of an operation, whose name is in capitals.
    static auto variable_of(std::string_view operation) -> std::string {
        return "PAPCOLL_" + std::string(operation) + "_ALGORITHM";
    }
    /// The names of the algorithms' variables.
    static auto known() -> std::string {
        std::string list;
        for (auto const operation : operations) list += (list.empty() ? "" : ", ") + variable_of(operation);
        return list;
    }
    /// Empty: none is asked for.
    [[nodiscard]] auto tuning_file() const -> std::string const& { return m_tuning_file; }
    /// Reads it.
    [[nodiscard]] auto tuning() const -> detail::tuning_text {
        if (m_tuning_file.empty()) return {};
        return {true, detail::read_file(m_tuning_file)};
    }
    [[nodiscard]] auto report() const -> bool { return m_report; }

    /// Equal on ranks whose settings agree. The tuning file is rank 0's alone.
    [[nodiscard]] auto hash() const -> std::int64_t {
        std::string text = m_unknown + '\n';
        for (auto const& [variable, value] : m_algorithms)
            text.append(variable).append("=").append(value).append("\n");
        return static_cast<std::int64_t>(detail::hash_text(text) >> 1U);
    }

private:
    static constexpr std::array<std::string_view, 7> operations{
        "BROADCAST", "REDUCE", "ALL_REDUCE", "GATHER", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL"};

    static auto is_algorithm(std::string_view name) -> bool {
        return name.starts_with("PAPCOLL_") && name.ends_with("_ALGORITHM");
    }
    static auto all_names() -> std::vector<std::string_view> {
        std::vector<std::string_view> names;
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
            std::string_view const text(*entry);
            names.push_back(text.substr(0, text.find('=')));
        }
        return names;
    }

    std::string m_unknown;
    std::map<std::string, std::string> m_algorithms;
    std::string m_tuning_file;
    bool m_report = false;
};

} // namespace papcoll::inline v0
