# REQUIRES: compiler
# RUN: %python %s %bin_dir %source_dir
"""--emit=torch: the text runs as Python and as TorchScript, follows the type of its inputs, and gives the outputs and
gradients of formulas written by hand, on the shapes that break things."""
import pathlib
import subprocess
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import beyond
import formulas

BIN, SOURCE = sys.argv[1:3]
SHAPES = [  # b, h, g, t, u, d, e
    (2, 4, 2, 5, 5, 8, 6),
    (1, 3, 1, 3, 9, 4, 8),
    (2, 2, 2, 7, 4, 6, 4),  # three rows without a key
    (1, 1, 1, 1, 1, 2, 2),
]


def compile_text(path, function, *options):
    text = subprocess.run([f"{BIN}/taylorc", str(path), "--emit=torch", *options], check=True, capture_output=True, text=True).stdout
    names = {"torch": torch, "Tensor": torch.Tensor}
    exec(text, names)
    return names[function], getattr(torch.jit.CompilationUnit(text), function)


def compare(what, got, want, tolerance=1e-9):
    error = (got - want).norm().item()
    assert error <= tolerance * want.norm().item() + 1e-12, f"{what}: error {error}, norm {want.norm().item()}"


def names(q, k, v, c, n):
    """names.mlir of test/passes/Inputs, for no more queries than keys."""
    p = formulas.Pairs(q, k, causal=True)
    U, T, groups = k.shape[2], q.shape[2], p.groups

    def attend(q, k, v, weight):
        w = p.hide(weight(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5))
        return w @ v / w.sum(-1, keepdim=True)

    series = lambda s: 1 + s + s * s / 2
    y = torch.nn.functional.pad(attend(k[:, :, U - T:], k, v, series), (0, 0, U - T, 0))
    k, v = p.heads(k), p.heads(v - y)
    return attend(q + attend(q, k, k, series), k, v, torch.exp) * c + n


def check(label, path, function, formula, inputs, options=(), **keywords):
    want = formula(*inputs.values(), **keywords)
    cotangent = torch.randn(want.shape, generator=torch.Generator().manual_seed(1), dtype=want.dtype)
    real = {n: x for n, x in inputs.items() if x.is_floating_point()}
    expected = formulas.gradients(want, real, cotangent)
    for kind, compiled in zip(("python", "script"), compile_text(path, function, *options)):
        got = compiled(*inputs.values())
        assert got.dtype == want.dtype and got.shape == want.shape, f"{label} {kind}: {got.dtype} {got.shape}"
        compare(f"{label} {kind} output", got, want)
        for name, g, w in zip(real, formulas.gradients(got, real, cotangent), expected):
            g, w = (torch.zeros_like(real[name]) if x is None else x for x in (g, w))
            assert torch.isfinite(g).all(), f"{label} {kind} gradient of {name} is not finite"
            compare(f"{label} {kind} gradient of {name}", g, w)


def main():
    torch.set_num_threads(1)
    cases = 0
    for name, (formula, _) in formulas.SPECIFICATIONS.items():
        path = f"{SOURCE}/examples/specs/{name}.mlir"
        function = name.replace("-", "_")
        for shape in SHAPES:
            sizes = dict(zip("bhgtude", shape))
            if name in formulas.CAUSAL_ONLY and sizes["t"] > sizes["u"]:
                continue
            inputs = formulas.make_inputs(name, sizes)
            check(f"{name} {shape}", path, function, formula, inputs)
            if name not in formulas.CAUSAL_ONLY:
                check(f"{name} {shape} bidirectional", path, function, formula, inputs, ["--mask=bidirectional"], causal=False)
            cases += 1
            # The text follows its inputs' type; learned parameters stay in f32.
            for dtype in (torch.float32, torch.bfloat16):
                narrow = {n: x.detach().to(torch.float32 if n.startswith("norm") else dtype) for n, x in inputs.items()}
                for compiled in compile_text(path, function):
                    got = compiled(*narrow.values())
                    assert got.dtype == dtype, f"{name}: {got.dtype} from inputs of {dtype}"
                    want = formula(*[x.double() for x in narrow.values()])
                    compare(f"{name} {shape} {dtype}", got.double(), want, {torch.float32: 1e-4, torch.bfloat16: 0.06}[dtype])
    for order in (0, 1, 3):
        inputs = formulas.make_inputs("softmax", dict(zip("bhgtude", SHAPES[0])))
        check(f"order {order}", f"{SOURCE}/examples/specs/softmax-taylor.mlir", "softmax_taylor", formulas.softmax_taylor, inputs,
              ["--set", f"order={order}"], order=order)
    hard()
    print(f"{cases} cases")


def hard():
    path = f"{SOURCE}/test/dialect/hard-specs.mlir"
    s = dict(zip("bhgtude", (2, 4, 2, 5, 7, 8, 6))) | {"j": 4}
    more = {
        "softmax_mass_detached_gate": {"out_gate": "bht"},
        "linear_cosine_as_coded": {"p": "h"},
        "conv_gates": {"a": "bht", "i": "bhu", "cq": "hdj", "ck": "gdj", "cv": "gej", "w": "e", "b": "e"},
        "sigmoid_bias": {},
        "alibi": {},
    }
    for name, extra in more.items():
        inputs = formulas.make_inputs("softmax", s, more=extra)
        check(name, path, name, getattr(formulas, name), inputs, [f"--spec={name}"])
    inputs = formulas.make_inputs("softmax", s, more={"f": "bgu", "a": "bht"})
    check("running_maximum", f"{SOURCE}/test/passes/Inputs/running-maximum.mlir", "running_maximum", formulas.running_maximum, inputs)
    inputs = formulas.make_inputs("softmax", s)
    g = torch.Generator().manual_seed(3)
    documents = {"dq": torch.randint(0, 2, (s["b"], s["t"]), generator=g, dtype=torch.int32),
                 "dk": torch.randint(0, 2, (s["b"], s["u"]), generator=g, dtype=torch.int32)}
    check("window_documents", path, "window_documents", formulas.window_documents, inputs | documents,
          ["--spec=window_documents", "--set", "window=3"], window=3)
    inputs = formulas.make_inputs("softmax", s, more={"c": "bhte", "n": "bhte"})
    check("names", f"{SOURCE}/test/passes/Inputs/names.mlir", "lambda_", names, inputs)
    a, b = formulas.make_inputs("softmax", s), formulas.make_inputs("softmax", s, seed=5, more={"l": "h", "w": "e"})
    inputs = {"q1": a["q"], "k1": a["k"], "q2": b["q"], "k2": b["k"], "v": a["v"], "l": b["l"], "w": b["w"]}
    check("differential", path, "differential", formulas.differential, inputs, ["--spec=differential"])
    for name, entries in (("relative_bias", 64), ("relative_buckets", 32)):
        inputs = formulas.make_inputs("softmax", s | {"t": 140, "u": 150, "r": entries}, more={"table": "hr"})
        check(name, f"{SOURCE}/examples/specs/beyond/{name.replace('_', '-')}.mlir", name, getattr(beyond, name), inputs)


main()
