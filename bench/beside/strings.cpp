// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calls.hpp"

namespace bench {
namespace {

/// A string of the size in question on each rank, and where results go.
struct texts {
    boost::mpi::communicator comm{MPI_COMM_WORLD, boost::mpi::comm_attach};
    std::string in, out;
    std::vector<std::string> all;

    void resize(std::size_t bytes) {
        if (in.size() == bytes) return;
        in.assign(bytes, 'x');
        all.assign(static_cast<std::size_t>(comm.size()), in);
    }
};
/// The longer one: a result as long as the operands.
auto longer(std::string const& a, std::string const& b) -> std::string const& {
    return b.size() > a.size() ? b : a;
}

template <class Call>
auto on_strings(std::shared_ptr<texts> const& t, Call call) -> std::function<void(buffers&)> {
    return [t, call](buffers& b) {
        t->resize(b.n * sizeof(float));
        call(*t);
    };
}
template <class Theirs, class Ours>
auto of_strings(std::shared_ptr<texts> const& t, std::string name, Theirs theirs, Ours ours) -> collective {
    return {std::move(name), on_strings(t, theirs), on_strings(t, ours), {}, {}};
}

} // namespace

auto all_collectives_of_strings() -> std::vector<collective> {
    namespace mpi = boost::mpi;
    auto const t = std::make_shared<texts>();
    auto const op =
        papcoll::commutative([](std::string const& a, std::string const& b) { return longer(a, b); });
    return {
        of_strings(
            t, "broadcast", [](texts& x) { mpi::broadcast(x.comm, x.in, 0); },
            [](texts& x) { papcoll::broadcast(x.comm, x.in, 0); }),
        of_strings(
            t, "reduce",
            [op](texts& x) {
                if (x.comm.rank() == 0)
                    mpi::reduce(x.comm, x.in, x.out, op, 0);
                else
                    mpi::reduce(x.comm, x.in, op, 0);
            },
            [op](texts& x) {
                if (x.comm.rank() == 0)
                    papcoll::reduce(x.comm, x.in, x.out, op, 0);
                else
                    papcoll::reduce(x.comm, x.in, op, 0);
            }),
        of_strings(
            t, "all_reduce", [op](texts& x) { mpi::all_reduce(x.comm, x.in, x.out, op); },
            [op](texts& x) { papcoll::all_reduce(x.comm, x.in, x.out, op); }),
        of_strings(
            t, "gather", [](texts& x) { mpi::gather(x.comm, x.in, x.all, 0); },
            [](texts& x) { papcoll::gather(x.comm, x.in, x.all, 0); }),
        of_strings(
            t, "scatter", [](texts& x) { mpi::scatter(x.comm, x.all, x.out, 0); },
            [](texts& x) { papcoll::scatter(x.comm, x.all, x.out, 0); }),
        of_strings(
            t, "all_gather", [](texts& x) { mpi::all_gather(x.comm, x.in, x.all); },
            [](texts& x) { papcoll::all_gather(x.comm, x.in, x.all); }),
        of_strings(
            t, "scan", [op](texts& x) { mpi::scan(x.comm, x.in, x.out, op); },
            [op](texts& x) { papcoll::scan(x.comm, x.in, x.out, op); }),
    };
}

} // namespace bench
