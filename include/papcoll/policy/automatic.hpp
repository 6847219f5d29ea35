// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/automatic_choice.hpp>
#include <papcoll/policy/default_bitset.hpp>
#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

class tuning_table;

/// Chooses a policy for each call, the default of every collective. The first of these that says one counts:
///
/// 1. the environment: `PAPCOLL_REDUCE_ALGORITHM=circulant`, and so for every collective;
/// 2. a tuning table: `table`, or the file that `PAPCOLL_TUNING_FILE` names, made by bench/tune.py;
/// 3. what calls of this shape have learned, where papcoll learns (see attach_options);
/// 4. the model: the policy that the measured link (and the arrivals, where they are given) lets end first;
///    shared_memory where all ranks are on one node, whenever they arrive.
///
/// A forced or tuned policy that the call cannot take (its operator does not commute, or MPI has no routine
/// for it) gives way to the model. Without arrivals the choice is blind to them and repeats from run to run
/// while the link's measured constants do. `PAPCOLL_REPORT=1` lets rank 0 say on stderr what was chosen, and
/// why, when it is chosen; a repeated call finds its plan in the cache of the communicator.
///
/// `native` as a choice is the library's nonblocking routine on papcoll's duplicate, also where the call
/// blocks: so blocking calls match i… calls, and all of papcoll's requests progress meanwhile. Only the
/// policy `native` itself is the blocking routine.
///
/// MPI counts the collectives of a communicator: bad arguments on one rank alone shift it there where
/// `native` is the choice. Use agreed checks with it if that can happen.
///
/// Values that travel serialized are all-reduced by a reduce and a broadcast, each chosen as such.
///
/// Must agree on all ranks: all members, the environment's choices and the content of the tuning file; the
/// last two are checked when papcoll attaches. Errors of the environment and of the tuning file, such as a
/// policy that does not exist, are thrown by every call that they concern, on all ranks.
template <class Bits = detail::default_bitset>
struct basic_automatic {
    /// When the ranks arrive; none given: unknown. An arrival_monitor will do.
    arrival_source arrivals = {};
    /// What one combination of two elements takes, in nanoseconds; see agreed_combine_cost.
    double compute_per_element = 0;
    /// In place of the file that the environment names.
    std::shared_ptr<tuning_table const> table = {};

    static constexpr bool reorders_operands = false; // the shape says whether it may
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind) -> bool { return true; }

    [[nodiscard]] auto name() const -> std::string_view { return "automatic"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    /// What a call of this shape takes on this link; the same on all ranks. Throws std::invalid_argument for
    /// a forced or tuned policy that does not exist, and for a tuning file that cannot be read.
    [[nodiscard]] auto choose(call_shape const& shape, link_model const& link) const -> automatic_choice;
    /// What papcoll tries where it learns (see attach_options): what it would choose, then others that the
    /// model has not far behind; `shape.candidate` says which to take. None where the choice is forced or
    /// tuned, or arrivals are known.
    [[nodiscard]] auto candidates(call_shape const& shape, link_model const& link) const
        -> std::vector<automatic_choice>;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(basic_automatic const& a, basic_automatic const& b) -> bool {
        return a.compute_per_element == b.compute_per_element && a.table == b.table &&
               a.arrivals == b.arrivals; // last: what is not inline
    }
};

/// The default of every collective.
using automatic = basic_automatic<>;

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/automatic.hpp>
#endif
