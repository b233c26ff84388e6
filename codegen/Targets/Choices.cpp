// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Choices.h"
#include "llvm/ADT/StringSwitch.h"

#include "codegen/Targets/Choices.cpp.inc"
