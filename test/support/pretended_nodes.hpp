// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace test_support {

/// While it is set, MPI_Get_processor_name says that this rank of MPI_COMM_WORLD is on the node of this
/// number (doctest_mpi_main.cpp): the ranks of one machine form several nodes for communicators that are
/// attached.
inline int (*node_of)(int rank) = nullptr;

/// Sets it for a scope.
class pretended_nodes {
public:
    explicit pretended_nodes(int (*of)(int rank)) { node_of = of; }
    pretended_nodes(pretended_nodes const&) = delete;
    auto operator=(pretended_nodes const&) -> pretended_nodes& = delete;
    ~pretended_nodes() { node_of = nullptr; }
};

} // namespace test_support
