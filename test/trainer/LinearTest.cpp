// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Linear.h"
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

using namespace taylor::trainer;

namespace {

using Apply = at::Tensor (*)(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias);

double distance(const at::Tensor &a, const at::Tensor &b) {
  return ((a.to(at::kDouble) - b.to(at::kDouble)).norm() / b.to(at::kDouble).norm()).item<double>();
}

/// Output and gradients against those of at::linear in fp64.
void expectLinear(Apply apply, at::Tensor x, at::IntArrayRef weightShape, bool hasBias) {
  at::Tensor weight = at::randn(weightShape), bias = hasBias ? at::randn(weightShape[0]) : at::Tensor();
  std::vector<at::Tensor> ours{x, weight}, theirs;
  if (hasBias)
    ours.push_back(bias);
  for (at::Tensor &tensor : ours) {
    theirs.push_back(tensor.to(at::kDouble).requires_grad_());
    tensor.requires_grad_();
  }
  at::Tensor y = apply(x, weight, bias);
  at::Tensor expected = at::linear(theirs[0], theirs[1], hasBias ? theirs[2] : at::Tensor());
  ASSERT_EQ(y.sizes(), expected.sizes());
  EXPECT_LT(distance(y, expected), 1e-6);
  at::Tensor gradient = at::randn(y.sizes());
  torch::autograd::backward({y}, {gradient});
  torch::autograd::backward({expected}, {gradient.to(at::kDouble)});
  for (size_t i = 0; i < ours.size(); ++i)
    EXPECT_LT(distance(ours[i].grad(), theirs[i].grad()), 1e-6) << "of input " << i;
}

// Small ones go to at::linear, large ones to the library that is chosen for this processor.
TEST(LinearTest, EqualsATen) {
  for (bool hasBias : {false, true}) {
    expectLinear(linear, at::randn({2, 3, 8}), {5, 8}, hasBias);
    expectLinear(linear, at::randn({2, 96, 200}), {160, 200}, hasBias);
  }
}

TEST(LinearTest, OneDnnInBothDirections) {
  if (!hasOneDnn())
    GTEST_SKIP() << "libtorch has no oneDNN";
  for (bool hasBias : {false, true}) {
    expectLinear(linearByOneDnn, at::randn({2, 96, 200}), {160, 200}, hasBias);
    expectLinear(linearByOneDnn, at::randn({1, 7}), {3, 7}, hasBias);
    expectLinear(linearByOneDnn, at::randn({200, 150}).t(), {33, 200}, hasBias);
  }
}

TEST(LinearTest, OneDnnTakesGradientsInAnyLayout) {
  if (!hasOneDnn())
    GTEST_SKIP() << "libtorch has no oneDNN";
  at::Tensor x = at::randn({40, 30}).requires_grad_(), weight = at::randn({20, 30}).requires_grad_();
  linearByOneDnn(x, weight, {}).sum().backward(); // one number for all elements
  EXPECT_LT(distance(weight.grad(), x.detach().sum(0).expand({20, 30})), 1e-6);
  EXPECT_LT(distance(x.grad(), weight.detach().sum(0).expand({40, 30})), 1e-6);
}

TEST(LinearTest, OnlyGradientsThatAreWanted) {
  if (!hasOneDnn())
    GTEST_SKIP() << "libtorch has no oneDNN";
  at::Tensor x = at::randn({40, 30}), weight = at::randn({20, 30}).requires_grad_();
  linearByOneDnn(x, weight, {}).sum().backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(weight.grad().defined());
}

TEST(LinearTest, MklIsSlowWhereItLeavesHalfOfTheVectorsUnused) {
  EXPECT_TRUE(isSlowForMkl("AuthenticAMD", "fpu avx2 avx512f"));
  EXPECT_FALSE(isSlowForMkl("AuthenticAMD", "fpu avx2"));
  EXPECT_FALSE(isSlowForMkl("GenuineIntel", "fpu avx2 avx512f"));
}

} // namespace
