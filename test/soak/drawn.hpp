// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy_draw.hpp"

// What all ranks draw alike from the seed. Nothing here has happened yet.
namespace soak {

enum class operation_kind {
    broadcast,
    reduce,
    all_reduce,
    gather,
    all_gather,
    all_gatherv,
    reduce_scatter,
    all_to_all,
    scatter,
    scatterv,
    gatherv,
    scan,
    exscan,
    barrier,
    all_to_allv,
    reduce_scatter_block
};
inline constexpr std::array<std::string_view, 16> operation_names{
    "broadcast",  "reduce",      "all_reduce",     "gather",
    "all_gather", "all_gatherv", "reduce_scatter", "all_to_all",
    "scatter",    "scatterv",    "gatherv",        "scan",
    "exscan",     "barrier",     "all_to_allv",    "reduce_scatter_block"};

[[nodiscard]] constexpr auto reduces(operation_kind o) -> bool {
    using enum operation_kind;
    return o == reduce || o == all_reduce || o == reduce_scatter || o == scan || o == exscan ||
           o == reduce_scatter_block;
}

enum class call_form {
    any,      ///< each rank blocks or has a request, as it likes
    blocking, ///< on all ranks
    begun,    ///< with a request on all ranks
    planned,
    open
};

struct drawn_call {
    std::uint64_t number = 0;
    std::uint64_t key = 0; ///< of the contents
    operation_kind operation = operation_kind::broadcast;
    std::size_t element = 0; ///< in reduction_table or element_table
    int communicator = 0;
    std::string place; ///< the communicator in words
    int ranks = 1;
    std::size_t n = 0;              ///< elements, of each rank where they belong to ranks
    std::vector<std::size_t> sizes; ///< of the ranks' parts
    int root = 0;
    call_form form = call_form::any;
    int runs = 1;             ///< of a plan
    bool own_buffers = false; ///< which has them
    bool in_place = false;    ///< on all ranks, where the MPI library may be asked
    bool alike = false;       ///< whether in_place counts; else each rank decides
    policy_draw policy;
};
[[nodiscard]] auto words(drawn_call const& call) -> std::string;

struct drawn_monitor {
    bool orderly = false; ///< each rank says when its computation begins
    bool thread = false;
};

enum class origin { world, self, duplicate, split, group };

struct drawn_communicator {
    int id = 0;
    origin from = origin::world;
    int parent = 0; ///< of a duplicate
    std::vector<int> members =
        {}; ///< their ranks in the world, in order; of `self` none: each rank has its own
    bool attached = false;
    papcoll::attach_options how = {};
    std::optional<drawn_monitor> monitor = {};
};
[[nodiscard]] auto words(drawn_communicator const& c) -> std::string;

enum class act { make, free, attach, monitor, end_monitor, synchronise, begin, contribute };

struct event {
    act what;
    int communicator = 0;                        ///< on which, but for make
    std::vector<drawn_communicator> made = {};   ///< by one call
    std::shared_ptr<drawn_call const> call = {}; ///< to begin or contribute to
    drawn_monitor monitor = {};
    papcoll::attach_options how = {};
};

[[nodiscard]] auto words(event const& e) -> std::string;

/// What happens in this order on all ranks, but that each rank may swap the beginnings of calls on different
/// communicators. All its calls have ended when the next batch begins.
struct batch {
    std::uint64_t first = 0; ///< number of a call
    std::uint64_t calls = 0;
    std::vector<event> events;
};

} // namespace soak
