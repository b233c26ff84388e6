# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
"""ta.nn.Attention: its modules, names and initial values; and what torch does with modules: copies, files, checkpoints of activations, autocast,
torch.compile, torch.export, torch.func, loaders of data, DDP and FSDP2 in two processes."""
import copy
import io
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset


@ta.spec
def gated(q, k, v, out_gate=ta.projection("b h t", bias=True), in_gate=ta.projection("b g u"), table=ta.parameter("h r=5", ta.normal(0.5, 0.1)),
          weight=ta.parameter("e", ta.uniform(0.5, 1.5)), bias=ta.parameter("e", 0.25), mix=ta.parameter("h", "zeros"), scale=ta.parameter("h e", "ones")):
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), ta.sigmoid(in_gate) * v, sums=("numerator", "mass"))
    factor = ta.reduce("mean", table, over="r") + mix
    return ta.normalize("rms", factor * ta.sigmoid(out_gate) * n / z, weight=weight, bias=bias, epsilon=1e-5) * scale


def layer(seed=0, **arguments):
    torch.manual_seed(seed)
    return ta.nn.Attention(gated, **{"hidden": 24, "heads": 4, "kv_heads": 2, "head_dim": 8, "value_dim": 16, **arguments})


def sequence(tokens=11, batch=2, seed=1):
    return torch.randn(batch, tokens, 24, generator=torch.Generator().manual_seed(seed))


def gradients(module, x, run=None):
    module.zero_grad()
    (module if run is None else run)(x).float().square().mean().backward()
    return {name: parameter.grad.clone() for name, parameter in module.named_parameters()}


class Case(unittest.TestCase):
    def same(self, some, others):
        self.assertEqual(list(some), list(others))
        for name in some:
            self.assertTrue(torch.equal(some[name], others[name]), name)

    def close(self, some, others, tolerance=1e-5):
        self.assertEqual(list(some), list(others))
        for name in some:
            error = (some[name].double() - others[name].double()).norm() / others[name].double().norm()
            self.assertLess(error.item(), tolerance, name)


class Modules(Case):
    def test_names_and_shapes(self):
        self.assertEqual({name: tuple(x.shape) for name, x in layer().state_dict().items()}, {
            "q_proj.weight": (32, 24), "k_proj.weight": (16, 24), "v_proj.weight": (32, 24), "out_gate_proj.weight": (4, 24), "out_gate_proj.bias": (4,),
            "in_gate_proj.weight": (2, 24), "table": (4, 5), "weight": (16,), "bias": (16,), "mix": (4,), "scale": (4, 16), "o_proj.weight": (24, 64)})
        plain = ta.nn.Attention("softmax", 24, 4)
        self.assertEqual({name: tuple(x.shape) for name, x in plain.state_dict().items()},
                         {f"{name}_proj.weight": (24, 24) for name in "qkvo"})
        self.assertIn("hidden=24, h=4, g=2, d=8, e=16", repr(layer()))

    def test_initial_values(self):
        wide = ta.nn.Attention(gated, 512, 8, layers=8, deviation=0.05)
        for name, x in wide.state_dict().items():
            mean, deviation, least, most = x.mean().item(), x.std().item(), x.min().item(), x.max().item()
            if name.endswith("_proj.weight"):
                expected = 0.05 / 4 if name == "o_proj.weight" else 0.05
                self.assertLess(abs(deviation / expected - 1), 0.05, name)
                self.assertLess(abs(mean), expected / 8, name)
            elif name == "table":
                self.assertTrue(abs(mean - 0.5) < 0.06 and 0.05 < deviation < 0.15, (mean, deviation))
            elif name == "weight":
                self.assertTrue(0.5 <= least < 0.7 < 1.3 < most <= 1.5, (least, most))
            else:
                value = {"out_gate_proj.bias": 0.0, "bias": 0.25, "mix": 0.0, "scale": 1.0}[name]
                self.assertEqual((least, most), (value, value), name)
        uniform = layer(initialization="uniform")
        limit = uniform.out_gate_proj.bias.abs().max().item()
        self.assertTrue(0 < limit <= 24**-0.5)
        empty = layer(device="meta").to_empty(device="cpu")
        torch.manual_seed(0)
        empty.reset_parameters()
        torch.manual_seed(0)
        again = layer()
        again.reset_parameters()
        self.assertEqual(empty.bias.tolist(), again.bias.tolist())
        self.assertLess(empty.q_proj.weight.std().item(), 0.03)

    def test_equals_its_parts(self):
        module, x = layer(), sequence()

        def heads(y, count):
            return y.view(2, 11, count, -1).transpose(1, 2)

        inputs = [heads(F.linear(x, module.q_proj.weight), 4), heads(F.linear(x, module.k_proj.weight), 2), heads(F.linear(x, module.v_proj.weight), 2),
                  F.linear(x, module.out_gate_proj.weight, module.out_gate_proj.bias).transpose(1, 2), F.linear(x, module.in_gate_proj.weight).transpose(1, 2),
                  module.table, module.weight, module.bias, module.mix, module.scale]
        documents = torch.tensor([[0] * 5 + [1] * 6, [0] * 11])
        for more in ({}, {"documents": documents}):
            expected = ta.attention(*inputs, spec=gated, **more).transpose(1, 2).reshape(2, 11, 64) @ module.o_proj.weight.T
            self.close({"y": module(x, **more)}, {"y": expected})
        self.close({"y": module(x[:1], cu_seqlens=torch.tensor([0, 5, 11]))}, {"y": module(x, documents)[:1]})
        self.assertGreater((module(x, documents)[0, 5:] - module(x)[0, 5:]).abs().max().item(), 1e-5)

    def test_parameters_and_mask(self):
        torch.manual_seed(0)
        module = ta.nn.Attention("softmax-taylor", 16, 2, parameters={"order": 2}, mask="bidirectional")
        self.assertEqual(module.options, "--set order=2 --mask=bidirectional")
        x = torch.randn(1, 5, 16)
        other = x.clone()
        other[0, 4] += 1
        self.assertGreater((module(x) - module(other))[0, 0].abs().max().item(), 0)

    def test_messages(self):
        @ta.spec
        def two(q, k, v):
            return ta.recurrences(q, k, v, sums=("numerator", "mass"))

        @ta.spec
        def brought(q, k, v, numbers=ta.input("b u", dtype="i32")):
            return ta.recurrences(q, k, v * numbers)

        @ta.spec
        def taken(q, k, v, forward=ta.parameter("h", "ones")):
            return forward * ta.recurrences(q, k, v)

        @ta.spec
        def named_o(q, k, v, o=ta.projection("b h t")):
            return o * ta.recurrences(q, k, v)

        @ta.spec
        def whole(q, k, v, learned=ta.parameter("h t", "ones")):
            return learned * ta.recurrences(q, k, v)

        @ta.spec
        def faulty(q, k, v):
            return ta.normalize("rms", ta.recurrences(q, k, v), over="d", epsilon=1e-5)

        make = ta.nn.Attention
        for call, kind, message in (
                (lambda: make(two, 8, 2), ValueError, r"unsupported specification with 2 results \(.*\): a layer has one; call ta.attention with all_outputs=True"),
                (lambda: make(brought, 8, 2), ValueError, "unsupported source 'input' of argument 'numbers': a layer has nothing to bring for it"),
                (lambda: make(taken, 8, 2), ValueError, "unsupported argument name 'forward': torch.nn.Module has forward for something else; rename the argument"),
                (lambda: make(named_o, 8, 2), ValueError, "unsupported argument name 'o': o_proj follows the attention; rename the argument"),
                (lambda: make(whole, 8, 2), RuntimeError, r"modules.py:\d+: error: .*unsupported axis b, t or u of the learned parameter 'learned'"),
                (lambda: make(faulty, 8, 2), RuntimeError, r"modules.py:\d+: error: "),
                (lambda: make(gated, 8, 3), ValueError, "requires head_dim where hidden, 8, is no multiple of heads, 3"),
                (lambda: make(gated, 8, 4, 3), ValueError, "expected a number of key/value heads that divides 4, the number of heads, but got 3"),
                (lambda: make(gated, 8.0, 4), TypeError, "expected a whole number for hidden, but got 8.0"),
                (lambda: make(gated, 8, 0), ValueError, "expected at least 1 for heads, but got 0"),
                (lambda: make(gated, 8, 2, initialization="zeros"), ValueError, "expected initialization 'normal' or 'uniform', but got 'zeros'"),
                (lambda: make("softmaxx", 8, 2), ValueError, "did you mean 'softmax'"),
                (lambda: layer()(sequence()[0]), ValueError, r"expected x \[B, T, 24\], but got shape \[11, 24\]")):
            with self.assertRaisesRegex(kind, message):
                call()


class Torch(Case):
    def test_copies_and_files(self):
        module, x = layer(), sequence()
        expected, wanted = module(x), gradients(module, x)
        for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
            self.assertTrue(torch.equal(other(x), expected))
            self.same(gradients(other, x), wanted)
        whole, values = io.BytesIO(), io.BytesIO()
        torch.save(module, whole)
        torch.save(module.state_dict(), values)
        whole.seek(0), values.seek(0)
        self.assertTrue(torch.equal(torch.load(whole, weights_only=False)(x), expected))
        other = layer(seed=5)
        self.assertFalse(torch.equal(other(x), expected))
        other.load_state_dict(torch.load(values, weights_only=True))
        self.assertTrue(torch.equal(other(x), expected))

    def test_checkpoints_of_activations(self):
        module, x = layer(), sequence().requires_grad_()
        expected = gradients(module, x)
        for reentrant in (False, True):
            self.same(gradients(module, x, lambda y: checkpoint(module, y, use_reentrant=reentrant)), expected)

    def test_precisions(self):
        module, x = layer(), sequence()
        expected = module(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = module(x)
        self.assertEqual(y.dtype, torch.bfloat16)
        self.close({"y": y}, {"y": expected}, 3e-2)

        def run(given):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return module(given)

        found = gradients(module, x, run)
        self.assertEqual({x.dtype for x in found.values()}, {torch.float32})
        self.close(found, gradients(module, x), 5e-2)
        self.close({"y": copy.deepcopy(module).bfloat16()(x.bfloat16())}, {"y": expected}, 5e-2)
        self.close({"y": copy.deepcopy(module).double()(x.double())}, {"y": expected})

    def test_compile(self):
        for backend in ("aot_eager", "inductor"):
            torch._dynamo.reset()
            torch._dynamo.utils.counters.clear()
            module = layer()
            compiled = torch.compile(module, fullgraph=True, dynamic=True, backend=backend)
            for tokens in (11, 7, 29):
                x = sequence(tokens, batch=3)
                self.close({"y": compiled(x)}, {"y": module(x)})
                self.close(gradients(module, x, compiled), gradients(module, x))
            self.assertEqual(torch._dynamo.utils.counters["stats"]["unique_graphs"], 1)

    def test_compiled_documents(self):
        torch._dynamo.reset()
        module, x = layer(), sequence()
        documents = torch.tensor([[0] * 5 + [1] * 6, [0] * 11])
        compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
        self.assertTrue(torch.equal(compiled(x, documents), module(x, documents)))

    def test_export(self):
        module = layer().eval()
        tokens = torch.export.Dim("tokens", min=2, max=4096)
        for strict in (False, True):
            program = torch.export.export(module, (sequence(),), dynamic_shapes=({1: tokens},), strict=strict)
            with tempfile.TemporaryDirectory() as folder:
                torch.export.save(program, f"{folder}/layer.pt2")
                program = torch.export.load(f"{folder}/layer.pt2")
            self.close({"y": program.module()(sequence(50))}, {"y": module(sequence(50))})

    def test_func(self):
        module, x = layer(), sequence(batch=3)
        parameters = dict(module.named_parameters())

        def loss(values, row):
            return torch.func.functional_call(module, values, (row[None],)).square().mean()

        one = torch.func.grad(loss)(parameters, x[0])
        self.close(one, gradients(module, x[:1]))
        each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, x)
        for row in range(3):
            self.close({name: value[row] for name, value in each.items()}, gradients(module, x[row:row + 1]))
        # An ensemble: parameters of several layers at once.
        some = [layer(seed) for seed in range(3)]
        stacked, buffers = torch.func.stack_module_state(some)
        together = torch.func.vmap(lambda values: torch.func.functional_call(module, (values, buffers), (x,)))(stacked)
        for row, one in enumerate(some):
            self.close({"y": together[row]}, {"y": one(x)})


class Rows(Dataset):
    """Computes a layer's output, and its gradient, where a loader asks for it: in a worker."""

    def __init__(self):
        self.layer, self.spec = layer(), gated

    def __len__(self):
        return 4

    def __getitem__(self, number):
        x = sequence(seed=number, batch=1)
        with torch.enable_grad():
            found = gradients(self.layer, x)
        return self.layer(x).detach()[0], found["table"], len(self.spec.mlir)


class Processes(Case):
    def test_workers_of_loaders(self):
        rows = Rows()
        expected = [rows[number] for number in range(4)]
        for context in ("fork", "spawn"):
            for number, (y, table, length) in enumerate(DataLoader(rows, batch_size=None, num_workers=2, multiprocessing_context=context)):
                self.close({"y": y, "table": table}, {"y": expected[number][0], "table": expected[number][1]})
                self.assertEqual(length, len(gated.mlir))

    def test_two_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            ranks = [subprocess.Popen([sys.executable, __file__, "--rank", str(rank), folder], env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) for rank in range(2)]
            for process in ranks:
                output, errors = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 0, errors)
                self.assertEqual(output.split(), ["ddp", "fsdp", "saved"], errors)


def run_rank(rank, folder):
    """One of two processes: gradients of half a batch each, averaged, are those of the whole batch."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    case, x = Case(), sequence(batch=4)
    expected = gradients(layer(), x)
    mine = x[2 * rank:2 * rank + 2]
    module = DistributedDataParallel(layer())
    case.close({name.removeprefix("module."): value for name, value in gradients(module, mine).items()}, expected)
    print("ddp")
    model = torch.nn.Sequential(layer(), layer(1))
    whole = torch.nn.Sequential(layer(), layer(1))
    for part in model:
        fully_shard(part, mesh=init_device_mesh("cpu", (2,)))
    fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
    assert "DTensor" in type(model[0].table).__name__, type(model[0].table)
    found = gradients(model, mine)
    case.close({name: value.full_tensor() for name, value in found.items()}, gradients(whole, x))
    for some in (model, whole):
        torch.optim.SGD(some.parameters(), lr=0.5).step()
    with torch.no_grad():
        case.close({"y": model(mine)}, {"y": whole(mine)})
    print("fsdp")
    case.close({name: value.full_tensor() for name, value in model.state_dict().items()}, whole.state_dict())
    print("saved")
    dist.barrier()  # a process that goes while the other still talks to it may end the other
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        run_rank(int(sys.argv[2]), sys.argv[3])
    else:
        unittest.main()
