/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one function that Debian's LLVM archives need of glibc 2.36; with it the wheel's programs run from
 * glibc 2.34 on. LLVM takes random numbers for names of temporary files. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value))
    abort();
  return value;
}
