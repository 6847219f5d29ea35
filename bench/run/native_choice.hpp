// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/call_shape.hpp>

#include <mpi.h>

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#ifndef SMPI_H
#include <papcoll/core.hpp>

#include <utility>
#endif

#ifdef SMPI_H
namespace simgrid::smpi::colls {
// Exported by libsimgrid and called by smpirun for --cfg=smpi/<collective>:<algorithm>; in no installed
// header.
void set_allgather(std::string const& name);
void set_allreduce(std::string const& name);
void set_alltoall(std::string const& name);
void set_bcast(std::string const& name);
void set_reduce(std::string const& name);
void set_reduce_scatter(std::string const& name);
} // namespace simgrid::smpi::colls
#endif

namespace bench {

/// "native:<algorithm>" is the MPI library's own collective, told to use that algorithm.
[[nodiscard]] inline auto native_algorithm(std::string const& policy) -> std::string {
    return policy.rfind("native:", 0) == 0 ? policy.substr(7) : std::string();
}

/// What Open MPI calls the routine of such a call.
[[nodiscard]] inline auto routine_of(papcoll::call_shape const& shape) -> std::string {
    using papcoll::collective_kind;
    switch (shape.operation) {
    case collective_kind::broadcast:
        return "bcast";
    case collective_kind::all_reduce:
        return "allreduce";
    case collective_kind::all_gather:
        return shape.sizes.empty() ? "allgather" : "allgatherv";
    case collective_kind::all_to_all:
        return "alltoall";
    default:
        return std::string(papcoll::to_string(shape.operation));
    }
}

#ifdef MPICH_VERSION

/// MPICH's algorithms of a routine by their names; where one cannot be used MPICH takes another.
[[nodiscard]] inline auto native_algorithms(std::string const& routine, int) -> std::vector<std::string> {
    static std::map<std::string, std::vector<std::string>> const all{
        {"bcast", {"binomial", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"}},
        {"reduce", {"binomial", "smp", "reduce_scatter_gather"}},
        {"allreduce", {"smp", "recursive_doubling", "reduce_scatter_allgather"}},
        {"allgather", {"brucks", "recursive_doubling", "ring"}},
        {"alltoall", {"brucks", "pairwise", "scattered"}},
        {"reduce_scatter", {"pairwise", "recursive_doubling", "recursive_halving"}}};
    auto const found = all.find(routine);
    std::vector<std::string> names;
    if (found == all.end()) return names;
    names.emplace_back("native:auto");
    for (auto const& name : found->second) names.push_back("native:" + name);
    return names;
}

#else

/// Open MPI's algorithms of a routine by their numbers, those that so many ranks can use. Open MPI lets no
/// program choose those of MPI_Allgatherv: mpirun --mca coll_tuned_allgatherv_algorithm does.
[[nodiscard]] inline auto native_algorithms(std::string const& routine, int ranks)
    -> std::vector<std::string> {
    static std::map<std::string, int> const most{{"bcast", 9},     {"reduce", 7},   {"allreduce", 6},
                                                 {"allgather", 4}, {"alltoall", 4}, {"reduce_scatter", 4}};
    auto const found = most.find(routine);
    int last = found == most.end() ? 0 : found->second;
    if (routine == "allgather" && ranks % 2 == 0) ++last; // neighbour exchange
    std::vector<std::string> names;
    for (int k = 1; k <= last; ++k) names.push_back("native:" + std::to_string(k));
    return names;
}

#endif

#ifdef SMPI_H

/// Makes the next call of this collective use `algorithm`. The choice belongs to all ranks under SimGrid,
/// who therefore each make it right before the call and take it back behind.
inline void choose_native(papcoll::collective_kind kind, std::string const& algorithm) {
    using papcoll::collective_kind;
    namespace colls = simgrid::smpi::colls;
    switch (kind) {
    case collective_kind::broadcast:
        return colls::set_bcast(algorithm);
    case collective_kind::reduce:
        return colls::set_reduce(algorithm);
    case collective_kind::all_reduce:
        return colls::set_allreduce(algorithm);
    case collective_kind::all_gather:
        return colls::set_allgather(algorithm);
    case collective_kind::all_to_all:
        return colls::set_alltoall(algorithm);
    case collective_kind::reduce_scatter:
        return colls::set_reduce_scatter(algorithm);
    default:
        throw std::invalid_argument("no algorithm " + algorithm + " can be chosen here");
    }
}

#else

/// Begins MPI's tool interface, once and for good: MPICH finds no variables when it was ended and begun
/// again.
inline void use_tool_interface() {
    static bool const begun = [] {
        int provided = 0;
        return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
    }();
    (void)begun;
}

/// An integer control variable of the MPI library. Throws std::invalid_argument if there is none of the name.
class control_variable {
public:
    explicit control_variable(std::string const& name) {
        int index = 0;
        int count = 0;
        use_tool_interface();
        if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS ||
            MPI_T_cvar_handle_alloc(index, nullptr, &m_handle, &count) != MPI_SUCCESS)
            throw std::invalid_argument("this MPI library has no " + name);
    }
    control_variable(control_variable const&) = delete;
    auto operator=(control_variable const&) -> control_variable& = delete;
    ~control_variable() { MPI_T_cvar_handle_free(&m_handle); }

    [[nodiscard]] auto get() const -> int {
        int value = 0;
        MPI_T_cvar_read(m_handle, &value);
        return value;
    }
    void set(int value) const {
        if (MPI_T_cvar_write(m_handle, &value) != MPI_SUCCESS)
            throw std::invalid_argument("this MPI library takes no " + std::to_string(value) +
                                        " for an algorithm");
    }

private:
    MPI_T_cvar_handle m_handle{};
};

#ifdef MPICH_VERSION

/// What MPICH says about a control variable; empty if it has none of the name.
inline auto description_of(std::string const& name) -> std::string {
    int index = 0;
    use_tool_interface();
    std::string text;
    if (MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS) {
        int name_size = 0, size = 0, verbosity = 0, bound = 0, scope = 0;
        MPI_Datatype type{};
        MPI_T_enum values{};
        auto const ask = [&](char* to) {
            MPI_T_cvar_get_info(index, nullptr, &name_size, &verbosity, &type, &values, to, &size, &bound,
                                &scope);
        };
        ask(nullptr);
        text.resize(static_cast<std::size_t>(size));
        ask(text.data());
    }
    return text;
}

/// MPICH's algorithms have names, but the control variable that chooses one is a number: its place in the
/// description, where "binomial - Force …" is one of many. Throws std::invalid_argument if there is none.
inline auto number_of(std::string const& variable, std::string const& algorithm) -> int {
    if (algorithm == "auto") return 0;
    auto const text = description_of(variable);
    std::string const mark = "- Force";
    int number = 0;
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        ++number;
        auto const end = text.find_last_not_of(' ', at - 1) + 1;
        if (end >= algorithm.size() && text.compare(end - algorithm.size(), algorithm.size(), algorithm) == 0)
            return number;
    }
    throw std::invalid_argument("this MPI library has no algorithm " + algorithm + " in " + variable);
}

/// As long as it lives this routine of MPICH's uses that algorithm, on this rank.
class forced_algorithm {
public:
    forced_algorithm(std::string routine, std::string const& algorithm)
        : forced_algorithm(in_capitals(std::move(routine)), algorithm, 0) {}
    void begin() const {
        m_device.set(0);
        m_choice.set(m_number);
    }
    void end() const {
        m_choice.set(0);
        m_device.set(m_device_before);
    }

private:
    forced_algorithm(std::string const& name, std::string const& algorithm, int)
        : m_device("MPIR_CVAR_" + name + "_DEVICE_COLLECTIVE")
        , m_choice("MPIR_CVAR_" + name + "_INTRA_ALGORITHM")
        , m_number(number_of("MPIR_CVAR_" + name + "_INTRA_ALGORITHM", algorithm))
        , m_device_before(m_device.get()) {}
    static auto in_capitals(std::string text) -> std::string {
        for (auto& c : text)
            if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        return text;
    }

    control_variable m_device, m_choice;
    int m_number;
    int m_device_before;
};

#else

/// A duplicate of `comm` on which Open MPI's coll/tuned uses the algorithm of that number for this
/// collective; it looks at the choice when a communicator is made. Collective where it is asked for the first
/// time. Throws std::invalid_argument if the library cannot be told.
inline auto forced_communicator(MPI_Comm comm, std::string const& routine, std::string const& algorithm)
    -> MPI_Comm {
    // Handles may be used again, for another number of ranks.
    int size = 0;
    MPI_Comm_size(comm, &size);
    static std::map<std::tuple<MPI_Comm, int, std::string, std::string>, MPI_Comm> made;
    if (auto const found = made.find({comm, size, routine, algorithm}); found != made.end())
        return found->second;
    if (algorithm.find_first_not_of("0123456789") != std::string::npos || algorithm.size() > 4)
        throw std::invalid_argument("native:" + algorithm + " is no number of an algorithm");
    if (control_variable("coll_tuned_use_dynamic_rules").get() == 0)
        throw std::invalid_argument("native:" + algorithm + " needs --mca coll_tuned_use_dynamic_rules 1");
    control_variable const choice("coll_tuned_" + routine + "_algorithm");
    int const before = choice.get();
    choice.set(std::stoi(algorithm));
    MPI_Comm forced = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &forced);
    choice.set(before);
    papcoll::attach(forced);
    return made[{comm, size, routine, algorithm}] = forced;
}

#endif

#endif

} // namespace bench
