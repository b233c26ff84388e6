# Machine code of kernels whose warps have roles: ptxas takes it without advice (it would say that it makes products wait), has registers for it, and heeds
# setmaxnreg. The rows of softmax and of a norm; in f32, which has no such products, no kernel has roles.
# REQUIRES: taylorc, ptxas
# RUN: env TAYLOR_PTXAS=%ptxas %python %s %spec_dir
import json
import pathlib
import subprocess
import sys

SPILLS = 64  # bytes


def report(spec, *options):
    command = ["taylorc", f"{sys.argv[1]}/{spec}.mlir", "--target=sm_90a+roles", "--report=json", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(command)}: {result.stderr}"
    return json.loads(result.stdout)


for spec, channels in (("softmax", 64), ("softmax", 128), ("softmax-norm-l2", 64)):
    made = report(spec, "--dtype=bf16", f"--head-dim={channels}")
    assert not made["warnings"], made["warnings"]
    kernels = {kernel["name"]: kernel for kernel in made["kernels"]}
    members = 3 if channels <= 64 else 2
    for name in ("forward_attend", "backward_attend"):
        kernel = kernels[name]
        assert kernel["threads"] == 128 * (1 + members), (spec, channels, kernel)
        assert kernel["registers"] * kernel["threads"] <= 65536, (spec, channels, kernel)
        assert kernel["spill_stores"] <= SPILLS and kernel["spill_loads"] <= SPILLS, (spec, channels, kernel)
    assert kernels["backward_pairs"]["threads"] == 128, kernels["backward_pairs"]
assert all(kernel["threads"] <= 256 for kernel in report("softmax", "--dtype=f32")["kernels"])
