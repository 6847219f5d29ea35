// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/tuning_text.hpp>
#include <papcoll/detail/edit_distance.hpp>
#include <papcoll/detail/hash.hpp>
#include <papcoll/detail/read_file.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// What the environment asks of papcoll, read once per process. Ranks must agree on it, or attachment throws
/// on all of them.
///
///     PAPCOLL_<OPERATION>_ALGORITHM   the policy that `automatic` takes for that collective, such as
///                                     PAPCOLL_REDUCE_ALGORITHM=circulant
///     PAPCOLL_TUNING_FILE             a tuning table, see tuning_table; rank 0 reads its own when papcoll
///                                     attaches, and tells the others
///     PAPCOLL_NODE_MEMORY             bytes of memory that each rank shares with the others of its node, in
///                                     place of 262144; rounded down to a multiple of 8192
///     PAPCOLL_LEARN=1                 blocking calls learn what is fastest, on all ranks if on any; see
///                                     attach_options
///     PAPCOLL_CHECKS                  local or agreed: the least that is checked, see check_level, whatever
///                                     attach_options say; the strictest of all ranks counts
///     PAPCOLL_REPORT=1                rank 0 says on stderr what `automatic` chose and why, and any rank why
///                                     it shares no memory with others of its node (need not agree)
///
/// A name that must be meant for one of these and is none of them makes `automatic` throw: one that begins
/// with PAPCOLL_TUN, one from PAPCOLL_ to _ALGORITHM, and any name that becomes one of theirs by at most two
/// characters inserted, removed or replaced. Other names that begin with PAPCOLL_ are left to build scripts,
/// benchmarks and the tracer.
class environment_settings {
public:
    /// Gives the value of a variable by its name; null: it is not set.
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
            if (is_mistaken(name) && (m_unknown.empty() || name < m_unknown)) m_unknown = name;
        for (auto const operation : operations) {
            auto const variable = variable_of(operation);
            if (auto const* const value = get(variable.c_str()); value != nullptr && *value != '\0')
                m_algorithms.emplace(variable, value);
        }
        if (auto const* const file = get("PAPCOLL_TUNING_FILE"); file != nullptr) m_tuning_file = file;
        if (auto const* const memory = get("PAPCOLL_NODE_MEMORY"); memory != nullptr) m_node_memory = memory;
        if (auto const* const checks = get("PAPCOLL_CHECKS"); checks != nullptr) m_checks = checks;
        auto const is_on = [&](char const* name) {
            auto const* const value = get(name);
            std::string word = value != nullptr ? value : "";
            for (auto& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            return word == "1" || word == "on" || word == "yes" || word == "true";
        };
        m_report = is_on("PAPCOLL_REPORT");
        m_learn = is_on("PAPCOLL_LEARN");
    }

    /// The policy asked for, by the name of the operation in capitals; empty: none.
    [[nodiscard]] auto algorithm(std::string_view operation) const -> std::string_view {
        auto const found = m_algorithms.find(variable_of(operation));
        return found == m_algorithms.end() ? std::string_view() : std::string_view(found->second);
    }
    /// The name of a variable that must be meant for papcoll and is none of its own, of several the first by
    /// the alphabet; empty: there is none.
    [[nodiscard]] auto unknown() const -> std::string const& { return m_unknown; }
    /// The variable of an operation, whose name is in capitals.
    static auto variable_of(std::string_view operation) -> std::string {
        return "PAPCOLL_" + std::string(operation) + "_ALGORITHM";
    }
    /// The variable whose name is most like the one `as_given`.
    static auto nearest(std::string_view as_given) -> std::string {
        auto const variables = known();
        std::string name(as_given);
        if (auto const at = name.find("BCAST"); at != std::string::npos) // as MPI has it
            name.replace(at, 5, "BROADCAST");
        return *std::min_element(variables.begin(), variables.end(), [&](auto const& a, auto const& b) {
            return detail::edit_distance(name, a) < detail::edit_distance(name, b);
        });
    }
    /// Empty: none is asked for.
    [[nodiscard]] auto tuning_file() const -> std::string const& { return m_tuning_file; }
    /// Reads it.
    [[nodiscard]] auto tuning() const -> detail::tuning_text {
        if (m_tuning_file.empty()) return {};
        try {
            return {true, detail::read_file(m_tuning_file)};
        } catch (...) { // other ranks wait for what this one says of it
            return {true, {}};
        }
    }
    /// Bytes that each rank shares with the others of its node; none where the variable is no number of bytes
    /// up to 2^30.
    [[nodiscard]] auto node_memory() const -> std::optional<std::size_t> {
        if (m_node_memory.empty()) return std::size_t(256) << 10;
        std::size_t bytes = 0;
        auto const* const end = m_node_memory.data() + m_node_memory.size();
        auto const [last, error] = std::from_chars(m_node_memory.data(), end, bytes);
        if (error != std::errc() || last != end || bytes > (std::size_t(1) << 30)) return std::nullopt;
        return bytes;
    }
    /// The least that is checked, as a number that check_level has, 0 where nothing is asked for; none where
    /// the variable is neither `local` nor `agreed`.
    [[nodiscard]] auto checks() const -> std::optional<int> {
        if (m_checks.empty()) return 0;
        if (m_checks == "local") return 1;
        return m_checks == "agreed" ? std::optional(2) : std::nullopt;
    }
    /// Whether choices are reported on stderr.
    [[nodiscard]] auto report() const -> bool { return m_report; }
    /// Whether blocking calls learn what is fastest.
    [[nodiscard]] auto learn() const -> bool { return m_learn; }

    /// Equal on ranks whose settings agree. The tuning file is rank 0's alone.
    [[nodiscard]] auto hash() const -> std::int64_t {
        std::string text = m_unknown + '\n';
        text.append(m_node_memory).append("\n");
        for (auto const& [variable, value] : m_algorithms)
            text.append(variable).append("=").append(value).append("\n");
        return static_cast<std::int64_t>(detail::hash_text(text) >> 1U);
    }

private:
    static constexpr std::array<std::string_view, 11> operations{
        "BROADCAST",  "REDUCE",  "ALL_REDUCE", "GATHER", "ALL_GATHER", "REDUCE_SCATTER",
        "ALL_TO_ALL", "SCATTER", "SCAN",       "EXSCAN", "BARRIER"};

    static auto known() -> std::vector<std::string> {
        std::vector<std::string> variables{"PAPCOLL_TUNING_FILE", "PAPCOLL_NODE_MEMORY", "PAPCOLL_LEARN",
                                           "PAPCOLL_CHECKS", "PAPCOLL_REPORT"};
        for (auto const operation : operations) variables.push_back(variable_of(operation));
        return variables;
    }
    static auto is_mistaken(std::string_view name) -> bool {
        // What is two mistakes or less from one of them begins like all of them, but for four.
        constexpr std::string_view beginning = "PAPCOLL_";
        if (detail::edit_distance(name.substr(0, beginning.size()), beginning) > 4) return false;
        auto const similar = nearest(name);
        if (name == similar) return false;
        return name.starts_with("PAPCOLL_TUN") ||
               (name.starts_with("PAPCOLL_") && name.ends_with("_ALGORITHM")) ||
               detail::edit_distance(name, similar) <= 2;
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
    std::string m_node_memory;
    std::string m_checks;
    bool m_report = false;
    bool m_learn = false;
};

} // namespace papcoll::inline v0
