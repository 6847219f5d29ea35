// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/all_to_all.hpp>
#include <papcoll/core.hpp>
#include <papcoll/policy/all_to_all.hpp>

#include <mpi.h>

#include <charconv>
#include <complex>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../support/start_together.hpp"

namespace bench {

/// The all-to-all of an application, by an algorithm that is chosen by name, timed.
class transposition {
public:
    using value = std::complex<double>;

    explicit transposition(MPI_Comm comm)
        : m_comm(comm) {
        papcoll::attach(comm);
        choose("native");
    }

    /// "automatic", "native", "linear", "pairwise", "bruck", "linear_sync" or "linear_sync:WINDOW". Throws
    /// std::invalid_argument for others.
    void choose(std::string_view name) {
        constexpr std::string_view with_window = "linear_sync:";
        if (name == "native")
            take(papcoll::native{});
        else if (name == "automatic")
            take(papcoll::automatic{});
        else if (name == "linear")
            take(papcoll::all_to_all_linear{});
        else if (name == "pairwise")
            take(papcoll::all_to_all_pairwise{});
        else if (name == "bruck")
            take(papcoll::all_to_all_bruck{});
        else if (name == "linear_sync")
            take(papcoll::all_to_all_linear_sync{});
        else if (name.starts_with(with_window))
            take(papcoll::all_to_all_linear_sync{.window = window_of(name.substr(with_window.size()))});
        else
            throw std::invalid_argument("no all-to-all " + std::string(name) +
                                        ": automatic, native, linear, pairwise, bruck, linear_sync[:WINDOW]");
    }

    /// n values for each rank.
    void operator()(value const* in, std::size_t n, value* out) {
        auto const entry = now();
        m_exchange(in, n, out);
        m_time += now() - entry;
    }

    /// What this rank has spent in it since the last reset.
    [[nodiscard]] auto time() const -> ticks { return m_time; }
    void reset_time() { m_time = ticks{0}; }

private:
    template <class Policy>
    void take(Policy const& policy) {
        m_exchange = [this, policy](value const* in, std::size_t n, value* out) {
            papcoll::all_to_all(m_comm, in, n, out, policy);
        };
    }
    static auto window_of(std::string_view text) -> int {
        int window = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), window);
        if (error != std::errc{} || end != text.data() + text.size() || window < 1)
            throw std::invalid_argument("a window must be a number of at least 1, but is " +
                                        std::string(text));
        return window;
    }

    MPI_Comm m_comm;
    std::function<void(value const*, std::size_t, value*)> m_exchange;
    ticks m_time{0};
};

} // namespace bench
