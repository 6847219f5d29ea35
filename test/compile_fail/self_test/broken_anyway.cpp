// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: undeclared
#ifdef PAPCOLL_MISTAKE
int first = undeclared;
#endif
int main() { return undeclared; }
