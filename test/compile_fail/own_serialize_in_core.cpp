// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: a class with a serialize of its own is not sent as its bytes; include papcoll/papcoll.hpp
#include <papcoll/core.hpp>

struct point {
    double x, y;
#ifdef PAPCOLL_MISTAKE
private:
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& x& y;
    }
#endif
};

void call(MPI_Comm comm, point* points) { papcoll::broadcast(comm, points, 5, 0); }
