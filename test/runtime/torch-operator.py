# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The torch operator on the hand-written artifact (artifact-fixture/): opcheck, gradcheck, layouts, autocast, errors.
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%S/artifact-fixture/fixture.py CC=%cc %python %s
# REQUIRES: torch
# UNSUPPORTED: sanitizer
import contextlib
import copy
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import torch
from torch.library import opcheck

from taylor_operator import Decoder, attention

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "artifact-fixture"))
from attention import FOLDER, GATED, PLAIN, eager, make


class Operator(unittest.TestCase):
    def close(self, a, b, tolerance):
        self.assertEqual(a.shape, b.shape)
        self.assertEqual(a.dtype, b.dtype)
        error = (a.double() - b.double()).norm() / b.double().norm()
        self.assertLess(error.item(), tolerance)

    def test_equals_eager(self):
        for dtype, tolerance in ((torch.float32, 2e-6), (torch.float64, 1e-14)):
            for options, causal in (("", True), ("--mask=bidirectional", False)):
                inputs = make(dtype)
                ours, theirs = attention(*inputs, spec=GATED, options=options), eager(*inputs, causal=causal)
                self.close(ours, theirs, tolerance)
                cotangent = torch.randn_like(ours)
                for a, b in zip(torch.autograd.grad(ours, inputs, cotangent), torch.autograd.grad(theirs, inputs, cotangent)):
                    self.close(a, b, tolerance)

    def test_opcheck(self):
        for inputs in (make(), make(torch.float64, t=7), make(grad=False), make(b=1, h=2, g=2, t=1, u=3)):
            result = opcheck(torch.ops.taylor.attention, (inputs, GATED, "", None))
            self.assertEqual(set(result.values()), {"SUCCESS"}, result)
        inputs = make(grad=False)
        opcheck(torch.ops.taylor.forward, (inputs, GATED, "", None))
        o, m, z = torch.ops.taylor.forward(inputs, GATED, "", None)
        opcheck(torch.ops.taylor.backward, (inputs, [o], [m, z], [o + 1], GATED, "", None, [0, 2, 4]))

    def test_gradcheck(self):
        torch.autograd.gradcheck(lambda *x: attention(*x, spec=GATED), make(torch.float64))
        torch.autograd.gradcheck(lambda *x: attention(*x, spec=GATED, offset=1), make(torch.float64))

    def test_some_gradients(self):
        inputs = make()
        everything = torch.autograd.grad(attention(*inputs, spec=GATED).square().sum(), inputs)
        for i, expected in enumerate(everything):
            alone = [x.detach().requires_grad_(i == j) for j, x in enumerate(inputs)]
            attention(*alone, spec=GATED).square().sum().backward()
            for j, x in enumerate(alone):
                if i == j:
                    self.assertTrue(torch.equal(x.grad, expected))
                else:
                    self.assertIsNone(x.grad)

    def test_layouts(self):
        inputs = make(gated=False)
        expected = attention(*inputs, spec=PLAIN)
        # [B, T, H, d] permuted: taken as it is, and the result is laid out the same way.
        views = [x.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_() for x in inputs]
        ours = attention(*views, spec=PLAIN)
        self.assertTrue(torch.equal(ours, expected))
        self.assertTrue(ours.transpose(1, 2).is_contiguous())
        ours.square().sum().backward()
        self.assertTrue(views[1].grad.transpose(1, 2).is_contiguous())
        # A packed projection [B, T, heads of q, k and v, d], and a channel that is not innermost.
        packed = torch.randn(2, 5, 8, 8)
        q, k, v = packed.transpose(1, 2).split([4, 2, 2], 1)
        self.close(attention(q, k, v, spec=PLAIN), eager(q, k, v), 2e-6)
        q = torch.randn(2, 4, 8, 5).transpose(-1, -2)
        self.close(attention(q, k, v, spec=PLAIN), eager(q, k, v), 2e-6)
        # An expanded cotangent, from sum(), and an expanded key.
        k = torch.randn(2, 1, 5, 8).expand(2, 2, 5, 8)
        q = q.detach().requires_grad_()
        theirs = torch.autograd.grad(eager(q, k, v).sum(), q)[0]
        self.close(torch.autograd.grad(attention(q, k, v, spec=PLAIN).sum(), q)[0], theirs, 2e-6)

    def test_empty(self):
        """Gradients of the inputs' empty shapes, whatever the strides: sum() expands its cotangent, with strides 0."""
        for sizes in ({"b": 0}, {"t": 0}, {"t": 0, "u": 0}, {"h": 0, "g": 0}, {"u": 0}):
            with self.subTest(sizes):
                inputs = make(**sizes)
                o = attention(*inputs, spec=GATED)
                self.assertEqual(o.abs().sum().item(), 0)
                for x, gradient in zip(inputs, torch.autograd.grad(o.sum(), inputs)):
                    self.assertEqual(gradient.shape, x.shape)
                    self.assertEqual(gradient.abs().sum().item(), 0)
        empty = torch.empty(1, 1, 1, 1)
        o = attention(empty.expand(0, 4, 5, 8), empty.expand(0, 2, 7, 8), empty.expand(0, 2, 7, 4), spec=PLAIN)
        self.assertEqual(o.shape, (0, 4, 5, 4))

    def test_threads(self):
        inputs = make(b=3, t=40, u=40)
        before, results = torch.get_num_threads(), []
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            o = attention(*inputs, spec=GATED)
            results.append([o, *torch.autograd.grad(o.square().sum(), inputs)])
        torch.set_num_threads(before)
        for other in results[1:]:
            for a, b in zip(results[0], other):
                self.assertTrue(torch.equal(a, b))

    def test_more_threads_than_processors(self):
        """Said once, and not of as many as there are."""
        count = len(os.sched_getaffinity(0))
        program = ("import sys, torch; from taylor_operator import attention; torch.set_num_threads(int(sys.argv[2])); "
                   "x = torch.randn(1, 1, 4, 8); [attention(x, x, x, spec=sys.argv[1]) for _ in 'ab']")

        def messages(threads, **environment):
            done = subprocess.run([sys.executable, "-c", program, PLAIN, str(threads)], capture_output=True, text=True, check=True,
                                  env={**os.environ, **environment})
            return [line for line in done.stderr.splitlines() if "taylor" in line]

        self.assertEqual(messages(count), [])
        # Bound to places, a thread may use one processor, and the process all of them.
        self.assertEqual(messages(count, OMP_PROC_BIND="true"), [])
        s = "s" * (count != 1)
        self.assertEqual(messages(count + 1), [
            f"taylor: warning: expected at most {count} thread{s}, as this process may use {count} processor{s}, but got {count + 1}: "
            f"they wait for each other; set OMP_NUM_THREADS, torch.set_num_threads() or run.threads to {count}"])

    def test_python_threads(self):
        inputs, wrong = make(), []
        expected = torch.autograd.grad(attention(*inputs, spec=GATED).sum(), inputs)

        def work():
            for _ in range(20):
                for a, b in zip(torch.autograd.grad(attention(*inputs, spec=GATED).sum(), inputs), expected):
                    if not torch.equal(a, b):
                        wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        [x.start() for x in threads]
        [x.join() for x in threads]
        self.assertEqual(wrong, [])

    def test_narrow_types_and_autocast(self):
        for dtype, error in ((torch.bfloat16, 2e-2), (torch.float16, 3e-3)):
            inputs = make()
            with torch.autocast("cpu", dtype=dtype):
                ours = attention(*inputs, spec=GATED)
            self.assertEqual(ours.dtype, dtype)
            narrow = [x if i == 4 else x.to(dtype) for i, x in enumerate(inputs)]
            self.assertTrue(torch.equal(ours, attention(*narrow, spec=GATED)))
            ours.float().square().sum().backward()
            theirs = torch.autograd.grad(eager(*inputs).square().sum(), inputs)
            for x, gradient in zip(inputs, theirs):
                self.assertEqual(x.grad.dtype, torch.float32)
                self.close(x.grad, gradient, error)

    def test_parameter_in_bf16(self):  # as model.bfloat16() makes it
        inputs = [x.detach().bfloat16().requires_grad_() for x in make()]
        ours = attention(*inputs, spec=GATED)
        ours.float().sum().backward()
        self.assertEqual(inputs[4].grad.dtype, torch.bfloat16)
        self.close(ours.float(), eager(*[x.float() for x in inputs]), 1e-2)

    def test_trains(self):
        torch.manual_seed(0)
        inputs = make(t=7, u=7)
        target = torch.randn(2, 4, 7, 4)
        optimizer = torch.optim.Adam(inputs, lr=0.05)
        losses = []
        for _ in range(60):
            optimizer.zero_grad()
            loss = (attention(*inputs, spec=GATED) - target).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.5 * losses[0])

    def test_checkpoint(self):
        inputs = make()
        plain = torch.autograd.grad(attention(*inputs, spec=GATED).square().sum(), inputs)
        o = torch.utils.checkpoint.checkpoint(lambda *x: attention(*x, spec=GATED), *inputs, use_reentrant=False)
        for a, b in zip(plain, torch.autograd.grad(o.square().sum(), inputs)):
            self.assertTrue(torch.equal(a, b))

    def test_compile(self):  # traced without a break, forward and backward
        inputs = make()
        compiled = torch.compile(lambda *x: attention(*x, spec=GATED) * 2, backend="aot_eager", fullgraph=True)
        plain, traced = attention(*inputs, spec=GATED) * 2, compiled(*inputs)
        self.assertTrue(torch.equal(plain, traced))
        for a, b in zip(*(torch.autograd.grad(o.square().sum(), inputs) for o in (plain, traced))):
            self.assertTrue(torch.equal(a, b))

    def test_meta(self):
        inputs = [x.detach().to("meta") for x in make()]
        o = torch.ops.taylor.attention(inputs, GATED)[0]
        self.assertEqual((o.shape, o.dtype, o.device.type), (torch.Size([2, 4, 5, 4]), torch.float32, "meta"))

    def test_fake_gpu(self):
        """Tensors without data of a GPU that is not there, as torch.compile traces them."""
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode():
            inputs = [torch.empty(x.shape, device="cuda", requires_grad=True) for x in make(gated=False)]
            o = torch.ops.taylor.attention(inputs, PLAIN)[0]
            self.assertEqual((o.shape, o.device.type), (torch.Size([2, 4, 5, 4]), "cuda"))

    def test_text_and_artifact(self):
        inputs = make(gated=False)
        text = pathlib.Path(PLAIN).read_text()
        expected = attention(*inputs, spec=PLAIN)
        self.assertTrue(torch.equal(attention(*inputs, spec=text), expected))
        artifact = pathlib.Path(torch.ops.loaded_libraries.copy().pop()).parents[1] / "test/runtime/fixtures/plain.so"
        self.assertTrue(torch.equal(attention(*inputs, spec=artifact), expected))
        self.error("expected f32 inputs for the artifact '", *make(torch.float64, gated=False), spec=artifact)
        self.error("expected size 8 of axis d of 'q', but got 16", *make(gated=False, d=16), spec=artifact)
        self.error(f"unsupported options '--mask=causal' with the artifact '{artifact}', which is compiled already",
                   *inputs, spec=artifact, options="--mask=causal")

    def test_edited_specification(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder) / "spec.mlir"
            spec.write_text(pathlib.Path(PLAIN).read_text())
            inputs = make()
            attention(*inputs[:3], spec=spec)
            spec.write_text(pathlib.Path(GATED).read_text())
            self.close(attention(*inputs, spec=spec), eager(*inputs), 2e-6)

    def gradients_after(self, change, inputs, call, other=None):
        """Gradients of a forward, taken after `change` and after a forward of `other`."""
        o = call(*inputs)
        change()
        with contextlib.suppress(RuntimeError):
            attention(*inputs, spec=other or PLAIN)
        return torch.autograd.grad(o.square().sum(), inputs)

    def test_a_backward_is_its_forwards(self):
        """A specification, artifact or cache that changes between forward and backward changes nothing."""
        inputs = make(gated=False)
        expected = torch.autograd.grad(attention(*inputs, spec=PLAIN).square().sum(), inputs)
        fixtures = pathlib.Path(os.environ["TAYLOR_LIB"]).parent / "test/runtime/fixtures"
        with tempfile.TemporaryDirectory() as folder:
            spec, artifact, cache = (pathlib.Path(folder) / name for name in ("spec.mlir", "spec.so", "cache"))
            compiler = os.environ["TAYLORC"]

            def call(*x):
                return attention(*x, spec=spec)

            def again(*x):  # the forward is computed once more in the backward
                return torch.utils.checkpoint.checkpoint(call, *x, use_reentrant=False)

            traced = torch.compile(call, backend="aot_eager", fullgraph=True)

            def edit():
                spec.write_text(pathlib.Path(GATED).read_text())

            def spoil():
                spec.write_text("no specification: taylor.spec")

            def lose_the_compiler():
                shutil.rmtree(cache)
                os.environ["TAYLORC"] = "/nowhere"

            def replace():
                os.replace(shutil.copy(fixtures / "gated.so", artifact.with_suffix(".new")), artifact)

            for function, other in ((call, spec), (traced, spec), (again, None)):
                for change in (edit, spoil, spec.unlink, lose_the_compiler):
                    spec.write_text(pathlib.Path(PLAIN).read_text())
                    os.environ["TAYLOR_CACHE_DIR"] = str(cache)
                    try:
                        with self.subTest(function=function, change=change):
                            for a, b in zip(self.gradients_after(change, inputs, function, other), expected):
                                self.assertTrue(torch.equal(a, b))
                    finally:
                        os.environ["TAYLORC"] = compiler
                        del os.environ["TAYLOR_CACHE_DIR"]
            shutil.copy(fixtures / "plain.so", artifact)
            gradients = self.gradients_after(replace, inputs, lambda *x: attention(*x, spec=artifact), artifact)
            for a, b in zip(gradients, expected):
                self.assertTrue(torch.equal(a, b))
            # A traced forward, handed to another process, where the file is another one.
            self.error(f"expected the artifact '{artifact}' of the forward, with checksum 0123456789abcdef, but got another file, "
                       "with checksum ", *inputs, spec=f"{artifact}#0123456789abcdef")

    def test_fork_while_a_thread_compiles(self):
        """The child has the parent's locks in no other state than free, and waits for the parent's compilation alone."""
        inputs = [x.detach() for x in make(gated=False)]
        expected = attention(*inputs, spec=PLAIN)
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            text = pathlib.Path(PLAIN).read_text() + f"// {folder}\n"  # nowhere in the cache
            os.environ.update(FIXTURE_DELAY="1", FIXTURE_LOG=str(log))
            compiling = threading.Thread(target=lambda: attention(*inputs, spec=text))
            compiling.start()
            while not log.exists():
                time.sleep(0.01)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                torch.set_num_threads(1)  # torch's own threads are the parent's
                os._exit(0 if torch.equal(attention(*inputs, spec=text), expected) else 1)
            compiling.join()
            for name in ("FIXTURE_DELAY", "FIXTURE_LOG"):
                del os.environ[name]
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(len(log.read_text().splitlines()), 1)

    def error(self, message, *inputs, **arguments):
        with self.assertRaises(RuntimeError) as caught:
            attention(*inputs, **{"spec": GATED, **arguments})
        self.assertIn("taylor: " + message, str(caught.exception))

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
        self.error("expected dtype Float of 'k', but got Double", q, k.double(), v, gate, weight)
        self.error("expected dtype Float, BFloat16, Half or Double of 'q', but got Long", q.long(), k, v, gate, weight)
        self.error("expected device cpu of 'k', but got meta", q, k.to("meta"), v, gate, weight)
        self.error("expected device meta of 'k', but got cpu", q.to("meta"), k, v, gate, weight)
        self.error("expected dtype Float of 'norm_weight', but got Int", q, k, v, gate, weight.int())
        self.error("expected the path of a specification or its text, but got 'nowhere.mlir', where there is no file",
                   q, k, v, spec="nowhere.mlir")
        for option in ("--dtype=f32", "--head-dim=8", "-o x.so", "--emit=asm"):
            self.error(f"unsupported option '{option.split()[0]}': dtype and sizes are taken from the tensors, and the kernel "
                       "cache names files", q, k, v, gate, weight, options=option)
        for inputs, name, kind in (((q, None, v), "k", "NoneType"), ((q, k, v, gate, [1.0]), "input 4", "list")):
            with self.assertRaises(TypeError) as caught:
                attention(*inputs, spec=GATED)
            self.assertEqual(str(caught.exception), f"expected a tensor for {name}, but got {kind}")
        self.error("taylorc could not compile", q, k, v, gate, weight, options="--no-such-option")

    def test_no_forward_mode(self):
        q, k, v = make(gated=False, grad=False)
        message = ("taylor: unsupported forward-mode derivative (torch.func.jvp, dual numbers); take the reverse mode "
                   "(backward(), torch.autograd.grad)")
        with self.assertRaises(RuntimeError) as caught:
            torch.func.jvp(lambda x: attention(x, k, v, spec=PLAIN), (q,), (torch.ones_like(q),))
        self.assertEqual(str(caught.exception), message)
        with torch.autograd.forward_ad.dual_level(), self.assertRaises(RuntimeError) as caught:
            attention(torch.autograd.forward_ad.make_dual(q, torch.ones_like(q)), k, v, spec=PLAIN)
        self.assertEqual(str(caught.exception), message)

    def test_no_transforms(self):
        q, k, v = make(gated=False, grad=False)

        def call(x):
            return attention(x, k, v, spec=PLAIN)

        def expect(message, run):
            with self.assertRaises(RuntimeError) as caught:
                run()
            self.assertEqual(str(caught.exception), message)

        many = q.expand(3, *q.shape)
        expect("taylor: unsupported torch.func.vmap (and is_grads_batched, jacrev) of taylor::attention; join the mapped axis with "
               "the batch: x.flatten(0, 1)", lambda: torch.func.vmap(call)(many))
        x = q.clone().requires_grad_()
        o = call(x)
        expect("taylor: unsupported torch.func.vmap (and is_grads_batched, jacrev) of taylor::backward; join the mapped axis with "
               "the batch: x.flatten(0, 1)", lambda: torch.autograd.grad(o, x, o.expand(3, *o.shape), is_grads_batched=True))
        for transform in (torch.func.grad, torch.func.jacrev):
            expect("taylor: unsupported gradient inside torch.func (grad, vjp, jacrev); take backward() or torch.autograd.grad",
                   lambda: transform(lambda x: call(x).sum())(q))

    def test_decoder_is_copied_and_pickled(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder) / "spec.mlir"
            shutil.copy(PLAIN, spec)
            decoder = Decoder(spec, head_dim=8, value_dim=4)
            tokens = [[x.detach()[:, :, i:i + 1] for x in make(t=6, u=6, gated=False)] for i in range(6)]
            for x in tokens[:4]:
                decoder.extend(*x)
            spec.unlink()
            others = [copy.deepcopy(decoder), pickle.loads(pickle.dumps(decoder))]
            expected = [decoder.extend(*x) for x in tokens[4:]]
            for other in others:
                self.assertEqual(other.tokens(), 4)
                for x, o in zip(tokens[4:], expected):
                    self.assertTrue(torch.equal(other.extend(*x), o))
                self.assertEqual(other.tokens(), 6)
            # Each has its own memory.
            again = copy.deepcopy(decoder)
            decoder.extend(*tokens[0])
            self.assertEqual((decoder.tokens(), again.tokens()), (7, 6))
            self.assertTrue(torch.equal(again.extend(*tokens[1]), copy.deepcopy(others[0]).extend(*tokens[1])))

    def test_all_outputs(self):
        inputs = make()
        outputs = attention(*inputs, spec=GATED, all_outputs=True)
        self.assertEqual(len(outputs), 1)
        self.assertTrue(torch.equal(outputs[0], attention(*inputs, spec=GATED)))

    def test_no_second_derivative(self):
        inputs = make()
        gradient = torch.autograd.grad(attention(*inputs, spec=GATED).square().sum(), inputs[0], create_graph=True)[0]
        with self.assertRaises(RuntimeError) as caught:
            gradient.sum().backward()
        self.assertIn("taylor: unsupported second derivative of taylor::attention; use eager code where one is needed "
                      "(taylorc --emit=torch prints it)", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
