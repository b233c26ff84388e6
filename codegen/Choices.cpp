// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Choices.h"
#include "llvm/ADT/StringSwitch.h"

#include "codegen/Choices.cpp.inc"
