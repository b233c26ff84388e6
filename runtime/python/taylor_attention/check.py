# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether this installation works: versions, devices, and kernels compared with the reference, outputs and gradients.

The reference is `taylor-run`'s, in more than fp64's precision; what an error may be is the contract of
`taylor-run --help` (--check).
"""
from __future__ import annotations

import ast
import json
import os
import pathlib
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from typing import Any

from . import files

USAGE = """usage: python -m taylor_attention [--help]

Checks this installation in about 10 seconds: versions and devices; and kernels, compiled for the processor and the
first GPU, whose outputs and gradients are compared with the reference. Exit status 1 if something is wrong."""

# The parallel form with a gate and shared keys, and the chunked one; shapes that are no multiple of any tile.
CASES = (("softmax-gate", "b=2,h=4,g=2,t=75,d=64"), ("linear-elu", "b=1,h=2,t=200,d=32"))
_FORMATS = {"<f4": ("f", 4), "<f8": ("d", 8), "<i4": ("i", 4)}


class Failure(Exception):
    """What is wrong, with a way out."""


def _line(name: str, text: str) -> None:
    print(f"  {name:<10} {text}", flush=True)


def _ask(*command: Any) -> str:
    """What a program prints; its own words in a Failure where it fails."""
    try:
        done = subprocess.run([str(x) for x in command], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(f"{command[0]} does not run here: {error}") from None
    if done.returncode:
        raise Failure(f"{command[0]} failed: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


def _array(path: pathlib.Path, torch: Any) -> Any:
    """The tensor of a .npy file; numpy need not be installed."""
    data = path.read_bytes()
    length, = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode("latin-1"))
    letter, size = _FORMATS[header["descr"]]
    dtype = {"f": torch.float32, "d": torch.float64, "i": torch.int32}[letter]
    values = torch.frombuffer(bytearray(data[10 + length:]) or bytearray(size), dtype=dtype)
    return values[:(len(data) - 10 - length) // size].reshape(header["shape"])


def _compare(name: str, shape: str, device: str, torch: Any) -> str:
    """Runs one case on a device; how far it is from the reference, as a share of what the contract allows."""
    from .calls import attention

    spec = files.specification(name)
    with tempfile.TemporaryDirectory(prefix="taylor-check-") as folder:
        _ask(files.program("taylor-run"), spec, f"--shape={shape}", f"--references={folder}/r", "--dtype=f32")
        results = pathlib.Path(folder, "r")
        rows = json.loads((results / "contract.json").read_text(encoding="utf-8"))
        names = [tensor.name for tensor in _program(spec).inputs]
        inputs = [_array(results / f"input.{x}.npy", torch).to(device, torch.float32).requires_grad_() for x in names]
        begin = time.perf_counter()
        output = attention(*inputs, spec=str(spec))
        output.backward(_array(results / "cotangent.o.npy", torch).to(device, torch.float32))
        seconds = time.perf_counter() - begin
        gradients = dict(zip(names, (x.grad for x in inputs)))
        worst, where = 0.0, ""
        for row in rows:
            given = output if row["kind"] == "output" else gradients[row["name"]]
            reference = _array(results / f"{row['kind']}.{row['name']}.npy", torch).double()
            error = float((given.detach().cpu().double() - reference).norm())
            share = error / row["allowed"] if error == error else float("inf")
            if share >= worst:
                worst, where = share, f"{row['kind']} {row['name']}"
    if not worst <= 1:
        raise Failure(f"{name} on {device}: the error of {where} is {worst:.3g} times what the contract allows; please "
                      "report this with the lines above")
    return f"right: {len(rows)} results, the largest error {worst:.2f} of the allowed one ({where}); {seconds:.1f} s"


def _program(spec: pathlib.Path) -> Any:
    from .operators import program
    return program(str(spec), "")


def _processor() -> str:
    model, flags = platform.machine(), set()
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            model = value.strip()
        elif key.strip() == "flags":
            flags = set(value.split())
            break
    known = [word for word in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if word in flags]
    return f"{model} ({', '.join(known) or 'neither AVX2 nor AVX-512'}), {len(os.sched_getaffinity(0))} threads"


def _ptxas() -> str:
    return shutil.which("ptxas") or "not in PATH, and not needed: the driver assembles PTX"


def _check() -> None:
    print(f"taylor-attention {files.version()}, Python {platform.python_version()}", flush=True)
    _line("compiler", f"{_ask(files.program('taylorc'), '--version')}, {files.program('taylorc')}")
    try:
        import torch
    except ImportError as error:
        raise Failure(f"requires torch 2.10 or later, but: {error}; pip install torch") from None
    _line("torch", f"{torch.__version__}, {os.path.dirname(torch.__file__)}")
    try:
        from . import operators
    except (ImportError, OSError) as error:
        raise Failure(f"the library of operators does not load: {error}; torch 2.10 or later has what it needs, this "
                      f"is {torch.__version__}") from None
    _line("operators", str(operators.LIBRARY))
    _line("processor", _processor())
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    gpus = [torch.cuda.get_device_name(number) for number in range(count)]
    _line("GPUs", ", ".join(gpus) or "none that torch sees")
    _line("ptxas", _ptxas())
    for device in ["cpu"] + (["cuda"] if gpus else []):
        for name, shape in CASES:
            _line(f"{device}", f"{name}: {_compare(name, shape, device, torch)}")


def main(arguments: list[str]) -> int:
    if arguments in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    if arguments:
        print(f"{USAGE.rstrip()}\n\ntaylor_attention: error: expected no arguments, but got '{arguments[0]}'; the commands of the "
              "package are taylorc and taylor-run", file=sys.stderr)
        return 2
    try:
        _check()
    except (Failure, FileNotFoundError, ImportError, RuntimeError) as error:
        print(f"taylor_attention: error: {error}", flush=True)
        return 1
    print("all is well", flush=True)
    return 0
