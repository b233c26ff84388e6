# REQUIRES: taylorc, torch
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir -p %t
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %bin_dir %t
"""No variant has code: an attention that exists nowhere (Inputs/softplus-square.mlir) is compiled, checked against the reference
and against PyTorch, and trained, by a file alone."""
import json
import pathlib
import shutil
import subprocess
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
sys.path[:0] = [str(HERE / "Inputs"), str(SOURCE / "examples" / "python")]
import formulas
from taylor_attention import attention

BIN, FOLDER = map(pathlib.Path, sys.argv[1:3])
# A name of its own, so that nothing can have heard of it.
SPEC = FOLDER / "invented-here.mlir"
shutil.copy(HERE / "Inputs" / "softplus-square.mlir", SPEC)


def run(*line):
    done = subprocess.run([str(x) for x in line], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, line))}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def compiles():
    run(BIN / "taylorc", SPEC, "-o", FOLDER / "new.so", "--head-dim=32")
    manifest = json.loads((FOLDER / "new.json").read_text())
    inputs = {t["name"]: t for t in manifest["tensors"]["inputs"]}
    assert inputs["out_gate"]["source"] == {"kind": "projection", "bias": True}
    assert inputs["norm_weight"]["source"] == {"kind": "parameter", "initial": {"kind": "ones"}}
    assert all(t["gradient"] for t in inputs.values())


def agrees_with_the_reference():
    for dtype in ("f32", "bf16", "f16"):
        for shape in ("2,4,65,32", "b=1,h=4,g=2,t=33,u=111,d=32,e=32", "b=1,h=2,g=1,t=40,u=20,d=32,e=32"):
            run(BIN / "taylor-run", SPEC, "--device=cpu", "--check", "--poison", f"--dtype={dtype}", f"--shape={shape}")


def takes_sizes_from_learned_arrays():
    """Where no other input has d and e; heads and sizes are none that a compiler would guess."""
    generator = torch.Generator().manual_seed(2)
    make = lambda *sizes: (0.4 * torch.randn(*sizes, generator=generator, dtype=torch.float64)).requires_grad_()
    inputs = [make(2, 19, 24), make(2, 19, 16), make(4, 24, 24), make(2, 24, 16), make(2, 40, 16)]

    def eager(queries, latent, wq, wk, wv):
        q = torch.einsum("btr,hdr->bhtd", queries, wq)
        k, v = (torch.einsum("bum,gcm->bguc", latent, w).repeat_interleave(2, 1) for w in (wk, wv))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    single = [x.detach().float().requires_grad_() for x in inputs]
    want, got = eager(*inputs), attention(*single, spec=str(HERE / "Inputs" / "latent.mlir"))
    assert got.shape == (2, 4, 19, 40)
    for a, b in zip([got, *torch.autograd.grad(got.square().sum(), single)], [want, *torch.autograd.grad(want.square().sum(), inputs)]):
        assert (a.double() - b).norm() < 1e-5 * b.norm()


def agrees_with_pytorch():
    sizes = dict(zip("bhgtude", (2, 4, 2, 65, 97, 32, 16)))
    inputs = formulas.make_inputs("softmax", sizes, torch.float32, more={"out_gate": "bht", "norm_weight": "e"})
    exact = {n: x.detach().double().requires_grad_() for n, x in inputs.items()}
    want, got = formulas.softplus_square(*exact.values()), attention(*inputs.values(), spec=str(SPEC))
    cotangent = torch.randn(want.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    wanted = formulas.gradients(want, exact, cotangent)
    gotten = formulas.gradients(got, inputs, cotangent.float())
    for name, a, b in zip(["output", *inputs], [got, *gotten], [want, *wanted]):
        error = (a.double() - b).norm() / b.norm()
        assert error < 2e-5, f"{name}: relative error {error:.2e}"


def trains():
    text = FOLDER / "text"
    text.mkdir()
    for number in range(40):
        (text / f"{number}.txt").write_text("\n".join(f"line {i} of text {number} says {i * number % 7}" for i in range(80)))
    settings = {"run.folder": FOLDER / "run", "data.path": text, "data.vocabulary": 300, "data.validation_fraction": 0.2,
                "model.hidden": 64, "model.intermediate": 128, "model.layers": 2, "model.heads": 4, "model.kv_heads": 2,
                "train.steps": 40, "train.batch": 4, "train.context": 64, "schedule.warmup": 5, "optimizer.learning_rate": 3e-3}
    run(BIN / "taylor-train", "--attention", SPEC, *(x for k, v in settings.items() for x in ("--set", f"{k}={v}")))
    losses = [json.loads(line) for line in (FOLDER / "run" / "metrics.jsonl").read_text().splitlines()]
    losses = [m["loss"] for m in losses if "loss" in m]
    assert losses[-1] < losses[0] - 1, f"the loss went from {losses[0]} to {losses[-1]}"
    checkpoint = max((FOLDER / "run").rglob("model.safetensors"), key=lambda p: p.stat().st_mtime)
    header = checkpoint.read_bytes()
    names = json.loads(header[8 : 8 + int.from_bytes(header[:8], "little")])
    layer = "model.layers.1.self_attn"
    for name, shape in (("out_gate_proj.weight", [4, 64]), ("out_gate_proj.bias", [4]), ("norm_weight", [16])):
        assert names[f"{layer}.{name}"]["shape"] == shape, f"{name}: {names.get(f'{layer}.{name}')}"


for step in (compiles, agrees_with_the_reference, agrees_with_pytorch, takes_sizes_from_learned_arrays, trains):
    step()
    print(step.__name__.replace("_", " "))
