// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/mpi/datatype.hpp>

/// Has a Boost.MPI datatype, but is more than its bytes.
struct padded {
    padded() = default;
    padded(int n, double x)
        : count(n)
        , weight(x) {}
    padded(padded const& other)
        : count(other.count)
        , weight(other.weight) {}
    auto operator=(padded const& other) -> padded& {
        count = other.count;
        weight = other.weight;
        return *this;
    }
    ~padded() {}

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& count;
        archive& weight;
    }
    friend auto operator==(padded const& a, padded const& b) -> bool {
        return a.count == b.count && a.weight == b.weight;
    }

    int count = 0;
    double weight = 0;
};

BOOST_IS_MPI_DATATYPE(padded)

struct add_padded {
    auto operator()(padded const& a, padded const& b) const -> padded {
        return {a.count + b.count, a.weight + b.weight};
    }
};
