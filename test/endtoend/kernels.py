# REQUIRES: taylorc, torch
# UNSUPPORTED: sanitizer
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %full
"""Compiled kernels, called from PyTorch, against plain PyTorch formulas with autograd: outputs and all gradients (gate logits
and learned parameters too) in fp32, bf16 and fp64. The judge is the formula in fp64 on inputs rounded as the kernel's; the error
allowed is that of the same formula evaluated by PyTorch in the kernel's type."""
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
sys.path[:0] = [str(HERE / "Inputs"), str(SOURCE / "examples" / "python")]
import formulas
from taylor_attention import attention

EPSILON = {torch.float32: 2.0**-23, torch.bfloat16: 2.0**-7, torch.float64: 4096 * 2.0**-52}  # fp64: the angles of rope at position p are off by p eps
FACTOR = {torch.float32: 2.0, torch.bfloat16: 1.1, torch.float64: 2.0}
# Elements of a running sum share their errors, so that one draw of eager code's says little (dialect/Reference/README.md, "Luck is measured"): twice as much.
# The tests of shapes judge it by eight draws.
RUNNING_SUMS = {"gradient of decay_gate"}
SHAPES = [  # b, h, g, t, u, d, e
    (2, 4, 2, 65, 65, 32, 32),
    (1, 3, 1, 37, 111, 64, 16),
    (2, 2, 2, 129, 64, 16, 48),  # 65 rows that see no key
    (1, 1, 1, 1, 1, 64, 64),
    (1, 2, 1, 257, 257, 128, 64),
]


def is_learned(name):
    return name.startswith("norm")


def layouts(inputs):
    """The same values in the strides that models have: [B, T, H, d] memory, and a slice of a larger tensor."""
    strided = {}
    for name, x in inputs.items():
        if x.dim() == 4:
            x = x.transpose(1, 2).contiguous().transpose(1, 2)
        elif x.dim() == 3:
            x = torch.cat([x, x], -1)[..., : x.shape[-1]]
        strided[name] = x.detach().requires_grad_(x.is_floating_point())
    return {"dense": {n: x.detach().requires_grad_(x.is_floating_point()) for n, x in inputs.items()}, "strided": strided}


def run(function, inputs, cotangent):
    real = {n: x for n, x in inputs.items() if x.is_floating_point()}
    o = function(*inputs.values())
    grads = formulas.gradients(o, real, cotangent.to(o.dtype))
    zeros = [torch.zeros_like(x) if g is None else g for g, x in zip(grads, real.values())]
    return {"output": o.detach()} | {f"gradient of {n}": g for n, g in zip(real, zeros)}


class Worst:
    ratio, what = 0.0, ""


def check(label, kernel, formula, inputs, dtype, eager_type=None):
    """All results within the contract; `inputs` in fp64."""
    narrow = {n: x.detach() if not x.is_floating_point() else
              x.detach().to(torch.float32 if is_learned(n) and dtype == torch.bfloat16 else dtype) for n, x in inputs.items()}
    exact = {n: x.double().requires_grad_() if x.is_floating_point() else x for n, x in narrow.items()}
    shape = formula(*exact.values()).shape
    cotangent = torch.randn(shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64).to(dtype).double()
    reference = run(formula, exact, cotangent)
    eager = run(formula, {n: x.requires_grad_(x.is_floating_point()) for n, x in narrow.items()}, cotangent)
    for layout, values in layouts(narrow).items():
        for what, got in run(kernel, values, cotangent).items():
            ref = reference[what]
            assert got.shape == ref.shape, f"{label} {layout} {what}: {got.shape}, not {ref.shape}"
            error, norm = (got.double() - ref).norm().item(), ref.norm().item()
            elements = ref.numel() ** 0.5
            floor = EPSILON[dtype] * elements * (4 if norm < EPSILON[dtype] * elements else 1 / 16)
            factor = FACTOR[dtype] * (2 if what in RUNNING_SUMS else 1)
            allowed = max(factor * (eager[what].double() - ref).norm().item(), 4 * EPSILON[dtype] * norm, floor)
            assert error <= allowed, f"{label} {layout} {what}: error {error:.3e} of norm {norm:.3e}, allowed {allowed:.3e}"
            if error / allowed > Worst.ratio:
                Worst.ratio, Worst.what = error / allowed, f"{label} {layout} {what}"


def main(full):
    cases = 0
    for place, (name, (formula, _)) in enumerate(formulas.SPECIFICATIONS.items()):
        spec = str(SOURCE / "examples" / "specs" / f"{name}.mlir")
        for number, shape in enumerate(SHAPES):
            # Each specification in two of the shapes, and each shape of some specifications; all in the full run.
            if not full and (number + place) % len(SHAPES) > 1:
                continue
            sizes = dict(zip("bhgtude", shape))
            for dtype in EPSILON:
                # Each shape in one type and under one mask; all in the full run.
                if not full and number % 3 != list(EPSILON).index(dtype):
                    continue
                for causal in (True, False):
                    if name in formulas.CAUSAL_ONLY and (not causal or sizes["t"] > sizes["u"]):
                        continue
                    if not full and causal == (number % 2 == 1) and name not in formulas.CAUSAL_ONLY:
                        continue
                    options = "" if causal else "--mask=bidirectional"
                    check(f"{name} {shape} {str(dtype)[6:]} {options}",
                          lambda *x: attention(*x, spec=spec, options=options), lambda *x: formula(*x, causal=causal),
                          formulas.make_inputs(name, sizes, seed=number), dtype)
                    cases += 1
    special(str(SOURCE / "examples" / "specs"), full)
    print(f"{cases} cases; nearest to its bound: {Worst.what}, {Worst.ratio:.2f} of it")


def special(folder, full):
    """Keys that are zero, keys that are equal, and a query before all keys."""
    sizes = dict(zip("bhgtude", (1, 2, 1, 65, 65, 32, 32)))
    for name, (formula, _) in formulas.SPECIFICATIONS.items():
        inputs = formulas.make_inputs(name, sizes)
        with torch.no_grad():
            inputs["k"][:, :, 3:9] = 0
            inputs["k"][:, :, 20:30] = inputs["k"][:, :, 20:21]
            inputs["q"][:, :, 40] = 0
        check(f"{name} zero and duplicate keys", lambda *x: attention(*x, spec=f"{folder}/{name}.mlir"), formula, inputs, torch.float32)
    taylor = f"{folder}/softmax-taylor.mlir"
    for order in (0, 1, 2, 4) if full else (0, 4):
        check(f"order {order}", lambda *x: attention(*x, spec=taylor, options=f"--set order={order}"),
              lambda *x: formulas.softmax_taylor(*x, order=order), formulas.make_inputs("softmax-taylor", sizes, seed=2), torch.float64)


main(sys.argv[1] == "1")
