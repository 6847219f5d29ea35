# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import supported_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.0"

OLDEST_COMPILERS = {"gcc": "11", "clang": "13"}


class PapcollRecipe(ConanFile):
    name = "papcoll"
    license = "BSL-1.0"
    description = "MPI collectives that stay fast when ranks arrive late"
    topics = ("mpi", "collectives", "hpc", "header-only")
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "boost_mpi": [True, False],  # False: papcoll::core alone
        "compiled": [True, False],  # True: papcoll::compiled, too, a static library
        "system_dependencies": [True, False],  # True: the MPI, Boost and xsimd of the machine, found by their CMake files
    }
    default_options = {"boost_mpi": True, "compiled": False, "system_dependencies": False}
    exports_sources = "include/*", "src/*", "LICENSE", "CMakeLists.txt", "cmake/*"
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include", "papcoll", "version.hpp"))
        self.version = ".".join(re.findall(r"^#define PAPCOLL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text, re.MULTILINE))

    def configure(self):
        self.package_type = "static-library" if self.options.compiled else "header-library"
        if self.options.boost_mpi and not self.options.system_dependencies:
            self.options["boost"].without_mpi = False

    def layout(self):
        basic_layout(self)

    def requirements(self):
        if self.options.system_dependencies:
            return
        self.requires("boost/[>=1.74 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("openmpi/[>=4.1 <5]", transitive_headers=True, transitive_libs=True)
        self.requires("xsimd/[>=8.1]", transitive_headers=True)

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def generate(self):
        if self.options.compiled:
            toolchain = CMakeToolchain(self)
            toolchain.cache_variables["PAPCOLL_COMPILED"] = True
            toolchain.cache_variables["PAPCOLL_BOOST_MPI"] = bool(self.options.boost_mpi)
            for part in ("TESTS", "EXAMPLES", "BENCH"):
                toolchain.cache_variables[f"PAPCOLL_BUILD_{part}"] = False
            toolchain.generate()
            CMakeDeps(self).generate()

    def build(self):
        if self.options.compiled:
            cmake = CMake(self)
            cmake.configure()
            cmake.build(target="papcoll_compiled")

    def validate(self):
        # What the compiler can do counts, not the profile's compiler.cppstd: our CMake target raises the standard.
        compiler = self.settings.get_safe("compiler")
        version = self.settings.get_safe("compiler.version")
        if not compiler or not version:
            return
        known = supported_cppstd(self)
        if Version(version) < OLDEST_COMPILERS.get(compiler, "0") or (known is not None and "20" not in known):
            raise ConanInvalidConfiguration(f"papcoll needs C++20, and {compiler} {version} is too old for it")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for library in ("*.a", "*.lib"):
            copy(self, library, self.build_folder, os.path.join(self.package_folder, "lib"), keep_path=False)
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        for module in ("Standard", "Dependencies", "System"):
            copy(self, f"papcoll{module}.cmake", os.path.join(self.source_folder, "cmake"),
                 os.path.join(self.package_folder, "cmake"))

    def package_info(self):
        # The package's own target papcoll::papcoll is the sum of its components.
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "papcoll::core")
        core.bindirs = core.libdirs = []
        boost_mpi = self.cpp_info.components["boost_mpi"] if self.options.boost_mpi else None
        if boost_mpi:
            boost_mpi.set_property("cmake_target_name", "papcoll::boost_mpi")
            boost_mpi.bindirs = boost_mpi.libdirs = []
            boost_mpi.requires = ["core"]
        if self.options.compiled: # of the sum, too
            compiled = self.cpp_info.components["compiled"]
            compiled.set_property("cmake_target_name", "papcoll::compiled")
            compiled.libs = ["papcoll_compiled"]
            compiled.bindirs = []
            compiled.defines = ["PAPCOLL_SEPARATE_COMPILATION"]
            compiled.requires = ["boost_mpi" if boost_mpi else "core"]
        modules = [os.path.join("cmake", "papcollStandard.cmake")]
        if self.options.system_dependencies:
            modules.append(os.path.join("cmake", "papcollSystem.cmake"))
        else:
            core.requires = ["boost::headers", "openmpi::openmpi", "xsimd::xsimd"]
            if boost_mpi:
                boost_mpi.requires += ["boost::mpi", "boost::serialization"]
        self.cpp_info.set_property("cmake_build_modules", modules)
