// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "call.hpp"
#include "drawn.hpp"
#include "options.hpp"
#include "places.hpp"
#include "random_source.hpp"
#include "watchdog.hpp"

namespace soak {

/// Makes this rank's part of what was drawn.
///
/// No rank waits for ever: events come in one order on all ranks, a rank waits for a call only after its own
/// contribution to it, and while it waits for one all of its calls progress. So of the calls that ranks wait
/// for, all ranks take part in the one whose contribution comes first in that order.
class runner {
public:
    runner(options const& o, int rank, places& p, watchdog& w)
        : m_options(o)
        , m_rank(rank)
        , m_places(p)
        , m_watchdog(w) {}

    /// When it returns nothing of this rank is under way.
    void run(batch const& b);
    /// How many results were compared.
    [[nodiscard]] auto compared() const -> std::uint64_t { return m_compared; }

private:
    struct under_way {
        std::shared_ptr<drawn_call const> what;
        std::unique_ptr<call> running;
        bool contributed;
    };

    void plan(batch const& b);
    [[nodiscard]] auto permuted(std::vector<event> const& events) -> std::vector<event>;
    [[nodiscard]] auto may_swap(event const& e) const -> bool;
    void perform(event const& e);
    void begin(event const& e);
    void contribute(event const& e);
    void delay();
    void look_after_some();
    void finish(std::size_t index);
    void finish_all(int communicator);
    void compare(under_way const& ended);
    [[nodiscard]] auto waitable(int communicator) const -> std::vector<std::size_t>;

    options m_options;
    int m_rank;
    places& m_places;
    watchdog& m_watchdog;
    random_source m_own{0};
    std::map<drawn_call const*, bool> m_blocks; // whether this rank waits in the call, where it may choose
    std::vector<under_way> m_under_way;
    std::uint64_t m_compared = 0;
    bool m_spoilt = false;
};

} // namespace soak
