// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "calls.hpp"

#include <papcoll/core.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "../support/start_together.hpp"

namespace bench {
namespace {

auto size_of(MPI_Comm comm) -> std::size_t {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    return static_cast<std::size_t>(ranks);
}

/// A plan that runs on the buffers it was made for.
template <class Plan>
auto on_buffers(Plan made) -> std::function<void(buffers&)> {
    auto const plan = std::make_shared<Plan>(std::move(made));
    return [plan](buffers& b) {
        if constexpr (requires { plan->run(b.in.data(), b.out.data()); })
            plan->run(b.in.data(), b.out.data());
        else
            plan->run(b.in.data());
    };
}
/// A plan with buffers of its own, in which nothing changes between the runs.
template <class Plan>
auto on_own_buffers(Plan made) -> std::function<void(buffers&)> {
    auto buffered = std::move(made).with_buffers();
    std::ranges::fill(buffered.input(), 1.0F);
    auto const plan = std::make_shared<decltype(buffered)>(std::move(buffered));
    return [plan](buffers&) { plan->run(); };
}
/// It has no buffers.
auto planned_barrier(buffers& b) -> std::function<void(buffers&)> {
    using barrier_plan = decltype(papcoll::plan_barrier(b.comm));
    auto const plan = std::make_shared<barrier_plan>(papcoll::plan_barrier(b.comm));
    return [plan](buffers&) { plan->run(); };
}
/// `make_plan` makes it.
template <class MakePlan>
auto planned(std::string name, std::function<void(buffers&)> mpi, std::function<void(buffers&)> papcoll,
             MakePlan make_plan) -> collective {
    return {std::move(name), std::move(mpi), std::move(papcoll),
            [=](buffers& b) { return on_buffers(make_plan(b)); },
            [=](buffers& b) { return on_own_buffers(make_plan(b)); }};
}

} // namespace

void meeting_point::meet() {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(m_comm, &all);
    MPI_Wait(&all, MPI_STATUS_IGNORE);
}
auto meeting_point::largest(double value) -> double {
    double result = 0;
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Iallreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, m_comm, &all);
    MPI_Wait(&all, MPI_STATUS_IGNORE);
    return result;
}

buffers::buffers(MPI_Comm c, std::size_t bytes)
    : comm(c)
    , between(std::make_shared<meeting_point>(c))
    , n(std::max<std::size_t>(bytes / sizeof(float), 1))
    , part(std::max<std::size_t>(n / size_of(c), 1))
    , in(std::max(n, part * size_of(c)), 1.0F)
    , out(in.size())
    , sizes(size_of(c), part)
    , counts(size_of(c), static_cast<int>(part)) {}

auto all_collectives() -> std::vector<collective> {
    auto const op = std::plus<float>();
    auto const n = [](std::size_t count) { return static_cast<int>(count); };
    return {
        planned(
            "broadcast", [=](buffers& b) { MPI_Bcast(b.in.data(), n(b.n), MPI_FLOAT, 0, b.comm); },
            [](buffers& b) { papcoll::broadcast(b.comm, b.in.data(), b.n, 0); },
            [=](buffers& b) { return papcoll::plan_broadcast<float>(b.comm, b.n, 0); }),
        planned(
            "reduce",
            [=](buffers& b) { MPI_Reduce(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, 0, b.comm); },
            [=](buffers& b) { papcoll::reduce(b.comm, b.in.data(), b.n, b.out.data(), op, 0); },
            [=](buffers& b) { return papcoll::plan_reduce<float>(b.comm, b.n, op, 0); }),
        planned(
            "all_reduce",
            [=](buffers& b) { MPI_Allreduce(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, b.comm); },
            [=](buffers& b) { papcoll::all_reduce(b.comm, b.in.data(), b.n, b.out.data(), op); },
            [=](buffers& b) { return papcoll::plan_all_reduce<float>(b.comm, b.n, op); }),
        planned(
            "gather",
            [=](buffers& b) {
                MPI_Gather(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, 0, b.comm);
            },
            [](buffers& b) { papcoll::gather(b.comm, b.in.data(), b.part, b.out.data(), 0); },
            [=](buffers& b) { return papcoll::plan_gather<float>(b.comm, b.part, 0); }),
        planned(
            "scatter",
            [=](buffers& b) {
                MPI_Scatter(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, 0, b.comm);
            },
            [](buffers& b) { papcoll::scatter(b.comm, b.in.data(), b.out.data(), b.part, 0); },
            [=](buffers& b) { return papcoll::plan_scatter<float>(b.comm, b.part, 0); }),
        planned(
            "all_gather",
            [=](buffers& b) {
                MPI_Allgather(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, b.comm);
            },
            [](buffers& b) { papcoll::all_gather(b.comm, b.in.data(), b.part, b.out.data()); },
            [=](buffers& b) { return papcoll::plan_all_gather<float>(b.comm, b.part); }),
        planned(
            "reduce_scatter",
            [](buffers& b) {
                MPI_Reduce_scatter(b.in.data(), b.out.data(), b.counts.data(), MPI_FLOAT, MPI_SUM, b.comm);
            },
            [=](buffers& b) { papcoll::reduce_scatter(b.comm, b.in.data(), b.sizes, b.out.data(), op); },
            [=](buffers& b) { return papcoll::plan_reduce_scatter<float>(b.comm, b.sizes, op); }),
        planned(
            "all_to_all",
            [=](buffers& b) {
                MPI_Alltoall(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, b.comm);
            },
            [](buffers& b) { papcoll::all_to_all(b.comm, b.in.data(), b.part, b.out.data()); },
            [=](buffers& b) { return papcoll::plan_all_to_all<float>(b.comm, b.part); }),
        planned(
            "scan",
            [=](buffers& b) { MPI_Scan(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, b.comm); },
            [=](buffers& b) { papcoll::scan(b.comm, b.in.data(), b.n, b.out.data(), op); },
            [=](buffers& b) { return papcoll::plan_scan<float>(b.comm, b.n, op); }),
        planned(
            "exscan",
            [=](buffers& b) { MPI_Exscan(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, b.comm); },
            [=](buffers& b) { papcoll::exscan(b.comm, b.in.data(), b.n, b.out.data(), op); },
            [=](buffers& b) { return papcoll::plan_exscan<float>(b.comm, b.n, op); }),
        {"barrier", [](buffers& b) { MPI_Barrier(b.comm); }, [](buffers& b) { papcoll::barrier(b.comm); },
         planned_barrier, planned_barrier},
    };
}

auto time_of(std::function<void(buffers&)> const& call, buffers& b, int calls) -> double {
    b.between->meet();
    b.between->meet();
    if (!b.others.empty()) {
        auto const start = agree_on_start(b.comm);
        for (std::size_t i = 0; i < b.others.size(); i += 64) ++b.others[i]; // of each cache line
        wait_until(start);
    }
    double elapsed = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call(b);
    elapsed = MPI_Wtime() - elapsed;
    return b.between->largest(elapsed) / calls * 1e6;
}

void call_settings::add_to(CLI::App& app) {
    add_sizes(app, sizes, "of the data of one rank, or of all ranks where it is divided");
    std::vector<std::string> names;
    for (auto const& each : all_collectives()) names.push_back(each.name);
    add_option(app, "--operations", operations, "default: all", one_of(names));
    repeat.add_to(app);
    add_json(app, json);
}
void call_settings::add_calls(CLI::App& app) {
    add_option(app, "--calls", calls, "in a row; 1: from rest", positive);
}
auto call_settings::wants(std::string_view operation) const -> bool {
    return operations.empty() || std::ranges::find(operations, operation) != operations.end();
}

void take_turns(buffers& b, std::vector<contestant*> all, call_settings const& s,
                std::function<bool(std::vector<contestant*> const&)> const& is_narrow,
                std::function<void(int rounds, std::vector<contestant*>&)> const& after) {
    for (int i = 0; i < s.repeat.warm_up; ++i)
        for (auto const* const each : all) each->call(b);
    double const begin = MPI_Wtime();
    auto const goes_on = [&](int done) {
        if (done < s.repeat.repetitions) return true;
        if (MPI_Wtime() - begin >= s.repeat.seconds) return false;
        return done % 8 != 0 || !is_narrow(all);
    };
    for (int done = 0; agreed(b.comm, goes_on(done)); ++done) {
        for (auto* const each : all) each->times.push_back(time_of(each->call, b, s.calls));
        if (after) after(done + 1, all);
        std::ranges::rotate(all, all.begin() + 1);
    }
}

auto agreed(MPI_Comm comm, bool of_rank_0) -> bool {
    int value = of_rank_0 ? 1 : 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    return value != 0;
}

} // namespace bench
