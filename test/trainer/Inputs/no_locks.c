// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library to preload: a file system that has no locks, as some of clusters.
#include <errno.h>

int flock(int file, int operation) {
  (void)file;
  (void)operation;
  errno = ENOSYS;
  return -1;
}
