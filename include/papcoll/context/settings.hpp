// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/hash.hpp>
#include <papcoll/detail/read_file.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace papcoll::inline v0 {

/// What the environment asks of papcoll, read once per process. Ranks must agree on it, or attachment throws
/// on all of them.
///
///     PAPCOLL_<OPERATION>_ALGORITHM   the policy that `automatic` takes for that collective, such as
///                                     PAPCOLL_REDUCE_ALGORITHM=circulant
///     PAPCOLL_TUNING_FILE             a tuning table, see tuning_table
///     PAPCOLL_REPORT=1                rank 0 says on stderr what `automatic` chose and why (need not agree)
class environment_settings {
public:
    using lookup = std::function<char const*(char const*)>;

    /// Of this process.
    static auto instance() -> environment_settings const& {
        static auto const& settings =
            *new environment_settings([](char const* name) { return std::getenv(name); });
        return settings;
    }

    /// From any environment: `get(name)` returns null for what is not set.
    explicit environment_settings(lookup const& get) {
        for (auto const* name :
             {"BROADCAST", "REDUCE", "ALL_REDUCE", "GATHER", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL"}) {
            auto const variable = "PAPCOLL_" + std::string(name) + "_ALGORITHM";
            if (auto const* const value = get(variable.c_str()); value != nullptr && *value != '\0')
                m_algorithms.emplace(variable, value);
        }
        if (auto const* const file = get("PAPCOLL_TUNING_FILE"); file != nullptr && *file != '\0') {
            m_tuning_file = file;
            m_tuning_text = detail::read_file(m_tuning_file);
        }
        auto const* const report = get("PAPCOLL_REPORT");
        m_report = report != nullptr && std::string_view(report) == "1";
    }

    /// The policy asked for, by the name of the operation in capitals; empty: none.
    [[nodiscard]] auto algorithm(std::string const& operation) const -> std::string_view {
        auto const found = m_algorithms.find("PAPCOLL_" + operation + "_ALGORITHM");
        return found == m_algorithms.end() ? std::string_view() : std::string_view(found->second);
    }
    /// Empty: none is asked for.
    [[nodiscard]] auto tuning_file() const -> std::string const& { return m_tuning_file; }
    /// Its content; none when it cannot be read.
    [[nodiscard]] auto tuning_text() const -> std::optional<std::string> const& { return m_tuning_text; }
    [[nodiscard]] auto report() const -> bool { return m_report; }

    /// Equal on ranks whose settings agree: over all but the name of the tuning file.
    [[nodiscard]] auto hash() const -> std::int64_t {
        std::string text;
        for (auto const& [variable, value] : m_algorithms) text += variable + '=' + value + '\n';
        text += m_tuning_file.empty() ? "none" : m_tuning_text ? "file:" + *m_tuning_text : "cannot be read";
        return static_cast<std::int64_t>(detail::hash_text(text) >> 1U);
    }

private:
    std::map<std::string, std::string> m_algorithms;
    std::string m_tuning_file;
    std::optional<std::string> m_tuning_text;
    bool m_report = false;
};

} // namespace papcoll::inline v0
