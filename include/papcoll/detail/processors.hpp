// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/read_file.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <thread>

namespace papcoll::inline v0::detail {

inline constexpr auto any_processors = std::numeric_limits<std::size_t>::max();

/// The number at the beginning of a text; 0 where there is none.
[[nodiscard]] inline auto leading_number(std::string_view text) -> std::size_t {
    std::size_t n = 0;
    std::from_chars(text.data(), text.data() + text.size(), n);
    return n;
}

/// How many processors a group of processes may keep busy, begun ones counted. `limit` is the text of its
/// `cpu.max`: microseconds of computing within microseconds of time, or "max" (Linux, cgroup v2).
[[nodiscard]] inline auto processors_of_limit(std::string_view limit) -> std::size_t {
    auto const space = std::min(limit.find(' '), limit.size());
    auto const computing = leading_number(limit);
    auto const time = space == limit.size() ? 0 : leading_number(limit.substr(space + 1));
    return computing == 0 || time == 0 ? any_processors : (computing + time - 1) / time;
}

/// What this process's group and those above it allow. `groups`: the text of /proc/self/cgroup. `read(path)`
/// gives a file's text, if there is one.
template <class Read>
[[nodiscard]] auto processors_of_groups(std::string_view groups, Read const& read) -> std::size_t {
    auto const begin = groups.find("0::/");
    if (begin == std::string_view::npos) return any_processors;
    auto group = groups.substr(begin + 3, groups.find('\n', begin) - begin - 3);
    auto allowed = any_processors;
    for (;;) {
        auto const limit = read("/sys/fs/cgroup" + std::string(group) + "/cpu.max");
        if (limit) allowed = std::min(allowed, processors_of_limit(*limit));
        if (group.empty()) return allowed;
        group = group.substr(0, group.rfind('/'));
    }
}

/// How many ranks the launcher says it has started on this node (Open MPI, MPICH's Hydra, MVAPICH); 0 where
/// it says nothing.
[[nodiscard]] inline auto started_on_this_node() -> std::size_t {
    for (auto const* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"})
        if (auto const* value = std::getenv(name)) return leading_number(value);
    return 0;
}

/// Whether the processors that this process may use suffice for so many ranks of a communicator on its node,
/// and for all that were started with them.
[[nodiscard]] inline auto enough_processors(std::size_t ranks) -> bool {
    static auto const usable =
        std::min<std::size_t>(std::thread::hardware_concurrency(),
                              processors_of_groups(read_file("/proc/self/cgroup").value_or(""),
                                                   [](auto const& path) { return read_file(path); }));
    return std::max(ranks, started_on_this_node()) <= usable;
}

} // namespace papcoll::inline v0::detail
