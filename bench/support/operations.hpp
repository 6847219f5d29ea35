// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/papcoll.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// The operations that can be measured and the policies of each. A new operation is one class here and one
/// line in make_operation.
namespace bench {

using papcoll::ticks;

/// What a call is measured with; the same on all ranks.
struct call_options {
    std::size_t count = 0; ///< elements of type float
    int root = 0;
    std::optional<int> segments = {};
    std::optional<ticks> round = {};
};

/// What a schedule says about itself.
struct schedule_facts {
    int segments = 1;
    ticks round{0};
    std::size_t segment_bytes = 0;
    std::int64_t rounds_after_last_arrival = 0;
};

class operation {
public:
    virtual ~operation() = default;
    /// All policies by name, the MPI library's own first.
    [[nodiscard]] virtual auto policies() const -> std::vector<std::string> = 0;
    /// Bytes that must pass the slowest link, whatever the algorithm.
    [[nodiscard]] virtual auto least_bytes() const -> std::size_t = 0;
    /// Makes the next run() one of `policy` for these arrivals, with clean results. Not measured.
    virtual void prepare(std::string const& policy, std::vector<ticks> const& arrivals) = 0;
    virtual void run() = 0;
    /// Whether this rank has the right result of the last run().
    [[nodiscard]] virtual auto correct() const -> bool = 0;
    [[nodiscard]] virtual auto facts(std::string const& policy, std::vector<ticks> const& arrivals) const
        -> std::optional<schedule_facts> = 0;
};

/// Sum of floats to a root. All values are small integers, so that every order of addition gives the same.
class reduce_operation final : public operation {
public:
    reduce_operation(MPI_Comm comm, call_options const& options)
        : m_comm(comm)
        , m_options(options)
        , m_in(options.count)
        , m_out(options.count) {
        MPI_Comm_rank(comm, &m_rank);
        MPI_Comm_size(comm, &m_ranks);
        for (std::size_t i = 0; i < m_in.size(); ++i) m_in[i] = value(m_rank, i);
    }

    [[nodiscard]] auto policies() const -> std::vector<std::string> override {
        return {"native", "clairvoyant", "clairvoyant_blind"};
    }
    [[nodiscard]] auto least_bytes() const -> std::size_t override {
        return m_ranks > 1 ? m_options.count * sizeof(float) : 0;
    }

    void prepare(std::string const& policy, std::vector<ticks> const& arrivals) override {
        std::fill(m_out.begin(), m_out.end(), std::numeric_limits<float>::quiet_NaN());
        if (policy == "native")
            m_run = call(papcoll::native{});
        else
            m_run = call(clairvoyant_policy(policy, arrivals));
    }
    void run() override { m_run(); }

    [[nodiscard]] auto correct() const -> bool override {
        if (m_rank != m_options.root) return true;
        for (std::size_t i = 0; i < m_out.size(); ++i) {
            float sum = 0;
            for (int rank = 0; rank < m_ranks; ++rank) sum += value(rank, i);
            if (!(m_out[i] == sum)) return false;
        }
        return true;
    }

    [[nodiscard]] auto facts(std::string const& policy, std::vector<ticks> const& arrivals) const
        -> std::optional<schedule_facts> override {
        if (policy == "native") return std::nullopt;
        auto const chosen =
            clairvoyant_policy(policy, arrivals).choose(shape(), papcoll::context_of(m_comm)->link());
        papcoll::block_partition const partition{m_options.count, chosen.segments};
        return schedule_facts{chosen.segments, chosen.round, partition.largest() * sizeof(float),
                              chosen.rounds_after_last_arrival};
    }

private:
    static auto value(int rank, std::size_t i) -> float {
        return static_cast<float>((i + 3 * static_cast<std::size_t>(rank)) % 17);
    }

    [[nodiscard]] auto shape() const -> papcoll::call_shape {
        return {m_ranks, m_rank, m_options.root, m_options.count, sizeof(float)};
    }
    [[nodiscard]] auto clairvoyant_policy(std::string const& policy, std::vector<ticks> const& arrivals) const
        -> papcoll::clairvoyant {
        papcoll::clairvoyant made{.arrivals = {}, .round = m_options.round, .segments = m_options.segments};
        if (policy == "clairvoyant")
            made.arrivals = papcoll::arrival_source(arrivals);
        else if (policy != "clairvoyant_blind")
            throw std::invalid_argument("no policy " + policy + " of reduce");
        return made;
    }

    template <class Policy>
    auto call(Policy policy) -> std::function<void()> {
        return [this, policy] {
            papcoll::reduce(m_comm, m_in.data(), m_in.size(), m_out.data(), std::plus<>(), m_options.root,
                            policy);
        };
    }

    MPI_Comm m_comm;
    int m_rank = 0;
    int m_ranks = 1;
    call_options m_options;
    std::vector<float> m_in;
    std::vector<float> m_out;
    std::function<void()> m_run;
};

inline auto make_operation(std::string const& name, MPI_Comm comm, call_options const& options)
    -> std::unique_ptr<operation> {
    if (name == "reduce") return std::make_unique<reduce_operation>(comm, options);
    throw std::invalid_argument("no operation " + name);
}

} // namespace bench
