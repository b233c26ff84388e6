# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What users of other projects asked for or met, and no other test here has, against PyTorch's formulas (../outside.md).
# RUN: rm -rf %t && mkdir -p %t
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %t
# REQUIRES: taylorc, torch
# UNSUPPORTED: sanitizer
import pathlib
import sys
import unittest

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "Inputs"), str(HERE.parent / "Inputs")]
from arrays import ARRAYS
from taylor_attention import attention

FOLDER = pathlib.Path(sys.argv.pop(1))
SOFTMAX = ARRAYS + """taylor.spec @softmax(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v CLAUSES : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
"""


# A softmax in a window of 16 and the first orders of its series beyond it, as a difference of weights.
BASED = ARRAYS + """taylor.spec @based(%q: !q, %k: !k, %v: !v) {
  %n1, %z1 = taylor.recurrences [numerator, mass] %q, %k, %v weight(exp(s) - (1.0 + s + 0.5 * s * s)) scale(rsqrt(size(d))) causal visible(t - u < 16.0) : !q, !k, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map (%n1 + %n2) / (%z1 + %z2) : !o, !o, !row, !row
  taylor.yield %o : !o
}
"""


class Outside(unittest.TestCase):
    def setUp(self, tokens=40):
        generator = torch.Generator().manual_seed(3)
        self.q, self.k, self.v = (torch.randn(1, 2, tokens, 16, generator=generator, dtype=torch.float64) for _ in range(3))
        self.bias = torch.randn(tokens, tokens, generator=generator, dtype=torch.float64)
        self.causal = torch.ones(tokens, tokens, dtype=torch.bool).tril()
        self.scores = (self.q @ self.k.mT / 4).masked_fill(~self.causal, -1e9)

    def same(self, got, want, tolerance=1e-12):
        self.assertLess(((got - want).abs().max() / want.abs().max()).item(), tolerance)

    def test_bias_of_pairs(self):
        """A bias for each pair is further channels: one-hot(t) after q, bias[t, u] after k."""
        one_hot = torch.eye(40, dtype=torch.float64).expand(1, 2, 40, 40)
        q, k = torch.cat([self.q, one_hot], -1), torch.cat([self.k / 4, self.bias.mT.expand(1, 2, 40, 40)], -1)
        want = (self.q @ self.k.mT / 4 + self.bias).softmax(-1) @ self.v
        self.same(attention(q, k, self.v, spec=SOFTMAX.replace("CLAUSES", "orders(all) bidirectional")), want)

    def test_window_and_series(self):
        self.setUp(tokens=150)  # three chunks
        distance = torch.arange(150)[:, None] - torch.arange(150)
        s = self.scores.where(self.causal, 0)
        weights = torch.where(distance < 16, s.exp(), 1 + s + s * s / 2) * self.causal
        want = weights @ self.v / weights.sum(-1, keepdim=True)
        for form in ("parallel", "chunked --chunk=64"):
            self.same(attention(self.q, self.k, self.v, spec=BASED, options=f"--form={form}"), want)

    def test_sparsemax(self):
        ordered = self.scores.sort(-1, descending=True)[0]
        sums = ordered.cumsum(-1)
        size = (1 + torch.arange(1, 41) * ordered > sums).sum(-1, keepdim=True)
        weights = (self.scores - (sums.gather(-1, size - 1) - 1) / size).clamp(min=0)
        self.same(attention(self.q, self.k, self.v, spec=str(HERE / "Inputs/sparsemax.mlir")), weights @ self.v)

    def test_top_k(self):
        least = self.scores.topk(8, -1)[0][..., -1:]
        want = self.scores.masked_fill(self.scores < least, -torch.inf).softmax(-1) @ self.v
        self.same(attention(self.q, self.k, self.v, spec=str(HERE / "Inputs/top-k.mlir")), want)

    def test_large_mean(self):
        """In f32, values around a large mean: an error of dq as of eager code, which subtracts the same large numbers."""
        spec = SOFTMAX.replace("CLAUSES", "exponential causal")
        arrays = [x + 10 for x in (self.q, self.k, self.v)]

        def gradient(function, dtype):
            q, k, v = (x.detach().to(dtype).requires_grad_() for x in arrays)
            (function(q, k, v) * self.q.to(dtype)).sum().backward()
            return q.grad.double()

        def eager(q, k, v):
            return (q @ k.mT / 4).masked_fill(~self.causal, -torch.inf).softmax(-1) @ v

        want = gradient(eager, torch.float64)
        ours = (gradient(lambda *x: attention(*x, spec=spec), torch.float32) - want).abs().max().item()
        theirs = (gradient(eager, torch.float32) - want).abs().max().item()
        self.assertLess(ours, 3 * theirs)

    def test_line_break_in_a_path(self):
        """A specification's file may have any name; only text that is no file is taken for a specification."""
        path = FOLDER / "two\nlines.mlir"
        path.write_text(SOFTMAX.replace("CLAUSES", "exponential causal"))
        self.same(attention(self.q, self.k, self.v, spec=str(path)), self.scores.softmax(-1) @ self.v)


if __name__ == "__main__":
    unittest.main()
