/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What LinkerTest links. */
int taylor_linked(void) { return 22; }
