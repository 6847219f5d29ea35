// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/cost_model.hpp>
#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/schedule/problem.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The operations that can be measured and the policies of each. A new operation is one class in
/// operations.cpp and one line in its table.
namespace bench {

using papcoll::ticks;

/// What a call is measured with; the same on all ranks.
struct call_options {
    std::size_t count = 0; ///< elements of type float
    int root = 0;
    std::optional<int> segments = {};            ///< of Clairvoyant
    std::optional<ticks> round = {};             ///< of Clairvoyant
    std::optional<std::size_t> block_bytes = {}; ///< of circulant
};

/// What a schedule says about itself.
struct schedule_facts {
    int segments = 1;
    ticks round{0};
    std::size_t segment_bytes = 0;
    std::int64_t rounds_after_last_arrival = 0; ///< 0: not known
};

class operation {
public:
    virtual ~operation() = default;
    /// All policies by name, the MPI library's own first.
    [[nodiscard]] virtual auto policies() const -> std::vector<std::string> = 0;
    /// The policies that "native:*" stands for: each of Open MPI's algorithms.
    [[nodiscard]] virtual auto algorithms() const -> std::vector<std::string> = 0;
    /// Bytes that must pass the slowest link, whatever the algorithm.
    [[nodiscard]] virtual auto least_bytes() const -> std::size_t = 0;
    /// Spoils the last result.
    virtual void spoil() = 0;
    /// Makes the next run() one of `policy` for these arrivals; empty ones are not known.
    virtual void prepare(std::string const& policy, std::vector<ticks> const& arrivals) = 0;
    /// The same for policies "open:…", told arrivals that may be known later.
    virtual void prepare_open(std::string const& policy, papcoll::arrival_source const& arrivals) = 0;
    /// Before the rank computes what it contributes: policies "open:…" begin here.
    virtual void begin() = 0;
    /// Lets what has begun go on, where no thread does it; the computation calls it again and again.
    virtual void advance() = 0;
    virtual void run() = 0;
    /// Whether this rank has the right result of the last run().
    [[nodiscard]] virtual auto correct() const -> bool = 0;
    [[nodiscard]] virtual auto facts(std::string const& policy, std::vector<ticks> const& arrivals) const
        -> std::optional<schedule_facts> = 0;
    /// The last delay that the model gives for the prepared policy among ranks with these arrivals; none for
    /// what has no plan.
    [[nodiscard]] virtual auto predict(std::vector<ticks> const& arrivals,
                                       papcoll::cost_model const& model) const -> std::optional<ticks> = 0;
};

/// The names of all operations.
[[nodiscard]] auto operation_names() -> std::vector<std::string>;
/// Throws std::invalid_argument if there is none of the name.
[[nodiscard]] auto make_operation(std::string const& name, MPI_Comm comm, call_options const& options)
    -> std::unique_ptr<operation>;

} // namespace bench
