# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
"""ta.attention on compiled specifications: outputs and gradients of eager code in f64, packed documents, states, and a traced Python function."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta
import torch
from torch.library import opcheck

SPECS = ROOT / "examples/specs"


def rotate(x, theta=10000.0):
    d = x.shape[-1]
    angles = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * theta ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    a, b = x[..., :d // 2], x[..., d // 2:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def softmax(q, k, v, documents=None):
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    if documents is not None:
        seen = seen & (documents[:, :, None] == documents[:, None, :])[:, None]
    s = rotate(q) @ rotate(k).transpose(-1, -2) / q.shape[-1] ** 0.5
    return s.masked_fill(~seen, -torch.inf).softmax(-1) @ v


@ta.spec
def weighted(q, k, v, scale=ta.parameter("h", "ones")):
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"))
    return scale * n / z


class Compiled(unittest.TestCase):
    def compare(self, inputs, call, reference, tolerance):
        exact = [x.detach().double().requires_grad_() for x in inputs]
        ours, theirs = call(*inputs), reference(*exact)
        cotangent = torch.randn_like(ours)
        pairs = [(ours, theirs), *zip(torch.autograd.grad(ours, inputs, cotangent), torch.autograd.grad(theirs, exact, cotangent.double()))]
        for number, (a, b) in enumerate(pairs):
            self.assertLess(((a.double() - b).norm() / b.norm()).item(), tolerance, number)

    def make(self, *extra, dtype=torch.float32, t=70):
        torch.manual_seed(0)
        return [torch.randn(*size).to(dtype).requires_grad_() for size in (*[(2, 2, t, 16)] * 3, *extra)]

    def test_softmax(self):
        for dtype, tolerance in ((torch.float32, 2e-6), (torch.float64, 1e-13), (torch.bfloat16, 2e-2)):
            with self.subTest(dtype):
                self.compare(self.make(dtype=dtype), lambda *x: ta.attention(*x, spec=SPECS / "softmax.mlir"), softmax, tolerance)

    def test_learned_weights_of_a_traced_function(self):
        inputs = self.make((2,))
        self.compare(inputs, lambda *x: ta.attention(*x, spec=weighted), lambda q, k, v, scale: scale[:, None, None] * softmax(q, k, v), 2e-6)
        # In bf16 a learned weight keeps f32.
        narrow = [x.detach().bfloat16().requires_grad_() for x in inputs[:3]] + [inputs[3].detach().requires_grad_()]
        self.compare(narrow, lambda *x: ta.attention(*x, spec=weighted), lambda q, k, v, scale: scale[:, None, None] * softmax(q, k, v), 2e-2)

    def test_documents(self):
        documents = torch.tensor([[0] * 30 + [1] * 40, [3] * 5 + [4] * 65])
        self.compare(self.make(), lambda *x: ta.attention(*x, spec=SPECS / "softmax.mlir", documents=documents),
                     lambda *x: softmax(*x, documents=documents), 2e-6)

    def test_cu_seqlens(self):
        """Documents of one packed sequence by the places where they begin; one is empty."""
        packed, text = [x[:1].detach().requires_grad_() for x in self.make()], (SPECS / "softmax.mlir").read_text()
        documents = torch.tensor([[0] * 30 + [2] * 40])
        for dtype in (torch.int32, torch.int64):
            starts = torch.tensor([0, 30, 30, 70], dtype=dtype)
            self.compare(packed, lambda *x: ta.attention(*x, spec="softmax", cu_seqlens=starts), lambda *x: softmax(*x, documents=documents), 2e-6)
        compiled = torch.compile(lambda *x, starts: ta.attention(*x, spec=text, cu_seqlens=starts), backend="aot_eager", fullgraph=True, dynamic=True)
        torch._dynamo.utils.counters.clear()
        for tokens, starts in ((70, [0, 30, 50, 70]), (55, [0, 1, 9, 9, 55]), (31, [0, 5, 6, 7, 8, 31])):
            inputs, starts = [x.detach()[:, :, :tokens].clone().requires_grad_() for x in packed], torch.tensor(starts)
            a, b = compiled(*inputs, starts=starts), ta.attention(*inputs, spec=text, cu_seqlens=starts)
            self.assertTrue(torch.equal(a, b))
            for x, y in zip(torch.autograd.grad(a.sum(), inputs), torch.autograd.grad(b.sum(), inputs)):
                self.assertTrue(torch.equal(x, y))
        self.assertEqual(torch._dynamo.utils.counters["stats"]["unique_graphs"], 1)

    def test_wrong_cu_seqlens(self):
        two = [x.detach() for x in self.make()]
        one = [x[:1] for x in two]
        starts = torch.tensor([0, 30, 70])
        for inputs, given, kind, message in (
                (one, [0, 70], TypeError, "expected a tensor of int32 or int64 for cu_seqlens, but got list"),
                (one, starts.float(), TypeError, "expected a tensor of int32 or int64 for cu_seqlens, but got torch.float32"),
                (one, starts[:1], ValueError, "expected cu_seqlens of shape [N + 1] for N documents, from 0 to the number of tokens, but got shape [1]"),
                (one, starts[None], ValueError, "expected cu_seqlens of shape [N + 1] for N documents, from 0 to the number of tokens, but got shape [1, 3]"),
                (one, starts[1:], ValueError, "expected cu_seqlens from 0 to 70, the number of keys, but got 30 to 70"),
                (one, starts[:2], ValueError, "expected cu_seqlens from 0 to 70, the number of keys, but got 0 to 30"),
                (one, torch.tensor([0, 40, 30, 70]), ValueError, "expected cu_seqlens that never fall, but got [0, 40, 30, 70]"),
                (two, starts, ValueError, "expected a batch of 1 of k with cu_seqlens, one sequence in which documents are packed, but got 2; give documents=, "
                 "whose rows may differ")):
            with self.assertRaises(kind) as caught:
                ta.attention(*inputs, spec="softmax", cu_seqlens=given)
            self.assertEqual(str(caught.exception), message)
        with self.assertRaisesRegex(TypeError, "expected documents or cu_seqlens, but got both"):
            ta.attention(*one, spec="softmax", cu_seqlens=starts, documents=torch.zeros(1, 70, dtype=torch.int32))
        with self.assertRaisesRegex(RuntimeError, "expected 4 inputs"):
            ta.attention(one[0], spec="softmax", cu_seqlens=starts)

    def test_states(self):
        """A sequence in two calls: what the first leaves begins the second; one that begins is given no states."""
        q, k, v = (x.detach() for x in self.make(t=40))
        spec, options = SPECS / "linear-elu.mlir", "--states"
        whole = ta.attention(q, k, v, spec=spec)
        first, *states = ta.attention(*(x[:, :, :25] for x in (q, k, v)), spec=spec, options=options, all_outputs=True)
        second, *_ = ta.attention(*(x[:, :, 25:] for x in (q, k, v)), *states, spec=spec, options=options, all_outputs=True)
        error = (torch.cat([first, second], 2) - whole).norm() / whole.norm()
        self.assertLess(error.item(), 1e-5)

    def test_decoders(self):
        """By states, and by keys and values that are kept."""
        q, k, v = (x.detach() for x in self.make(t=40))
        for name in ("linear-elu", "softmax"):
            with self.subTest(name):
                decoder = ta.Decoder(SPECS / f"{name}.mlir", head_dim=16)
                o = torch.cat([decoder.extend(*(x[:, :, a:b] for x in (q, k, v))) for a, b in ((0, 30), (30, 31), (31, 36), (36, 40))], 2)
                whole = ta.attention(q, k, v, spec=SPECS / f"{name}.mlir")
                self.assertLess(((o - whole).norm() / whole.norm()).item(), 1e-5)

    def test_vmap_of_gradients(self):
        """What is saved depends on the dtype: in bf16 linear-elu saves a row more."""
        spec = SPECS / "linear-elu.mlir"
        for dtype in (torch.float32, torch.bfloat16):
            many = [torch.stack([x.detach(), 2 * x.detach()]) for x in self.make(dtype=dtype, t=20)]
            gradient = torch.func.grad(lambda *x: ta.attention(*x, spec=spec).float().square().sum(), argnums=(0, 1, 2))
            mapped = torch.func.vmap(gradient)(*many)
            for row in range(2):
                for a, b in zip(mapped, gradient(*(x[row] for x in many))):
                    self.assertTrue(torch.equal(a[row], b))
        with torch.no_grad():
            o = torch.func.vmap(lambda *x: ta.attention(*x, spec=spec, options="--forward-only"))(*many)
        self.assertEqual(o.shape, many[0].shape)
        with self.assertRaisesRegex(Exception, "expected 3 inputs"):
            torch.func.vmap(lambda *x: ta.attention(*x, spec=spec))(*many, many[0])

    def test_states_are_laid_out_as_tracers_are_told(self):
        q, k, v = (x.detach().transpose(1, 2).contiguous().transpose(1, 2) for x in self.make(t=20))
        text, options = (SPECS / "linear-elu.mlir").read_text(), "--states"
        _, *states = ta.attention(q, k, v, spec=text, options=options, all_outputs=True)
        opcheck(torch.ops.taylor_attention.forward, ([q, k, v, *states], text, options), test_utils=("test_schema", "test_faketensor"))

    def test_inductor(self):
        compiled = torch.compile(lambda *x: ta.attention(*x, spec=weighted) * 2, fullgraph=True, dynamic=True)
        for t in (16, 33):
            inputs = self.make((2,), t=t)
            o = compiled(*inputs)
            expected = ta.attention(*inputs, spec=weighted) * 2
            self.assertTrue(torch.equal(o, expected))
            for a, b in zip(torch.autograd.grad(o.square().sum(), inputs), torch.autograd.grad(expected.square().sum(), inputs)):
                self.assertLess(((a - b).norm() / b.norm()).item(), 1e-6)


if __name__ == "__main__":
    unittest.main()
