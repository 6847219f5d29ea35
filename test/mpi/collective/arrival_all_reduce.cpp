// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/arrival_all_reduce_suite.hpp"

namespace mpi = boost::mpi;
namespace suite = arrival_all_reduce_suite;
using papcoll::ticks;

namespace {

/// A type with a Boost.MPI datatype that is more than its bytes.
struct tally {
    int count = 0;
    double sum = 0;

    tally() = default;
    tally(int c, double s)
        : count(c)
        , sum(s) {}
    tally(tally const& other) // NOLINT(modernize-use-equals-default): not trivially copyable
        : count(other.count)
        , sum(other.sum) {}
    auto operator=(tally const&) -> tally& = default;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& count& sum;
    }
};
struct add_tallies {
    auto operator()(tally const& a, tally const& b) const -> tally {
        return {a.count + b.count, a.sum + b.sum};
    }
};

} // namespace

namespace boost::mpi {
template <>
struct is_mpi_datatype<tally> : mpl::true_ {};
} // namespace boost::mpi

TEST_CASE("all_reduce by any prediction") {
    mpi::communicator const world;
    suite::any_prediction(world, world.rank(), world.size(), 3);
    suite::mistakes(world, world.rank(), world.size());
}

TEST_CASE("what all_reduce promises, under wrong predictions") {
    mpi::communicator const world;
    std::vector<ticks> arrivals(static_cast<std::size_t>(world.size()));
    arrivals[arrivals.size() / 2] = std::chrono::seconds(1);
    for (std::size_t const block_bytes : {64u, 8192u})
        all_reduce_suite::promises<double>(
            world, world.rank(), world.size(),
            papcoll::arrival_all_reduce{.arrivals = arrivals, .block_bytes = block_bytes});
}

TEST_CASE("the same bits on all ranks, by any prediction") {
    mpi::communicator const world;
    suite::same_bits(world, world.rank(), world.size(), 5);
}

TEST_CASE("all_reduce of packed types, and of messages that are admitted, out of place and in it") {
    mpi::communicator const world;
    int const p = world.size();
    papcoll::attach(world, papcoll::attach_options{.link = all_reduce_suite::slow_to_move});
    std::vector<ticks> arrivals(static_cast<std::size_t>(p));
    arrivals[0] = std::chrono::seconds(1);
    papcoll::arrival_all_reduce const policy{.arrivals = arrivals, .block_bytes = 20000};
    auto const add = papcoll::commutative(add_tallies{});
    std::vector<tally> in(5000), out;
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = {world.rank(), static_cast<double>(i)};
    papcoll::all_reduce(world, in, out, add, policy);
    papcoll::all_reduce(world, mpi::inplace(in.data()), in.size(), add, policy);
    int wrong = 0;
    for (auto const* result : {&in, &out})
        for (std::size_t i = 0; i < in.size(); ++i)
            wrong += (*result)[i].count == p * (p - 1) / 2 && (*result)[i].sum == p * static_cast<double>(i)
                         ? 0
                         : 1;
    CHECK(wrong == 0);
}
