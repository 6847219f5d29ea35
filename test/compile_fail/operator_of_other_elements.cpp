// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: no argument is an operator for these elements; it must be callable with two constant
// elements
#include <papcoll/core.hpp>

struct point {
    double x, y;
};

void call(MPI_Comm comm, point const* in, point* out) {
    auto const op = [](point const& a, point const& b) { return point{a.x + b.x, a.y + b.y}; };
    papcoll::ireduce(comm, in, 5, out, op, 0).wait();
#ifdef PAPCOLL_MISTAKE
    papcoll::ireduce(
        comm, in, 5, out,
        [](point& a, point& b) {
            return point{a.x + b.x, a.y};
        },
        0)
        .wait();
#endif
}
