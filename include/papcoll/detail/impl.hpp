// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

/// Stands before the functions in folders called impl/ that are no templates. Where
/// PAPCOLL_SEPARATE_COMPILATION is defined, the file that includes <papcoll/impl.hpp> has them; otherwise
/// every file that needs them.
#ifdef PAPCOLL_SEPARATE_COMPILATION
#define PAPCOLL_IMPL
#else
#define PAPCOLL_IMPL inline
#endif
