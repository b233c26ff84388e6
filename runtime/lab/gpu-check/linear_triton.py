# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""linear-relu of examples/specs as chunks in Triton, in the structure of flash-linear-attention (fla-org, ops/common: chunk_h.py, chunk_o.py):
a kernel for the states before each chunk, one for the output of each chunk, and the same two in reverse for the gradients, which make the
states again. As there, a chunk has 64 tokens, operands have the storage type, sums fp32, and tile sizes are tuned. Differences: states always
go from kernel to kernel in the storage type (there the backward's go in fp32, and are rounded before they are multiplied); the kernels sum
the mass too; one kernel makes all three gradients of a chunk; the rotation and the feature map are a kernel too.

    f = relu(rope q), g = relu(rope k)      N_t = sum over u <= t of <f_t, g_u> v_u      Z_t = sum of <f_t, g_u>      o_t = N_t / (Z_t + 1e-8)

Shapes: R = B H rows of heads, T tokens, D channels of q and k, E of v, C tokens of a chunk; dense q, k [R, T, D], v, o [R, T, E], mass [R, T],
states [R, T / C, D, E], their masses [R, T / C, D] in fp32. D and E are 64 or 128."""
import torch
import triton
import triton.language as tl

from errors import Unavailable

CHUNK = 64
EPSILON = 1.0e-8
IS_INTERPRETED = triton.knobs.runtime.interpret


def tuned(configurations, key):
    """The fastest of the configurations for a key; the interpreter has no times, and takes the first."""
    return triton.autotune(configurations[:1] if IS_INTERPRETED else configurations, key=key)


@triton.jit
def turn(x, cos, sin, y, T, D: tl.constexpr, M: tl.constexpr):
    """y = relu(rope x) of M tokens. Grid: T / M, R."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    pair = tl.arange(0, D // 2)
    place = tl.program_id(1).to(tl.int64) * T * D + rows[:, None] * D + pair[None, :]
    table = rows[:, None] * D + pair[None, :]
    c = tl.load(cos + table).to(tl.float32)
    s = tl.load(sin + table).to(tl.float32)
    x1 = tl.load(x + place).to(tl.float32)
    x2 = tl.load(x + place + D // 2).to(tl.float32)
    tl.store(y + place, tl.maximum(x1 * c - x2 * s, 0.0).to(y.dtype.element_ty))
    tl.store(y + place + D // 2, tl.maximum(x2 * c + x1 * s, 0.0).to(y.dtype.element_ty))


@triton.jit
def turn_back(y, dy, cos, sin, dx, T, D: tl.constexpr, M: tl.constexpr):
    """dx of `turn`: zero where y is, then the rotation by the negative angle. Grid: T / M, R."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    pair = tl.arange(0, D // 2)
    place = tl.program_id(1).to(tl.int64) * T * D + rows[:, None] * D + pair[None, :]
    table = rows[:, None] * D + pair[None, :]
    c = tl.load(cos + table).to(tl.float32)
    s = tl.load(sin + table).to(tl.float32)
    d1 = tl.where(tl.load(y + place) > 0, tl.load(dy + place).to(tl.float32), 0.0)
    d2 = tl.where(tl.load(y + place + D // 2) > 0, tl.load(dy + place + D // 2).to(tl.float32), 0.0)
    tl.store(dx + place, (d1 * c + d2 * s).to(dx.dtype.element_ty))
    tl.store(dx + place + D // 2, (d2 * c - d1 * s).to(dx.dtype.element_ty))


@tuned([triton.Config({"BD": bd, "BE": be}, num_warps=warps, num_stages=stages)
        for bd, be, warps in ((32, 32, 2), (32, 64, 4), (64, 64, 4)) for stages in (2, 3)], key=["T", "D", "E", "REVERSE"])
@triton.jit
def states(x, y, weight, state, mass, T, D: tl.constexpr, E: tl.constexpr, C: tl.constexpr, REVERSE: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr):
    """Before each chunk (in reverse: after it) the sums of x_u y_u^T and of weight_u x_u (without weights, REVERSE is False: of x_u) over all
    tokens before (after) it. Grid: D / BD, E / BE, R."""
    row = tl.program_id(2).to(tl.int64)
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    e = tl.program_id(1) * BE + tl.arange(0, BE)
    c = tl.arange(0, C)
    chunks = T // C
    sum = tl.zeros([BD, BE], tl.float32)
    total = tl.zeros([BD], tl.float32)
    for step in range(chunks):
        chunk = chunks - 1 - step if REVERSE else step
        tl.store(state + (row * chunks + chunk) * D * E + d[:, None] * E + e[None, :], sum.to(state.dtype.element_ty))
        tokens = row * T + chunk * C + c
        tile = tl.load(x + tokens[None, :] * D + d[:, None])  # [BD, C]
        sum = tl.dot(tile, tl.load(y + tokens[:, None] * E + e[None, :]), sum, input_precision="ieee")
        if tl.program_id(1) == 0:
            tl.store(mass + (row * chunks + chunk) * D + d, total)
            part = tile.to(tl.float32)
            if REVERSE:
                part *= tl.load(weight + tokens)[None, :]
            total += tl.sum(part, 1)


@tuned([triton.Config({"BE": be}, num_warps=warps, num_stages=stages) for be, warps in ((64, 4), (128, 8), (64, 8)) for stages in (2, 3)],
       key=["T", "D", "E"])
@triton.jit
def outputs(q, k, v, state, mass, o, z, T, epsilon, D: tl.constexpr, E: tl.constexpr, C: tl.constexpr, BE: tl.constexpr):
    """o and z = Z + epsilon of a chunk, from its state and its own pairs. Grid: E / BE, T / C, R."""
    row = tl.program_id(2).to(tl.int64)
    chunk = tl.program_id(1)
    block = row * (T // C) + chunk
    d = tl.arange(0, D)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    c = tl.arange(0, C)
    tokens = row * T + chunk * C + c
    queries = tl.load(q + tokens[:, None] * D + d[None, :])  # [C, D]
    weight = tl.dot(queries, tl.load(k + tokens[None, :] * D + d[:, None]), input_precision="ieee")  # [C, C]
    weight = tl.where(c[:, None] >= c[None, :], weight, 0.0)
    whole = tl.sum(weight, 1) + tl.sum(queries.to(tl.float32) * tl.load(mass + block * D + d)[None, :], 1) + epsilon
    sum = tl.dot(queries, tl.load(state + block * D * E + d[:, None] * E + e[None, :], mask=e[None, :] < E, other=0.0), input_precision="ieee")
    values = tl.load(v + tokens[:, None] * E + e[None, :], mask=e[None, :] < E, other=0.0)
    sum = tl.dot(weight.to(values.dtype), values, sum, input_precision="ieee")
    tl.store(o + tokens[:, None] * E + e[None, :], (sum / whole[:, None]).to(o.dtype.element_ty), mask=e[None, :] < E)
    if tl.program_id(0) == 0:
        tl.store(z + tokens, whole)


@triton.jit
def cotangents(o, do, z, dn, dz, E: tl.constexpr, M: tl.constexpr):
    """Cotangents of numerator and mass: dn = do / z, dz = -<do, o> / z. Grid: R T / M."""
    rows = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)
    place = rows[:, None] * E + tl.arange(0, E)[None, :]
    given = tl.load(do + place).to(tl.float32)
    whole = tl.load(z + rows)
    tl.store(dn + place, (given / whole[:, None]).to(dn.dtype.element_ty))
    tl.store(dz + rows, -tl.sum(given * tl.load(o + place).to(tl.float32), 1) / whole)


@tuned([triton.Config({}, num_warps=warps, num_stages=stages) for warps in (4, 8) for stages in (1, 2)], key=["T", "D", "E"])
@triton.jit
def gradients(q, k, v, dn, dz, state, mass, dstate, dmass, dq, dk, dv, T, D: tl.constexpr, E: tl.constexpr, C: tl.constexpr):
    """dq, dk and dv of a chunk, from the state before it, the state's cotangent after it, and its own pairs. Grid: T / C, R."""
    row = tl.program_id(1).to(tl.int64)
    block = row * (T // C) + tl.program_id(0)
    d = tl.arange(0, D)
    e = tl.arange(0, E)
    c = tl.arange(0, C)
    tokens = row * T + tl.program_id(0) * C + c
    narrow = tokens[:, None] * D + d[None, :]
    wide = tokens[:, None] * E + e[None, :]
    place = block * D * E + d[:, None] * E + e[None, :]
    queries, keys = tl.load(q + narrow), tl.load(k + narrow)  # [C, D]
    values, cotangent = tl.load(v + wide), tl.load(dn + wide)  # [C, E]
    row_mass = tl.load(dz + tokens)
    causal = c[:, None] >= c[None, :]  # [queries, keys]
    dweight = tl.dot(cotangent, tl.trans(values), input_precision="ieee") + row_mass[:, None]
    dweight = tl.where(causal, dweight, 0.0).to(queries.dtype)

    sum = row_mass[:, None] * tl.load(mass + block * D + d)[None, :]
    sum = tl.dot(cotangent, tl.trans(tl.load(state + place)), sum, input_precision="ieee")
    sum = tl.dot(dweight, keys, sum, input_precision="ieee")
    tl.store(dq + narrow, sum.to(dq.dtype.element_ty))

    after = tl.load(dstate + place)
    sum = tl.zeros([C, D], tl.float32) + tl.load(dmass + block * D + d)[None, :]
    sum = tl.dot(values, tl.trans(after), sum, input_precision="ieee")
    sum = tl.dot(tl.trans(dweight), queries, sum, input_precision="ieee")
    tl.store(dk + narrow, sum.to(dk.dtype.element_ty))

    weight = tl.where(causal, tl.dot(queries, tl.trans(keys), input_precision="ieee"), 0.0).to(queries.dtype)
    out = tl.dot(keys, after, input_precision="ieee")
    out = tl.dot(tl.trans(weight), cotangent, out, input_precision="ieee")
    tl.store(dv + wide, out.to(dv.dtype.element_ty))


def make_states(x, y, weight, reverse):
    (r, t, d), e = x.shape, y.shape[-1]
    state = x.new_empty(r, t // CHUNK, d, e)
    mass = x.new_empty(r, t // CHUNK, d, dtype=torch.float32)
    states[lambda meta: (triton.cdiv(d, meta["BD"]), triton.cdiv(e, meta["BE"]), r)](x, y, weight, state, mass, t, d, e, CHUNK, reverse)
    return state, mass


class LinearRelu(torch.autograd.Function):
    """q, k [R, T, D], v [R, T, E] to o [R, T, E]."""

    @staticmethod
    def forward(context, q, k, v, cos, sin):
        (r, t, d), e = q.shape, v.shape[-1]
        f, g = torch.empty_like(q), torch.empty_like(k)
        for x, y in ((q, f), (k, g)):
            turn[(t // CHUNK, r)](x, cos, sin, y, t, d, CHUNK)
        state, mass = make_states(g, v, unused(g), False)
        o, z = torch.empty_like(v), v.new_empty(r, t, dtype=torch.float32)
        outputs[lambda meta: (triton.cdiv(e, meta["BE"]), t // CHUNK, r)](f, g, v, state, mass, o, z, t, EPSILON, d, e, CHUNK)
        context.save_for_backward(f, g, v, o, z, cos, sin)
        return o

    @staticmethod
    def backward(context, do):
        f, g, v, o, z, cos, sin = context.saved_tensors
        (r, t, d), e = f.shape, v.shape[-1]
        dn, dz = torch.empty_like(v), torch.empty_like(z)
        cotangents[(r * t // CHUNK,)](o, do.contiguous(), z, dn, dz, e, CHUNK)
        state, mass = make_states(g, v, unused(g), False)
        dstate, dmass = make_states(f, dn, dz, True)
        df, dg, dv = torch.empty_like(f), torch.empty_like(g), torch.empty_like(v)
        gradients[(t // CHUNK, r)](f, g, v, dn, dz, state, mass, dstate, dmass, df, dg, dv, t, d, e, CHUNK)
        dq, dk = torch.empty_like(f), torch.empty_like(g)
        for y, dy, dx in ((f, df, dq), (g, dg, dk)):
            turn_back[(t // CHUNK, r)](y, dy, cos, sin, dx, t, d, CHUNK)
        return dq, dk, dv, None, None


def unused(x):
    """What stands for the weights where there are none: it is not read."""
    return x.new_empty(1, dtype=torch.float32)


def linear_relu(q, k, v, cos, sin):
    """q, k [B, H, T, D], v [B, H, T, E]; tables [T, D] of the rotation (opponents.py)."""
    return LinearRelu.apply(*(x.flatten(0, 1) for x in (q, k, v)), cos, sin).view(v.shape)


def require(problem):
    """Unavailable for sizes or devices that the kernels are not written for."""
    sizes = problem.sizes
    if problem.device.name != "cuda" and not IS_INTERPRETED:
        raise Unavailable("Triton's kernels run on a GPU")
    if sizes["t"] % CHUNK != 0 or sizes["u"] != sizes["t"] or sizes["g"] != sizes["h"]:
        raise Unavailable(f"requires whole chunks of {CHUNK} tokens, and as many keys and heads of keys as there are of queries")
    if any(sizes[a] not in (64, 128) for a in "de"):
        raise Unavailable("requires head sizes of 64 or 128")
