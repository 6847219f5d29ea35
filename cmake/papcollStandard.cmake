# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# Part of the Conan package: what links to its targets is compiled as C++20 or later, whatever the profile says.
set_property(TARGET papcoll::core APPEND PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_20)
