# Machine code of kernels whose warps have roles: ptxas takes it without advice (C7510 to C7519 say that products wait), members share the registers of a multiprocessor
# between them, and what they compute stays in registers. Two and three members; a norm, a gate, a finite series; in f32, which has no such products, no kernel has roles.
# With members whose iterations overlap, the forward too.
# Two sums of 64 keys by 128 channels leave few registers: what is spilled there is for once a head; the loop over queries is looked at by itself.
# REQUIRES: taylorc, ptxas, nvdisasm
# RUN: env TAYLOR_PTXAS=%ptxas %python %s %spec_dir %t
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from machine_code import find_nvdisasm, spills_in_loops

TARGET = "sm_90a+roles"
SPILLS, PAIRS_SPILLS = 64, {64: 64, 128: 200}  # bytes of a thread; of the kernel of dk and dv, by channels
specs, folder = map(pathlib.Path, sys.argv[1:3])
ptxas = pathlib.Path(os.environ["TAYLOR_PTXAS"])


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(map(str, command))}: {result.stderr}"
    return result.stdout


def compile_spec(spec, *options, target=TARGET):
    return run("taylorc", specs / f"{spec}.mlir", f"--target={target}", *options)


def count_in_loop(entry, spec, *options):
    """Bytes that a thread stores and loads of its stack in each iteration of the loop over queries."""
    text, code = folder / f"{spec}.ptx", folder / f"{spec}.cubin"
    compile_spec(spec, "--emit=asm", "-o", text, *options)
    run(ptxas, "-arch=sm_90a", "-o", code, text)
    return spills_in_loops(nvdisasm, code, [entry])[entry]


folder.mkdir(parents=True, exist_ok=True)
nvdisasm = find_nvdisasm(ptxas)
for spec, channels in (("softmax", 64), ("softmax", 128), ("softmax-norm-l2", 64), ("softmax-norm-l2", 128), ("softmax-gate", 64), ("softmax-taylor", 64),
                       ("softmax-taylor", 128)):
    options = ("--dtype=bf16", f"--head-dim={channels}", "--form=parallel")
    made = json.loads(compile_spec(spec, "--report=json", *options))
    assert not made["warnings"], made["warnings"]
    kernels = {kernel["name"]: kernel for kernel in made["kernels"]}
    of_rows = 3 if channels <= 64 else 2
    for name, members, spills in (("forward_attend", of_rows, SPILLS), ("backward_attend", of_rows, SPILLS), ("backward_pairs", 2, PAIRS_SPILLS[channels])):
        kernel = kernels[name]
        print(spec, channels, name, kernel["registers"], kernel["spill_stores"], kernel["spill_loads"])
        assert kernel["threads"] == 128 * (1 + members), (spec, channels, kernel)
        assert kernel["registers"] * kernel["threads"] <= 65536, (spec, channels, kernel)
        assert kernel["spill_stores"] <= spills and kernel["spill_loads"] <= spills, (spec, channels, kernel)
    if channels == 128:
        spilled = count_in_loop("backward_pairs", spec, *options)
        print(spec, channels, "loop over queries:", spilled)
        assert spilled <= SPILLS, (spec, channels, spilled)
for spec, channels in (("softmax", 64), ("softmax", 128), ("softmax", 192), ("softmax-norm-l2", 64), ("softmax-taylor", 128), ("decay-gates", 128)):
    for target in (f"{TARGET}+overlap", f"{TARGET}+overlap+persistent"):
        made = json.loads(compile_spec(spec, "--report=json", "--dtype=bf16", f"--head-dim={channels}", "--form=parallel", "--forward-only", target=target))
        assert not made["warnings"], made["warnings"]
        kernel = next(kernel for kernel in made["kernels"] if kernel["name"] == "forward_attend")
        print(spec, channels, target, kernel["registers"], kernel["spill_stores"], kernel["spill_loads"])
        assert kernel["spill_stores"] <= SPILLS and kernel["spill_loads"] <= SPILLS, (spec, channels, kernel)
# Further tiles for long sequences: 128 keys, and 96 queries in the kernel of dk and dv.
for spec, channels in (("softmax", 64), ("softmax", 128), ("softmax-norm-l2", 64), ("softmax-gate", 64), ("softmax-taylor", 64)):
    for form in ("parallel", "long"):
        made = json.loads(compile_spec(spec, "--report=json", "--dtype=bf16", f"--head-dim={channels}", f"--form={form}", target=f"{TARGET}+lengths"))
        assert not made["warnings"], made["warnings"]
        for kernel in made["kernels"]:
            print(spec, channels, form, kernel["name"], kernel["registers"], kernel["spill_stores"], kernel["spill_loads"])
            most = PAIRS_SPILLS[channels] if kernel["name"] == "backward_pairs" else SPILLS
            assert kernel["spill_stores"] <= most and kernel["spill_loads"] <= most, (spec, channels, form, kernel)
# Where a thread holds more beside the products than three members have room for, there are two.
made = json.loads(compile_spec("beyond/softplus", "--report=json", "--dtype=bf16", "--head-dim=64", "--form=parallel", "--forward-only"))
assert next(kernel["threads"] for kernel in made["kernels"] if kernel["name"] == "forward_attend") == 128 * 3, made
assert all(kernel["threads"] <= 256 for kernel in json.loads(compile_spec("softmax", "--dtype=f32", "--report=json"))["kernels"])
