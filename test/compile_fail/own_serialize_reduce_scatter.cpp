// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: values that must be serialized can be broadcast, .* declare BOOST_IS_BITWISE_SERIALIZABLE
#include <papcoll/papcoll.hpp>

#include <boost/serialization/is_bitwise_serializable.hpp>

#include <functional>
#include <vector>

struct point {
    double x, y;
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& x& y;
    }
    friend auto operator+(point const& a, point const& b) -> point { return {a.x + b.x, a.y + b.y}; }
};
#ifndef PAPCOLL_MISTAKE
BOOST_IS_BITWISE_SERIALIZABLE(point)
#endif

void call(MPI_Comm comm, point const* in, point* out, std::vector<int> const& sizes) {
    papcoll::reduce_scatter(comm, in, sizes, out, papcoll::commutative(std::plus<>()), papcoll::circulant{});
}
