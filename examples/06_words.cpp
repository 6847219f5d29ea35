// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Values without an MPI datatype: the words of many ranks are counted in maps, which Boost.Serialization
// carries, and their sentences are joined in rank order.
//
//     mpirun -n 5 06_words
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/serialization/map.hpp>

#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

using word_counts = std::map<std::string, int>;

auto count_words(std::string const& text) -> word_counts {
    word_counts counts;
    std::istringstream words(text);
    for (std::string word; words >> word;) ++counts[word];
    return counts;
}

auto add(word_counts a, word_counts const& b) -> word_counts {
    for (auto const& [word, count] : b) a[word] += count;
    return a;
}

auto main(int argc, char** argv) -> int {
    boost::mpi::environment const environment(argc, argv);
    boost::mpi::communicator const world;

    auto const mine = "rank " + std::to_string(world.rank()) + " says hello ";
    auto const counts =
        papcoll::all_reduce(world, count_words(mine), papcoll::commutative(add), papcoll::circulant{});

    // Concatenation does not commute: trees keep rank order, circulant would not compile here.
    std::string text;
    papcoll::reduce(world, mine, text, std::plus<>(), 0, papcoll::greedy_tree{});

    if (world.rank() != 0) return 0;
    std::cout << text << '\n' << "hello: " << counts.at("hello") << " times\n";
    return counts == count_words(text) && counts.at("hello") == world.size() ? 0 : 1;
}
