// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: elements must be trivially copyable, or have a Boost.MPI datatype or Boost.Serialization
#include <papcoll/papcoll.hpp>

#include <string>

struct labelled {
    std::string label;
#ifndef PAPCOLL_MISTAKE
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& label;
    }
#endif
};

void call(MPI_Comm comm, labelled& value) { papcoll::broadcast(comm, value, 0); }
