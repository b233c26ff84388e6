// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attention SPEC.mlir: the specification as a differentiable function of libtorch's tensors, compiled on
// first use.
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <cstdio>
#include <runtime/torch/Attention.h>

int main(int argc, char **argv) {
  taylor::AttentionOptions options;
  options.spec = argv[1];
  options.headDim = 16;
  taylor::Attention attention(options);
  at::Tensor q = at::randn({1, 2, 5, 16}).requires_grad_(), k = at::randn({1, 2, 5, 16}),
             v = at::ones({1, 2, 5, 16});
  at::Tensor o = attention.call({q, k, v});
  // Means of equal values: the output is 1, and no query can change it.
  o.sum().backward();
  double error = (o - 1).abs().max().item<double>(), slope = q.grad().abs().max().item<double>();
  std::printf("%zu inputs, output %s, gradient %s\n", attention.manifest().inputs.size(),
              error < 1e-5 ? "right" : "wrong", slope < 1e-4 ? "right" : "wrong");
}
