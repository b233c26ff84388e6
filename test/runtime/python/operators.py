# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%S/../artifact-fixture/fixture.py CC=%cc %python %s
# REQUIRES: torch
# UNSUPPORTED: sanitizer
"""ta.attention over the operators of _taylor.so, on the hand-written artifact: values, gradients, layouts, torch's tracers and transforms, messages."""
import copy
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "runtime/python"), str(ROOT / "test/runtime/artifact-fixture"), str(ROOT / "test/Inputs")]
import taylor_attention as ta
import torch
from attention import FOLDER, GATED, PLAIN, eager, make
from symbols import FOREIGN
from torch.library import opcheck

LIBRARY = pathlib.Path(os.environ["TAYLOR_LIB"]) / "_taylor.so"


def gated(*inputs, **arguments):
    return ta.attention(*inputs, spec=GATED, **arguments)


class Case(unittest.TestCase):
    def close(self, a, b, tolerance):
        self.assertEqual(a.shape, b.shape)
        self.assertEqual(a.dtype, b.dtype)
        error = (a.double() - b.double()).norm() / b.double().norm()
        self.assertLess(error.item(), tolerance)

    def same(self, some, others):
        for a, b in zip(some, others, strict=True):
            self.assertTrue(torch.equal(a, b))

    def raises(self, message, run, kind=RuntimeError):
        with self.assertRaises(kind) as caught:
            run()
        self.assertEqual(str(caught.exception), message)


class Values(Case):
    def test_equals_eager(self):
        for dtype, tolerance in ((torch.float32, 2e-6), (torch.float64, 1e-14)):
            for options, causal in (("", True), ("--mask=bidirectional", False)):
                inputs = make(dtype)
                ours, theirs = gated(*inputs, options=options), eager(*inputs, causal=causal)
                self.close(ours, theirs, tolerance)
                cotangent = torch.randn_like(ours)
                for a, b in zip(torch.autograd.grad(ours, inputs, cotangent), torch.autograd.grad(theirs, inputs, cotangent)):
                    self.close(a, b, tolerance)

    def test_gradcheck(self):
        torch.autograd.gradcheck(gated, make(torch.float64))
        torch.autograd.gradcheck(lambda *x: gated(*x, offset=1), make(torch.float64))

    def test_some_gradients(self):
        inputs = make()
        everything = torch.autograd.grad(gated(*inputs).square().sum(), inputs)
        for i, expected in enumerate(everything):
            alone = [x.detach().requires_grad_(i == j) for j, x in enumerate(inputs)]
            gated(*alone).square().sum().backward()
            self.assertTrue(torch.equal(alone[i].grad, expected))
            self.assertEqual([x.grad for j, x in enumerate(alone) if j != i], [None] * 4)

    def test_layouts(self):
        inputs = make(gated=False)
        expected = ta.attention(*inputs, spec=PLAIN)
        # [B, T, H, d] permuted: taken as it is, and the result is laid out the same way.
        views = [x.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_() for x in inputs]
        ours = ta.attention(*views, spec=PLAIN)
        self.assertTrue(torch.equal(ours, expected))
        self.assertTrue(ours.transpose(1, 2).is_contiguous())
        ours.square().sum().backward()
        self.assertTrue(views[1].grad.transpose(1, 2).is_contiguous())
        # A packed projection [B, T, heads of q, k and v, d], and a channel that is not innermost.
        q, k, v = torch.randn(2, 5, 8, 8).transpose(1, 2).split([4, 2, 2], 1)
        self.close(ta.attention(q, k, v, spec=PLAIN), eager(q, k, v), 2e-6)
        q = torch.randn(2, 4, 8, 5).transpose(-1, -2)
        self.close(ta.attention(q, k, v, spec=PLAIN), eager(q, k, v), 2e-6)
        # An expanded cotangent, from sum(), and an expanded key.
        k = torch.randn(2, 1, 5, 8).expand(2, 2, 5, 8)
        q = q.detach().requires_grad_()
        theirs = torch.autograd.grad(eager(q, k, v).sum(), q)[0]
        self.close(torch.autograd.grad(ta.attention(q, k, v, spec=PLAIN).sum(), q)[0], theirs, 2e-6)

    def test_empty(self):
        for sizes in ({"b": 0}, {"t": 0}, {"t": 0, "u": 0}, {"h": 0, "g": 0}, {"u": 0}):
            with self.subTest(sizes):
                inputs = make(**sizes)
                o = gated(*inputs)
                self.assertEqual(o.abs().sum().item(), 0)
                for x, gradient in zip(inputs, torch.autograd.grad(o.sum(), inputs)):
                    self.assertEqual(gradient.shape, x.shape)
                    self.assertEqual(gradient.abs().sum().item(), 0)

    def test_threads(self):
        inputs, before, results = make(b=3, t=40, u=40), torch.get_num_threads(), []
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            o = gated(*inputs)
            results.append([o, *torch.autograd.grad(o.square().sum(), inputs)])
        torch.set_num_threads(before)
        for other in results[1:]:
            self.same(results[0], other)

    def test_more_threads_than_processors(self):
        count = len(os.sched_getaffinity(0))
        program = ("import sys; sys.path.insert(0, sys.argv[3]); import torch; from taylor_attention import attention; "
                   "torch.set_num_threads(int(sys.argv[2])); x = torch.randn(1, 1, 4, 8); [attention(x, x, x, spec=sys.argv[1]) for _ in 'ab']")

        def messages(threads, **environment):
            done = subprocess.run([sys.executable, "-c", program, PLAIN, str(threads), str(ROOT / "runtime/python")], capture_output=True, text=True,
                                  check=True, env={**os.environ, **environment})
            return [line for line in done.stderr.splitlines() if "taylor" in line]

        self.assertEqual(messages(count), [])
        self.assertEqual(messages(count, OMP_PROC_BIND="true"), [])  # a thread may use one processor, the process all
        s = "s" * (count != 1)
        self.assertEqual(messages(count + 1), [
            f"taylor: warning: expected at most {count} thread{s}, as this process may use {count} processor{s}, but got {count + 1}: "
            f"they wait for each other; set OMP_NUM_THREADS, torch.set_num_threads() or run.threads to {count}"])

    def test_narrow_types_and_autocast(self):
        for dtype, error in ((torch.bfloat16, 2e-2), (torch.float16, 3e-3)):
            inputs = make()
            with torch.autocast("cpu", dtype=dtype):
                ours = gated(*inputs)
                self.assertEqual(gated(*make(torch.float64)).dtype, torch.float64)  # as torch's own operators do
            self.assertEqual(ours.dtype, dtype)
            self.assertTrue(torch.equal(ours, gated(*[x if i == 4 else x.to(dtype) for i, x in enumerate(inputs)])))
            ours.float().square().sum().backward()
            for x, gradient in zip(inputs, torch.autograd.grad(eager(*inputs).square().sum(), inputs)):
                self.assertEqual(x.grad.dtype, torch.float32)
                self.close(x.grad, gradient, error)

    def test_parameter_in_bf16(self):  # as model.bfloat16() makes it
        inputs = [x.detach().bfloat16().requires_grad_() for x in make()]
        ours = gated(*inputs)
        ours.float().sum().backward()
        self.assertEqual(inputs[4].grad.dtype, torch.bfloat16)
        self.close(ours.float(), eager(*[x.float() for x in inputs]), 1e-2)

    def test_specifications(self):
        """A path, a text, an artifact; a file that changes, but not between a forward and its backward."""
        inputs = make(gated=False)
        expected = ta.attention(*inputs, spec=PLAIN)
        self.assertTrue(torch.equal(ta.attention(*inputs, spec=pathlib.Path(PLAIN).read_text()), expected))
        artifact = LIBRARY.parents[1] / "test/runtime/fixtures/plain.so"
        self.assertTrue(torch.equal(ta.attention(*inputs, spec=artifact), expected))
        gradients = torch.autograd.grad(expected.square().sum(), inputs)
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder) / "spec.mlir"
            for again in (False, True):  # the forward is computed once more in the backward
                spec.write_text(pathlib.Path(PLAIN).read_text())

                def call(*x):
                    return ta.attention(*x, spec=spec)

                o = torch.utils.checkpoint.checkpoint(call, *inputs, use_reentrant=False) if again else call(*inputs)
                spec.write_text("no specification: taylor.spec")
                self.same(torch.autograd.grad(o.square().sum(), inputs), gradients)
            spec.write_text(pathlib.Path(GATED).read_text())
            self.close(ta.attention(*make(), spec=spec), eager(*make()), 2e-6)

    def test_checkpoint(self):
        inputs = make()
        o = torch.utils.checkpoint.checkpoint(gated, *inputs, use_reentrant=False)
        self.same(torch.autograd.grad(gated(*inputs).square().sum(), inputs), torch.autograd.grad(o.square().sum(), inputs))

    def test_all_outputs(self):
        inputs = make()
        outputs = gated(*inputs, all_outputs=True)
        self.assertIs(type(outputs), list)
        self.same(outputs, [gated(*inputs)])


class Tracers(Case):
    def test_opcheck(self):
        ops = torch.ops.taylor_attention
        for inputs in (make(grad=False), make(torch.float64, t=7, grad=False), make(b=1, h=2, g=2, t=1, u=3, grad=False)):
            for save in (False, True):
                result = opcheck(ops.forward, (inputs, GATED, "", None, save))
                self.assertEqual(set(result.values()), {"SUCCESS"}, result)
            o, m, z = ops.forward(inputs, GATED, "", None)
            result = opcheck(ops.backward, (inputs, [o], [m, z], [o + 1], GATED, "", None, [0, 2, 4]))
            self.assertEqual(set(result.values()), {"SUCCESS"}, result)

    def test_compile(self):  # without a break, forward and backward, at any length
        compiled = torch.compile(lambda *x: gated(*x) * 2, backend="aot_eager", fullgraph=True, dynamic=True)
        counters = torch._dynamo.utils.counters
        counters.clear()
        for t, u in ((5, 7), (11, 13), (17, 23)):
            inputs = make(t=t, u=u)
            plain, traced = gated(*inputs) * 2, compiled(*inputs)
            self.assertTrue(torch.equal(plain, traced))
            self.same(*(torch.autograd.grad(o.square().sum(), inputs) for o in (plain, traced)))
        self.assertEqual(counters["stats"]["unique_graphs"], 1)

    def test_compile_without_gradient_and_under_autocast(self):
        compiled = torch.compile(gated, backend="aot_eager", fullgraph=True)
        inputs = make(grad=False)
        self.assertTrue(torch.equal(compiled(*inputs), gated(*inputs)))
        for inputs in (make(grad=False), make()):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                self.assertTrue(torch.equal(compiled(*inputs), gated(*inputs)))

    def test_arguments_have_one_line(self):  # Inductor writes them into comments
        class Module(torch.nn.Module):
            def forward(self, *x):
                return ta.attention(*x, spec=PLAIN)

        text = pathlib.Path(PLAIN).read_text()
        program = torch.export.export(Module(), tuple(make(gated=False, grad=False)))
        texts = [x for node in program.graph.nodes for x in node.args if isinstance(x, str)]
        self.assertTrue(any("taylor.spec" in x for x in texts), texts)
        self.assertEqual([x for x in texts if "\n" in x], [])
        self.assertIn(text, [x.replace("\u240a", "\n") for x in texts])

    def test_export(self):
        class Module(torch.nn.Module):
            def forward(self, *x):
                return gated(*x)

        t, u = (torch.export.Dim(name, min=2, max=512) for name in "tu")
        shapes = (({2: t}, {2: u}, {2: u}, {2: t}, {}),)
        for strict in (False, True):
            exported = torch.export.export(Module(), tuple(make(grad=False)), dynamic_shapes=shapes, strict=strict)
            inputs = make(t=9, u=21, grad=False)
            self.assertTrue(torch.equal(exported.module()(*inputs), gated(*inputs)))

    def test_transforms_inside_of_compile(self):
        compiled = torch.compile(torch.func.grad(lambda *x: ta.attention(*x, spec=PLAIN).sum()), backend="aot_eager", fullgraph=True)
        with self.assertRaisesRegex(Exception, "unsupported transform of torch.func inside torch.compile; apply it outside"):
            compiled(*make(gated=False, grad=False))

    def test_paths(self):
        inputs = make(gated=False, grad=False)
        self.assertTrue(torch.equal(ta.attention(*inputs, spec=pathlib.Path(PLAIN)), ta.attention(*inputs, spec=PLAIN)))
        compiled = torch.compile(lambda *x: ta.attention(*x, spec=pathlib.Path(PLAIN)), backend="aot_eager", fullgraph=True)
        with self.assertRaisesRegex(Exception, r"unsupported path object under torch.compile; give str\(path\)"):
            compiled(*inputs)

    def test_line_ends(self):
        text, inputs = pathlib.Path(PLAIN).read_text(), make(gated=False, grad=False)
        self.assertTrue(torch.equal(ta.attention(*inputs, spec=text.replace("\n", "\r\n")), ta.attention(*inputs, spec=text)))
        with self.assertRaisesRegex(RuntimeError, "unsupported character U\\+240A in a specification; write another"):
            ta.attention(*inputs, spec="// \u240a\n" + text)

    def test_meta_and_fake(self):
        inputs = [x.detach().to("meta") for x in make()]
        with torch.autocast("cpu"):
            self.assertEqual(gated(*inputs).device.type, "meta")
        o = gated(*inputs)
        self.assertEqual((o.shape, o.dtype, o.device.type), (torch.Size([2, 4, 5, 4]), torch.float32, "meta"))
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode():  # of a GPU that is not there
            inputs = [torch.empty(x.shape, device="cuda", requires_grad=True) for x in make(gated=False)]
            o = ta.attention(*inputs, spec=PLAIN)
            self.assertEqual((o.shape, o.device.type), (torch.Size([2, 4, 5, 4]), "cuda"))


class Transforms(Case):
    def test_vmap(self):
        many = [make(grad=False, seed=seed) for seed in range(3)]
        rows = torch.stack([gated(*x) for x in many])
        shared = [torch.stack(x) for x in zip(*many)]
        weight = many[0][4]
        with_one_weight = torch.stack([gated(*x[:4], weight) for x in many])
        one = torch.func.vmap(gated, in_dims=(0, 0, 0, 0, None))(*shared[:4], weight)
        self.close(one, with_one_weight, 1e-6)
        self.close(torch.func.vmap(gated)(*shared), rows, 1e-6)  # weights of their own
        moved = torch.func.vmap(gated, in_dims=(2, 1, 4, 0, None), out_dims=3)(
            shared[0].movedim(0, 2), shared[1].movedim(0, 1), shared[2].movedim(0, 4), shared[3], weight)
        self.close(moved.movedim(3, 0), with_one_weight, 1e-6)
        # One query for many keys; and two at once.
        first = torch.func.vmap(gated, in_dims=(None, 0, 0, None, None))(many[0][0], shared[1], shared[2], many[0][3], weight)
        self.close(first, torch.stack([gated(many[0][0], x[1], x[2], many[0][3], weight) for x in many]), 1e-6)
        twice = torch.func.vmap(torch.func.vmap(gated, in_dims=(0, 0, 0, 0, None)), in_dims=(0, 0, 0, 0, None))
        self.close(twice(*(x[None].expand(2, *x.shape) for x in shared[:4]), weight)[1], with_one_weight, 1e-6)

    def test_gradients(self):
        inputs = make(grad=False)

        def loss(*x):
            return gated(*x).square().sum()

        learned = [x.clone().requires_grad_() for x in inputs]
        expected = torch.autograd.grad(loss(*learned), learned)
        for ours, theirs in zip(torch.func.grad(loss, argnums=(0, 1, 2, 3, 4))(*inputs), expected, strict=True):
            self.close(ours, theirs, 1e-6)
        # Of each sample its own gradient, of the weight that all share, too.
        many = [make(grad=False, seed=seed) for seed in range(3)]
        shared = [torch.stack(x) for x in zip(*many)]
        each = torch.func.vmap(torch.func.grad(loss, argnums=(0, 4)), in_dims=(0, 0, 0, 0, None))(*shared[:4], inputs[4])
        for row, x in enumerate(many):
            alone = torch.func.grad(loss, argnums=(0, 4))(*x[:4], inputs[4])
            for ours, theirs in zip(each, alone, strict=True):
                self.close(ours[row], theirs, 1e-6)

    def test_jacobian(self):
        inputs = make(b=1, h=2, g=1, t=2, u=3, grad=False)
        ours = torch.func.jacrev(lambda q: gated(q, *inputs[1:]))(inputs[0])
        theirs = torch.func.jacrev(lambda q: eager(q, *inputs[1:]))(inputs[0])
        self.close(ours, theirs, 1e-5)

    def test_refusals(self):
        q, k, v = make(gated=False, grad=False)
        forward_mode = ("taylor: unsupported forward-mode derivative (torch.func.jvp, dual numbers); take the reverse mode (backward(), "
                        "torch.autograd.grad)")

        def call(x):
            return ta.attention(x, k, v, spec=PLAIN)

        self.raises(forward_mode, lambda: torch.func.jvp(call, (q,), (torch.ones_like(q),)))
        with torch.autograd.forward_ad.dual_level():
            self.raises(forward_mode, lambda: call(torch.autograd.forward_ad.make_dual(q, torch.ones_like(q))))
        x = q.clone().requires_grad_()
        gradient = torch.autograd.grad(call(x).square().sum(), x, create_graph=True)[0]
        self.raises("taylor: unsupported second derivative of attention(); use eager code where one is needed (taylorc --emit=torch prints it)",
                    lambda: gradient.sum().backward())
        o = call(x)
        self.raises("taylor: unsupported torch.func.vmap (and is_grads_batched) of taylor_attention::backward; join the mapped axis with the batch: "
                    "x.flatten(0, 1)", lambda: torch.autograd.grad(o, x, o.expand(3, *o.shape), is_grads_batched=True))


class Messages(Case):
    """The same as those of libtaylor_torch.so, which has them from the same lines."""

    def error(self, message, *inputs, **arguments):
        for grad in (True, False):
            given = [x.detach().requires_grad_(grad and x.is_floating_point()) for x in inputs]
            with self.assertRaises(RuntimeError) as caught:
                ta.attention(*given, **{"spec": GATED, **arguments})
            self.assertTrue(str(caught.exception).startswith("taylor: " + message), str(caught.exception))

    def test_errors(self):
        q, k, v, gate, weight = make()
        self.error("expected 5 inputs (q, k, v, out_gate, norm_weight), but got 3", q, k, v)
        self.error("expected rank 4 of 'q', but got rank 3", q[0], k, v, gate, weight)
        self.error("expected rank 4 [b, g, u, d] of 'k', but got rank 3", q, k[0], v, gate, weight)
        self.error("expected a size of at least 1 of axis d of 'q', but got 0", q[..., :0], k[..., :0], v, gate, weight)
        self.error("expected a size of at least 1 of axis e of 'v', but got 0", q, k, v[..., :0], gate, weight)
        self.error("expected size 8 of axis d of 'k', but got 6", q, k[..., :6], v, gate, weight)
        self.error("expected size 2 of axis b of 'v' as of 'q', but got 1", q, k, v[:1], gate, weight)
        self.error("expected size 4 of axis h of 'out_gate' as of 'q', but got 3", q, k, v, gate[:, :3], weight)
        self.error("expected a number of key/value heads that divides 4, the size of axis h of 'q', but got 3 in axis g of 'k'",
                   q, k.repeat(1, 2, 1, 1)[:, :3], v.repeat(1, 2, 1, 1)[:, :3], gate, weight)
        self.error("expected dtype torch.float32 of 'k', but got torch.float64; convert it: k.to(torch.float32)", q, k.double(), v, gate, weight)
        self.error("expected dtype torch.float32, torch.bfloat16, torch.float16 or torch.float64 of 'q', but got torch.int64; convert it: q.to(torch.float32)", q.long(), k, v, gate, weight)
        self.error("expected dtype torch.float32 of 'norm_weight', but got torch.int32; convert it: norm_weight.to(torch.float32)", q, k, v, gate, weight.int())
        self.error("expected device cpu of 'k', but got meta", q, k.to("meta"), v, gate, weight)
        self.error("expected device meta of 'k', but got cpu", q.to("meta"), k, v, gate, weight)
        self.error("expected the path of a specification or its text, but got 'nowhere.mlir', where there is no file", q, k, v, spec="nowhere.mlir")
        for option in ("--dtype=f32", "--head-dim=8", "-o x.so", "--emit=asm"):
            self.error(f"unsupported option '{option.split()[0]}': dtype and sizes are taken from the tensors, and the kernel cache names files",
                       q, k, v, gate, weight, options=option)
        self.error("taylorc could not compile", q, k, v, options="--no-such-option")
        artifact = LIBRARY.parents[1] / "test/runtime/fixtures/plain.so"
        self.error("expected f32 inputs for the artifact '", *make(torch.float64, gated=False), spec=artifact)
        self.error("expected size 8 of axis d of 'q', but got 16", *make(gated=False, d=16), spec=artifact)

    def test_types(self):
        q, k, v, gate, weight = make()
        self.raises("expected a tensor for k, but got NoneType", lambda: gated(q, None, v), TypeError)
        self.raises("expected a tensor for input 4, but got list", lambda: gated(q, k, v, gate, [1.0]), TypeError)
        self.raises("expected a tensor of int32 or int64 for documents, but got torch.float32", lambda: gated(q, k, v, gate, weight, documents=weight),
                    TypeError)
        self.raises("expected numbers of documents in the range of int32", lambda: gated(q, k, v, gate, weight, documents=torch.full((2, 7), 2**31)),
                    ValueError)

    def test_missing_library(self):
        program = "import sys; sys.path.insert(0, sys.argv[1]); import taylor_attention; taylor_attention.attention"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", program, str(ROOT / "runtime/python")], capture_output=True, text=True,
                                  env={**os.environ, "TAYLOR_LIB": folder})
        self.assertEqual(done.stderr.strip().splitlines()[-1], f"ImportError: expected _taylor.so in {folder}, but it is not there; ./quickstart.sh "
                         "builds it, and TAYLOR_LIB=FOLDER names another place")


class Decode(Case):
    def test_grows(self):
        whole = make(t=20, u=20, gated=False, grad=False)
        expected = ta.attention(*whole, spec=PLAIN)
        decoder, begin = ta.Decoder(PLAIN, head_dim=8, value_dim=4), 0
        for count in (11, 1, 1, 3, 4):
            o = decoder.extend(*(x[:, :, begin:begin + count] for x in whole))
            self.close(o, expected[:, :, begin:begin + count], 2e-6)
            begin += count
        self.assertEqual(decoder.tokens(), 20)

    def test_is_copied_pickled_and_gathered(self):
        tokens = [[x[:, :, i:i + 1] for x in make(t=6, u=6, gated=False, grad=False)] for i in range(6)]
        decoder = ta.Decoder(PLAIN, head_dim=8, value_dim=4)
        for x in tokens[:4]:
            decoder.extend(*x)
        others = [copy.deepcopy(decoder), pickle.loads(pickle.dumps(decoder))]
        swapped = decoder.gather([1, 0, 1])
        expected = [decoder.extend(*x) for x in tokens[4:]]
        for other in others:
            self.same([other.extend(*x) for x in tokens[4:]], expected)
            self.assertEqual(other.tokens(), 6)
        for x, o in zip(tokens[4:], expected):
            self.close(swapped.extend(*(y[[1, 0, 1]] for y in x)), o[[1, 0, 1]], 1e-6)

    def test_error_in_the_first_call_leaves_nothing(self):
        decoder = ta.Decoder(PLAIN, head_dim=8, value_dim=4)
        q, k, v = make(gated=False, grad=False, t=3, u=3)
        with self.assertRaises(RuntimeError):
            decoder.extend(q, k.repeat(1, 2, 1, 1)[:, :3], v.repeat(1, 2, 1, 1)[:, :3])
        self.assertEqual(decoder.tokens(), 0)
        other = copy.copy(decoder)
        first = decoder.extend(q, k, v)
        self.assertTrue(torch.equal(other.extend(q, k, v), first))
        with self.assertRaisesRegex(ValueError, "expected at least 1 for head_dim, but got -3"):
            ta.Decoder(PLAIN, head_dim=-3)
        with self.assertRaisesRegex(ValueError, "expected at least 1 for value_dim, but got 0"):
            ta.Decoder(PLAIN, head_dim=8, value_dim=0)

    def test_errors(self):
        q, k, v = make(t=1, u=1, gated=False, grad=False)
        decoder = ta.Decoder(PLAIN, head_dim=8, value_dim=4)
        decoder.extend(q, k, v)
        for message, inputs in (
                ("expected 3 inputs (q, k, v), but got 2", (q, k)),
                ("expected dtype torch.float32 of 'k', for which the decoder was made, but got torch.float64", (q, k.double(), v)),
                ("expected rank 4 [b, g, u, e] of 'v', but got rank 3", (q, k, v[0])),
                ("expected 1 new tokens of 'k', as of 'q', but got 2", (q, k.repeat(1, 1, 2, 1), v)),
                ("expected size 8 of axis d of 'k', but got 4", (q, k[..., :4], v)),
                ("expected size 2 of axis b of 'q', as of the tokens so far, but got 1", (q[:1], k[:1], v[:1]))):
            self.raises("taylor: " + message, lambda: decoder.extend(*inputs))
        self.assertEqual(decoder.tokens(), 1)
        self.raises("expected a whole number for head_dim, but got 8.0", lambda: ta.Decoder(PLAIN, head_dim=8.0), TypeError)

    def test_has_no_gradient(self):
        q, k, v = make(t=1, u=1, gated=False, grad=False)
        q.requires_grad_()
        decoder = ta.Decoder(PLAIN, head_dim=8, value_dim=4)
        self.raises("unsupported gradient through a Decoder, which keeps no graph: call extend within torch.no_grad(), or ta.attention to train", lambda: decoder.extend(q, k, v))
        self.assertEqual(decoder.tokens(), 0)
        with torch.no_grad():
            decoder.extend(q, k, v)
        self.assertEqual(decoder.tokens(), 1)

    def test_of_an_earlier_version_is_refused(self):
        state = dict(ta.Decoder(PLAIN, head_dim=8, value_dim=4).__dict__)
        del state["_kept"]
        self.raises("expected a Decoder of this version of taylor_attention, but got one that an earlier one pickled: give a new Decoder the tokens again",
                    lambda: ta.Decoder.__new__(ta.Decoder).__setstate__(state))


class Library(unittest.TestCase):
    def test_import_leaves_torch_alone(self):  # what prints a specification needs no torch, and no second to load it
        code = f"import sys; sys.path.insert(0, {str(ROOT / 'runtime/python')!r}); import taylor_attention; sys.exit('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)

    def symbols(self, *options):
        done = subprocess.run(["nm", "-D", *options, LIBRARY], capture_output=True, text=True, check=True)
        return [line.split()[-1] for line in done.stdout.splitlines()]

    def test_symbols(self):
        """Of torch C functions of its stable interface alone; of OpenMP nothing; and what is shown is said in Describe.h."""
        needed = self.symbols("--undefined-only")
        self.assertIn("torch_parallel_for", needed)
        self.assertEqual([name for name in needed if FOREIGN.match(name)], [])
        self.assertEqual(sorted(self.symbols("--defined-only")),
                         ["taylor_describe_call", "taylor_describe_error", "taylor_describe_kernel", "taylor_describe_program"])

    def test_needs_no_cuda_and_no_python(self):
        done = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout)
        self.assertEqual([name for name in needed if re.match(r"libtorch|libc10|libcu|libpython|libgomp|libLLVM|libMLIR", name)], ["libtorch_cpu.so"])
        self.assertNotIn("PATH", "".join(re.findall(r"\((R\w*PATH)\)", done.stdout)))


if __name__ == "__main__":
    unittest.main()
