// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/automatic_choice.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/impl/clairvoyant.hpp>
#include <papcoll/policy/impl/node_prefix.hpp>
#include <papcoll/policy/known_policies.hpp>
#include <papcoll/policy/prefix.hpp>
#include <papcoll/policy/radix_choice.hpp>
#include <papcoll/policy/shared_memory.hpp>
#include <papcoll/policy/two_level.hpp>
#include <papcoll/program/prefix.hpp>
#include <papcoll/scheduler/rank_grid.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace papcoll::inline v0::detail {

/// The policy that ends first in the model, for one call.
class automatic_model {
public:
    automatic_model(call_shape const& shape, link_model const& link, call_knowledge const& known)
        : m_shape(shape)
        , m_link(link)
        , m_known(known)
        , m_rounds(static_cast<int>(std::bit_width(static_cast<unsigned>(shape.ranks - 1)))) {}

    /// Circulant schedules are within (q − 1)/n of every bound that does not know the arrivals (paper 3);
    /// trees serve operators that do not commute and data that is not worth cutting.
    [[nodiscard]] auto choose() const -> automatic_choice {
        if (shared_memory::serves(m_shape) && !combining_dominates())
            return {{"shared_memory", {}}, "model: all ranks share a node"};
        switch (m_shape.operation) {
        case collective_kind::reduce:
            return reduction("clairvoyant");
        case collective_kind::all_reduce:
            return reduction("arrival_all_reduce");
        case collective_kind::reduce_scatter:
            return m_shape.commutative ? blind() : ordered_scatter();
        case collective_kind::all_gather:
            if (aware()) return {{"background_circulant", {}}, "model: arrivals known, early parts go first"};
            return blind();
        case collective_kind::gather:
        case collective_kind::scatter:
            return rooted();
        case collective_kind::all_to_all:
            return exchange();
        case collective_kind::scan:
        case collective_kind::exscan:
            return prefix();
        case collective_kind::barrier:
            if (two_level{}.shares_memory(m_shape))
                return {{"two_level", {}}, "model: one rank of each node"};
            return {{"dissemination", {}}, "model: fewest rounds"};
        case collective_kind::broadcast:
            break;
        }
        return blind();
    }
    /// Whether a call may try a policy, to learn what it takes: not if the model says that it takes more than
    /// half as long again as the one that it chooses. What goes by nodes has no time in the model; beside it
    /// the MPI library's own is tried, on one node for what does not fit into the shared memory; not where
    /// the operator may throw, of which the library would not tell the other ranks.
    [[nodiscard]] auto is_worth_trying(std::string_view policy, std::string_view chosen) const -> bool {
        bool const is_native = policy == "native";
        if (is_native && m_shape.may_throw) return false;
        if (chosen == "shared_memory") return is_native && m_shape.bytes() > m_shape.shared_bytes;
        if (policy == "dissemination" && chosen == "circulant" && is_butterfly()) return false;
        double const least = time_of(chosen);
        return least > 0 ? time_of(policy) <= 1.5 * least : is_native;
    }

private:
    /// How long a policy takes, in nanoseconds; 0: the model does not know.
    [[nodiscard]] auto time_of(std::string_view policy) const -> double {
        double const latency = round_latency(m_link);
        double const volume = volume_time(m_shape.bytes(), m_link);
        double const p = m_shape.ranks;
        if (policy == "native") return time_of_native();
        if (policy == "circulant") return circulant_time();
        if (policy == "knomial_tree") return choose_knomial(m_shape, m_link).time;
        if (policy == "dissemination" && m_shape.operation == collective_kind::barrier)
            return choose_signs(m_shape.ranks, m_link).time;
        if (policy == "dissemination") return choose_dissemination(m_shape, m_link).time;
        if (policy == "greedy_tree")
            return (m_shape.operation == collective_kind::all_reduce ? 2 : 1) * m_rounds * whole_round();
        if (policy == "linear") return at_root(m_shape.ranks - 1);
        if (policy == "linear_sync") return whole_round() + (p - 1) * message_cost(m_link);
        if (policy == "pairwise") return (p - 1) * (latency + volume / p);
        if (policy == "bruck") return m_rounds * (latency + volume / 2);
        if (policy == "prefix_doubling") return rounds_of_doubling() * whole_round();
        if (policy == "prefix_chain") {
            double const blocks = prefix_chain{}.blocks(m_shape, m_link);
            double const by_ranks = (blocks + p - 2) * (latency + volume / blocks);
            return two_level{}.shares_memory(m_shape) ? std::min(by_ranks, chain_of_nodes()) : by_ranks;
        }
        return 0;
    }
    /// What libraries do where nothing blocks: a binomial tree or recursive doubling of whole operands, parts
    /// directly, prefixes from rank to rank.
    [[nodiscard]] auto time_of_native() const -> double {
        switch (m_shape.operation) {
        case collective_kind::gather:
        case collective_kind::scatter:
            return time_of("linear");
        case collective_kind::all_gather:
        case collective_kind::all_to_all:
            return time_of("linear_sync");
        case collective_kind::scan:
        case collective_kind::exscan:
            return (m_shape.ranks - 1) * whole_round();
        default:
            return m_rounds * whole_round();
        }
    }
    /// In which all the data moves.
    [[nodiscard]] auto whole_round() const -> double {
        return round_latency(m_link) + volume_time(m_shape.bytes(), m_link);
    }
    /// All the data in so many messages at once, at one rank.
    [[nodiscard]] auto at_root(int messages) const -> double {
        return whole_round() + std::max(messages - 1, 0) * rooted_message_cost(m_link);
    }
    [[nodiscard]] auto blind() const -> automatic_choice {
        if (two_level{}.uses_nodes(m_shape, m_link))
            return {{"two_level", {}}, "model: each block enters a node once"};
        if (char const* const name = short_algorithm(circulant_time())) return few_rounds(name);
        return {{"circulant", {}}, "model: fewest rounds, whoever is late"};
    }
    [[nodiscard]] static auto few_rounds(char const* policy) -> automatic_choice {
        return {{policy, {}}, "model: fewer rounds of more messages"};
    }
    /// What beats an algorithm that takes `time` by its few rounds, where latencies are what a message costs;
    /// if anything does by a tenth. Serialized values may be long.
    [[nodiscard]] auto short_algorithm(double time) const -> char const* {
        if (m_shape.one_piece) return nullptr;
        bool const spreads = dissemination::provides(m_shape.operation);
        if (spreads && dissemination::serves(m_shape) && m_shape.sizes.empty() &&
            choose_dissemination(m_shape, m_link).time < 0.9 * time)
            return "dissemination";
        bool const has_trees = knomial_tree::provides(m_shape.operation);
        if (has_trees && choose_knomial(m_shape, m_link).time < 0.9 * time) return "knomial_tree";
        return nullptr;
    }
    /// Of `circulant`, for data that one rank has or gets, an all-reduce, or one by equal parts.
    [[nodiscard]] auto circulant_time() const -> double {
        double const latency = round_latency(m_link);
        double const volume = volume_time(m_shape.bytes(), m_link);
        switch (m_shape.operation) {
        case collective_kind::all_reduce:
            return shortest_circulant_all_reduce(m_shape, m_link).time;
        case collective_kind::all_gather:
        case collective_kind::reduce_scatter:
            return circulant_rounds_time(m_shape, m_link);
        default:
            double const n = choose_circulant_blocks(m_shape, m_link, {});
            return (n - 1 + m_rounds) * (latency + volume / n);
        }
    }
    /// Whether an all-reduce by `dissemination` is what `circulant` does with short operands.
    [[nodiscard]] auto is_butterfly() const -> bool {
        return m_shape.operation == collective_kind::all_reduce && is_power(m_shape.ranks, 2) &&
               choose_dissemination(m_shape, m_link).radix == 2;
    }
    /// Whether the arrivals lie so far apart that knowing them can save more than a few rounds of latency.
    [[nodiscard]] auto aware() const -> bool {
        auto const times = m_known.arrivals.times();
        if (times.empty()) return false;
        auto const [first, last] = std::minmax_element(times.begin(), times.end());
        auto const spread =
            static_cast<std::uint64_t>(last->count()) - static_cast<std::uint64_t>(first->count());
        return spread > static_cast<std::uint64_t>((m_link.latency * m_rounds).count());
    }
    [[nodiscard]] auto reduction(char const* when_aware) const -> automatic_choice {
        if (!m_shape.commutative) {
            char const* const name =
                combining_dominates() ? nullptr : short_algorithm(time_of("greedy_tree"));
            if (name != nullptr) return few_rounds(name);
            return {{"greedy_tree", {}}, "model: keeps the order of ranks"};
        }
        if (aware()) {
            if (m_shape.operation == collective_kind::reduce && clairvoyant_segments(m_shape, m_link) == 1)
                return {{"arrival_tree", {}}, "model: one block, arrivals known"};
            return {{when_aware, {}}, "model: arrivals known"};
        }
        if (combining_dominates()) return {{"greedy_tree", {}}, "model: combining outlasts transfers"};
        return blind();
    }
    /// A single value that takes longer to combine than to move: trees that are made for it (paper 2).
    [[nodiscard]] auto combining_dominates() const -> bool {
        bool const combines =
            m_shape.operation == collective_kind::reduce || m_shape.operation == collective_kind::all_reduce;
        if (!combines) return false;
        auto const transfer = m_link.transfer_time(m_shape.bytes());
        return m_shape.count == 1 && m_known.compute_per_element > static_cast<double>(transfer.count());
    }
    [[nodiscard]] auto ordered_scatter() const -> automatic_choice {
        if (!m_shape.has_native)
            throw std::invalid_argument("papcoll: op must be commutative here; if it is, wrap it: "
                                        "papcoll::commutative(op)");
        return {{"native", {}}, "keeps the order of ranks"};
    }
    /// Bruck's rounds move half of all data each, the others every part once: some at a time, which costs a
    /// rank each message; or, of long parts, which would take the links from each other, pairwise, at a
    /// round's latency each. By nodes every part moves once, too, in a message for each other node, which the
    /// ranks of a node share out among them; but it is copied more often.
    [[nodiscard]] auto exchange() const -> automatic_choice {
        if (m_shape.is_uneven()) return {{"linear_sync", {}}, "model: each rank knows its own sizes alone"};
        double const latency = round_latency(m_link);
        double const volume = volume_time(m_shape.bytes(), m_link);
        double const bruck = time_of("bruck");
        bool const short_parts = volume / m_shape.ranks < 2 * latency;
        double const direct = time_of(short_parts ? "linear_sync" : "pairwise");
        if (two_level{}.shares_memory(m_shape) && exchange_by_nodes(volume) < std::min(bruck, direct))
            return {{"two_level", {}}, "model: one message for each pair of nodes"};
        if (bruck < direct) return {{"bruck", {}}, "model: few rounds for short parts"};
        if (short_parts) return {{"linear_sync", {}}, "model: every part moves once, some at a time"};
        return {{"pairwise", {}}, "model: every part moves once"};
    }

    [[nodiscard]] auto exchange_by_nodes(double volume) const -> double {
        double const nodes = rank_grid(m_shape.nodes).nodes();
        double const messages = std::max((nodes - 1) * nodes / m_shape.ranks, 1.0); // of each rank
        double const copies = 4 * copy_time(m_shape.bytes()); // to memory and from there, on both nodes
        return messages * round_latency(m_link) + volume * (nodes - 1) / nodes + copies;
    }
    /// Of data that is not in a cache.
    [[nodiscard]] static auto copy_time(std::size_t bytes) -> double {
        constexpr double nanoseconds_per_byte = 0.1;
        return static_cast<double>(bytes) * nanoseconds_per_byte;
    }

    /// The volume at the root is the same. Of P − 1 messages that come to it at once the latencies pass
    /// together; a tree has a latency for each of its rounds, and fewer messages at one rank. It must save a
    /// fifth, since it makes ranks wait for others, and is out of place where these come at other times. By
    /// nodes there is one message of each, for which the ranks of a node wait.
    [[nodiscard]] auto rooted() const -> automatic_choice {
        if (m_shape.is_uneven()) return {{"linear", {}}, "model: each rank knows its own size alone"};
        double const linear = time_of("linear");
        double const tree = time_of("knomial_tree");
        if (two_level{}.shares_memory(m_shape)) {
            double const by_nodes =
                at_root(rank_grid(m_shape.nodes).nodes() - 1) + copy_time(m_shape.bytes());
            if (by_nodes < std::min(tree, linear))
                return {{"two_level", {}}, "model: one message of each node"};
        }
        if (!aware() && tree < linear / 5 * 4)
            return {{"knomial_tree", {}}, "model: short parts of many ranks"};
        return {{"linear", {}}, "model: the root's link is the limit"};
    }
    /// By nodes all the data goes once from the link of each in a round.
    [[nodiscard]] auto prefix_by_nodes() const -> double {
        auto const between = node_prefix::between_nodes(m_shape, rank_grid(m_shape.nodes).nodes(), m_link);
        return between.time + 4 * copy_time(m_shape.bytes());
    }
    /// From rank to rank where the ranks of a node follow each other: every node's link carries the data
    /// once.
    [[nodiscard]] auto chain_of_nodes() const -> double {
        double const nodes = rank_grid(m_shape.nodes).nodes();
        double const latency = std::max(round_latency(m_link), 1.0);
        double const volume = volume_time(m_shape.bytes(), m_link) * nodes / m_shape.ranks;
        double const blocks = std::max(std::sqrt((nodes - 2) * volume / latency), 1.0);
        double const within = std::min((m_shape.ranks - nodes) * message_cost(m_link), latency);
        return (blocks + nodes - 2) * (latency + volume / blocks) + within;
    }
    [[nodiscard]] auto rounds_of_doubling() const -> int {
        return m_shape.operation == collective_kind::scan ? m_rounds
                                                          : prefix_rounds::of_exclusive(m_shape.ranks);
    }
    /// All the data in each of few rounds, or once, block by block, from rank to rank. In a row of calls
    /// early ranks run ahead, and what counts is how long a call keeps a link busy: with doubling, all its
    /// rounds. A call from rest and one of a row weigh the same: doubling must save, from rest, more than the
    /// factor by which it is slower in a row.
    [[nodiscard]] auto prefix() const -> automatic_choice {
        double const chain = time_of("prefix_chain"), doubling = time_of("prefix_doubling");
        if (two_level{}.shares_memory(m_shape) && prefix_by_nodes() < std::min(chain, doubling))
            return {{"two_level", {}}, "model: one rank of each node"};
        double const busy = std::max(volume_time(m_shape.bytes(), m_link), m_link.per_message);
        double const latency = round_latency(m_link);
        if (chain * (busy + latency) < doubling * (rounds_of_doubling() * busy + latency))
            return {{"prefix_chain", {}}, "model: every link carries the data once"};
        return {{"prefix_doubling", {}}, "model: fewest rounds"};
    }

    call_shape const& m_shape;
    link_model const& m_link;
    call_knowledge const& m_known;
    int m_rounds;
};

} // namespace papcoll::inline v0::detail
