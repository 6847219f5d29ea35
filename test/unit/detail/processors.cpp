// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/detail/processors.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace {

using namespace papcoll::detail;

/// Without this environment variable until the end of the scope, which restores it.
class unset_variable {
public:
    explicit unset_variable(char const* name)
        : m_name(name) {
        if (auto const* const value = std::getenv(name)) m_before = value;
        ::unsetenv(name);
    }
    unset_variable(unset_variable const&) = delete;
    auto operator=(unset_variable const&) -> unset_variable& = delete;
    ~unset_variable() {
        if (m_before)
            ::setenv(m_name, m_before->c_str(), 1);
        else
            ::unsetenv(m_name);
    }

private:
    char const* m_name;
    std::optional<std::string> m_before;
};

TEST_CASE("a variable is restored") {
    constexpr auto const* name = "PAPCOLL_TEST_OF_PROCESSORS";
    ::setenv(name, "3", 1);
    {
        unset_variable const unset(name);
        CHECK(std::getenv(name) == nullptr);
    }
    REQUIRE(std::getenv(name) != nullptr);
    CHECK(std::string(std::getenv(name)) == "3");
    ::unsetenv(name);
    {
        unset_variable const unset(name);
        ::setenv(name, "4", 1);
    }
    CHECK(std::getenv(name) == nullptr);
}

TEST_CASE("a limit is in begun processors") {
    CHECK(processors_of_limit("200000 100000\n") == 2);
    CHECK(processors_of_limit("150000 100000\n") == 2);
    CHECK(processors_of_limit("5000 100000\n") == 1);
    for (auto const* none : {"max 100000\n", "", "200000", "200000 0", "-1 100000", "x y"})
        CHECK(processors_of_limit(none) == any_processors);
}

TEST_CASE("the least limit of a group and those above it counts") {
    std::map<std::string, std::string> files{{"/sys/fs/cgroup/jobs/7/cpu.max", "800000 100000\n"},
                                             {"/sys/fs/cgroup/jobs/cpu.max", "400000 100000\n"}};
    auto const read = [&](std::string const& path) {
        auto const found = files.find(path);
        return found == files.end() ? std::nullopt : std::optional(found->second);
    };
    CHECK(processors_of_groups("1:cpu:/old\n0::/jobs/7/step\n", read) == 4);
    CHECK(processors_of_groups("0::/other\n", read) == any_processors);
    CHECK(processors_of_groups("1:cpu:/jobs\n", read) == any_processors);
    CHECK(processors_of_groups("", read) == any_processors);
    files["/sys/fs/cgroup/cpu.max"] = "100000 100000\n"; // as in a container
    CHECK(processors_of_groups("0::/\n", read) == 1);
    CHECK(processors_of_groups("0::/jobs/7\n", read) == 1);
}

TEST_CASE("ranks of the node that are not of the communicator need processors, too") {
    CHECK_FALSE(enough_processors(1'000'000));
    unset_variable const open_mpi("OMPI_COMM_WORLD_LOCAL_SIZE");
    unset_variable const mpich("MPI_LOCALNRANKS");
    unset_variable const mvapich("MV2_COMM_WORLD_LOCAL_SIZE");
    CHECK(started_on_this_node() == 0);
    CHECK(enough_processors(1));
    ::setenv("MPI_LOCALNRANKS", "1000000", 1);
    CHECK(started_on_this_node() == 1'000'000);
    CHECK_FALSE(enough_processors(1));
}

} // namespace
