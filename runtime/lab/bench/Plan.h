// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax attention as PTX kernels of any origin: what to launch, with which arguments, in which order. A
// folder of PTX files with `plans.json`, a list of:
//
//   {"contender": "triton 3.6.0", "variant": "64x32, 4 warps, 2 stages", "target": "sm_80",
//    "direction": "forward", "mask": "causal", "dtype": "bf16", "shape": "1,2,512,64",
//    "workspace": {"m": 4096},
//    "kernels": [{"ptx": "a.ptx", "entry": "forward", "grid": [8, 2, 1], "threads": 128, "shared": 16384,
//                 "spilled": 0,
//                 "arguments": [{"tensor": "q"}, {"workspace": "m"}, {"i32": 512}, {"i64": 0}, {"f32":
//                 0.125}]}]}
//
// Tensors are q, k, v, o, do, dq, dk, dv, dense [b, h, t, d] of the plan's dtype. `workspace` gives bytes.
// `spilled` (optional, 0) is what ptxas says of the kernel: bytes per thread stored for want of registers.
// `before` (optional) lists kernels that run first and are not counted: the forward of a backward.
#ifndef TAYLOR_RUNTIME_LAB_BENCH_PLAN_H
#define TAYLOR_RUNTIME_LAB_BENCH_PLAN_H
#include "runtime/lab/bench/Problem.h"
#include <array>
#include <map>
#include <variant>

namespace taylor::bench {

/// An address, by the name of what lies there.
struct PlanTensor {
  std::string name;
};
struct PlanWorkspace {
  std::string name;
};
using PlanArgument = std::variant<PlanTensor, PlanWorkspace, int32_t, int64_t, float>;

struct PlanKernel {
  std::string path, entry;
  std::array<unsigned, 3> grid;
  unsigned threads;
  size_t shared;  ///< dynamic shared memory, bytes
  size_t spilled; ///< bytes per thread
  std::vector<PlanArgument> arguments;
};

struct Plan {
  std::string contender, variant, target, direction, mask, dtype;
  Shape shape;
  std::map<std::string, size_t> workspace; ///< bytes by name
  std::vector<PlanKernel> before, kernels;
  bool takesAnyInput = false; ///< of a specification: it may be another than softmax attention
};

/// The plans of a folder. Throws runtime::Error that names the file and what is wrong with it.
std::vector<Plan> readPlans(const std::string &folder);

} // namespace taylor::bench

#endif
