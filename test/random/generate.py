# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes one valid specification from a seed, as a user would write it, and the ways to compile and check it.

usage: generate.py SEED [DECISION=INDEX ..]      prints the specification and, as comments, the commands that check it
"""
import os
import pathlib
import sys
from dataclasses import dataclass

from choices import Choices
from specification import Specification

CPU_TYPES = ["f32", "f32", "f64", "bf16", "f16"]
PTX_TYPES = ["f32", "rounded", "split", "tf32", "f16"]  # rounded, split: bf16, whose computed operands are one number or two
# What this processor can run, and GPUs with unlike products, copies and sizes of shared memory; the most common first.
FLAGS = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii") if os.path.exists("/proc/cpuinfo") else ""
CPU_TARGETS = ["native", "native", "x86-64-v3"] + ["x86-64-v4"] * ("avx512dq" in FLAGS) + ["znver4"] * ("avx512_bf16" in FLAGS) + ["native+emulated-tiles", *["sapphirerapids"] * ("amx_bf16" in FLAGS)]
PTX_TARGETS = ["sm_80", "sm_80", "sm_86", "sm_90", "sm_120"]
MATRIX_UNITS = (8, 16)  # channels on a GPU are a multiple of 8, from 16 on
TILES = "tokens=8,queries=8,keys=16,edge-keys=8,derived-queries=8,derived-keys=8,outer-queries=8,outer-keys=8"
CHUNKED_TILES = f"{TILES},form=chunked,chunk=16,read-features=16"
# How states of the chunked form are divided: in one piece of features, or in blocks of them on the grid, as on GPUs.
STATES = ["state-features=8", "state-features=16,feature-block=8,states=grid,row-sums=separate,loops=single"]


# Runs that are repeated with NaN or infinity in some tokens, where that is drawn.
SPOILED = {f"{device}-{form}" for device in ("cpu", "ptx") for form in ("parallel", "chunked", "states", "recurrent")}


@dataclass
class Case:
    """One specification, and arguments of taylor-run by the name of the run: DEVICE-FORM."""
    seed: int
    choices: Choices
    specification: Specification
    runs: dict

    @property
    def text(self):
        return self.specification.text


def sizes(choices, specification, documents):
    choose = choices.choose
    least = specification.least
    heads, groups = choose("heads", [(h, g) for h, g in [(1, 1), (2, 1), (2, 2), (4, 2), (3, 1), (3, 3), (4, 1)]
                                     if h >= least.get("h", 1) and g >= least.get("g", 1)])
    t = choose("t", [1, 2, 3, 5, 8, 13, 16, 17, 31, 33, 40, 64, 65, 70, 100, 129, 150])
    more = choose("u", [0, 0, 0, 1, 7, 40, 70, -1])
    u = max(1, t // 2) if more < 0 else t + more
    if specification.keys_at_queries or documents:
        u = max(t, u)
    channels = [2, 3, 4, 5, 7, 8, 12, 16, 20, 24, 32, 33, 40, 48, 64]
    d = choose("d", channels)
    e = choose("e", [d, d] + channels)
    return {"b": choose("b", [1, 1, 2]), "h": heads, "g": groups, "t": t, "u": u, "d": d, "e": e}


# The most channels of a score by the order of a series in the chunked form, whose states have C(d + order, order) rows.
MOST_CHANNELS = [64, 64, 20, 8, 6, 4, 4]
# The highest order whose states the interpreter reads in seconds: GPUs have 16 channels at least, so 4,845 rows of order 4 and 74,613 of order 6; of order 4
# it takes minutes for a chunk, and so does the compiler for two such sums.
MOST_ORDER_PTX = {"ptx-chunked": 3, "ptx-states": 3, "ptx-recurrent": 3}
# The same of blocks of 8 channels, of which every product is a row: 8^5 for order 5.
MOST_ORDER_BLOCKS = 3


def fit(shape, specification, multiple=1, least=1):
    """The channels that a target and the specification can take, up from those of the shape."""
    def up(channel):
        step = max(multiple, 2 if channel in specification.even_channels else 1)
        return -(-max(shape[channel], least, specification.least.get(channel, 1)) // step) * step
    return shape | {channel: up(channel) for channel in ("d", "e")}


def forward_only(run):
    return [a for a in run if a != "--grad"] + ["--forward-only"]


def carried(choices, shape, cpu, ptx, reshaped, chunk):
    """Runs of what goes on from states: in pieces, token after token, and by the function that decodes."""
    def tokens(run, t, *units):
        return reshaped([a for a in run if not a.startswith("--offset")], shape | {"t": t, "u": t}, *units)
    t = max(2, shape["t"])
    # The last piece may be long: what decays over it is what its gradients must not read.
    cuts = {max(1, min(t - 1, choices.choose(f"states.{i}", cut))) for i, cut in enumerate(([1, 2, 3, 40], [2, t // 2, t - 1]))}
    pieces = [f"--states={','.join(map(str, sorted(cuts)))}"]
    form = choices.choose("states.form", [["--form=parallel"], ["--form=chunked"] + chunk])
    recurrent = choices.often("recurrent.form")
    few = min(5, shape["t"])  # in the interpreter, a token is a loop over all features
    # On a processor, the function `step` comes in one artifact with the kernels of pieces, and takes the tokens in the same pieces.
    step = tokens(cpu, shape["t"]) + ["--form=recurrent"] if recurrent else tokens(cpu, t) + ["--decode=state"] + pieces + form
    return {"cpu-states": tokens(cpu, t) + pieces + form, "cpu-recurrent": forward_only(step),
            "ptx-states": tokens(ptx, t, *MATRIX_UNITS) + pieces + form,
            "ptx-recurrent": forward_only(tokens(ptx, few, *MATRIX_UNITS)) + [["--decode=state"], ["--form=recurrent"]][recurrent]}


def spoiled(choices, run, arguments):
    """Tokens of a run that hold NaN or infinity, the second time: what they do not reach, by the reference, keeps its bits, gradients too."""
    sizes = dict(pair.split("=") for pair in next(a for a in arguments if a.startswith("--shape=")).removeprefix("--shape=").split(","))
    more = [f"--spoil-with={choices['with']}"]
    for name, axis in (("keys", "u"), ("queries", "t")):
        count = int(sizes[axis])
        first = {"first": 0, "middle": count // 2, "last": max(0, count - choices["count"])}.get(choices[name])
        if first is not None:
            more.append(f"--spoil-{name}={first}-{min(count, first + choices['count']) - 1}")
    if len(more) == 1:
        return arguments
    return arguments + more + ["--spoil-tile=128"] * run.startswith("ptx")


def generate(seed, given=None):
    choices = Choices(seed, given)
    specification = Specification(choices)
    documents = choices.seldom("documents", 4)
    shape = sizes(choices, specification, documents)
    common = ["--check", "--grad", "--threads=1", f"--seed={seed % 1000}", f"--scale={choices.choose('scale', ['1'] if specification.recurrent or specification.large else ['1', '1', '4'])}"]
    # Queries that do not end at the last key.
    if choices.seldom("offset", 6):
        common.append(f"--offset={choices.choose('offset.keys', [0, 1, 5]) if shape['u'] - shape['t'] > 5 else 0}")
    if documents:
        common.append("--documents")
    text = lambda shape: "--shape=" + ",".join(f"{axis}={size}" for axis, size in shape.items())
    storage = lambda types, name: choices.choose(name, types if specification.bounded else [t for t in types if t != "f16"])
    products = {"tf32": ["--dtype=f32", "--f32-products=tf32"], "split": ["--dtype=bf16", "--bf16-products=split"], "rounded": ["--dtype=bf16", "--bf16-products=rounded"]}
    dtype = lambda name: products.get(name, [f"--dtype={name}"])
    memory = ["--poison", f"--layout={choices.choose('layout', ['bhtc', 'bthc'])}"]
    chunk = [f"--chunk={choices.choose('chunk', [64, 128])}"]

    cpu = common + memory + [text(fit(shape, specification)), "--device=cpu"] + dtype(storage(CPU_TYPES, "cpu.type"))
    cpu += [f"--target={choices.choose('cpu.target', CPU_TARGETS)}"]
    ptx = common + memory + [text(fit(shape, specification, *MATRIX_UNITS)), "--device=ptx", f"--target={choices.choose('ptx.target', PTX_TARGETS)}"] + dtype(storage(PTX_TYPES, "ptx.type"))
    tile = common + [text(fit(shape, specification)), "--device=tile", "--dtype=f64"]
    reshaped = lambda run, shape, *units: [a if not a.startswith("--shape") else text(fit(shape, specification, *units)) for a in run]
    runs = {"cpu-parallel": cpu + ["--form=parallel"], "tile-parallel": tile + [f"--tiles={TILES}"], "ptx-parallel": ptx + ["--form=parallel"]}
    if specification.finite is not None and not specification.parallel_only and specification.learned_channels <= MOST_CHANNELS[specification.finite]:
        shape["d"] = min(shape["d"], MOST_CHANNELS[specification.finite])
        states = choices.choose("tile.states", STATES if specification.finite <= MOST_ORDER_BLOCKS else STATES[:1])
        runs |= {"cpu-chunked": reshaped(cpu, shape) + ["--form=chunked"] + chunk, "tile-chunked": reshaped(tile, shape | {"e": min(shape["e"], 20)}) + [f"--tiles={CHUNKED_TILES},{states}"],
                 "ptx-chunked": reshaped(ptx, shape, *MATRIX_UNITS) + ["--form=chunked"] + chunk}
        if specification.causal:
            runs |= carried(choices, shape, cpu, ptx, reshaped, chunk)
    if specification.causal and shape["t"] <= shape["u"] and choices.seldom("cache"):
        runs["cpu-cache"] = forward_only(cpu) + ["--decode=cache", "--form=parallel"]  # in one artifact with cpu-parallel
    # NaN and infinities among the numbers of queries: the rows that are no numbers must be those of the reference. Gradients of keys would be so for all rows.
    unreal = {}
    if choices.seldom("unreal"):
        odd = [f"--unreal={choices.choose('unreal.count', [1, 2, 5])}", "--form=parallel"]
        unreal = {"cpu-unreal": forward_only(cpu) + odd} | ({"ptx-unreal": forward_only(ptx) + odd} if choices.seldom("unreal.ptx") else {})
    # The interpreter takes longest: one form of each specification.
    is_read = lambda run: (specification.finite or 0) <= MOST_ORDER_PTX.get(run, 99)
    kept = choices.choose("ptx.form", [run for run in runs if run.startswith("ptx") and is_read(run)])
    runs = {run: arguments for run, arguments in runs.items() if run == kept or not run.startswith("ptx")}
    # NaN and infinities in keys, values, queries and cotangents, which their tokens may give to what sees them and to nothing else.
    if choices.seldom("spoil", 3):
        decided = {"with": choices.choose("spoil.with", ["nan", "nan", "inf"]), "count": choices.choose("spoil.count", [1, 3, 20]),
                   "keys": choices.choose("spoil.keys", ["none", "first", "middle", "last"]), "queries": choices.choose("spoil.queries", ["none", "first", "middle", "last"])}
        runs = {run: spoiled(decided, run, arguments) if run in SPOILED else arguments for run, arguments in runs.items()}
    return Case(seed, choices, specification, runs | unreal)


def main():
    if len(sys.argv) < 2 or not sys.argv[1].isdigit() or any("=" not in a for a in sys.argv[2:]):
        sys.exit(__doc__)
    case = generate(int(sys.argv[1]), {name: int(index) for name, index in (a.split("=") for a in sys.argv[2:])})
    for run in case.runs.values():
        print(f"// taylor-run FILE {' '.join(run)}")
    print(case.text, end="")


if __name__ == "__main__":
    main()
