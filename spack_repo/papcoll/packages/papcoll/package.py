# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
import pathlib
import re

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *

CHECKOUT = pathlib.Path(__file__).resolve().parents[4]


def version_of_checkout():
    text = (CHECKOUT / "include" / "papcoll" / "version.hpp").read_text()
    return ".".join(re.findall(r"^#define PAPCOLL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text, re.MULTILINE))


class Papcoll(CMakePackage):
    """Collective operations for MPI programs whose ranks do not arrive at the same time: header-only, C++20, on MPI_Comm
    and on Boost.MPI's communicators."""

    git = CHECKOUT.as_uri()

    license("BSL-1.0")

    version(version_of_checkout(), branch="main")

    variant("boost_mpi", default=True, description="Provide papcoll::papcoll, on Boost.MPI, beside papcoll::core")
    variant("compiled", default=False, description="Build papcoll::compiled, too: what does not depend on types")
    variant("tests", default=False, description="Build the tests")
    variant("tools", default=False, description="Build the benchmarks and the tracer")

    depends_on("cxx", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("mpi")
    depends_on("boost@1.74:+container")
    depends_on("boost+mpi+serialization", when="+boost_mpi")
    depends_on("xsimd@8.1:")
    depends_on("python@3:", type=("build", "test"), when="+tests")
    depends_on("doctest", type=("build", "test"), when="+tests")
    with when("+tools"):
        depends_on("benchmark")
        depends_on("cli11")
        depends_on("nlohmann-json")
        depends_on("libpng")

    conflicts("%gcc@:10", msg="papcoll needs C++20")
    conflicts("%clang@:12", msg="papcoll needs C++20")
    conflicts("+tests~boost_mpi", msg="the tests use Boost.MPI")
    conflicts("+tools~boost_mpi", msg="the benchmarks use Boost.MPI")
    conflicts("platform=darwin", msg="papcoll needs Linux")
    conflicts("platform=windows", msg="papcoll needs Linux")

    def cmake_args(self):
        return [
            self.define_from_variant("PAPCOLL_BOOST_MPI", "boost_mpi"),
            self.define_from_variant("PAPCOLL_COMPILED", "compiled"),
            self.define_from_variant("PAPCOLL_BUILD_TESTS", "tests"),
            self.define_from_variant("PAPCOLL_BUILD_BENCH", "tools"),
            self.define("PAPCOLL_BUILD_EXAMPLES", False),
        ]
