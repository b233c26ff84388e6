# Machine code of started products: ptxas makes none of them wait (C7510 to C7519), and no loop of a kernel with products moves more than 64 bytes of a thread
# to and from its stack in an iteration. Forward, dq, dk and dv, and those of the chunked form, in all targets with such products; under ./test.sh --full of
# all of examples/specs.
# REQUIRES: taylorc, ptxas, nvdisasm
# SHARDS: 3
# RUN: env TAYLOR_PTXAS=%ptxas %python %s %spec_dir %full %shard %t
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from cases import REFUSED
from machine_code import assemble_products, find_nvdisasm, spills_in_loops
from specifications import DIFFERENT

folder, full, out = pathlib.Path(sys.argv[1]), sys.argv[2] == "1", pathlib.Path(sys.argv[4])
share, shares = map(int, sys.argv[3].split("/"))
ptxas = os.environ["TAYLOR_PTXAS"]
nvdisasm = find_nvdisasm(ptxas)
SPILLS = 64  # bytes that an iteration stores and loads
TARGETS = ("sm_90a", "sm_90a+roles", "sm_90a+roles+overlap", "sm_90a+roles+persistent", "sm_90a+roles+overlap+persistent")
OTHERS = ("sm_90a+computed", "sm_90a+lengths", "sm_90a+roles+lengths", "sm_90a+early")
# Those whose loops hold most beside the products: with wider tiles, or one member more, each of them spills.
SCARCE = {"alibi": 128, "cumulative-gate": 128, "decay-gates": 128, "query-key-norm": 128, "relative-bias": 64, "softmax-mass-gate": 128, "softmax-soft-cap": 64, "softplus": 64}
# The chunked form of sums of finitely many orders: dk and dv within a chunk of 128 channels spilled with 64 queries.
CHUNKED = {"linear-relu": "", "softmax-taylor": "order=1", "elu-taylor": "order=2", "cosine-taylor": "order=2"}


def find_faults(number, spec, channels, dtype, target, form="parallel", *options):
    name = " ".join([spec.stem, dtype, str(channels), target, form, *options])
    # Only the forward's iterations overlap.
    only = ["--forward-only"] if "overlap" in target else []
    values = [f"--set={CHUNKED[spec.stem]}"] if form == "chunked" and CHUNKED[spec.stem] else []
    command = ["taylorc", spec, f"--target={target}", f"--dtype={dtype}", f"--head-dim={channels}", f"--form={form}", "--emit=asm", "-o", "-", *only, *values, *options]
    result = subprocess.run(command, capture_output=True, text=True)
    if dtype == "f16" and result.returncode == REFUSED:  # weights without a bound
        return None
    assert result.returncode == 0, f"{name}: {result.stderr}"
    if hash(result.stdout) in assembled:  # the text of another target, as where a word changes nothing
        return []
    assembled.add(hash(result.stdout))
    code = out / f"{number}.cubin"
    kernels, log = assemble_products(ptxas, result.stdout, code)
    assert re.search("attend", " ".join(kernels)), f"{name}: {kernels}"
    faults = [f"{name}: {line}" for line in log.splitlines() if "warning" in line or "(C75" in line]
    spilling = [kernel for kernel, (stored, loaded) in kernels.items() if stored + loaded > SPILLS]
    for kernel, spilled in (spills_in_loops(nvdisasm, code, spilling) if spilling else {}).items():
        print(f"{name}: {kernel} {kernels[kernel]}, in a loop {spilled}", flush=True)
        if spilled > SPILLS:
            faults.append(f"{name}: a loop of {kernel} stores and loads {spilled} bytes in each iteration")
    code.unlink()
    return faults


out.mkdir(parents=True, exist_ok=True)
specs = sorted(folder.rglob("*.mlir"))
named = {spec.stem: spec for spec in specs}
# Other channels, documents, and the other ways of summing rows and of multiplying.
OPTIONS = [(named["decay-gates"], 128, "bf16", "sm_90a", "parallel", "--documents"), (named["softmax"], 128, "bf16", "sm_90a+roles", "parallel", "--row-sums=atomic"),
           (named["softmax"], 128, "bf16", "sm_90a", "parallel", "--row-sums=atomic"), (named["softmax"], 128, "bf16", "sm_90a", "parallel", "--documents"),
           (named["linear-relu"], 128, "bf16", "sm_90a", "chunked", "--bf16-products=split"),
           *((named["softmax-taylor"], channels, "bf16", "sm_90a", "parallel", "--bf16-products=split") for channels in (64, 128)),
           *((named["softmax"], channels, "bf16", "sm_90a") for channels in (96, 192, 256)),
           *((named[stem], 192, "bf16", "sm_90a") for stem in ("linear-cosine", "cosine-taylor", "window-and-recurrence"))]
if full:
    problems = list(itertools.product(specs, (64, 128), ("bf16", "f16"), (*TARGETS, *OTHERS)))
    problems += itertools.product([spec for spec in specs if spec.stem in CHUNKED], (64, 128), ("bf16", "f16"), TARGETS, ["chunked"])
    problems += OPTIONS
else:
    # Each specification with two targets, in turn, so that all pairs of a target and a type, and of a target and channels, are there.
    chosen = [spec for spec in specs if spec.stem in SCARCE or spec.stem in DIFFERENT]
    problems = [(spec, SCARCE.get(spec.stem, (64, 128)[(i + j) % 2]), ("bf16", "f16")[(i // 2 + j) % 2], TARGETS[(2 * i + j) % len(TARGETS)])
                for i, spec in enumerate(chosen) for j in range(2)]
    # What spilled before its tiles were narrower, and in both targets.
    problems += [(spec, SCARCE[spec.stem], "bf16", target) for spec in chosen if spec.stem in ("decay-gates", "softmax-mass-gate") for target in TARGETS[:2]]
    problems += [(spec, 128, "bf16", TARGETS[i % 2], "chunked") for i, spec in enumerate(spec for spec in specs if spec.stem in CHUNKED)]
    problems += [(spec, 128, "bf16", target) for spec in specs if spec.stem in ("softmax", "query-key-norm") for target in OTHERS[:2]]
    problems += [(spec, 64, "bf16", "sm_90a+computed") for spec in specs if spec.stem == "differential"]
    problems += OPTIONS[:2]
    problems = list(dict.fromkeys(problems))
faults, compiled, assembled = [], 0, set()
problems = problems[share::shares]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for found in pool.map(lambda item: find_faults(item[0], *item[1]), enumerate(problems)):
        compiled += found is not None
        faults += found or []
print(f"{compiled} of {len(problems)} compiled, {len(assembled)} different texts")
assert compiled >= len(problems) / 2
sys.exit("\n".join(faults) or 0)
