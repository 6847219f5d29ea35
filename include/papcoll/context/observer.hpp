// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif

namespace papcoll::inline v0 {

/// One collective operation of papcoll as one rank saw it.
struct collective_record {
    std::string_view operation; ///< "reduce", "all_gather", …; valid while the observer is called
    std::size_t bytes = 0;      ///< of one rank's block or vector: what the MPI routine would be given
    std::uint64_t sequence = 0; ///< the operation's number on its communicator, by which ranks are matched
    ticks entry{0};             ///< when the call began and when its result was there, on
    ticks exit{0};              ///< std::chrono::steady_clock of this process
    /// An address in the function that called, where the compiler inlined the collective into it; else one in
    /// papcoll. Null if unknown.
    void const* call_site = nullptr;
};

/// Called on every rank after each operation of papcoll's, also one that has thrown here, by the thread that
/// completed it; must not communicate or throw, and must be thread-safe if operations complete in several
/// threads. Empty: nobody looks. See observe.
using observer = std::function<void(collective_record const&)>;

/// What the tracer's shared object exports under the name papcoll_trace_record. The communicator is the
/// Fortran handle (MPI_Comm_c2f), an integer with every MPI library; the operation is a C string, times are
/// nanoseconds of std::chrono::steady_clock.
using trace_record_function = void (*)(char const* operation, int communicator, std::size_t bytes,
                                       std::uint64_t sequence, std::int64_t entry_ns, std::int64_t exit_ns,
                                       void const* call_site);

/// The tracer's function if the tracer is preloaded or linked, else null. It is looked up by name: a weak
/// reference stays null in programs that are linked without -pie, even when the tracer is preloaded.
[[nodiscard]] inline auto find_tracer() -> trace_record_function {
#if __has_include(<dlfcn.h>)
    static auto const found =
        reinterpret_cast<trace_record_function>(::dlsym(RTLD_DEFAULT, "papcoll_trace_record"));
    return found;
#else
    return nullptr;
#endif
}

/// An observer that reports to the tracer as operations on the communicator with this Fortran handle; empty
/// without a tracer.
[[nodiscard]] inline auto tracer_observer(int communicator) -> observer {
    auto const record = find_tracer();
    if (record == nullptr) return {};
    return [record, communicator](collective_record const& seen) {
        record(std::string(seen.operation).c_str(), communicator, seen.bytes, seen.sequence,
               seen.entry.count(), seen.exit.count(), seen.call_site);
    };
}

} // namespace papcoll::inline v0
