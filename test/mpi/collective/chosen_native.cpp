// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 5 8
//
// MPI's own routines where papcoll chooses them: ranks need not say alike whether their calls are in place.
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/inplace.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace {

using boost::mpi::inplace;

auto by_native(int ranks) -> papcoll::automatic {
    using papcoll::collective_kind;
    std::vector<papcoll::tuning_table::entry> entries;
    for (auto const operation : {collective_kind::all_reduce, collective_kind::all_gather,
                                 collective_kind::reduce_scatter, collective_kind::all_to_all,
                                 collective_kind::scan, collective_kind::exscan, collective_kind::gather}) {
        entries.push_back({operation, ranks, 1, {}});
        entries.back().choice.policy = "native";
    }
    return {.table = std::make_shared<papcoll::tuning_table const>(std::move(entries))};
}

} // namespace

TEST_CASE("some ranks are in place and some are not, blocking and begun") {
    boost::mpi::communicator const world;
    papcoll::attach(world);
    int const p = world.size(), me = world.rank();
    auto const policy = by_native(p);
    auto const size = static_cast<std::size_t>(p);
    bool const in_place = me % 3 == 0;
    int const sum = p * (p + 1) / 2, before = me * (me + 1) / 2;
    papcoll::call_shape shape{.operation = papcoll::collective_kind::all_reduce, .ranks = p, .rank = me};
    shape.has_native = true;
    shape.element_bytes = sizeof(double);
    shape.count = 1;
    CHECK(policy.choose(shape, papcoll::context_of(world)->link()).choice.policy == "native");
    // Of Open MPI's algorithms two.
    for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{20'000}}) {
        CAPTURE(n);
        using numbers = std::vector<double>;
        for (bool const begun : {false, true}) {
            CAPTURE(begun);
            auto const call = [&](auto const& blocking, auto const& nonblocking, auto const&... arguments) {
                if (begun)
                    nonblocking(world, arguments...).wait();
                else
                    blocking(world, arguments...);
            };
            numbers const in(n, me + 1);
            auto const reduced = [&](auto const& blocking, auto const& nonblocking) {
                numbers out = in_place ? in : numbers(n, -1);
                if (in_place)
                    call(blocking, nonblocking, inplace(out.data()), n, std::plus<>(), policy);
                else
                    call(blocking, nonblocking, in.data(), n, out.data(), std::plus<>(), policy);
                return out;
            };
            CHECK(reduced(papcoll::all_reduce, papcoll::iall_reduce) == numbers(n, sum));
            CHECK(reduced(papcoll::scan, papcoll::iscan) == numbers(n, before + me + 1));
            auto const exclusive = reduced(papcoll::exscan, papcoll::iexscan);
            if (me > 0) CHECK(exclusive == numbers(n, before));

            numbers all(n * size, -1);
            std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(n) * me, n, me + 1);
            if (in_place)
                call(papcoll::all_gather, papcoll::iall_gather, inplace(all.data()), n, policy);
            else
                call(papcoll::all_gather, papcoll::iall_gather, in.data(), n, all.data(), policy);
            for (std::size_t r = 0; n > 0 && r < size; ++r) CHECK(all[r * n] == static_cast<double>(r + 1));

            // Rank 1 has nothing, and the parts lie apart.
            std::vector<std::size_t> lengths(size, n), places(size);
            if (p > 1) lengths[1] = 0;
            for (std::size_t r = 0; r < size; ++r) places[r] = (size - 1 - r) * (n + 2);
            numbers apart(size * (n + 2), -1);
            auto const mine = static_cast<std::size_t>(me);
            if (in_place) {
                std::fill_n(apart.begin() + static_cast<std::ptrdiff_t>(places[mine]), lengths[mine], me + 1);
                call(papcoll::all_gatherv, papcoll::iall_gatherv, inplace(apart.data()), lengths, places,
                     policy);
            } else {
                call(papcoll::all_gatherv, papcoll::iall_gatherv, in.data(), apart.data(), lengths, places,
                     policy);
            }
            for (std::size_t r = 0; r < size; ++r)
                CHECK(apart[places[r]] == (lengths[r] > 0 ? static_cast<double>(r + 1) : -1));

            numbers parts(n * size, me + 1), own(n, -1);
            std::vector<std::size_t> sizes(size, n);
            if (p > 2) {
                sizes[1] = 0;
                sizes[2] = 2 * n;
                own.resize(me == 2 ? 2 * n : n);
            }
            if (in_place)
                call(papcoll::reduce_scatter, papcoll::ireduce_scatter, inplace(parts.data()), sizes,
                     std::plus<>(), policy);
            else
                call(papcoll::reduce_scatter, papcoll::ireduce_scatter, parts.data(), sizes, own.data(),
                     std::plus<>(), policy);
            if (sizes[mine] > 0) CHECK((in_place ? parts : own).at(sizes[mine] - 1) == sum);

            numbers leaving(n * size, me), coming(n * size, -1);
            if (in_place)
                call(papcoll::all_to_all, papcoll::iall_to_all, inplace(leaving.data()), n, policy);
            else
                call(papcoll::all_to_all, papcoll::iall_to_all, leaving.data(), n, coming.data(), policy);
            auto const& got = in_place ? leaving : coming;
            for (std::size_t r = 0; n > 0 && r < size; ++r)
                CHECK(got[r * n + n - 1] == static_cast<double>(r));
        }
    }
}

TEST_CASE("parts of which each rank knows its own alone do not go to MPI by a table") {
    boost::mpi::communicator const world;
    papcoll::attach(world);
    papcoll::call_shape shape{.operation = papcoll::collective_kind::gather, .ranks = world.size()};
    std::vector<std::size_t> const sizes(static_cast<std::size_t>(world.size()), 3);
    shape.sizes = sizes;
    shape.has_native = true;
    auto const link = papcoll::context_of(world)->link();
    CHECK(by_native(world.size()).choose(shape, link).choice.policy != "native");
    shape.sizes = {};
    shape.count = 3 * sizes.size();
    shape.element_bytes = 4;
    CHECK(by_native(world.size()).choose(shape, link).choice.policy == "native");
}
