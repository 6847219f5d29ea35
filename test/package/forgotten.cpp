// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
auto largest(double mine) -> double { return mine; }
