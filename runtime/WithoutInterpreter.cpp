// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of Interpret.cpp where the interpreter of PTX is left out (-DTAYLOR_BUILD_INTERPRETER=OFF).
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"

namespace taylor::runtime {

[[noreturn]] static void failWithoutInterpreter() {
  fail("unsupported device 'ptx': this runtime was built without the interpreter of PTX; build it with "
       "-DTAYLOR_BUILD_INTERPRETER=ON");
}

DeviceCode::~DeviceCode() = default;

void DeviceCode::interpret(int, const BoundCall &, const Executor &) { failWithoutInterpreter(); }

std::pair<const TargetInfo *, const TargetInfo *> DeviceCode::interpretedTargets(int, const BoundCall &,
                                                                                 const Executor &) {
  failWithoutInterpreter();
}

PtxSettings::Profiler PtxSettings::profilerOf(const TaylorPtxOptions &) { return {}; }

} // namespace taylor::runtime
