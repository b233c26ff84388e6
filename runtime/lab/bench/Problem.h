// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is measured: sizes, inputs from a manifest, and the arithmetic that the visible pairs demand.
#ifndef TAYLOR_RUNTIME_LAB_BENCH_PROBLEM_H
#define TAYLOR_RUNTIME_LAB_BENCH_PROBLEM_H
#include "runtime/Forms.h"
#include "runtime/Manifest.h"
#include "runtime/torch/Attention.h"
#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

namespace taylor::bench {

/// Sizes by the axes' names; position 0 of the queries is u - t.
struct Shape {
  int64_t b = 1, h = 1, g = 1, t = 1, u = 1, d = 64, e = 64;
  /// "B,H,T,D", or "b=1,h=8,g=2,t=64,u=96,d=64,e=32" (g, u and e default to h, t and d). Throws
  /// runtime::Error.
  static Shape parse(const std::string &text);
  std::string text() const;
  /// In the order of TaylorDim; position 0 of the queries is u - t.
  runtime::Dims dims() const { return {b, h, g, t, u, u - t}; }
};

/// Options that all commands share.
struct Request {
  std::string spec;
  Shape shape;
  std::string dtype = "f32";
  std::vector<std::string> settings; ///< "order=10"
  std::string mask;
  std::string form; ///< Empty: the compiler's default.
  int64_t threads = 0;
  double seconds = 3; ///< For each row.
  int64_t rounds = 3; ///< At least, for each row.
  double logits = 1;  ///< Factor of the queries.
  std::string layout = "bhtd";
  std::string clock = "wall"; ///< Or "cpu".
  /// Sorted parameters and the rest as the library takes them.
  AttentionOptions attention() const;
};

/// taylorc on the request's specification with its channels, parameters and mask; what to make of it, and of
/// which dtype, is for the caller to add.
std::vector<std::string> compilerCommand(const Request &request);

/// Visible (query, key) pairs of one head.
int64_t visiblePairs(const Shape &shape, const std::string &mask);

/// Floating-point operations of the visible pairs: 2d + 2e each forward (q.k and w v), 6d + 4e backward (q.k
/// again, dO.v, dv, dk, dq).
double operations(const Shape &shape, const std::string &mask, bool forward, bool backward);

/// Inputs in the manifest's order, with gradients where the manifest gives them: projections are normal,
/// parameters start as the manifest says, integers are 0.
std::vector<at::Tensor> makeInputs(const Manifest &manifest, const Request &request);

/// The scalar type of "f32", "bf16", "f16" or "f64"; throws runtime::Error.
at::ScalarType scalarTypeOf(const std::string &dtype);

/// The median; values is not empty.
double median(std::vector<double> values);

} // namespace taylor::bench

#endif
