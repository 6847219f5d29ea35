// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <array>
#include <string>
#include <string_view>

#include "drawn.hpp"
#include "elements.hpp"

namespace soak {
namespace {

using kind = policy_kind;

constexpr std::array<std::string_view, 27> names{"no policy",
                                                 "automatic",
                                                 "native",
                                                 "circulant",
                                                 "two_level",
                                                 "clairvoyant",
                                                 "arrival_tree",
                                                 "arrival_all_reduce",
                                                 "greedy_tree",
                                                 "binomial_tree",
                                                 "fibonacci_tree",
                                                 "knomial_tree",
                                                 "bine_tree",
                                                 "dissemination",
                                                 "a scheduler of the user's",
                                                 "ring",
                                                 "neighbor_exchange",
                                                 "background_ring",
                                                 "background_circulant",
                                                 "linear",
                                                 "sorted_linear",
                                                 "all_to_all_linear",
                                                 "all_to_all_pairwise",
                                                 "all_to_all_bruck",
                                                 "all_to_all_linear_sync",
                                                 "prefix_doubling",
                                                 "prefix_chain"};
static_assert(names.size() == static_cast<std::size_t>(kind::prefix_chain) + 1);

auto name_of_element(drawn_call const& call) -> std::string {
    return std::string(reduces(call.operation) ? reduction_table[call.element].name
                                               : element_table[call.element].name);
}
auto words(drawn_monitor const& monitor) -> std::string {
    return std::string(monitor.orderly ? "an orderly" : "a disorderly") + " monitor " +
           (monitor.thread ? "with" : "without") + " a thread";
}
auto words(papcoll::attach_options const& how) -> std::string {
    static constexpr std::array<std::string_view, 3> levels{"no", "local", "agreed"};
    auto text = std::string(levels[static_cast<std::size_t>(how.checks)]) + " checks, the link ";
    if (!how.link) return text + "measured";
    return text + "of " + std::to_string(how.link->latency.count()) + " ns and " +
           std::to_string(how.link->per_byte) + " ns per byte";
}

} // namespace

auto words(policy_draw const& policy) -> std::string {
    auto text = std::string(names[static_cast<std::size_t>(policy.kind)]);
    if (!policy.has_members || policy.kind == kind::by_default || policy.kind == kind::native) return text;
    text += '{';
    if (policy.source == arrivals_from::the_monitor) text += "arrivals from the monitor; ";
    if (policy.source == arrivals_from::the_draw) {
        text += "arrivals";
        for (auto const time : policy.arrivals) text += ' ' + std::to_string(time.count());
        text += "; ";
    }
    if (policy.bytes) text += std::to_string(*policy.bytes) + " bytes, ";
    if (policy.pieces) text += std::to_string(*policy.pieces) + " pieces, ";
    if (policy.time) text += "time " + std::to_string(policy.time->count()) + ", ";
    if (policy.second_time) text += "second time " + std::to_string(policy.second_time->count()) + ", ";
    return text + "limit " + std::to_string(policy.limit) + ", per element " +
           std::to_string(policy.per_element) + '}';
}

auto words(drawn_communicator const& c) -> std::string {
    static constexpr std::array<std::string_view, 5> kinds{"the world", "self", "a duplicate", "a split",
                                                           "a group"};
    auto text =
        "communicator " + std::to_string(c.id) + " (" + std::string(kinds[static_cast<std::size_t>(c.from)]);
    if (c.members.empty() || c.from == origin::world) return text + ')';
    text += " of ranks";
    for (int const member : c.members) text += ' ' + std::to_string(member);
    return text + ')';
}

auto words(drawn_call const& call) -> std::string {
    static constexpr std::array<std::string_view, 5> forms{"blocking or not", "blocking", "begun", "planned",
                                                           "open"};
    std::string text = "call " + std::to_string(call.number) + ": " +
                       std::string(operation_names[static_cast<std::size_t>(call.operation)]) + " (" +
                       std::string(forms[static_cast<std::size_t>(call.form)]);
    if (call.form == call_form::planned) text += ", " + std::to_string(call.runs) + " runs";
    if (call.own_buffers) text += " with buffers of its own";
    text += ") of " + std::to_string(call.n) + " (" + name_of_element(call) + ')';
    if (!call.sizes.empty()) {
        text += ", sizes";
        for (auto const size : call.sizes) text += ' ' + std::to_string(size);
    }
    text += ", root " + std::to_string(call.root);
    if (call.alike && call.in_place) text += ", in place";
    return text + ", on " + call.place + ", by " + words(call.policy);
}

auto words(event const& e) -> std::string {
    auto const where = "communicator " + std::to_string(e.communicator);
    switch (e.what) {
    case act::make: {
        std::string text = "making";
        for (auto const& c : e.made) text += ' ' + words(c);
        return text;
    }
    case act::free:
        return "freeing " + where;
    case act::attach:
        return "attaching papcoll to " + where + " with " + words(e.how);
    case act::monitor:
        return "constructing " + words(e.monitor) + " of " + where;
    case act::end_monitor:
        return "destroying the monitor of " + where;
    case act::synchronise:
        return "synchronising the monitor of " + where;
    case act::begin:
        return "beginning " + words(*e.call);
    case act::contribute:
        break;
    }
    return "contributing to call " + std::to_string(e.call->number);
}

} // namespace soak
