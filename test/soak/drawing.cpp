// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "drawing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace soak {
namespace {

using papcoll::check_level;
using papcoll::ticks;

constexpr int world_id = 0;
constexpr int self_id = 1;
constexpr std::size_t most_communicators = 7;

auto is_permanent(int id) -> bool { return id == world_id || id == self_id; }

auto draw_options(random_source& random) -> papcoll::attach_options {
    static constexpr std::array checks{check_level::off, check_level::local, check_level::local,
                                       check_level::agreed};
    // Measured, of equal costs, slow to begin, slow to move.
    static constexpr std::array<papcoll::link_model, 3> links{
        {{ticks(20'000), 0.1}, {ticks(2'000'000), 0.01}, {ticks(200), 5.0}}};
    papcoll::attach_options o;
    o.checks = random.one_of(checks);
    if (random.percent(60)) o.link = random.one_of(links);
    return o;
}

} // namespace

drawing::drawing(options const& o, int ranks)
    : m_options(o)
    , m_ranks(ranks) {
    drawn_communicator world{.id = world_id, .from = origin::world};
    for (int r = 0; r < ranks; ++r) world.members.push_back(r);
    m_pool[world_id] = world;
    m_pool[self_id] = {.id = self_id, .from = origin::self};
}

auto drawing::next() -> batch {
    m_random = random_source(mixed(m_options.seed, m_next_call));
    batch b{.first = m_next_call, .calls = 0, .events = {}};
    keep_house(b);
    if (m_random.percent(35) && may_block_in_mpi()) add_call(b, true);
    auto const wanted = b.calls + m_random.between<std::uint64_t>(1, 8);
    while (b.calls < wanted) {
        add_call(b, m_options.under_way && m_options.multiple && may_block_in_mpi());
        contribute(b, 40);
        if (m_random.percent(2)) free_one(b);
        keep_house_under_way(b);
    }
    contribute(b, 100);
    return b;
}

// Nothing is under way.
void drawing::keep_house(batch& b) {
    if (m_random.percent(20)) attach_again(b);
    if (m_random.percent(10))
        if (auto const ids = freeable(false); !ids.empty()) end_communicator(b, m_random.one_of(ids));
    for (auto& [id, c] : m_pool)
        if (c.monitor && m_random.percent(7)) end_monitor(b, id);
    if (!may_block_in_mpi()) return;
    if (m_random.percent(25)) make_communicators(b);
    if (m_random.percent(15)) begin_monitor(b);
}

// With MPI_THREAD_MULTIPLE papcoll's thread drives what is under way while a rank is in MPI: always, or,
// where papcoll needs one for it, while an operation is open on that rank.
void drawing::keep_house_under_way(batch& b) {
    auto const is_of_world = [](auto const& call) { return call->communicator == world_id; };
    bool const driven = m_options.multiple &&
                        (m_options.under_way || std::any_of(m_waiting.begin(), m_waiting.end(), is_of_world));
    if (driven && may_block_in_mpi() && m_random.percent(4)) make_communicators(b);
    if (!m_options.under_way) return;
    if (m_random.percent(3)) begin_monitor(b);
    for (auto const& [id, c] : m_pool)
        if (c.monitor && m_random.percent(3))
            b.events.push_back({.what = act::synchronise, .communicator = id});
}

/// A rank without a thread takes part in its monitors' rounds in papcoll's calls alone, where others may wait
/// for it unless all say when their computations begin.
auto drawing::may_block_in_mpi() const -> bool {
    return std::none_of(m_pool.begin(), m_pool.end(), [](auto const& entry) {
        auto const& monitor = entry.second.monitor;
        return monitor && !monitor->orderly && !monitor->thread;
    });
}

/// At most so many ranks in random or reversed order.
auto drawing::make_members(std::size_t most) -> std::vector<int> {
    std::vector<int> members = m_pool.at(world_id).members;
    if (m_random.percent(40)) {
        std::reverse(members.begin(), members.end());
    } else {
        for (std::size_t i = members.size(); i > 1; --i)
            std::swap(members[i - 1], members[m_random.below(i)]);
    }
    auto const count = m_random.between<std::size_t>(1, std::max<std::size_t>(most, 1));
    while (members.size() > count)
        members.erase(members.begin() + static_cast<std::ptrdiff_t>(m_random.below(members.size())));
    return members;
}

void drawing::make_communicators(batch& b) {
    if (m_pool.size() >= most_communicators) return;
    drawn_communicator one{.id = m_next_id++, .from = origin::group};
    auto const ranks = static_cast<std::size_t>(m_ranks);
    event e{.what = act::make};
    auto const way = m_random.between(0, 99);
    if (way < 35) {
        auto const parent =
            std::next(m_pool.begin(), static_cast<std::ptrdiff_t>(m_random.below(m_pool.size())));
        one.from = origin::duplicate;
        one.parent = parent->first;
        one.members = parent->second.members;
    } else {
        one.members = make_members(ranks);
        if (way < 75) one.from = origin::split;
    }
    e.made.push_back(one);
    if (one.from == origin::split && one.members.size() < ranks && m_random.percent(60)) {
        auto other = one;
        other.id = m_next_id++;
        other.members.clear();
        for (int r = 0; r < m_ranks; ++r)
            if (std::find(one.members.begin(), one.members.end(), r) == one.members.end())
                other.members.push_back(r);
        e.made.push_back(other);
    }
    for (auto const& made : e.made) m_pool[made.id] = made;
    b.events.push_back(std::move(e));
}

void drawing::begin_monitor(batch& b) {
    auto& c = pick();
    if (c.monitor) return;
    c.monitor = {.orderly = m_random.percent(60), .thread = m_options.multiple && m_random.percent(70)};
    b.events.push_back({.what = act::monitor, .communicator = c.id, .monitor = *c.monitor});
}
void drawing::end_monitor(batch& b, int id) {
    m_pool.at(id).monitor.reset();
    b.events.push_back({.what = act::end_monitor, .communicator = id});
}

void drawing::attach_again(batch& b) {
    auto& c = pick();
    c.how = draw_options(m_random);
    c.attached = true;
    b.events.push_back({.what = act::attach, .communicator = c.id, .how = c.how});
}

/// The monitor goes before its communicator or after it.
void drawing::end_communicator(batch& b, int id) {
    bool const has_monitor = m_pool.at(id).monitor.has_value();
    bool const before = m_random.percent(50);
    if (has_monitor && before) end_monitor(b, id);
    b.events.push_back({.what = act::free, .communicator = id});
    if (has_monitor && !before) end_monitor(b, id);
    m_pool.erase(id);
}
auto drawing::freeable(bool without_open) const -> std::vector<int> {
    std::vector<int> ids;
    for (auto const& [id, c] : m_pool) {
        bool const is_open = std::any_of(m_waiting.begin(), m_waiting.end(),
                                         [id = id](auto const& call) { return call->communicator == id; });
        if (!is_permanent(id) && !(without_open && is_open)) ids.push_back(id);
    }
    return ids;
}
void drawing::free_one(batch& b) {
    if (auto const ids = freeable(true); !ids.empty()) end_communicator(b, m_random.one_of(ids));
}

/// Self now and then, the world more often than others.
auto drawing::pick() -> drawn_communicator& {
    auto const others = m_pool.size() - 2;
    if (m_random.percent(5)) return m_pool.at(self_id);
    if (others == 0 || m_random.percent(35)) return m_pool.at(world_id);
    return std::next(m_pool.begin(), static_cast<std::ptrdiff_t>(2 + m_random.below(others)))->second;
}

/// Half of the communicators are attached by their first blocking call instead.
void drawing::attach_before(batch& b, drawn_communicator& c) {
    if (c.attached || m_random.percent(50)) return;
    c.how = m_random.percent(50) ? draw_options(m_random) : papcoll::attach_options{};
    c.attached = true;
    b.events.push_back({.what = act::attach, .communicator = c.id, .how = c.how});
}

void drawing::add_call(batch& b, bool alone) {
    auto& c = pick();
    attach_before(b, c);
    int const ranks = c.members.empty() ? 1 : static_cast<int>(c.members.size());
    auto call = draw_call(m_random, c, ranks, alone, m_options);
    c.attached = true;
    call.number = m_next_call++;
    ++b.calls;
    auto const shared = std::make_shared<drawn_call const>(std::move(call));
    b.events.push_back({.what = act::begin, .communicator = c.id, .call = shared});
    if (shared->form == call_form::open) m_waiting.push_back(shared);
}

void drawing::contribute(batch& b, int percent) {
    std::vector<std::shared_ptr<drawn_call const>> left;
    while (!m_waiting.empty()) {
        auto const chosen = m_waiting.begin() + static_cast<std::ptrdiff_t>(m_random.below(m_waiting.size()));
        if (m_random.percent(percent))
            b.events.push_back(
                {.what = act::contribute, .communicator = (*chosen)->communicator, .call = *chosen});
        else
            left.push_back(*chosen);
        m_waiting.erase(chosen);
    }
    m_waiting = std::move(left);
}

} // namespace soak
