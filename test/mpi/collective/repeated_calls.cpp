// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 5 7
// env.single: PAPCOLL_TEST_THREADS=single
//
// A blocking call that repeats the last one is known by its description: calls that differ from the last one
// in one thing must not be taken for it.
#include <papcoll/papcoll.hpp>
#include <papcoll/program/program_builder.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/inplace.hpp>
#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

/// Counts its own calls; too long to be kept in place.
struct counting {
    std::array<long, 4> calls{};

    auto operator()(long a, long b) -> long {
        if (++calls[0] > 200) throw std::runtime_error("the operator of another run");
        return a + b;
    }
};

/// Whether calls that find nothing else under way go straight to MPI; else the engine drives them, and
/// operators run inside it.
auto goes_straight() -> bool {
    int threads = MPI_THREAD_SINGLE;
    MPI_Query_thread(&threads);
    return threads != MPI_THREAD_MULTIPLE;
}

/// Two ranks exchange their operands, and each combines them.
struct exchange {
    static constexpr bool reorders_operands = false;
    static constexpr auto provides(papcoll::collective_kind) -> bool { return true; }
    [[nodiscard]] auto name() const -> std::string_view { return "exchange"; }
    void check(papcoll::call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>();
    }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const&) const
        -> papcoll::program {
        papcoll::program_builder to(shape.in_place);
        papcoll::region const in(papcoll::memory::in, 0, shape.count);
        papcoll::region const out(papcoll::memory::out, 0, shape.count);
        if (shape.ranks == 1) {
            to.copy(out, in);
        } else {
            auto const theirs = to.scratch(shape.count);
            to.receive(1 - shape.rank, theirs);
            to.send(1 - shape.rank, in);
            to.combine(out, shape.rank == 0 ? in : theirs, shape.rank == 0 ? theirs : in);
        }
        return to.finish();
    }
};

/// A communicator of two neighbours, or of the last rank alone.
class pairs {
public:
    pairs() {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &m_comm);
        MPI_Comm_rank(m_comm, &m_rank);
        MPI_Comm_size(m_comm, &m_size);
        papcoll::attach(m_comm, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}});
    }
    pairs(pairs const&) = delete;
    auto operator=(pairs const&) -> pairs& = delete;
    ~pairs() { free(); }

    void free() {
        if (m_comm != MPI_COMM_NULL) MPI_Comm_free(&m_comm);
    }
    [[nodiscard]] auto comm() const -> MPI_Comm { return m_comm; }
    [[nodiscard]] auto rank() const -> int { return m_rank; }
    [[nodiscard]] auto size() const -> int { return m_size; }

private:
    MPI_Comm m_comm = MPI_COMM_NULL;
    int m_rank = 0;
    int m_size = 1;
};

} // namespace

TEST_CASE("calls that differ in one thing from the last one") {
    boost::mpi::communicator const world;
    int const p = world.size();
    int const sum = p * (p + 1) / 2;
    std::vector<int> const in(9, world.rank() + 1);
    std::vector<float> const floats(9, static_cast<float>(world.rank() + 1)); // of the same size as an int
    for (int repetition = 0; repetition < 3; ++repetition) {
        for (std::size_t const n : {std::size_t(4), std::size_t(4), std::size_t(9), std::size_t(0)}) {
            std::vector<int> out(9, -1);
            papcoll::all_reduce(world, in.data(), n, out.data(), std::plus<>());
            for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == (i < n ? sum : -1));
        }
        std::vector<float> of_floats(9);
        papcoll::all_reduce(world, floats.data(), 9, of_floats.data(), std::plus<>());
        CHECK(of_floats[8] == static_cast<float>(sum));
        std::vector<int> out(9, -1);
        papcoll::all_reduce(world, in.data(), 9, out.data(), std::plus<>());
        papcoll::all_reduce(world, in.data(), 9, out.data(), std::bit_or<>());
        CHECK(out[8] == [&] {
            int all = 0;
            for (int r = 1; r <= p; ++r) all |= r;
            return all;
        }());
        auto both = in;
        papcoll::all_reduce(world, boost::mpi::inplace(both.data()), 9, std::bit_or<>());
        CHECK(both == out);
        papcoll::all_reduce(world, in.data(), 9, out.data(), std::plus<>(), papcoll::binomial_tree{});
        CHECK(out[8] == sum);
        papcoll::all_reduce(world, in.data(), 9, out.data(), std::plus<>(),
                            papcoll::circulant{.block_bytes = 8});
        CHECK(out[8] == sum);
        for (int root = 0; root < p; ++root) {
            std::vector<int> value(9, world.rank());
            papcoll::broadcast(world, value.data(), 9, root);
            CHECK(value == std::vector<int>(9, root));
        }
        CHECK_THROWS_AS(papcoll::broadcast(world, static_cast<int*>(nullptr), 0, p), std::invalid_argument);
    }
}

TEST_CASE("calls whose sizes differ from those of the last one") {
    boost::mpi::communicator const world;
    auto const p = static_cast<std::size_t>(world.size());
    auto const me = static_cast<std::size_t>(world.rank());
    std::vector<std::size_t> const twos(p, 2);
    std::vector<std::size_t> moved(p, 2); // as many in all
    moved[0] = p > 1 ? 1 : 2;
    if (p > 1) moved[p - 1] = 3;
    std::vector<std::size_t> apart(p); // displacements with a gap
    for (std::size_t r = 0; r < p; ++r) apart[r] = 3 * r;
    std::vector<int> const in(3, world.rank() + 1);
    auto const gathered = [&](auto const& sizes, auto const&... displacements) {
        std::vector<int> out(3 * p, -1);
        papcoll::all_gatherv(world, in.data(), out.data(), sizes, displacements...);
        return out;
    };
    auto const expected = [&](auto const& sizes, auto const& begins) {
        std::vector<int> out(3 * p, -1);
        for (std::size_t r = 0; r < p; ++r)
            for (std::size_t i = 0; i < sizes[r]; ++i) out[begins(r) + i] = static_cast<int>(r) + 1;
        return out;
    };
    auto const behind = [&](auto const& sizes) {
        return [&sizes](std::size_t r) {
            std::size_t begin = 0;
            for (std::size_t k = 0; k < r; ++k) begin += sizes[k];
            return begin;
        };
    };
    for (int repetition = 0; repetition < 3; ++repetition) {
        for (auto const& sizes : {twos, twos, moved, twos, moved, moved})
            CHECK(gathered(sizes) == expected(sizes, behind(sizes)));
        CHECK(gathered(twos, apart) == expected(twos, [](std::size_t r) { return 3 * r; }));
        CHECK(gathered(twos) == expected(twos, behind(twos)));
        std::vector<int> const all(2 * p, 1);
        for (auto const& sizes : {twos, twos, moved, twos}) {
            std::vector<int> out(4, -1);
            papcoll::reduce_scatter(world, all.data(), sizes, out.data(), std::plus<>());
            for (std::size_t i = 0; i < out.size(); ++i)
                CHECK(out[i] == (i < sizes[me] ? static_cast<int>(p) : -1));
        }
    }
}

TEST_CASE("sizes that are bad after good ones throw as the first ones do") {
    boost::mpi::communicator const world(MPI_COMM_SELF, boost::mpi::comm_duplicate);
    std::vector<int> in(4), out(4);
    std::array<int, 1> sizes{0};
    for (int i = 0; i < 2; ++i) papcoll::reduce_scatter(world, in.data(), sizes, out.data(), std::plus<>());
    sizes[0] = -1; // which counts as 0 where it is looked at
    CHECK_THROWS_AS(papcoll::reduce_scatter(world, in.data(), sizes, out.data(), std::plus<>()),
                    std::invalid_argument);
    CHECK_THROWS_AS(papcoll::reduce_scatter(world, in.data(), std::vector<int>(2), out.data(), std::plus<>()),
                    std::invalid_argument);
    sizes[0] = 4;
    in.assign(4, 7);
    for (int i = 0; i < 2; ++i) papcoll::reduce_scatter(world, in.data(), sizes, out.data(), std::plus<>());
    CHECK(out == in);
    CHECK_THROWS_AS(papcoll::reduce_scatter(world, in.data(), sizes, in.data(), std::plus<>()),
                    std::invalid_argument);
}

TEST_CASE("a call that is bad after good ones throws as a first one does") {
    boost::mpi::communicator const world(MPI_COMM_SELF,
                                         boost::mpi::comm_duplicate); // its failures are its own
    std::vector<int> values(9, 1), out(9);
    for (int i = 0; i < 2; ++i) papcoll::all_reduce(world, values.data(), 9, out.data(), std::plus<>());
    int const* const nothing = nullptr;
    CHECK_THROWS_AS(papcoll::all_reduce(world, nothing, 9, out.data(), std::plus<>()), std::invalid_argument);
    CHECK_THROWS_AS(papcoll::all_reduce(world, values.data(), 9, static_cast<int*>(nullptr), std::plus<>()),
                    std::invalid_argument);
    CHECK_THROWS_AS(papcoll::all_reduce(world, values.data(), 9, values.data(), std::plus<>()),
                    std::invalid_argument);
    papcoll::all_reduce(world, values.data(), 9, out.data(), std::plus<>());
    CHECK(out == values);
}

TEST_CASE("an operator makes calls of its own, by the plan that is being run among others") {
    if (!goes_straight()) return;
    pairs const two;
    auto const sum_of = [&](int value) { // 1 on the lower rank, 2 on the other, times the value
        return two.size() == 1 ? value : 3 * value;
    };
    for (int i = 0; i < 3; ++i) {
        int within = 0;
        int depth = 0;
        std::function<int(int, int)> const add = [&](int a, int b) {
            if (depth++ == 0) {
                int const mine = 10 * (two.rank() + 1);
                papcoll::all_reduce(two.comm(), &mine, 1, &within, add, exchange());
            }
            return a + b;
        };
        int const mine = two.rank() + 1;
        int out = 0;
        papcoll::all_reduce(two.comm(), &mine, 1, &out, add, exchange());
        CHECK(out == sum_of(1));
        CHECK(within == (two.size() == 1 ? 0 : sum_of(10)));
    }
}

TEST_CASE("an operator makes calls on another communicator while its own is driven with others") {
    if (!goes_straight()) return;
    pairs const two, elsewhere;
    int within = 0;
    std::function<int(int, int)> const add = [&](int a, int b) {
        int const mine = 10 * (two.rank() + 1);
        int begun = 0;
        auto request = papcoll::iall_reduce(elsewhere.comm(), &mine, 1, &begun, std::plus<>(), exchange());
        papcoll::all_reduce(elsewhere.comm(), &mine, 1, &within, std::plus<>(), exchange());
        while (!request.test()) {
        }
        CHECK(begun == within);
        return a + b;
    };
    int const mine = two.rank() + 1;
    int const sum = two.size() == 1 ? 1 : 3;
    int out = 0, other = 0;
    auto waited_for = papcoll::iall_reduce(two.comm(), &mine, 1, &out, add, exchange());
    waited_for.wait();
    CHECK(out == sum);
    auto beside = papcoll::iall_reduce(elsewhere.comm(), &mine, 1, &other, std::plus<>(), exchange());
    papcoll::all_reduce(two.comm(), &mine, 1, &out, add, exchange());
    beside.wait();
    CHECK(out == sum);
    CHECK(other == sum);
    CHECK(within == (two.size() == 1 ? 0 : 30));
}

TEST_CASE("an operator drives the plan that is being run out of the cache") {
    if (!goes_straight()) return;
    pairs const two;
    std::vector<int> values(200);
    bool fills = false;
    std::function<int(int, int)> const add = [&](int a, int b) {
        for (std::size_t n = 1; fills && n <= 100; ++n)
            papcoll::all_gather(two.comm(), values.data(), n, std::vector<int>(200).data());
        return a + b;
    };
    for (int i = 0; i < 4; ++i) {
        fills = i % 2 == 1;
        int const mine = two.rank() + 1;
        int out = 0;
        papcoll::all_reduce(two.comm(), &mine, 1, &out, add, exchange());
        CHECK(out == (two.size() == 1 ? 1 : 3));
    }
}

TEST_CASE("an operator frees the communicator of its call") {
    if (!goes_straight()) return;
    pairs two;
    bool frees = false;
    std::function<int(int, int)> const add = [&](int a, int b) {
        if (frees) two.free();
        return a + b;
    };
    for (int i = 0; i < 3; ++i) {
        frees = i == 2;
        int const mine = two.rank() + 1;
        int out = 0;
        papcoll::all_reduce(two.comm(), &mine, 1, &out, add, exchange());
        CHECK(out == (two.size() == 1 ? 1 : 3));
    }
}

TEST_CASE("an operator frees the communicator of its call, through the memory of the node, and throws") {
    if (!goes_straight()) return;
    for (bool const throws : {false, true}) {
        boost::mpi::communicator const world;
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(world, &comm);
        papcoll::attach(comm, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}});
        bool frees = false;
        std::function<int(int, int)> const add = [&](int a, int b) {
            if (frees && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
            if (frees && throws) throw std::runtime_error("operator");
            return a + b;
        };
        for (int i = 0; i < 3; ++i) {
            frees = i == 2;
            int const mine = 1;
            int out = 0;
            if (frees && throws && world.size() > 1)
                CHECK_THROWS_AS(papcoll::all_reduce(comm, &mine, 1, &out, add), std::runtime_error);
            else
                papcoll::all_reduce(comm, &mine, 1, &out, add);
            if (!frees || !throws) CHECK(out == world.size());
        }
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
}

TEST_CASE("after an operator that throws the same call goes on as before") {
    pairs const two;
    bool throws = false;
    std::function<int(int, int)> const add = [&](int a, int b) {
        if (throws) throw std::runtime_error("operator");
        return a + b;
    };
    for (int i = 0; i < 6; ++i) {
        throws = i % 3 == 2;
        int const mine = two.rank() + 1;
        int out = 0;
        if (throws && two.size() > 1)
            CHECK_THROWS_WITH(papcoll::all_reduce(two.comm(), &mine, 1, &out, add, exchange()), "operator");
        else
            papcoll::all_reduce(two.comm(), &mine, 1, &out, add, exchange());
        if (!throws) CHECK(out == (two.size() == 1 ? 1 : 3));
    }
}

TEST_CASE("each run of a plan has an operator of its own") {
    boost::mpi::communicator const world;
    papcoll::attach(world);
    auto plan =
        papcoll::plan_all_reduce<long>(world, 5, papcoll::commutative(counting()), papcoll::circulant{});
    std::vector<long> const in(5, 1);
    std::vector<long> out(5);
    for (int i = 0; i < 100; ++i) plan.run(in.data(), out.data());
    CHECK(out == std::vector<long>(5, world.size()));
}
