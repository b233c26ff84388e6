# Machine code of specifications (all of them under ./test.sh --full), and of one with a function of every score, in the tile sizes that the compiler chooses: ptxas takes it,
# keeps it in registers and has no advice. On sm_90a, where ptxas would say that it makes products wait, in the types and channels of started products.
# REQUIRES: taylorc, ptxas
# SHARDS: 2
# RUN: env TAYLOR_PTXAS=%ptxas %python %s %spec_dir %S/../../passes/Inputs/soft-cap.mlir %full %shard
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from cases import REFUSED
from specifications import select

folder, extra, full = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3] == "1"
share, shares = map(int, sys.argv[4].split("/"))
SPILLS, ROW_SPILLS = 64, 80  # bytes per thread that a kernel with a loop over pairs, or without, may store, and as many that it may load
# Numbers per lag beside two accumulators per key, d = 128; two sums, of which each has queries of its own, d = 64; a tile of the state, the features
# of a group and those sums beside them, once per token. Decays of tokens beside two accumulators per key, d = 128, whose loops end where no row sees more.
MORE_SPILLS = {
    ("decay-gates", "backward_pairs"): 128,
    ("relative-bias", "backward_pairs"): 92,
    ("relative-buckets", "backward_pairs"): 92,
    ("window-and-recurrence", "backward_attend"): 124,
    ("window-and-recurrence", "forward_attend"): 124,
    ("softmax-taylor", "step_steps"): 92,
}
# Sums of finitely many orders, with operands of two numbers of bf16 each (--bf16-products=split): by channels, bytes
# and the smallest side of a tile.
SPLIT = "--bf16-products=split"
FINITE = {"cosine-taylor", "elu-taylor", "linear-cosine", "linear-cosine-as-coded", "linear-elu", "linear-relu", "relu-clamped-norm-l2", "relu-count-gate",
          "relu-count-layernorm", "relu-gate", "relu-norm-l2", "relu-norm-rms", "relu-taylor",
          "softmax-taylor", "softmax-taylor-as-coded", "window-and-recurrence"}
SPLIT_SPILLS = {64: (64, 64), 96: (72, 32), 128: (100, 16), 192: (84, 16)}
# Each feature in two, queries with gates or powers, two sums in a block, chunks.
SPLIT_MORE_SPILLS = {("linear-cosine-as-coded", 64, "backward_pairs"): 116, ("window-and-recurrence", 128, "forward_attend"): 384,
                     ("window-and-recurrence", 128, "backward_attend"): 172, ("window-and-recurrence", 192, "forward_attend"): 116,
                     ("window-and-recurrence", 192, "backward_attend"): 260, ("relu-count-gate", 192, "backward_attend"): 584, ("relu-gate", 192, "backward_attend"): 584}
SPLIT_MORE_SPILLS |= {(spec, 192, "backward_attend"): 640 for spec in FINITE if spec.startswith(("softmax-", "cosine-", "elu-", "relu-taylor"))}
SPLIT_CHUNKED_SPILLS = 188
STARTED = "--target=sm_90a"
# Two sums of 64 keys by 128 channels are 128 registers of a thread, beside the scores and what is in flight (loop-spills.py has a limit for the loops); more
# where the features of a key are two numbers that are computed from each other. Where a loop holds most, 32 queries pass by at once.
STARTED_NARROW = {"alibi", "cumulative-gate", "decay-gates", "query-key-norm", "relative-bias", "relative-buckets", "softmax-mass-gate", "softplus"}
STARTED_PAIRS = {128: 260}
STARTED_MORE_SPILLS = {("linear-cosine-as-coded", 64, "backward_pairs"): 316, ("linear-cosine-as-coded", 128, "backward_pairs"): 532,
                       ("query-key-norm", 192, "backward_attend"): 216, ("window-and-recurrence", 192, "forward_attend"): 396,
                       ("window-and-recurrence", 192, "backward_attend"): 1344, ("cosine-taylor", 192, "backward_attend"): 196,
                       ("softmax-taylor", 128, "backward_pairs"): 264,
                       ("linear-cosine", 192, "backward_attend"): 152, ("conv-gates", 192, "backward_finish_rows"): 304}


def compile_report(problem):
    spec, dtype, channels, *options = problem
    target = [] if STARTED in options else ["--target=sm_80"]
    command = ["taylorc", str(spec), *target, f"--dtype={dtype}", f"--head-dim={channels}", "--report=json", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    if dtype == "f16" and result.returncode == REFUSED:  # weights without a bound
        return None
    assert result.returncode == 0, f"{' '.join(command)}: {result.stderr}"
    return json.loads(result.stdout)


def find_limits(problem, name, kernel):
    """Bytes that a kernel may store or load per thread, and tokens that a side of its tiles must have."""
    spec, dtype, channels, *options = problem
    if STARTED in options:
        spills = ROW_SPILLS if "queries" not in kernel else STARTED_PAIRS.get(channels, SPILLS) if name == "backward_pairs" else SPILLS
        side = 0 if channels > 128 or "queries" not in kernel else 32 if SPLIT in options or (spec.stem in STARTED_NARROW and channels == 128) else 64
        return STARTED_MORE_SPILLS.get((spec.stem, channels, name), spills), side
    if "queries" not in kernel:
        return MORE_SPILLS.get((spec.stem, name), ROW_SPILLS), 0
    if SPLIT in options:
        spills, side = SPLIT_SPILLS[channels]
        spills = SPLIT_CHUNKED_SPILLS if "--form=chunked" in options else SPLIT_MORE_SPILLS.get((spec.stem, channels, name), spills)
        return spills, side
    return MORE_SPILLS.get((spec.stem, name), SPILLS), 64 if dtype != "f32" and channels <= 128 else 0


def find_faults(problem, report):
    spec, dtype, channels, *options = problem
    kernels = {kernel["name"]: kernel for kernel in report["kernels"]}
    faults = list(report["warnings"])
    for name, kernel in kernels.items():
        assert kernel["registers"] > 0, f"{name}: no word of ptxas"
        limit, _ = find_limits(problem, re.sub(r"_\d+$", "", name), kernel)
        if max(kernel["spill_stores"], kernel["spill_loads"]) > limit:
            faults.append(f"{name} spills {kernel['spill_stores']} bytes and loads {kernel['spill_loads']}")
        if kernel["blocks_per_sm"] == 0:
            faults.append(f"{name} cannot be launched")
    # Loops over pairs: the forward's sums, dq's, and those of dk and dv.
    for base in ("forward_attend", "backward_attend", "backward_pairs"):
        loops = {name: kernel for name, kernel in kernels.items() if re.fullmatch(base + r"(_\d+)?", name) and "queries" in kernel}
        assert loops, f"{spec}: no loop over pairs in {base} of {list(kernels)}"
        for name, kernel in loops.items():
            if min(kernel["queries"], kernel["keys"]) < find_limits(problem, base, kernel)[1]:
                faults.append(f"{name} has tiles of {kernel['queries']} queries by {kernel['keys']} keys")
    return [f"{' '.join([spec.name, dtype, str(channels), *options])}: {fault}" for fault in faults]


specs = [*select(folder, sys.argv[3]), extra]
problems = [(spec, "bf16", channels) for i, spec in enumerate(specs) for channels in ((64, 128, 192) if full else ((64, 192)[i % 2],))]
finite = [spec for spec in specs if spec.stem in FINITE]
problems += [(spec, "bf16", 96, SPLIT) for spec in finite if full or spec.stem == "softmax-taylor"]
problems += [(spec, "bf16", channels, SPLIT) for spec in finite if full or spec.stem == "linear-relu" for channels in ((64, 128, 192) if full else (128,))]
problems += [(spec, dtype, 192) for spec in (specs if full else [extra]) for dtype in ("f16", "f32")]
if full:
    problems += [(spec, "f16", channels) for spec in specs for channels in (64, 128)]
# The chunked form, and a step of decoding.
for products in ([], [SPLIT]) if full else ([],):
    problems += [(folder / "linear-relu.mlir", "bf16", channels, "--form=chunked", *products) for channels in ((64, 128) if full else (128,))]
    problems += [(folder / "softmax-taylor.mlir", "bf16", channels, "--form=chunked", "--set=order=2", *products) for channels in ((64, 128) if full else (64,))]
problems.append((folder / "softmax-taylor.mlir", "bf16", 64, "--decode=state", "--set=order=2"))
# Products that run beside the threads.
problems += [(spec, "bf16", channels, STARTED) for i, spec in enumerate(specs) for channels in ((64, 128, 192) if full else ((64, 128)[i % 2],))]
problems += [(spec, "f16", 128, STARTED) for spec in (specs if full else [extra])]
faults, compiled = [], 0
problems = problems[share::shares]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for problem, report in zip(problems, pool.map(compile_report, problems)):
        if report:
            compiled += 1
            faults += find_faults(problem, report)
assert compiled >= (3 if full else 1) * len(specs) // shares, compiled
sys.exit("\n".join(faults) or 0)
