# Machine code of kernels whose warps have roles: ptxas takes it without advice (C7510 to C7519 say that products wait), members share the registers of a multiprocessor
# between them, and what they compute stays in registers. Two and three members; a norm, a gate, a finite series; in f32, which has no such products, no kernel has roles.
# With members whose iterations overlap, the forward too.
# Two sums of 64 keys by 128 channels leave few registers: what is spilled there is for once a head; where nvdisasm is found, the loop over queries is looked at by itself.
# REQUIRES: taylorc, ptxas
# RUN: env TAYLOR_PTXAS=%ptxas %python %s %spec_dir %t
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

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


def find_nvdisasm():
    """Next to ptxas, or in a package beside that of ptxas, or in the path."""
    packages = next((parent for parent in ptxas.parents if parent.name == "site-packages"), ptxas.parent)
    places = [ptxas.parent / "nvdisasm", packages / "triton/backends/nvidia/bin/nvdisasm", pathlib.Path(shutil.which("nvdisasm") or "/nonexistent")]
    return next((place for place in places if place.is_file()), None)


def spills_in_loop(nvdisasm, entry, spec, *options):
    """Bytes that a thread loads and stores of its stack in each iteration of the innermost loop with products."""
    text, code = folder / f"{spec}.ptx", folder / f"{spec}.cubin"
    compile_spec(spec, "--emit=asm", "-o", text, *options)
    run(ptxas, "-arch=sm_90a", "-o", code, text)
    lines = next(part for part in re.split(r"\n//-+ \.text\.", run(nvdisasm, "-c", code)) if part.startswith(f"{entry} ")).splitlines()
    labels = {line.split(":")[0]: number for number, line in enumerate(lines) if re.match(r"\.L_x_\d+:", line)}
    jumps = [(labels[jump[1]], number) for number, line in enumerate(lines) if (jump := re.search(r"BRA.*?`\((\.L_x_\d+)\)", line))]
    loops = [lines[begin:end] for begin, end in jumps if begin < end]
    products = sum("HGMMA" in line for line in lines)
    innermost = min((loop for loop in loops if sum("HGMMA" in line for line in loop) == products), key=len)
    return sum(int(access[1] or 32) // 8 for line in innermost if (access := re.search(r"\b(?:LDL|STL)(?:\.LU)?(?:\.(64|128))?", line)))


folder.mkdir(parents=True, exist_ok=True)
nvdisasm = find_nvdisasm()
print(f"nvdisasm: {nvdisasm}")
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
    if channels == 128 and nvdisasm:
        spilled = spills_in_loop(nvdisasm, "backward_pairs", spec, *options)
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
assert all(kernel["threads"] <= 256 for kernel in json.loads(compile_spec("softmax", "--dtype=f32", "--report=json"))["kernels"])
