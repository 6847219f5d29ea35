// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: a message that no compiler gives
int main() { return undeclared; }
