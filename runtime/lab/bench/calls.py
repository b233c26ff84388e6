# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: calls.py [--taylorc=PROGRAM] [--target=sm_80] [--dtype=bf16] [--tokens=1024] [--channels=64]: what one call starts and moves, from its tile programs.
No GPU is needed.

For softmax, a norm, a gate, a layer norm, a series and linear attention, forward and backward: kernels of the call, and bytes of global memory, where each
kernel reads and writes each of its arrays once (what its blocks read again is taken to come from a cache). Bytes are given in units of one tensor of queries;
the call has 16,384 tokens of 2048 channels. A gradient that is asked for counts, as in training; masks leave nothing out."""
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPECS = ROOT / "examples" / "specs"
CALLS = {"softmax": ["--form=parallel"], "softmax-norm-l2": ["--form=parallel"], "softmax-gate": ["--form=parallel"],
         "softmax-count-layernorm": ["--form=parallel"], "softmax-taylor": ["--set=order=10", "--form=parallel"],
         "linear-relu": ["--form=chunked"]}
ARRAY = re.compile(r'^ +(%\w+) = tile\.(?:tensor|workspace) "([^"]+)"(?: optional)? : !tile\.array<\[(.*?)\], (\w+)>', re.M)
BYTES = {"bf16": 2, "f16": 2, "f32": 4, "f64": 8, "i32": 4, "i1": 1}


def extent(text, sizes):
    """`64`, `t`, `i = ceildiv(t, 64)`, `p = ceildiv(4, b * g)`: how many there are."""
    text = text.split("=")[-1].strip()
    if match := re.fullmatch(r"ceildiv\((\w+), (.*)\)", text):
        above, below = (math.prod(int(x) if x.isdigit() else sizes[x] for x in part.split(" * ")) for part in match.groups())
        return -(-above // below)
    return int(text) if text.isdigit() else sizes[text]


def programs(text, sizes):
    """(kernels, bytes) of each tile program."""
    for program in re.split(r"^  tile\.program ", text, flags=re.M)[1:]:
        arrays = {name: math.prod(extent(x, sizes) for x in re.split(r", (?![^()]*\))", axes)) * BYTES[dtype] for name, _, axes, dtype in ARRAY.findall(program)}
        kernels = re.split(r"^    tile\.kernel ", program, flags=re.M)[1:]
        moved = 0
        for kernel in kernels:
            read = set(re.findall(r"tile\.load (%\w+) ?\[", kernel)) | set(re.findall(r"tile\.accumulate %[\w#]+, (%\w+) ?\[", kernel))
            written = set(re.findall(r"tile\.(?:store|accumulate) %[\w#]+, (%\w+) ?\[", kernel))
            moved += sum(arrays[x] for x in read) + sum(arrays[x] for x in written)
        yield program.split(maxsplit=1)[0].lstrip("@"), len(kernels), moved


def main(arguments):
    options = {"taylorc": str(ROOT / "build/bin/taylorc"), "target": "sm_80", "dtype": "bf16", "tokens": "1024", "channels": "64"}
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--") or not equals or name not in options:
            sys.exit(f"{__doc__}\n\nerror: unsupported argument '{argument}'")
        options[name] = value
    for name, whole in (("tokens", 16384), ("channels", 2048)):
        if not re.fullmatch("[0-9]{1,5}", options[name]) or int(options[name]) < 8 or whole % int(options[name]):
            sys.exit(f"{__doc__}\n\nerror: expected --{name} of 8 or more that divides {whole}, but got '{options[name]}'")
    if options["dtype"] not in ("f32", "bf16", "f16"):
        sys.exit(f"{__doc__}\n\nerror: expected --dtype of f32, bf16 or f16, but got '{options['dtype']}'")
    tokens, channels = int(options["tokens"]), int(options["channels"])
    heads = 2048 // channels
    sizes = {"b": 16384 // tokens, "h": heads, "g": heads, "t": tokens, "u": tokens, "lag": 2 * tokens + 256}
    unit = 16384 * heads * channels * BYTES[options["dtype"]]
    print(f"{'call':<28} {'kernels':>8} {'bytes':>7}")
    for spec, more in CALLS.items():
        done = subprocess.run([options["taylorc"], SPECS / f"{spec}.mlir", "--quiet", "--emit=tile", f"--target={options['target']}", f"--dtype={options['dtype']}",
                               f"--head-dim={channels}", *more], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr.rstrip())
        for direction, kernels, moved in programs(done.stdout, sizes):
            print(f"{spec + ', ' + direction:<28} {kernels:8} {moved / unit:7.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
