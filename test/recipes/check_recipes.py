#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Checks what conanfile.py and the recipe of Spack say, with stand-ins for what they import of their clients.

    check_recipes.py <source folder> <version that CMake configured>

The version is that of version.hpp and of CMake; compilers as Conan detects them are taken, too old ones refused; each
CMake option that a recipe sets is an option of ours; the compilers that both refuse are the same.
"""
import contextlib
import pathlib
import re
import runpy
import sys
import types
import unittest

SOURCE, CMAKE_VERSION = pathlib.Path(sys.argv[1]), sys.argv[2]
OPTIONS = set(re.findall(r"^option\((PAPCOLL_\w+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE))


def stand_in(name, **members):
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
    vars(sys.modules[name]).update(members)


class InvalidConfiguration(Exception):
    pass


class Version(int):
    def __new__(cls, text):
        return super().__new__(cls, str(text).split(".")[0])

    def __lt__(self, other):
        return int(self) < int(str(other).split(".")[0])


def supported_cppstd(recipe):
    """What Conan knows of g++: gnu20 from version 8 on, by the flag's older name."""
    return ["17", "gnu17", "20", "gnu20"] if recipe.settings.get_safe("compiler") == "gcc" else None


def load_conanfile():
    nothing = type("Nothing", (), {})
    stand_in("conan", ConanFile=object)
    stand_in("conan.errors", ConanInvalidConfiguration=InvalidConfiguration)
    stand_in("conan.tools.build", supported_cppstd=supported_cppstd)
    stand_in("conan.tools.cmake", CMake=nothing, CMakeDeps=nothing, CMakeToolchain=nothing)
    stand_in("conan.tools.files", copy=None, load=lambda recipe, path: pathlib.Path(path).read_text())
    stand_in("conan.tools.layout", basic_layout=None)
    stand_in("conan.tools.scm", Version=Version)
    return runpy.run_path(str(SOURCE / "conanfile.py"))


class Settings(dict):
    def get_safe(self, name):
        return self.get(name)


class Conan(unittest.TestCase):
    def setUp(self):
        self.names = load_conanfile()
        self.recipe = self.names["PapcollRecipe"]()
        self.recipe.recipe_folder = str(SOURCE)

    def test_version(self):
        self.recipe.set_version()
        self.assertEqual(self.recipe.version, CMAKE_VERSION)

    def validate(self, **settings):
        self.recipe.settings = Settings({name.replace("_", "."): value for name, value in settings.items()})
        self.recipe.validate()

    def test_detected_profiles_are_taken(self):
        for compiler, version, standard in (("gcc", "12", "gnu17"), ("gcc", "11.3", "17"), ("clang", "14", "gnu14")):
            self.validate(compiler=compiler, compiler_version=version, compiler_cppstd=standard)

    def test_old_compilers_are_refused(self):
        for compiler, version in (("gcc", "10"), ("clang", "12")):
            with self.assertRaises(InvalidConfiguration):
                self.validate(compiler=compiler, compiler_version=version)

    def test_options_are_ours(self):
        text = (SOURCE / "conanfile.py").read_text()
        named = set(re.findall(r'"(PAPCOLL_\w+)"', text)) - {"PAPCOLL_SEPARATE_COMPILATION"}
        self.assertTrue({"PAPCOLL_COMPILED", "PAPCOLL_BOOST_MPI"} <= named)
        self.assertLessEqual(named, OPTIONS)

    def test_what_it_exports_is_there(self):
        for pattern in self.names["PapcollRecipe"].exports_sources:
            self.assertTrue(list(SOURCE.glob(pattern)), pattern)


class Spack:
    """What directives of a recipe said."""

    def __init__(self):
        self.versions, self.variants, self.dependencies, self.conflicts = [], {}, [], []

    def load(self):
        members = dict(
            version=lambda name, **_: self.versions.append(name),
            variant=lambda name, **options: self.variants.update({name: options}),
            depends_on=lambda spec, **options: self.dependencies.append((spec, options)),
            conflicts=lambda spec, **_: self.conflicts.append(spec), license=lambda name: None,
            when=lambda condition: contextlib.nullcontext())
        members["__all__"] = list(members)
        stand_in("spack.package", **members)
        stand_in("spack_repo.builtin.build_systems.cmake", CMakePackage=object)
        path = SOURCE / "spack_repo" / "papcoll" / "packages" / "papcoll" / "package.py"
        return runpy.run_path(str(path))["Papcoll"]


class SpackRecipe(unittest.TestCase):
    def setUp(self):
        self.said = Spack()
        self.package = self.said.load()()

    def test_version(self):
        self.assertEqual(self.said.versions, [CMAKE_VERSION])

    def test_options_are_ours_and_variants_exist(self):
        defined = {}
        self.package.define_from_variant = lambda option, variant: defined.update({option: variant})
        self.package.define = lambda option, value: defined.update({option: None})
        self.package.cmake_args()
        self.assertLessEqual(set(defined), OPTIONS)
        self.assertEqual({name for name in defined.values() if name}, set(self.said.variants))

    def test_same_compilers_as_conan(self):
        oldest = load_conanfile()["OLDEST_COMPILERS"]
        self.assertEqual({f"%{name}@:{int(version) - 1}" for name, version in oldest.items()},
                         {spec for spec in self.said.conflicts if spec.startswith("%")})

    def test_repository(self):
        text = (SOURCE / "spack_repo" / "papcoll" / "repo.yaml").read_text()
        self.assertRegex(text, r"(?m)^  namespace: papcoll$")
        self.assertRegex(text, r"(?m)^  api: v2\.\d+$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
