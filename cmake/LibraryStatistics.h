// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read before every other header where LLVM's libraries are built without assertions and this tree with them.
// llvm::Statistic, the base of the statistics of passes, has other members with assertions, and libMLIR.so
// constructs it.
#ifndef NDEBUG
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif
