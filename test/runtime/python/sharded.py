# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s
# REQUIRES: taylorc, torch
# UNSUPPORTED: sanitizer
"""ta.attention on DTensors of four processes: batch and heads sharded, values and gradients as of the whole; what cannot be is refused."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor


@ta.spec
def gated(q, k, v, out_gate=ta.projection("b h t"), bias=ta.parameter("h r=3", "ones"), weight=ta.parameter("e", "ones")):
    n, c = ta.recurrences(q, k, v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return ta.sigmoid(out_gate) * ta.reduce("sum", bias, over="r") * weight * n / c


@ta.spec
def over_heads(q, k, v):
    n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"))
    return n / ta.reduce("mean", z, over="h")


@ta.spec
def slopes(q, k, v):
    n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"), score=lambda s: s - ta.h * (ta.t - ta.u))
    return n / z


def check(placements, mesh, kv_heads):
    """Inputs sharded so, batch 4 and 4 heads, against the whole on one process."""
    torch.manual_seed(1)
    shapes = ((4, 4, 21, 16), (4, kv_heads, 21, 16), (4, kv_heads, 21, 8), (4, 4, 21), (4, 3), (8,))
    whole = [torch.randn(shape, requires_grad=True) for shape in shapes]
    documents = torch.arange(21).div(8, rounding_mode="floor").repeat(4, 1)  # a tensor that every process has
    expected = ta.attention(*whole, spec=gated, documents=documents)
    cotangent = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, whole, cotangent)
    axes = ("bhtd", "bgud", "bgue", "bht", "hr", "e")

    def place(i, placement, x, names):
        if isinstance(placement, Shard) and len(names) > 2 and x.shape[placement.dim] % mesh.size(i) == 0:
            return placement
        return Replicate()  # which is cut where the others are, or has no such axis

    shards = [distribute_tensor(x.detach(), mesh, [place(i, y, x, names) for i, y in enumerate(placements)]).requires_grad_()
              for x, names in zip(whole, axes)]
    found = ta.attention(*shards, spec=gated, documents=documents)
    assert list(found.placements) == placements, (found.placements, placements)
    torch.testing.assert_close(found.full_tensor(), expected)
    found.backward(distribute_tensor(cotangent, mesh, placements))
    for x, gradient in zip(shards, gradients):
        torch.testing.assert_close(x.grad.full_tensor(), gradient)


def refuse(message, mesh, inputs, placements, spec="softmax"):
    """The message of a call on inputs placed so."""
    sharded = [distribute_tensor(x, mesh, placement) if placement else x for x, placement in zip(inputs, placements)]
    try:
        ta.attention(*sharded, spec=spec)
    except RuntimeError as error:
        assert str(error) == message, (str(error), message)
        return
    raise AssertionError(f"not refused: {message}")


def run_rank(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=4)
    line, square = init_device_mesh("cpu", (4,)), init_device_mesh("cpu", (2, 2))
    check([Shard(0)], line, 4)
    check([Shard(1)], line, 4)
    check([Shard(1)], line, 1)  # key/value heads that all share
    check([Replicate()], line, 2)
    check([Shard(0), Shard(1)], square, 2)
    check([Shard(1), Shard(0)], square, 4)
    q, odd = torch.randn(4, 4, 8, 16), torch.randn(4, 2, 8, 16)
    whole, batch, heads, tokens = [Replicate()], [Shard(0)], [Shard(1)], [Shard(2)]
    refuse("taylor: unsupported placement Shard(dim=2) of 'q', whose axis is t: batch and heads can be sharded; redistribute it to Replicate()",
           line, [q] * 3, [tokens, whole, whole])
    refuse("taylor: unsupported placements: one dimension of the mesh shards batch and heads; redistribute some of the inputs",
           line, [q] * 3, [batch, heads, heads])
    refuse("taylor: expected a size of axis g of 'k' that 4 processes divide, but got 2", line, [q, odd, odd], [heads, whole, whole])
    refuse("taylor: expected all inputs as DTensors of one mesh, but some are not; distribute_tensor(x, mesh, [Replicate()]) makes one of a tensor "
           "that every process has", line, [q] * 3, [batch, None, batch])
    mixing = ("taylor: unsupported DTensor sharded over heads: the specification computes across them (h or g in a formula or a reduction); redistribute to "
              "Replicate() there")
    for spec in (over_heads, slopes):
        refuse(mixing, line, [q] * 3, [heads] * 3, spec)
        result = ta.attention(*(distribute_tensor(q, line, batch) for _ in range(3)), spec=spec)
        torch.testing.assert_close(result.full_tensor(), ta.attention(q, q, q, spec=spec)) if rank == 0 else result.full_tensor()
    try:
        torch.compile(lambda x: ta.attention(x, x, x, spec="softmax"), fullgraph=True)(distribute_tensor(q, line, batch))
    except Exception as error:
        assert "unsupported DTensor under torch.compile; compile what works on local tensors" in str(error), error
    else:
        raise AssertionError("not refused under torch.compile")
    dist.destroy_process_group()
    print("right", flush=True)


if sys.argv[1:2] == ["--rank"]:
    run_rank(int(sys.argv[2]), sys.argv[3])
else:
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen([sys.executable, __file__, "--rank", str(rank), folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                 for rank in range(4)]
        for rank, process in enumerate(ranks):
            said = process.communicate(timeout=600)[0]
            assert process.returncode == 0 and said.endswith("right\n"), f"rank {rank}:\n{said}"
