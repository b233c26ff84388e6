# Kernels that begin before the one before them has ended (sm_90+early, an experiment: codegen/Targets/NVPTX/HOPPER.md), in the interpreter: results are right, and
# without any one of their waits a kernel touches what another one of the call writes.
# REQUIRES: taylorc
# RUN: %python %s %bin_dir %S/../runtime/artifact-fixture %spec_dir %t
import json
import os
import pathlib
import subprocess
import sys

bin_dir, fixtures, specs, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
sys.path.insert(0, str(fixtures))
from seal import trailer

folder.mkdir(parents=True, exist_ok=True)
ENVIRONMENT = {**os.environ, "TAYLOR_PTXAS": "", "HOME": str(folder)}
WAIT = b"griddepcontrol.wait;"
CASES = [("softmax", "sm_90a+early", ["--dtype=bf16"]), ("softmax-norm-l2", "sm_90+early", ["--dtype=f32"]),
         ("softmax", "sm_90a+roles+persistent+early", ["--dtype=bf16"]), ("linear-relu", "sm_90+early", ["--dtype=bf16", "--form=chunked", "--chunk=64"]),
         ("beyond/softmax-soft-cap", "sm_100+early", ["--dtype=f16"]), ("decay-gates", "sm_90a+early", ["--dtype=bf16", "--documents"])]


def taylor(program, *arguments):
    return subprocess.run([bin_dir / program, *arguments], capture_output=True, text=True, env=ENVIRONMENT)


def check(spec, kernel, options):
    return taylor("taylor-run", spec, f"--kernel={kernel}", "--device=ptx", "--check", "--poison", "--threads=2", "--shape=b=1,h=2,g=1,t=150,d=32",
                  *options)


failures = waits = 0
for name, target, options in CASES:
    spec, whole = specs / f"{name}.mlir", folder / "whole.so"
    made = taylor("taylorc", spec, f"--target={target}", "--head-dim=32", *options, "-o", whole)
    assert made.returncode == 0, made.stderr
    both = [option for option in options if option == "--documents" or option.startswith("--dtype")]
    result = check(spec, whole, both)
    assert result.returncode == 0 and "  ok" in result.stdout, result.stdout + result.stderr

    # The first kernel of each function waits for nothing, and all others do. (A processor's target has no such field.)
    manifest = json.loads((folder / "whole.json").read_text())
    (machine,) = manifest["targets"]
    forms = [form for function in machine["functions"].values() for form in [function, *function.get("alternatives", [])]]
    early = [[kernel.get("early", False) for kernel in form["kernels"]] for form in forms]
    assert all(kernels == [False] + [True] * (len(kernels) - 1) for kernels in early), early
    artifact = whole.read_bytes()[:-len(trailer(b""))]
    count = artifact.count(WAIT)
    assert count == sum(map(sum, early)) and artifact.count(b"griddepcontrol.launch_dependents;") == count, (count, early)

    at = -1
    for _ in range(count):
        at = artifact.index(WAIT, at + 1)
        mutant = artifact[:at] + b" " * len(WAIT) + artifact[at + len(WAIT):]
        (folder / "mutant.so").write_bytes(mutant + trailer(mutant))
        result = check(spec, folder / "mutant.so", both)
        if result.returncode == 0 or "requires griddepcontrol.wait before it" not in result.stderr:
            failures += 1
            print(f"{name}, {target}: without wait {waits} of {count}: {result.stdout[-300:]}{result.stderr[-300:]}")
        waits += 1
print(f"{len(CASES)} cases, {waits} waits broken, {failures} not caught")
sys.exit(failures > 0 or waits == 0)
