// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// A type and an operator of one's own: the hottest cell of a grid that is seen by many ranks.
//
//     mpirun -n 5 02_custom_operator
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/datatype.hpp>
#include <boost/mpi/environment.hpp>

#include <iostream>
#include <vector>

struct measurement {
    double temperature;
    int rank;

    // How Boost.MPI learns the layout.
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& temperature& rank;
    }
    friend auto operator==(measurement const&, measurement const&) -> bool = default;
};
BOOST_IS_MPI_DATATYPE(measurement)

// Ties go to the lower rank. Without that rule the result would depend on the order of the operands, and
// the operator would not be commutative.
auto hotter(measurement const& a, measurement const& b) -> measurement {
    if (a.temperature != b.temperature) return a.temperature > b.temperature ? a : b;
    return a.rank < b.rank ? a : b;
}

auto main(int argc, char** argv) -> int {
    boost::mpi::environment const environment(argc, argv);
    boost::mpi::communicator const world;

    std::vector<measurement> cells(10'000);
    for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i] = {static_cast<double>((i + static_cast<std::size_t>(world.rank())) % 3), world.rank()};

    // Clairvoyant combines in the order of arrival, so the operator must be commutative. Of std::plus<>
    // papcoll knows it; for an operator of your own you say it, and without this wrapper the call does not
    // compile.
    std::vector<measurement> hottest;
    papcoll::reduce(world, cells, hottest, papcoll::commutative(hotter), 0, papcoll::clairvoyant{});

    if (world.rank() != 0) return 0;
    std::cout << "cell 0: " << hottest[0].temperature << " degrees, seen by rank " << hottest[0].rank << '\n';
    auto const expected =
        world.size() > 2 ? measurement{2, 2} : measurement{world.size() - 1.0, world.size() - 1};
    return hottest[0] == expected ? 0 : 1;
}
