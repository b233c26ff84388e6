# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc
# RUN: %python %s %bin_dir %spec_dir %S/Inputs %t
"""A small Llama trains through compiled GPU code in the interpreter: fast enough to be used in tests, and with the processor's losses."""
import json
import math
import resource
import subprocess
import sys

LIMIT = 120  # seconds of one core, whatever else the machine does, with compilation; it takes about 6
TOLERANCE = 5e-3  # relative, of losses in bf16

bin_dir, spec_dir, inputs, out = sys.argv[1:5]


def train(device):
    subprocess.run([f"{bin_dir}/taylor-train", "--config", f"{inputs}/interpreted.toml", "--attention", f"{spec_dir}/softmax.mlir",
                    f"--device={device}", "--out", f"{out}.{device}", "--overwrite"], check=True)
    with open(f"{out}.{device}/metrics.jsonl") as file:
        return [(line["step"], key, line[key]) for line in map(json.loads, file) for key in ("loss", "validation_loss") if key in line]


expected = train("cpu")
assert len(expected) == 6, expected
before = resource.getrusage(resource.RUSAGE_CHILDREN)
losses = train("ptx")
after = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
for (step, name, value), (other_step, other_name, reference) in zip(losses, expected, strict=True):
    assert (step, name) == (other_step, other_name), (losses, expected)
    assert math.isclose(value, reference, rel_tol=TOLERANCE), f"step {step}: expected {name} {reference}, but got {value}"
print(f"training took {seconds:.1f} s")
assert seconds <= LIMIT, f"expected 3 steps in at most {LIMIT} s, but they took {seconds:.1f} s"
