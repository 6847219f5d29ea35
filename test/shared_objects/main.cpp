// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
//     shared_objects <file> <file>        loads both, without the symbols of one for the other
#include <mpi.h>

#include <cstdio>
#include <dlfcn.h>
#include <initializer_list>

namespace {

using getter = void const*();

auto of_object(char const* file, char const* what) -> void const* {
    auto* const object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    auto* const found = object != nullptr ? reinterpret_cast<getter*>(dlsym(object, what)) : nullptr;
    if (found == nullptr) std::printf("%s\n", dlerror());
    return found != nullptr ? found() : nullptr;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int wrong = argc == 3 ? 0 : 1;
    for (auto const* const what : {"registry_of_object", "driver_of_object"}) {
        auto const* const first = of_object(argv[1], what);
        bool const one = first != nullptr && first == of_object(argv[2], what);
        if (!one) std::printf("%s: each shared object has its own\n", what);
        wrong += one ? 0 : 1;
    }
    MPI_Finalize();
    return wrong;
}
