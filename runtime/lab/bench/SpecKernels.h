// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that taylorc makes of a specification, in the interpreter of PTX.
#ifndef TAYLOR_RUNTIME_LAB_BENCH_SPECKERNELS_H
#define TAYLOR_RUNTIME_LAB_BENCH_SPECKERNELS_H
#include "runtime/lab/bench/Commands.h"
#include "runtime/lab/bench/Plan.h"
#include "runtime/ptx/Interpreter.h"
#include <functional>

namespace taylor::bench {

/// Runs one direction of `spec`, compiled for the plan's target, dtype, mask and head size, on the plan's
/// arrays (`arrayOf`: q, k, v, do are read, o, dq, dk, dv written, [b, h, t, d]), and returns what its
/// kernels executed. The forward is one that training asks for: with all that it saves. A backward's forward
/// runs first and is not counted. Arrays that `arrayOf` does not define are drawn, where the plan takes any
/// input; else the specification may have no others: throws runtime::Error.
runtime::ptx::Profile runCompiled(const std::string &spec, const Plan &plan, const CountOptions &options,
                                  const std::function<at::Tensor(const std::string &)> &arrayOf);

/// What a plan's kernels executed, per visible pair and head: instructions and barriers times 32 lanes, bytes
/// of global memory, the share of matrix instructions, and instructions by class.
nlohmann::json countsOf(const Plan &plan, const runtime::ptx::Profile &profile);

} // namespace taylor::bench

#endif
