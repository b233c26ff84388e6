#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands in for taylorc where no compiler is built: the same command line, but it knows one attention (fixture.c).

  fixture.py SPEC -o NAME.so [--dtype=..] [--head-dim=..] [--value-dim=..] [--mask=..] [--set name=value]... [--target=native,sm_80] [--emit=manifest]

A specification that mentions %out_gate gets the gate and the learned weight. Compiles with $CC or clang-22 (PTX with the latter alone). For tests of
the runtime: FIXTURE_LOG names a file that gets one line per compilation; FIXTURE_FAIL makes it fail with that text (SPEC stands for its path),
FIXTURE_WARN lets it say that text, FIXTURE_KILL kills it half way, FIXTURE_DELAY makes it slow (seconds); --set abi=N, feature=NAME, hash=.. and
aligned=1 change the artifact.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import embed
import seal

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
REALS = {"f32": "float", "bf16": "float", "f16": "float", "f64": "double"}
STORAGES = {"f32": "STORAGE=float", "bf16": "BF16=1", "f16": "STORAGE=_Float16", "f64": "STORAGE=double"}


def make_manifest(gated, args, settings):
    real = "f64" if args.dtype == "f64" else "f32"

    def tensor(name, axes, dtype=args.dtype, **more):
        return {"name": name, "axes": list(axes), "dtype": dtype, **more}

    def projection(bias):
        return {"source": {"kind": "projection", "bias": bias}, "gradient": True}

    inputs = [tensor("q", "bhtd", **projection(False)), tensor("k", "bgud", **projection(False)),
              tensor("v", "bgue", **projection(False))]
    if gated:
        ones = {"source": {"kind": "parameter", "initial": {"kind": "ones"}}, "gradient": True}
        inputs += [tensor("out_gate", "bht", **projection(True)), tensor("norm_weight", "e", real, **ones)]
    names = ["input:" + x["name"] for x in inputs]
    saved = ["saved:m", "saved:z"]
    manifest = {
        "taylor": {"version": "0.1.0", "abi": seal.ABI}, "hash": settings.get("hash", "fixture"), "spec": "fixture",
        "parameters": {}, "mask": args.mask or "causal", "form": "parallel", "dtype": args.dtype,
        "sizes": {"d": args.head_dim, "e": args.value_dim or args.head_dim},
        "aligned": settings.get("aligned") == "1",
        "tensors": {"inputs": inputs, "outputs": [tensor("o", "bhte")],
                    "saved": [tensor("m", "bht", real), tensor("z", "bht", real)]},
        "functions": {
            "forward": {"tensors": names + ["output:o"] + saved},
            "backward": {"tensors": names + ["output:o"] + saved + ["cotangent:o"] + ["gradient:" + x["name"] for x in inputs]}},
        "targets": []}
    for target in args.target.split(","):
        manifest["targets"].append(device_target(manifest, target) if target.startswith("sm_") else {
            "name": target, "kind": "cpu", "cpu": "any", "features": settings.get("feature", "").split(), "tiles": {"t": 1, "u": 1},
            "functions": {"forward": {"kernels": ["attend"]}, "backward": {"kernels": ["rows", "keys", "sum"]}}})
    return manifest


def device_target(manifest, name):
    """Every kernel takes all tensors of its function, and the backward's share one workspace."""
    gated = len(manifest["tensors"]["inputs"]) == 5
    real = manifest["tensors"]["saved"][0]["dtype"]
    # fixture.c packs rows and weights into one array of at least this size.
    columns = str(manifest["sizes"]["e"] + 1)
    functions = {"forward": {"kernels": [], "workspace": []}, "backward": {"kernels": [], "workspace": [
        {"name": "rows", "axes": ["rows", "columns"], "sizes": ["b * h * t", columns], "dtype": real}]}}
    grids = {"forward": [("attend", ["b", "h"])], "backward": [("rows", ["b", "h"]), ("keys", ["b", "g"])]}
    if gated:
        grids["backward"].append(("sum", ["1"]))
    for function, kernels in grids.items():
        tensors = [{"tensor": x} for x in manifest["functions"][function]["tensors"]]
        # Queries and keys as a kernel that copies 16 bytes at a time would want them.
        for argument in tensors[:2]:
            argument["aligned16"] = True
        arrays = [{"workspace": x["name"]} for x in functions[function]["workspace"]]
        functions[function]["kernels"] = [
            {"name": kernel, "entry": f"{function}_{kernel}", "grid": grid, "threads": 1, "shared": 0, "arguments": tensors + arrays}
            for kernel, grid in kernels]
    return {"name": name, "kind": "ptx", "tiles": {"t": 1}, "functions": functions}


def kernels_text(manifest):
    """The KERNEL lines of fixture.c."""
    roles = {"input": "inputs", "gradient": "inputs", "output": "outputs", "cotangent": "outputs", "saved": "saved"}

    def rank(label):
        role, name = label.split(":")
        return next(len(x["axes"]) for x in manifest["tensors"][roles[role]] if x["name"] == name)

    target = next(x for x in manifest["targets"] if x["kind"] == "ptx")
    lines = []
    for function, code in target["functions"].items():
        labels = manifest["functions"][function]["tensors"]
        parameters, strides = [], []
        for i, label in enumerate(labels):
            names = [f"s{i}_{axis}" for axis in range(rank(label))]
            parameters += [f"void *p{i}"] + [f"int64_t {name}" for name in names]
            strides += (names + ["0"] * 8)[:8]
        workspace = "p_workspace" if code["workspace"] else "NULL"
        parameters += ["void *p_workspace"] if code["workspace"] else []
        for i, kernel in enumerate(code["kernels"]):
            lines.append(f"KERNEL({kernel['entry']}, {function}Run, {i}, ({', '.join(parameters)}), "
                         f"({', '.join(f'p{i}' for i in range(len(labels)))}), ({', '.join(strides)}), {workspace})")
    return "\n".join(lines) + "\n"


def compile_artifact(manifest, gated, args, settings, output):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "manifest.inc").write_text(embed.numbers(json.dumps(manifest).encode()))
        (folder / "fixture.c").write_text((HERE / "fixture.c").read_text())
        compiler = [os.environ.get("CC", "clang-22"), "-std=c2x", "-O2", "-ffp-contract=fast", "-fno-math-errno", f"-I{ROOT}",
                    f"-DD={manifest['sizes']['d']}", f"-DE={manifest['sizes']['e']}", f"-D{STORAGES[args.dtype]}",
                    f"-DREAL={REALS[args.dtype]}", f"-DGATED={int(gated)}", f"-DCAUSAL={int(manifest['mask'] == 'causal')}",
                    folder / "fixture.c"]
        kinds = {x["kind"] for x in manifest["targets"]}
        if "ptx" in kinds:
            (folder / "kernels.inc").write_text(kernels_text(manifest))
            subprocess.run([*compiler, "--target=nvptx64-nvidia-cuda", "-march=sm_80", "-mllvm", "-inline-threshold=1000000", "-nocudalib", "-ffreestanding", "-S",
                            "-o", folder / "fixture.ptx"], check=True)
            (folder / "text.inc").write_text(embed.numbers((folder / "fixture.ptx").read_bytes()))
        subprocess.run([*compiler, "-march=native", "-shared", "-fPIC", "-fvisibility=hidden", *(["-DDEVICE"] * ("ptx" in kinds)),
                        *(["-DHOST"] * ("cpu" in kinds)), "-o", folder / "fixture.so", "-lm"], check=True)
        data = (folder / "fixture.so").read_bytes()
    pathlib.Path(output).write_bytes(data + seal.trailer(data, int(settings.get("abi", seal.ABI))))
    pathlib.Path(output).with_suffix(".json").write_text(json.dumps(manifest, indent=2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec")
    parser.add_argument("-o", dest="output")
    parser.add_argument("--dtype", default="f32", choices=REALS)
    parser.add_argument("--head-dim", type=int, default=64)
    parser.add_argument("--value-dim", type=int)
    parser.add_argument("--mask", choices=["causal", "bidirectional"])
    parser.add_argument("--target", default="native")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--forward-only", action="store_true")  # it has a backward nonetheless
    parser.add_argument("--emit", choices=["manifest"])
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    settings = dict(item.split("=", 1) for item in args.set)
    gated = "%out_gate" in pathlib.Path(args.spec).read_text()
    manifest = make_manifest(gated, args, settings)
    if args.emit:
        print(json.dumps(manifest))
        return 0
    if log := os.environ.get("FIXTURE_LOG"):
        with open(log, "a") as file:
            file.write("compiled\n")
    time.sleep(float(os.environ.get("FIXTURE_DELAY", 0)))
    if text := os.environ.get("FIXTURE_FAIL"):
        print(text.replace("SPEC", args.spec), file=sys.stderr)
        return 1
    if text := os.environ.get("FIXTURE_WARN"):
        print(text.replace("SPEC", args.spec), file=sys.stderr)
    if os.environ.get("FIXTURE_KILL"):
        pathlib.Path(args.output).write_bytes(b"\x7fELF half a file")
        os.kill(os.getpid(), signal.SIGKILL)
    compile_artifact(manifest, gated, args, settings, args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
