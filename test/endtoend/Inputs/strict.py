# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every specification in every form, held to the contract without slack (taylor-run --check --strict): a row of a table.

usage: strict.py BIN_DIR DEVICE TARGET DTYPE [SPEC..]

    nice .venv/bin/python3 test/endtoend/Inputs/strict.py build/bin cpu x86-64-v3 f16      # 3 minutes on one core
    nice .venv/bin/python3 test/endtoend/Inputs/strict.py build/bin ptx sm_80 bf16         # 40 minutes

strict.test runs one row under ./test.sh --full, and one specification of it always.

Prints each case that fails, and last a row: device and target, dtype, cases, wrong ones, refused ones, and which case
came nearest to its bound. Exit status: 0; 1 where a case is wrong."""
import pathlib
import re
import sys

from beyond import SETTINGS
from catalogue import CAUSAL_ONLY, ORDERS, STATES

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "Inputs"))
from cases import run_cases

ROW = re.compile(r"^(\S.*?) +([\d.e+-]+) +([\d.e+-]+) +[\d.e+-]+ +[\d.e+-]+ +\w+$", re.M)


def cases_of(path, device):
    """Arguments of taylor-run: each mask, form and order that the specification has."""
    name = path.stem if path.parent.name == "specs" else f"beyond/{path.stem}"
    tokens = 150 if device == "cpu" or name in STATES else 70
    common = [str(path), f"--shape=b=1,h=4,g=2,t={tokens},d=32", "--seed=3",
              *(f"--set={key}={value}" for key, value in SETTINGS.get(name, {}).items())]
    for mask in ["causal"] + ["bidirectional"] * (name not in CAUSAL_ONLY):
        if name not in STATES:
            yield [*common, f"--mask={mask}"]
            continue
        if name in ORDERS:
            yield [*common, f"--mask={mask}", "--form=parallel"]
        for order in ([f"--set=order={n}" for n in (2, 3)] if name in ORDERS else [""]):
            these = [*common, f"--mask={mask}", *filter(None, [order])]
            yield [*these, "--form=parallel"]
            yield [*these, "--form=chunked", "--chunk=64"]
            if mask == "causal":
                yield [*these, "--form=recurrent", "--forward-only"]


def main(bin_dir, device, target, dtype, *only):
    specs = ROOT / "examples" / "specs"
    lines = [" ".join(case) for path in sorted(specs.rglob("*.mlir")) if not only or path.stem in only
             for case in cases_of(path, device)]
    if not lines:
        sys.exit(f"error: expected specifications of these names, but got none of {', '.join(only)}")
    command = [f"{bin_dir}/taylor-run", f"--device={device}", f"--target={target}", "--check", "--strict",
               f"--dtype={dtype}", "--threads=1"]
    wrong = refused = 0
    nearest = (0, "")
    for at in range(0, len(lines), 12):
        for line, result in zip(lines[at:at + 12], run_cases(command, lines[at:at + 12])):
            case = line.replace(f"{specs}/", "")
            if result.refused:
                refused += 1
            elif not result.passed:
                wrong += 1
                print(f"FAILED {case}\n{result.output}", flush=True)
            for what, error, bound in ROW.findall(result.output):
                if float(bound):
                    nearest = max(nearest, (float(error) / float(bound), f"{what} of {case.split()[0]}"))
        print(f"{min(at + 12, len(lines))} of {len(lines)} cases", file=sys.stderr, flush=True)
    print(f"| {device}, {target} | {dtype} | {len(lines)} | {wrong} | {refused} | {nearest[0]:.2f}, {nearest[1]} |")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
