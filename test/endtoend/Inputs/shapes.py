# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: shapes.py DEVICE SPEC FULL BIN_DIR SPEC_DIR: checks the kernels of one specification on a device (cpu, ptx)
against the reference, outputs and all gradients, on its share of a pairwise (FULL=1: three-way) cover of the device's
table below.

Pairwise keeps the kernels few. Each specification meets each type and mask. Each type and mask meets each number of
channels. All of these meet each length, memory and scale. A specification does not meet each number of channels."""
import pathlib
import sys

from cover import cover, cover_few_kernels

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from cases import run_cases

SPECS = ["softmax", "softmax-norm-l2", "softmax-count-gate", "softmax-count-layernorm", "linear-relu", "decay-gates",
         "softmax-taylor"]
CPU = {
    "spec": SPECS,
    "dtype": ["f32", "bf16", "f16", "f64"],
    "t": [1, 2, 63, 64, 65, 111, 1000],
    "u": ["same", "more", "fewer"],  # than queries; fewer: rows that see no key
    "heads": [(2, 1, 1), (1, 2, 2), (1, 4, 2), (2, 3, 1)],  # b, h, g
    "d": [16, 32, 64, 96, 128, 192],
    "e": ["same", 32, 80],
    "mask": ["causal", "bidirectional"],
    "layout": ["bhtc", "bthc"],
    "scale": ["1", "8"],  # of q and k's channels, and so of logits
}
# A GPU's code differs by the channels of its tiles most, and the interpreter is slow: no long sequences.
PTX = CPU | {
    "dtype": ["f32", "bf16", "f16", "tf32"],  # tf32: f32 whose products round their operands
    "t": [1, 2, 63, 64, 65, 111],
    "d": [16, 32, 40, 64, 72, 96, 128, 192, 256],
    "e": ["same", 32, 80],
}
TABLES = {"cpu": CPU, "ptx": PTX}
RUN = ["t", "u", "heads", "layout", "scale"]  # no kernel depends on them
APART = [("spec", "d"), ("spec", "e"), ("d", "e")]
# Their weights have no bound, so products in f16, which GPUs make, are refused (taylor-check-half-weights).
UNBOUNDED = ["linear-relu", "softmax-taylor"]


def allowed(case):
    if case.get("spec") == "decay-gates" and (case.get("mask") == "bidirectional" or case.get("u") == "fewer"):
        return False  # refused: a decay is causal and reads keys at query positions
    if case.get("t") == 1 and case.get("u") == "fewer":
        return False
    # The reference is slow: long sequences with one head and few channels.
    if case.get("t") == 1000 and (case.get("heads", (1,))[0] * case.get("heads", (1, 1))[1] > 2 or case.get("d", 16) > 64):
        return False
    # An odd or high power of large logits leaves the range in which a series means anything.
    return not (case.get("spec") == "softmax-taylor" and case.get("scale") == "8")


def arguments(case):
    t, (b, h, g), d = case["t"], case["heads"], case["d"]
    u = {"same": t, "more": t + 65, "fewer": max(1, t // 2)}[case["u"]]
    e = d if case["e"] == "same" else case["e"]
    dtype = ["--dtype=f32", "--f32-products=tf32"] if case["dtype"] == "tf32" else [f"--dtype={case['dtype']}"]
    return " ".join([f"--shape=b={b},h={h},g={g},t={t},u={u},d={d},e={e}", *dtype, f"--mask={case['mask']}", f"--layout={case['layout']}",
                     f"--scale={case['scale']}", f"--seed={t + d}"])


def main():
    device, spec, full, bin_dir, spec_dir = sys.argv[1:6]
    refused = lambda case: device == "ptx" and case.get("dtype") == "f16" and case.get("spec") in UNBOUNDED
    possible = lambda case: allowed(case) and not refused(case)
    cases = cover(TABLES[device], 3, possible) if full == "1" else cover_few_kernels(TABLES[device], RUN, possible, APART)
    cases = [c for c in cases if c["spec"] == spec]
    command = [f"{bin_dir}/taylor-run", f"{spec_dir}/{spec}.mlir", f"--device={device}", "--check", "--poison", "--threads=1"]
    lines = [arguments(case) for case in cases]
    failures = 0
    for line, result in zip(lines, run_cases(command, lines)):
        if not result.passed:
            failures += 1
            print(f"{' '.join(command)} {line}\n{result.output[-4000:]}", flush=True)
    print(f"{device} {spec}: {len(cases) - failures} passed, {failures} failed")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
