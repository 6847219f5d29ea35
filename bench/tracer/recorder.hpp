// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "clock.hpp"
#include "communicators.hpp"
#include "settings.hpp"

namespace tracer {

/// One call of a collective. Times are nanoseconds of the local clock.
struct call_record {
    char const* operation = nullptr; ///< lives as long as the process
    void const* site = nullptr;
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
    std::int64_t entry = 0;
    std::int64_t exit = 0;
};

/// Keeps a rank's calls and writes them to its file when the buffer is full and at the end. Thread-safe.
class recorder {
public:
    /// The process's; never destroyed, since programs may end in many ways.
    static auto instance() -> recorder&;

    /// Opens the rank's file if the rank is to be traced; `run` is the same on all ranks of a run, and no
    /// other's. Throws std::invalid_argument for settings that cannot be used, std::runtime_error for a file
    /// that cannot be written.
    void open(settings const& wanted, int rank, int ranks, std::uint64_t run);
    void skew_clock(settings const& wanted) { m_clock.skew(wanted.clock_offset, wanted.clock_drift); }

    [[nodiscard]] auto is_active() const -> bool { return m_active.load(std::memory_order_relaxed); }
    [[nodiscard]] auto clock() const -> local_clock const& { return m_clock; }
    [[nodiscard]] auto is_sampled(std::uint64_t sequence) const -> bool { return sequence % m_every == 0; }

    void add(communicator& comm, call_record const& call);
    void add(clock_reading const& reading);
    /// The same text, kept for ever.
    auto kept(std::string_view operation) -> char const*;
    /// Writes what is in memory: before MPI_Abort, or at a program's end that came without MPI_Finalize.
    void flush();
    /// Writes the rest; nothing is recorded from now on.
    void close();

private:
    struct entry {
        call_record call;
        std::uint32_t communicator = 0;
    };

    void write_calls();
    void write_text();
    void append_communicator(communicator const& comm, std::uint32_t number);
    void append_call(entry const& from);
    auto site_number(void const* address) -> std::uint32_t;

    std::atomic<bool> m_active{false};
    std::uint64_t m_every = 1;
    local_clock m_clock;
    std::mutex m_mutex;
    std::size_t m_capacity = 0;
    std::vector<entry> m_calls;
    std::string m_text; ///< lines not yet in the file
    std::string m_path;
    std::FILE* m_file = nullptr;
    int m_process = 0; ///< a forked child must not write its parent's calls
    std::uint64_t m_written = 0;
    std::uint32_t m_communicators = 0;
    std::unordered_map<void const*, std::uint32_t> m_site_of_address;
    std::map<std::string, std::uint32_t> m_sites;
    std::set<std::string, std::less<>> m_operations;
};

} // namespace tracer
