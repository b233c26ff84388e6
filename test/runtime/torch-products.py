# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How GPUs multiply, as an option of the torch operator: computed operands are one number of bf16 by default, and two
# where that is asked for.
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %spec_dir/linear-elu.mlir
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
import sys
import unittest

import torch

from taylor_attention import attention

SPEC = sys.argv.pop(1)
PTX = "--device=ptx --form=parallel"


class Products(unittest.TestCase):
    def setUp(self):
        generator = torch.Generator().manual_seed(0)
        self.inputs = [torch.randn(1, 2, 40, 16, generator=generator).bfloat16().requires_grad_() for _ in range(3)]
        self.exact = self.results([x.detach().double().requires_grad_() for x in self.inputs], "")

    def results(self, inputs, options):
        o = attention(*inputs, spec=SPEC, options=options)
        return [x.double() for x in (o, *torch.autograd.grad(o.double().square().sum(), inputs))]

    def error(self, options):
        return max(((x - y).norm() / y.norm()).item() for x, y in zip(self.results(self.inputs, options), self.exact))

    def test_one_number_is_the_default(self):
        # The cotangent is that of an output in bf16, whose rounding is in all gradients too.
        split = self.error(PTX + " --bf16-products=split")
        self.assertLess(split, 3e-3)
        self.assertEqual(self.error(PTX), self.error(PTX + " --bf16-products=rounded"))
        self.assertGreater(self.error(PTX), 1.2 * split)

    def test_options_of_other_types(self):
        attention(*(x.float() for x in self.inputs), spec=SPEC, options=PTX + " --f32-products=tf32")
        attention(*self.inputs, spec=SPEC, options=PTX + " --row-sums=atomic")
        with self.assertRaisesRegex(RuntimeError, "requires --dtype=bf16 for --bf16-products=rounded, but got f32"):
            attention(*(x.float() for x in self.inputs), spec=SPEC, options=PTX + " --bf16-products=rounded")
        with self.assertRaisesRegex(RuntimeError, "--bf16-products=split; it is for GPUs"):
            attention(*self.inputs, spec=SPEC, options="--bf16-products=split")


if __name__ == "__main__":
    unittest.main()
