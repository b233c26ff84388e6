#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax attention in Triton, compiled to PTX without a GPU, as contenders of `taylor-bench ptx`.

    triton_attention.py OUT --shape 1,2,512,64 --shape 1,2,512,128

writes PTX files and OUT/plans.json: what to launch, with which arguments, in which order. The kernels have the structure of Triton's
fused-attention tutorial (python/tutorials/06-fused-attention.py): a forward with a loop off and a loop on the diagonal; a backward of a kernel
for the rows' sums of o * do and one that makes dk and dv, then dq, from a second pass over the scores. Tile sizes, warps and stages are the tutorial's:
forward those that it tunes over, backward its single choice. Two things are left out that it does outside of its kernels or not at all on
these GPUs: the keys are not scaled by a pass of their own before the backward (the scale is part of a fused multiply-add), and tiles are
loaded through pointers.

Shapes: B batch, H heads, T tokens (queries and keys), D channels of q, k and v. Arrays are dense [B, H, T, D]; m and delta are fp32 [B, H, T].
"""
import argparse
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def weigh(sum, mass, top, q, k, v, rows, first, last, scale2, token, D: tl.constexpr, N: tl.constexpr, DIAGONAL: tl.constexpr):
    """Adds the keys first..last-1 to sum [M, D], mass [M] and the running maximum top [M], in powers of two."""
    columns = tl.arange(0, N)
    channels = tl.arange(0, D)
    k += (first + columns[None, :]) * token + channels[:, None]  # [D, N]
    v += (first + columns[:, None]) * token + channels[None, :]  # [N, D]
    for start in range(first, last, N):
        start = tl.multiple_of(start, N)
        score = tl.dot(q, tl.load(k))
        if DIAGONAL:
            score = score * scale2 + tl.where(rows[:, None] >= start + columns[None, :], 0, -1.0e6)
            new = tl.maximum(top, tl.max(score, 1))
            weight = tl.math.exp2(score - new[:, None])
        else:
            new = tl.maximum(top, tl.max(score, 1) * scale2)
            weight = tl.math.exp2(score * scale2 - new[:, None])
        shrink = tl.math.exp2(top - new)
        mass = mass * shrink + tl.sum(weight, 1)
        sum = tl.dot(weight.to(v.dtype.element_ty), tl.load(v), sum * shrink[:, None])
        top = new
        k += N * token
        v += N * token
    return sum, mass, top


@triton.jit
def forward(q, k, v, o, m, scale, batch, head, token, H, T, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr):
    """o [B, H, T, D] and m, the logarithm (base 2) of each row's mass. Strides in elements. Grid: T / M, B * H."""
    block = tl.program_id(0)
    which = tl.program_id(1)
    base = (which // H).to(tl.int64) * batch + (which % H).to(tl.int64) * head
    rows = block * M + tl.arange(0, M)
    tile = base + rows[:, None] * token + tl.arange(0, D)[None, :]
    scale2 = scale * LOG2E
    top = tl.full([M], float("-inf"), tl.float32)
    mass = tl.full([M], 1.0, tl.float32)
    sum = tl.zeros([M, D], tl.float32)
    queries = tl.load(q + tile)
    diagonal = block * M if CAUSAL else T
    sum, mass, top = weigh(sum, mass, top, queries, k + base, v + base, rows, 0, diagonal, scale2, token, D, N, False)
    if CAUSAL:
        first = tl.multiple_of(block * M, M)
        sum, mass, top = weigh(sum, mass, top, queries, k + base, v + base, rows, first, first + M, scale2, token, D, N, True)
    tl.store(m + which * T + rows, top + tl.math.log2(mass))
    tl.store(o + tile, (sum / mass[:, None]).to(o.dtype.element_ty))


@triton.jit
def rows_of(o, do, delta, T, D: tl.constexpr, M: tl.constexpr):
    """delta = sum over channels of o * do. Grid: T / M, B * H."""
    rows = tl.program_id(1) * T + tl.program_id(0) * M + tl.arange(0, M)
    tile = rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(delta + rows, tl.sum(tl.load(o + tile).to(tl.float32) * tl.load(do + tile).to(tl.float32), 1))


@triton.jit
def add_keys(dk, dv, k, v, q, do, m, delta, columns, first, steps, scale2, token, D: tl.constexpr, M: tl.constexpr, MASK: tl.constexpr):
    """Adds the queries from `first` on, M at a time, to dk and dv [N, D] of the keys `columns`."""
    rows = tl.arange(0, M)
    channels = tl.arange(0, D)
    q += (first + rows[None, :]) * token + channels[:, None]  # [D, M]
    do += (first + rows[:, None]) * token + channels[None, :]  # [M, D]
    now = first
    for _ in range(steps):
        queries = tl.load(q)
        top = tl.load(m + now + rows)
        weight = tl.math.exp2(tl.dot(k, queries) * scale2 - top[None, :])  # [N, M]
        if MASK:
            weight = tl.where(now + rows[None, :] >= columns[:, None], weight, 0.0)
        cotangent = tl.load(do)
        dv = tl.dot(weight.to(do.dtype.element_ty), cotangent, dv)
        product = tl.dot(v, tl.trans(cotangent))
        ds = weight * (product - tl.load(delta + now + rows)[None, :])
        dk = tl.dot(ds.to(do.dtype.element_ty), tl.trans(queries), dk)
        now += M
        q += M * token
        do += M * token
    return dk, dv


@triton.jit
def add_queries(dq, q, do, top, delta, k, v, rows, first, steps, scale2, token, D: tl.constexpr, N: tl.constexpr, MASK: tl.constexpr):
    """Adds the keys from `first` on, N at a time, to dq [M, D] of the queries `rows`."""
    columns = tl.arange(0, N)
    channels = tl.arange(0, D)
    k += (first + columns[None, :]) * token + channels[:, None]  # [D, N]
    v += (first + columns[None, :]) * token + channels[:, None]
    now = first
    for _ in range(steps):
        keys = tl.load(k)
        values = tl.load(v)
        weight = tl.math.exp2(tl.dot(q, keys) * scale2 - top[:, None])  # [M, N]
        if MASK:
            weight = tl.where(rows[:, None] >= now + columns[None, :], weight, 0.0)
        ds = weight * (tl.dot(do, values) - delta[:, None])
        dq = tl.dot(ds.to(k.dtype.element_ty), tl.trans(keys), dq)
        now += N
        k += N * token
        v += N * token
    return dq


@triton.jit
def pairs(q, k, v, do, dq, dk, dv, m, delta, scale, batch, head, token, H, T, D: tl.constexpr, M1: tl.constexpr, N1: tl.constexpr,
          M2: tl.constexpr, N2: tl.constexpr, SLICE: tl.constexpr, CAUSAL: tl.constexpr):
    """dk and dv of N1 keys, then dq of M2 queries. On the diagonal tiles are SLICE times smaller. Grid: T / N1, 1, B * H."""
    which = tl.program_id(2)
    base = (which // H).to(tl.int64) * batch + (which % H).to(tl.int64) * head
    q += base
    k += base
    v += base
    do += base
    m += which * T
    delta += which * T
    scale2 = scale * LOG2E
    channels = tl.arange(0, D)

    start = tl.program_id(0) * N1
    columns = start + tl.arange(0, N1)
    tile = columns[:, None] * token + channels[None, :]
    dk_sum = tl.zeros([N1, D], tl.float32)
    dv_sum = tl.zeros([N1, D], tl.float32)
    keys = tl.load(k + tile)
    values = tl.load(v + tile)
    first = 0
    if CAUSAL:
        small: tl.constexpr = M1 // SLICE
        dk_sum, dv_sum = add_keys(dk_sum, dv_sum, keys, values, q, do, m, delta, columns, start, N1 // small, scale2, token, D, small, True)
        first = start + N1
    dk_sum, dv_sum = add_keys(dk_sum, dv_sum, keys, values, q, do, m, delta, columns, first, (T - first) // M1, scale2, token, D, M1, False)
    tl.store(dv + base + tile, dv_sum.to(dv.dtype.element_ty))
    tl.store(dk + base + tile, (dk_sum * scale).to(dk.dtype.element_ty))

    start = tl.program_id(0) * M2
    rows = start + tl.arange(0, M2)
    tile = rows[:, None] * token + channels[None, :]
    queries = tl.load(q + tile)
    cotangent = tl.load(do + tile)
    top = tl.load(m + rows)
    mean = tl.load(delta + rows)
    dq_sum = tl.zeros([M2, D], tl.float32)
    end = T
    if CAUSAL:
        narrow: tl.constexpr = N2 // SLICE
        dq_sum = add_queries(dq_sum, queries, cotangent, top, mean, k, v, rows, start, M2 // narrow, scale2, token, D, narrow, True)
        end = start
    dq_sum = add_queries(dq_sum, queries, cotangent, top, mean, k, v, rows, 0, end // N2, scale2, token, D, N2, False)
    tl.store(dq + base + tile, (dq_sum * scale).to(dq.dtype.element_ty))


def spilled(ptx, target):
    """Bytes per thread that ptxas stores because registers do not suffice."""
    ptxas = triton.knobs.nvidia.ptxas.path
    log = subprocess.run([ptxas, "-v", f"-arch=sm_{target}", "-o", "/dev/null", ptx], capture_output=True, text=True, check=True).stderr
    return sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", log))


def build(out, name, kernel, arguments, constants, target, grid, warps, stages, dtype):
    """Compiles one kernel, unless it needs more shared memory than a block may have: then None. Returns its entry of a plan.
    `arguments`: name to ("tensor", name), ("workspace", name) or (type, value), in the kernel's order."""
    signature, attributes, given = {}, {}, []
    types = {"tensor": "*bf16" if dtype == "bf16" else "*fp16", "workspace": "*fp32", "f32": "fp32", "i32": "i32"}
    for position, (argument, (kind, value)) in enumerate(arguments.items()):
        signature[argument] = types[kind]
        given.append({kind: value})
        if kind in ("tensor", "workspace") or (kind == "i32" and value % 16 == 0):
            attributes[(position, )] = [["tt.divisibility", 16]]  # what a launch would find out
    signature |= {constant: "constexpr" for constant in constants}
    source = ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", target, 32), options={"num_warps": warps, "num_stages": stages})
    most = {80: 163, 86: 99, 89: 99, 90: 227}[target] << 10
    if compiled.metadata.shared > most:
        return None
    ptx = out / (name + ".ptx")
    ptx.write_text(compiled.asm["ptx"])
    # Triton adds two pointers to scratch memory that these kernels do not use.
    given += [{"i64": 0}, {"i64": 0}]
    return {"ptx": ptx.name, "entry": compiled.metadata.name, "grid": grid, "threads": 32 * compiled.metadata.num_warps,
            "shared": compiled.metadata.shared, "spilled": spilled(ptx, target), "arguments": given}


def tensors(*names):
    """Arguments of these names: m and delta are rows of the plan's workspace, all others tensors of the problem."""
    return {name: ("workspace" if name in ("m", "delta") else "tensor", name) for name in names}


def numbers(sizes):
    """The arguments that follow the tensors."""
    B, H, T, D = sizes
    return {"scale": ("f32", 1 / math.sqrt(D)), "batch": ("i32", H * T * D), "head": ("i32", T * D), "token": ("i32", D), "H": ("i32", H), "T": ("i32", T)}


def forwards(out, plan, target, dtype, causal, sizes):
    """Plans of all forward kernels that the tutorial would try, compiled one by one as they are asked for."""
    B, H, T, D = sizes
    for M, N, stages, warps in itertools.product([64, 128], [32, 64, 128], [2, 3, 4], [4, 8]):
        if N > D or (causal and M < N):
            continue
        variant = f"{M}x{N}, {warps} warps, {stages} stages"
        name = f"forward-{plan['mask']}-{dtype}-sm_{target}-d{D}-{M}x{N}-w{warps}-s{stages}"
        kernel = build(out, name, forward, tensors(*"qkvom") | numbers(sizes), {"D": D, "M": M, "N": N, "CAUSAL": causal}, target, [T // M, B * H, 1], warps, stages, dtype)
        if kernel:
            yield plan | {"direction": "forward", "variant": variant, "kernels": [kernel]}


def backwards(out, plan, target, dtype, causal, sizes):
    """The plan of the backward, with the tutorial's tile sizes."""
    B, H, T, D = sizes
    name = f"{plan['mask']}-{dtype}-sm_{target}-d{D}"
    first = build(out, "rows-" + name, rows_of, tensors("o", "do", "delta") | {"T": ("i32", T)},
                  {"D": D, "M": 128}, target, [T // 128, B * H, 1], 4, 3, dtype)
    before = next(forwards(out, plan, target, dtype, causal, sizes))["kernels"]
    for stages in (5, 4, 3, 2):  # the tutorial's 5 do not fit everywhere
        second = build(out, "pairs-" + name, pairs, tensors("q", "k", "v", "do", "dq", "dk", "dv", "m", "delta") | numbers(sizes), {"D": D, "M1": 32, "N1": 128, "M2": 128, "N2": 32, "SLICE": 2, "CAUSAL": causal},
                       target, [T // 128, 1, B * H], 4, stages, dtype)
        if second:
            yield plan | {"direction": "backward", "variant": f"32x128 and 128x32, 4 warps, {stages} stages", "before": before, "kernels": [first, second]}
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, help="folder to write to")
    parser.add_argument("--shape", action="append", help="sizes B,H,T,D, T a multiple of 128 (repeatable)")
    parser.add_argument("--dtype", default="bf16", help="storage types, by comma: bf16, f16 (default: bf16)")
    parser.add_argument("--mask", default="causal,bidirectional", help="masks, by comma (default: %(default)s)")
    parser.add_argument("--direction", default="forward,backward", help="directions, by comma (default: %(default)s)")
    parser.add_argument("--target", type=int, default=80, choices=[80, 86, 89, 90],
                        help="compute capability (default: 80)")
    parser.add_argument("--first", action="store_true",
                        help="write only the first forward kernel of each kind, not all that would be tuned over")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    plans = []
    shapes = options.shape or ["1,2,512,64", "1,2,512,128"]
    for shape, dtype, mask in itertools.product(shapes, options.dtype.split(","), options.mask.split(",")):
        sizes = [int(size) for size in shape.split(",")]
        if len(sizes) != 4 or sizes[2] % 128 or sizes[3] not in (16, 32, 64, 128, 256):
            sys.exit(f"triton_attention.py: error: expected B,H,T,D with T a multiple of 128 and D a power of 2 from 16 to 256, but got '{shape}'")
        plan = {"contender": f"triton {triton.__version__}", "target": f"sm_{options.target}", "mask": mask, "dtype": dtype, "shape": shape,
                "workspace": {name: 4 * sizes[0] * sizes[1] * sizes[2] for name in ("m", "delta")}}
        if "forward" in options.direction.split(","):
            plans += itertools.islice(forwards(options.out, plan, options.target, dtype, mask == "causal", sizes), 1 if options.first else None)
        if "backward" in options.direction.split(","):
            plans += backwards(options.out, plan, options.target, dtype, mask == "causal", sizes)
        print(f"{shape} {dtype} {mask}: {len(plans)} plans so far", flush=True)
    (options.out / "plans.json").write_text(json.dumps(plans, indent=1))


if __name__ == "__main__":
    main()
