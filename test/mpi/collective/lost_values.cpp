// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.messages: PAPCOLL_NODE_MEMORY=0
#include <papcoll/executor/execution.hpp>
#include <papcoll/papcoll.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/transport/mpi.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <exception>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <vector>

// Serialized values that are lost on a rank: it and whoever needs them throws, and nobody waits for ever.
namespace {

/// While it lives this process may have so many bytes more than it has.
class memory_limit {
public:
    explicit memory_limit(std::size_t more) {
        getrlimit(RLIMIT_AS, &m_before);
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        auto limit = m_before;
        limit.rlim_cur = pages * 4096 + more;
        setrlimit(RLIMIT_AS, &limit);
    }
    memory_limit(memory_limit const&) = delete;
    auto operator=(memory_limit const&) -> memory_limit& = delete;
    ~memory_limit() { setrlimit(RLIMIT_AS, &m_before); }

private:
    rlimit m_before{};
};

enum class outcome { whole, no_memory, lost };
template <class Call>
auto outcome_of(Call const& call) -> outcome {
    try {
        call();
    } catch (std::bad_alloc const&) {
        return outcome::no_memory;
    } catch (papcoll::missing_value_error const&) {
        return outcome::lost;
    }
    return outcome::whole;
}
template <class Call>
void check_that_all_end(boost::mpi::communicator const& world, Call const& call) {
    auto value = world.rank() == 0 ? std::string(std::size_t(96) << 20, 'x') : std::string();
    auto end = outcome::whole;
    {
        std::unique_ptr<memory_limit> limit;
        if (world.rank() == 1) limit = std::make_unique<memory_limit>(std::size_t(32) << 20);
        end = outcome_of([&] { call(value); });
    }
    if (world.rank() == 0) CHECK(end == outcome::whole);
    if (world.rank() == 1) CHECK(end == outcome::no_memory);
    if (world.rank() == 2) CHECK(end != outcome::no_memory);
    CHECK((end != outcome::whole || value.size() == std::size_t(96) << 20));
    std::string next = world.rank() == 0 ? "next" : "";
    papcoll::broadcast(world, next, 0);
    CHECK(next == "next");
}

} // namespace

TEST_CASE("a rank without memory for a long value throws, and the others do not wait for it") {
    boost::mpi::communicator const world;
    if (world.size() < 2 || world.size() > 3) return;
    papcoll::attach(world);
    check_that_all_end(world, [&](std::string& value) { papcoll::broadcast(world, value, 0); });
    check_that_all_end(world, [&](std::string& value) { papcoll::ibroadcast(world, value, 0).wait(); });
}

TEST_CASE("what came by a long message is not passed on in place of what could not be computed from it") {
    boost::mpi::communicator const world;
    if (world.size() < 3) return;
    papcoll::attach(world);
    auto const context = papcoll::context_of(static_cast<MPI_Comm>(world));
    papcoll::program_builder to;
    papcoll::region const in(papcoll::memory::in, 0, 2), out(papcoll::memory::out, 0, 2);
    if (world.rank() == 0) to.send(1, in);
    if (world.rank() == 1) {
        auto const both = to.scratch(2);
        to.receive(0, both);
        to.combine(both.part(0, 1), both.part(0, 1), in.part(0, 1));
        to.send(2, both);
    }
    if (world.rank() == 2) to.receive(1, out);
    auto const program = std::make_shared<papcoll::program const>(to.finish());
    for (bool const boxed : {false, true}) {
        std::vector<std::string> given(2, std::string(2000, 'a')), result(2);
        auto throws = [](std::string const&, std::string const&) -> std::string {
            throw std::runtime_error("the operator");
        };
        papcoll::call_memory memory(&papcoll::detail::element_type_of<std::string>());
        memory.in = given.data();
        memory.out = result.data();
        memory.op = papcoll::detail::combiner::of<std::string>(throws);
        memory.shared = context->shared();
        memory.call = context->sequence();
        memory.key = 99;
        int const tag = context->next_tag(context->tags());
        auto const body = std::make_shared<papcoll::execution<papcoll::mpi_transport>>(program);
        std::exception_ptr why;
        if (memory.shared != nullptr) memory.shared->pass_to(memory.call);
        if (boxed && body->is_boxed(memory)) {
            if (!body->run_boxed(context->transport_layer(), tag, memory)) why = body->take_failure();
        } else {
            body->begin(context->transport_layer(), nullptr, tag, memory);
            while (!body->finished()) body->advance(false);
            why = body->failure();
        }
        if (world.rank() == 0) CHECK(why == nullptr);
        if (world.rank() == 1) CHECK_THROWS_AS(std::rethrow_exception(why), std::runtime_error);
        if (world.rank() == 2) CHECK_THROWS_AS(std::rethrow_exception(why), papcoll::missing_value_error);
        world.barrier();
    }
}
