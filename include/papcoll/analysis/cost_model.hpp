// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/problem.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// What communication and computation cost, the same for all ranks: α, β and γ of the models in the
/// literature. A message of m bytes takes latency + m · per_byte, the combination of two blocks of m bytes
/// takes compute + m · compute_per_byte. Each is rounded to whole ticks.
struct cost_model {
    /// The time of a message without bytes.
    ticks latency{0};
    double per_byte = 0.0; ///< nanoseconds
    /// The time of a combination without bytes.
    ticks compute{0};
    double compute_per_byte = 0.0; ///< nanoseconds; depends on the operator and the element type

    /// How long a message of so many bytes takes.
    [[nodiscard]] auto transfer_time(std::size_t bytes) const -> ticks {
        return latency + detail::whole_ticks(per_byte * static_cast<double>(bytes));
    }
    /// How long it takes to combine so many bytes.
    [[nodiscard]] auto compute_time(std::size_t bytes) const -> ticks {
        return compute + detail::whole_ticks(compute_per_byte * static_cast<double>(bytes));
    }
};

/// Throws std::invalid_argument, naming the member, unless all costs are finite and none is negative.
inline void check(cost_model const& model) {
    detail::require(model.latency.count() >= 0, "cost_model.latency must not be negative",
                    model.latency.count());
    detail::require(model.compute.count() >= 0, "cost_model.compute must not be negative",
                    model.compute.count());
    auto const require_cost = [](double cost, char const* name) {
        if (!std::isfinite(cost) || cost < 0)
            throw std::invalid_argument("papcoll: cost_model." + std::string(name) +
                                        " must be finite and not negative, but is " + std::to_string(cost));
    };
    require_cost(model.per_byte, "per_byte");
    require_cost(model.compute_per_byte, "compute_per_byte");
}

/// What a rank does in a simulated collective before it arrives.
enum class participation {
    from_arrival, ///< Nothing.
    /// From the first arrival of all on it sends, receives and combines all that does not need its own data:
    /// it has a background thread, or began the operation early. A block that it has at the beginning, of a
    /// reduction all, of a dissemination those that it owns, can be used from its arrival on.
    background
};

/// How many bytes each block has: one number for all, or one per block. Does not own the numbers. Throws
/// std::invalid_argument for a negative number.
class block_sizes {
public:
    template <std::integral Bytes>
    constexpr block_sizes(Bytes all) // NOLINT: converts where block sizes are an argument
        : m_all(static_cast<std::size_t>(all)) {
        detail::require(std::cmp_greater_equal(all, 0), "block sizes must not be negative",
                        static_cast<long long>(all));
    }
    template <class Range>
    requires std::convertible_to<Range const&, std::span<std::size_t const>>
    constexpr block_sizes(Range const& each) // NOLINT: as above
        : m_each(each)
        , m_uniform(false) {}

    /// The bytes of a block.
    [[nodiscard]] constexpr auto operator[](int block) const -> std::size_t {
        return m_uniform ? m_all : m_each[static_cast<std::size_t>(block)];
    }
    /// Whether there is a size for each of `blocks` blocks.
    [[nodiscard]] constexpr auto fits(int blocks) const -> bool {
        return m_uniform || std::cmp_equal(m_each.size(), blocks);
    }

private:
    std::size_t m_all = 0;
    std::span<std::size_t const> m_each;
    bool m_uniform = true;
};

/// The sizes in bytes of the blocks of a partition, of elements of `element_bytes` each, as `simulate` takes
/// them.
[[nodiscard]] inline auto bytes_of_blocks(block_partition const& partition, std::size_t element_bytes)
    -> std::vector<std::size_t> {
    std::vector<std::size_t> bytes;
    bytes.reserve(static_cast<std::size_t>(partition.blocks));
    for (int block = 0; block < partition.blocks; ++block)
        bytes.push_back(partition.size(block) * element_bytes);
    return bytes;
}

} // namespace papcoll::inline v0
