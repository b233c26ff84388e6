# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Weights exp(D[t] - D[u]) have the digits of the difference and not of D, which grows with the sequence: f32 against f64, in every form, in pieces and in decoding.
# RUN: env TAYLOR_FULL=%full TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
import os
import pathlib
import tempfile
import unittest

import torch

import taylor_attention
import taylor_operator  # torch.ops.taylor
from Inputs.carried import ARRAYS, DECAYED

FULL = os.environ["TAYLOR_FULL"] == "1"

# Softmax whose keys fade, as of a forgetting transformer: what is exponentiated is a score and a difference of running sums.
FORGETTING = """
taylor.spec @forgetting(%q: !q, %k: !k, %v: !v, %step: !column from projection(bias)) {
  %D = taylor.scan sum over(u) -softplus(%step) : !column
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(exp(s)) scale(rsqrt(size(d))) decay(%D) causal : !q, !k, !v, !column
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}"""


def make(seed, tokens, step):
    """Queries, keys, values, steps, and what is behind them: the second step is `step` (of a positive one softplus is the identity)."""
    generator = torch.Generator().manual_seed(seed)
    random = lambda *shape: torch.randn(shape, generator=generator)
    inputs = [random(1, 2, tokens, 16), random(1, 1, tokens, 16), random(1, 1, tokens, 16), random(1, 1, tokens)]
    inputs[3][:, :, 1] = step
    return inputs, random(1, 2, tokens, 16)


class LongDecays(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "spec.mlir"

    def tearDown(self):
        self.folder.cleanup()

    def attend(self, inputs, options, cotangent=None):
        """The outputs; with a cotangent also the gradients of all inputs."""
        inputs = [x.clone().requires_grad_() if cotangent is not None and x.is_floating_point() else x for x in inputs]
        o = torch.ops.taylor.attention(inputs, str(self.path), options, None)[0]
        if cotangent is None:
            return [o]
        return [o, *torch.autograd.grad(o, [x for x in inputs if x.requires_grad], cotangent.to(o.dtype))]

    def compare(self, got, want, bounds=(2e-6, 1e-5), **case):
        """`bounds`: of the output and the gradients of queries, keys and values; of the gradient of steps, which are sums of what rows and columns leave."""
        self.assertEqual(len(want), len(got))
        for i, (x, y) in enumerate(zip(got, want)):
            with self.subTest(array=i, **case):
                self.assertLess(((x.double() - y).norm() / y.norm()).item(), bounds[i == 4])

    def check(self, text, options, tokens=400, total=-2e5, backward=True, documents=False, exact="--form=parallel", **bounds):
        """By their own steps tokens fade in a few others; behind the second, the running sum is near `total`, where neighbours in f32 are
        0.016 apart (of -2e5). So without the lesser half of each sum the error is some percent."""
        self.path.write_text(ARRAYS + text)
        inputs, cotangent = make(5, tokens, -total)
        if documents:
            inputs.append(torch.tensor([[0] * (tokens // 4) + [1] * (tokens - tokens // 4)], dtype=torch.int32))
            inputs[3][:, :, tokens // 4 + 1] = -total
        cotangent = cotangent if backward else None
        wide = [x.double() if x.is_floating_point() else x for x in inputs]
        want = self.attend(wide, exact + (" --documents" if documents else ""), cotangent)
        self.compare(self.attend(inputs, options, cotangent), want, options=options, **bounds)

    def test_parallel(self):
        for text in (DECAYED, FORGETTING):
            self.check(text, "--form=parallel")
            if FULL:
                self.check(text, "--form=parallel --documents", documents=True)

    def test_chunked(self):
        self.check(DECAYED, "--form=chunked --chunk=64")
        self.check(DECAYED, "--form=chunked --chunk=64 --documents", documents=True)

    def test_states(self):
        """The sums of a call that might go on from another one's."""
        if FULL:
            self.check(DECAYED, "--states --form=parallel")
        self.check(DECAYED, "--states --form=chunked --chunk=64")

    def test_pieces(self):
        """What calls leave each other has the digits of what is near: sums go on from how far they are above the edge."""
        self.path.write_text(ARRAYS + DECAYED)
        inputs, cotangent = make(7, 200, 2e5)
        want = self.attend([x.double() for x in inputs], "--form=parallel", cotangent)
        for options, bounds in (("--form=chunked --chunk=64", (0, 2, 3, 90, 150, 200)), ("--form=parallel", (0, 60, 200)), ("--form=recurrent", (0, 50, *range(51, 201)))):
            if options == "--form=parallel" and not FULL:
                continue
            learned = [x.clone().requires_grad_(options != "--form=recurrent") for x in inputs]
            states, outputs = [], []
            for begin, end in zip(bounds, bounds[1:]):
                piece = [x[:, :, begin:end] for x in learned]
                o, *states = torch.ops.taylor.attention([*piece, *states], str(self.path), "--states " * (options != "--form=recurrent") + options, None)
                outputs.append(o)
            got = [torch.cat(outputs, 2)]
            if learned[0].requires_grad:
                got += torch.autograd.grad(got[0], learned, cotangent)
            self.compare(got, want[: len(got)], options=options)

    def test_decoding(self):
        """One token after the other behind a prompt, from states and over all keys."""
        inputs, _ = make(8, 80, 2e5)
        for text in (DECAYED, FORGETTING) if FULL else (DECAYED,):
            self.path.write_text(ARRAYS + text)
            want = self.attend([x.double() for x in inputs], "--form=parallel")
            decoder = taylor_attention.Decoder(self.path, head_dim=16)
            bounds = (0, 30, *range(31, 81))
            o = torch.cat([decoder.extend(*(x[:, :, begin:end] for x in inputs)) for begin, end in zip(bounds, bounds[1:])], 2)
            self.compare([o], want)

    def test_infinite(self):
        """A step of minus infinity hides all that was before it; what comes before, and does not see it, is as it was."""
        self.path.write_text(ARRAYS + DECAYED)
        inputs, _ = make(6, 100, 0.0)
        inputs[3][:, :, 70] = torch.inf
        for options in ("--form=parallel", "--form=chunked --chunk=64"):
            (o,) = self.attend(inputs, options)
            (want,) = self.attend([x[:, :, :70] for x in inputs], "--form=parallel")
            self.compare([o[:, :, :64]], [want[:, :, :64]], options=options)

    def test_recurrent(self):
        self.check(DECAYED, "--form=recurrent", backward=False)

    def test_gpu(self):
        for text, form in ((DECAYED, "chunked --chunk=64"), *([(FORGETTING, "parallel")] if FULL else [])):
            self.check(text, f"--device=ptx --target=sm_80 --form={form}", tokens=140)

    def test_long(self):
        """No first step: a sequence that is as long as that."""
        self.check(DECAYED, "--form=chunked", tokens=16384, total=-1.0, exact="--form=chunked", bounds=(2e-6, 4e-5))


if __name__ == "__main__":
    unittest.main()
