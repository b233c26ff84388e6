# Compiled kernels of sm_90a, forward and backward, with one place of their PTX or of their tensor maps broken after the other (test/endtoend/mutants/README.md).
# Each mutant is a fault in the interpreter, or a wrong result, or it stands in Inputs/redundant_mutants.py with the reason why it changes nothing.
# One part for each kernel. Every fourth mutant of a kind is tried, of descriptors every sixteenth; with --full all are.
# REQUIRES: taylorc
# SHARDS: 14
# RUN: %python %s %bin_dir %S/../runtime/artifact-fixture/plain.mlir %spec_dir %t %shard %full
import collections
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "Inputs"))
from mutant_cases import CASES, SYNCHRONISED
from redundant_mutants import REDUNDANT

bin_dir, plain, specs, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
names, full = list(CASES), sys.argv[6] == "1"
part, parts = map(int, sys.argv[5].split("/"))
assert parts == len(names), f"requires SHARDS: {len(names)}"
ENVIRONMENT = {**os.environ, "TAYLOR_PTXAS": "", "HOME": str(folder)}


def run(program, *arguments):
    result = subprocess.run([bin_dir / program, *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT)
    assert result.returncode == 0, f"{program} {arguments}: {result.stdout}{result.stderr}"
    return result.stdout


name, case = names[part], CASES[names[part]]
folder.mkdir(parents=True, exist_ok=True)
spec, artifact = plain if case.spec == "plain" else specs / f"{case.spec}.mlir", folder / "whole.so"
run("taylorc", spec, "--dtype=bf16", f"--target={case.target}", f"--head-dim={case.head_dim}", "--value-dim=64", *case.options, "-o", artifact)
for sizes in {case.sizes, case.map_sizes}:
    checked = run("taylor-run", spec, f"--kernel={artifact}", "--device=ptx", "--check", "--poison", "--dtype=bf16", *case.options, "--threads=1",
                  f"--shape={sizes},d={case.head_dim},e=64")
    assert "  ok" in checked, checked

rows = [line.split("\t") for line in run("taylor-mutants", artifact, case.kernel, case.sizes, case.map_sizes, 1 if full else 4).splitlines()]
mine = [entry for entry in REDUNDANT if name in entry.cases]
failures, used, counts = [], set(), collections.Counter()
for verdict, what, place, fault in rows:
    entry = next((entry for entry in mine if entry.matches(what, place)), None)
    isCaught = verdict in ("fault", "wrong", "slower")
    counts["caught" if isCaught else "redundant" if entry else "not caught"] += 1
    if entry:
        used.add(entry)
    if not isCaught and not entry:
        failures.append(f"not caught: {what} | {place} ({verdict})")
    if isCaught and entry and not entry.is_rule:
        failures.append(f"caught, though the list says why it cannot be: {what} | {place}: {verdict} {fault}")
kinds = {what.partition(":")[0] for _, what, _, _ in rows}
failures += [f"nothing to break: {kind}" for kind in SYNCHRONISED[case.roles] if kind not in kinds and kind not in case.lacks]
if full:
    failures += [f"no mutant is: {entry.what} | {entry.place}" for entry in mine if entry not in used]
print(f"{name}: {len(rows)} mutants:", ", ".join(f"{number} {verdict}" for verdict, number in counts.items()), *failures, sep="\n")
sys.exit(bool(failures))
