// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "drawn.hpp"
#include "options.hpp"
#include "random_source.hpp"

namespace soak {

/// A call on a communicator of so many ranks; `alone`: MPI's blocking routines may be called.
[[nodiscard]] auto draw_call(random_source& random, drawn_communicator const& c, int ranks, bool alone,
                             options const& o) -> drawn_call;

/// Draws batches, and with them which communicators there are.
class drawing {
public:
    drawing(options const& o, int ranks);

    /// The next batch of at least one call.
    auto next() -> batch;
    /// Those that there are when the next batch begins, by id.
    [[nodiscard]] auto communicators() const -> std::map<int, drawn_communicator> const& { return m_pool; }

private:
    // While a batch is drawn:
    void keep_house(batch& b);
    void keep_house_under_way(batch& b);
    void make_communicators(batch& b);
    void end_communicator(batch& b, int id);
    void begin_monitor(batch& b);
    void end_monitor(batch& b, int id);
    void attach_again(batch& b);
    void add_call(batch& b, bool alone);
    void attach_before(batch& b, drawn_communicator& c);
    void contribute(batch& b, int percent);
    void free_one(batch& b);
    [[nodiscard]] auto make_members(std::size_t most) -> std::vector<int>;
    [[nodiscard]] auto pick() -> drawn_communicator&;
    [[nodiscard]] auto may_block_in_mpi() const -> bool;
    [[nodiscard]] auto freeable(bool without_open) const -> std::vector<int>;

    options m_options;
    int m_ranks;
    random_source m_random{0};
    std::map<int, drawn_communicator> m_pool;
    int m_next_id = 2;
    std::uint64_t m_next_call = 0;
    std::vector<std::shared_ptr<drawn_call const>> m_waiting; // for contributions
};

} // namespace soak
