// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <vector>

// What happens in a simulation and when, on the clock of the arrivals.
namespace papcoll::inline v0 {

/// A message between the programs of two ranks.
struct timed_message {
    /// The rank that sends.
    int from;
    /// The rank that receives.
    int to;
    program::index send;    ///< the instruction of the sender; of a program that is cut, after that
    program::index receive; ///< the instruction of the receiver
    ticks begin;
    ticks end;
};

/// An instruction of one rank.
struct timed_instruction {
    int rank;
    /// The number of the instruction in its rank's program.
    program::index instruction;
    ticks begin;
    ticks end;
};

/// A post, and an await of another rank of the node that has seen it.
struct timed_sign {
    /// The rank that posts.
    int from;
    /// The rank that awaits.
    int to;
    program::index post;  ///< the instruction of the one; of a program that is cut, after that
    program::index await; ///< the instruction of the other
    /// When the post was made.
    ticks posted;
    /// When the rank went on.
    ticks seen;
};

/// All that happens when programs are executed.
struct program_timeline {
    std::vector<ticks> arrivals = {}; ///< per rank
    std::vector<ticks> exits = {};    ///< per rank
    /// Both in the order in which they begin. Combinations that cost nothing are left out.
    std::vector<timed_message> messages = {};
    /// When values were combined.
    std::vector<timed_instruction> combinations = {};
    /// What ranks of a node told each other there, in the order in which it was seen.
    std::vector<timed_sign> signs = {};
};

/// One block on its way. The blocks of one message have the same times.
struct timed_transfer {
    /// The transfer.
    transfer what;
    ticks begin;
    ticks end;
};

/// What was received by `what` being combined with what its receiver holds.
struct timed_combination {
    /// The transfer whose block is combined.
    transfer what;
    ticks begin;
    ticks end;
};

/// All that happens when a schedule is followed.
struct schedule_timeline {
    std::vector<ticks> arrivals = {}; ///< per rank
    std::vector<ticks> exits = {};    ///< per rank
    /// Both in the order in which they begin. Empty blocks and combinations that cost nothing are left out.
    std::vector<timed_transfer> transfers = {};
    /// When values were combined.
    std::vector<timed_combination> combinations = {};
};

} // namespace papcoll::inline v0
