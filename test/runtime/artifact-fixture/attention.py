# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fixture's specifications for tests of operators: their files, inputs, and the same in eager code."""
import pathlib

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
PLAIN, GATED = str(FOLDER / "plain.mlir"), str(FOLDER / "gated.mlir")


def make(dtype=torch.float32, b=2, h=4, g=2, t=5, u=7, d=8, e=4, gated=True, grad=True, seed=0):
    """q, k, v and, where gated, out_gate and norm_weight; the weight is never bf16."""
    generator = torch.Generator().manual_seed(seed)
    real = torch.float64 if dtype == torch.float64 else torch.float32

    def array(*sizes, dtype=dtype):
        return torch.randn(*sizes, generator=generator, dtype=torch.float64).to(dtype).requires_grad_(grad)

    inputs = [array(b, h, t, d), array(b, g, u, d), array(b, g, u, e)]
    return inputs + ([array(b, h, t), array(e, dtype=real)] if gated else [])


def eager(q, k, v, gate=None, weight=None, causal=True):
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        t, u = s.shape[-2:]
        s = s.masked_fill(torch.ones(t, u, dtype=torch.bool).triu(u - t + 1), -torch.inf)
    o = s.softmax(-1) @ v
    return o if gate is None else gate.sigmoid()[..., None] * weight * o
