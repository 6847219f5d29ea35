// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/impl.hpp>
