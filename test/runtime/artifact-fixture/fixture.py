#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands in for taylorc where no compiler is built: the same command line, but it knows one attention (fixture.c).

  fixture.py SPEC -o NAME.so [--dtype=..] [--head-dim=..] [--value-dim=..] [--mask=..] [--set name=value]... [--emit=manifest]

A specification that mentions %out_gate gets the gate and the learned weight. Compiles with $CC or clang-22. For tests of
the runtime: FIXTURE_LOG names a file that gets one line per compilation; FIXTURE_FAIL makes it fail with that text (SPEC stands for its path),
FIXTURE_KILL kills it half way, FIXTURE_DELAY makes it slow (seconds); --set abi=N, feature=NAME, hash=.. and
aligned=1 change the artifact.
"""
import argparse
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MAGIC = 0x31524C5941540A7F
REALS = {"f32": "float", "bf16": "float", "f16": "float", "f64": "double"}
STORAGES = {"f32": "float", "bf16": "__bf16", "f16": "_Float16", "f64": "double"}


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
    return {
        "taylor": {"version": "0.1.0", "abi": 2}, "hash": settings.get("hash", "fixture"), "spec": "fixture",
        "parameters": {}, "mask": args.mask or "causal", "form": "parallel", "dtype": args.dtype,
        "sizes": {"d": args.head_dim, "e": args.value_dim or args.head_dim},
        "aligned": settings.get("aligned") == "1",
        "tensors": {"inputs": inputs, "outputs": [tensor("o", "bhte")],
                    "saved": [tensor("m", "bht", real), tensor("z", "bht", real)]},
        "functions": {
            "forward": {"tensors": names + ["output:o"] + saved},
            "backward": {"tensors": names + ["output:o"] + saved + ["cotangent:o"] + ["gradient:" + x["name"] for x in inputs]}},
        "targets": [{
            "name": "native", "kind": "cpu", "cpu": "any", "features": settings.get("feature", "").split(), "tiles": {"t": 1, "u": 1},
            "functions": {"forward": {"kernels": ["attend"]}, "backward": {"kernels": ["rows", "keys", "sum"]}}}]}


def checksum(data):
    value = 0xCBF29CE484222325
    padded = data + b"\0" * (-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        value = (value ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def compile_artifact(manifest, gated, args, settings, output):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "manifest.json").write_text(json.dumps(manifest))
        (folder / "fixture.c").write_text((HERE / "fixture.c").read_text())
        subprocess.run(
            [os.environ.get("CC", "clang-22"), "-std=c23", "-O2", "-ffp-contract=fast", "-march=native", "-shared", "-fPIC",
             "-fvisibility=hidden", "-fno-math-errno", f"-I{ROOT}", f"-DD={manifest['sizes']['d']}",
             f"-DE={manifest['sizes']['e']}", f"-DSTORAGE={STORAGES[args.dtype]}", f"-DREAL={REALS[args.dtype]}",
             f"-DGATED={int(gated)}", f"-DCAUSAL={int(manifest['mask'] == 'causal')}", folder / "fixture.c",
             "-o", folder / "fixture.so", "-lm"], check=True)
        data = (folder / "fixture.so").read_bytes()
    trailer = struct.pack("<QQQQ", MAGIC, int(settings.get("abi", 2)), len(data), checksum(data))
    pathlib.Path(output).write_bytes(data + trailer)
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
    parser.add_argument("--emit", choices=["manifest"])
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
    if os.environ.get("FIXTURE_KILL"):
        pathlib.Path(args.output).write_bytes(b"\x7fELF half a file")
        os.kill(os.getpid(), signal.SIGKILL)
    compile_artifact(manifest, gated, args, settings, args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
