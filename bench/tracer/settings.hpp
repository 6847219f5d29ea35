// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace tracer {

/// What the environment asks of the tracer; README.md describes the variables.
struct settings {
    std::string prefix = "papcoll-trace";
    bool records = true;           ///< whether this rank is among those that are traced
    std::uint64_t every = 1;       ///< of each communicator's calls, every k-th
    std::size_t buffer = 65536;    ///< calls kept in memory
    std::int64_t clock_offset = 0; ///< ns that this rank's clock is set ahead, for tests
    std::int64_t clock_drift = 0;  ///< parts per million that it runs fast, for tests
};

namespace detail {

[[noreturn]] inline void refuse(std::string_view variable, std::string_view value, char const* expected) {
    throw std::invalid_argument(std::string(variable) + "=\"" + std::string(value) + "\": expected " +
                                expected);
}

template <class Integer>
auto parse_number(std::string_view text, Integer& value) -> bool {
    auto const* const end = text.data() + text.size();
    auto const result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc{} && result.ptr == end;
}

/// Takes the part of `text` before the first `separator` away, and returns it.
inline auto take(std::string_view& text, char separator) -> std::string_view {
    auto const part = text.substr(0, text.find(separator));
    text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
    return part;
}

/// Whether `rank` is in a list such as "0,4-7,8-63:8": single ranks and ranges, with a stride after the
/// colon.
inline auto contains(std::string_view variable, std::string_view list, int rank) -> bool {
    constexpr auto expected = "ranks and ranges such as 0,4-7,8-63:8";
    if (list.empty() || list.back() == ',') refuse(variable, list, expected);
    bool found = false;
    for (auto rest = list; !rest.empty();) {
        auto range = take(rest, ',');
        bool const strided = range.find(':') != std::string_view::npos;
        auto ends = take(range, ':');
        bool const is_range = ends.find('-') != std::string_view::npos;
        int first = 0;
        int stride = 1;
        if (!parse_number(take(ends, '-'), first)) refuse(variable, list, expected);
        int last = first;
        if ((is_range && !parse_number(ends, last)) || (strided && !parse_number(range, stride)) ||
            first < 0 || last < first || stride < 1)
            refuse(variable, list, expected);
        found = found || (rank >= first && rank <= last && (rank - first) % stride == 0);
    }
    return found;
}

template <class Integer>
void read_number(char const* (*environment)(char const*), char const* variable, Integer least,
                 Integer& value) {
    char const* const text = environment(variable);
    if (text == nullptr) return;
    if (!parse_number(text, value) || value < least) refuse(variable, text, "a whole number in its range");
}

/// What the clock of a rank is made wrong by: `rank` times the variable, at most `most`.
inline auto read_skew(char const* (*environment)(char const*), char const* variable, int rank,
                      std::int64_t most) -> std::int64_t {
    std::int64_t value = 0;
    read_number(environment, variable, std::int64_t{0}, value);
    if (rank > 0 && value > most / rank)
        refuse(variable, environment(variable), "less, since it counts once for each rank");
    return value * rank;
}

} // namespace detail

/// Reads the settings of one rank; `environment` is std::getenv or behaves like it. Throws
/// std::invalid_argument that names the variable and its value.
inline auto read_settings(char const* (*environment)(char const*), int rank) -> settings {
    settings result;
    if (auto const* prefix = environment("PAPCOLL_TRACE_FILE"); prefix != nullptr) {
        if (*prefix == '\0') detail::refuse("PAPCOLL_TRACE_FILE", prefix, "the beginning of a file name");
        result.prefix = prefix;
    }
    if (auto const* ranks = environment("PAPCOLL_TRACE_RANKS");
        ranks != nullptr && std::string_view(ranks) != "all")
        result.records = detail::contains("PAPCOLL_TRACE_RANKS", ranks, rank);
    detail::read_number(environment, "PAPCOLL_TRACE_EVERY", std::uint64_t{1}, result.every);
    detail::read_number(environment, "PAPCOLL_TRACE_BUFFER", std::size_t{1}, result.buffer);
    constexpr std::int64_t years = 1'000'000'000'000'000'000;
    constexpr std::int64_t twice_as_fast = 1'000'000;
    result.clock_offset = detail::read_skew(environment, "PAPCOLL_TRACE_TEST_OFFSET_NS", rank, years);
    result.clock_drift = detail::read_skew(environment, "PAPCOLL_TRACE_TEST_DRIFT_PPM", rank, twice_as_fast);
    return result;
}

} // namespace tracer
