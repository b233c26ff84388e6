# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of sm_90a, whose products run beside their threads, in the interpreter: outputs and all gradients against the
reference.

usage: started.py cover FULL BIN_DIR SPEC_DIR SHARE    a pairwise cover of the table COVER; FULL=1: of all specifications
       started.py roles FULL BIN_DIR SPEC_DIR SHARE    likewise of ROLES, with warps that copy for others
       started.py overlap FULL BIN_DIR SPEC_DIR SHARE  likewise of OVERLAP, with members whose iterations overlap
       started.py table BIN_DIR SPEC_DIR FILE [TARGET [SPEC..]]
           every specification for TARGET (sm_90a), and a table of what was found: Markdown; of some: printed alone

The last is one command for the whole catalogue:

    nice python3 test/endtoend/Inputs/started.py table build/bin examples/specs codegen/Targets/NVPTX/sm_90a.md"""
import os
import pathlib
import re
import sys
import textwrap

from catalogue import CAUSAL_ONLY, ORDERS, STATES
from cover import cover

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from cases import run_cases
from specifications import DIFFERENT

COVER = {
    "spec": [*DIFFERENT, "relu-gate", "beyond/sliding-window", "beyond/window-and-recurrence", "beyond/softmax-sink"],
    "d": [16, 40, 64, 96, 128, 192],
    "dtype": ["bf16", "f16"],
    "mode": ["causal", "bidirectional", "documents", "chunked", "cache"],
    "tokens": [(63, 63), (64, 64), (100, 171)],  # queries, keys
    "heads": [(1, 2, 2), (2, 2, 1)],  # b, h, g
    "layout": ["bhtc", "bthc"],
}
# More queries than one gang of 192 has, and as many as leave members of the last one without any of their own.
ROLES = COVER | {
    "spec": ["softmax", "softmax-norm-l2", "softmax-count-gate", "linear-relu", "softmax-taylor", "relu-gate", "beyond/sliding-window", "beyond/softmax-sink"],
    "d": [40, 64, 96, 128],
    "mode": ["causal", "bidirectional", "documents", "cache"],
    "tokens": [(63, 63), (200, 200), (130, 271)],
    "heads": [(1, 2, 2), (2, 2, 1)],
}
# Members that pass by tiles, and that have none or one; in several orders of warps.
OVERLAP = ROLES | {"d": [64, 96, 128], "order": [0, 1, 2, 3]}
MODES = {"causal": ["--mask=causal"], "bidirectional": ["--mask=bidirectional"], "documents": ["--documents"],
         "chunked": ["--form=chunked", "--chunk=64"], "cache": ["--decode=cache", "--forward-only"]}
# Of the table: an awkward length, each kernel in four orders of warps. With roles two gangs of members, of which the last one has one tile.
SHAPES = {False: "b=1,h=2,g=1,t=171,u=200", True: "b=1,h=2,g=1,t=200,u=230"}
CHANNELS, TYPES, SEEDS = (64, 128), ("bf16", "f16"), range(4)


def allowed(case):
    spec, mode = case.get("spec"), case.get("mode")
    if spec in CAUSAL_ONLY and mode == "bidirectional":
        return False
    if mode == "chunked" and (spec and spec not in STATES or case.get("d", 16) > 64 and spec in ORDERS):
        return False
    queries, keys = case.get("tokens", (1, 1))
    return mode not in ("documents",) or queries == keys


def arguments(case):
    (t, u), (b, h, g), d = case["tokens"], case["heads"], case["d"]
    order = ["--set=order=2"] if case["mode"] == "chunked" and case["spec"] in ORDERS else []
    return [f"--shape=b={b},h={h},g={g},t={t},u={u},d={d},e={d}", f"--dtype={case['dtype']}", f"--layout={case['layout']}",
            f"--seed={t + d}", f"--ptx-seed={case.get('order', 0)}", *MODES[case["mode"]], *order]


def command(bin_dir, target="sm_90a"):
    os.environ["TAYLOR_PTXAS"] = ""
    return [f"{bin_dir}/taylor-run", "--device=ptx", f"--target={target}", "--check", "--poison", "--threads=1"]


def check_cover(full, bin_dir, spec_dir, share, table=COVER, target="sm_90a"):
    share, shares = map(int, share.split("/"))
    names = sorted(str(path.relative_to(spec_dir).with_suffix("")) for path in pathlib.Path(spec_dir).rglob("*.mlir"))
    levels = table | ({"spec": names} if full == "1" else {"spec": [name for name in table["spec"] if name in names]})
    cases = cover(levels, 2, allowed)[share::shares]
    lines = [" ".join([f"{spec_dir}/{case['spec']}.mlir", *arguments(case)]) for case in cases]
    passed = refused = 0
    for line, case, result in zip(lines, cases, run_cases(command(bin_dir, target), lines)):
        if result.refused:
            refused += 1
        elif result.passed:
            passed += 1
        else:
            print(f"{' '.join(command(bin_dir, target))} {line}\n{result.output[-4000:]}", flush=True)
    print(f"{len(cases)} cases: {passed} passed, {refused} refused, {len(cases) - passed - refused} failed")
    return 1 if passed + refused < len(cases) or passed < len(cases) / 2 else 0


def judge(results):
    """A cell of the table: the largest error as a part of what the contract allows, over all results and seeds."""
    if any(result.refused for result in results):
        return "refused"
    rows = [line.split() for result in results for line in result.output.splitlines() if re.search(r"\d +(ok|FAILED|FAIL|off)$", line)]
    errors = [float(row[-5]) / float(row[-4]) for row in rows]
    return f"{max(errors):.2f}" if errors and all(result.passed for result in results) else "**FAILED**"


def write_table(bin_dir, spec_dir, file, target="sm_90a", *chosen):
    paths = sorted(pathlib.Path(spec_dir).rglob("*.mlir"))
    names = chosen or [str(path.relative_to(spec_dir).with_suffix("")) for path in paths]
    columns = [(d, dtype) for d in CHANNELS for dtype in TYPES]
    has_roles = "+roles" in target
    shape = SHAPES[has_roles]
    rows, counts = [], {"refused": 0, "**FAILED**": 0}
    for name in names:
        lines = [f"--shape={shape},d={d},e={d} --dtype={dtype} --seed={d} --ptx-seed={seed}" for d, dtype in columns for seed in SEEDS]
        results = run_cases([*command(bin_dir, target), f"{spec_dir}/{name}.mlir"], lines)
        cells = [judge(results[i:i + len(SEEDS)]) for i in range(0, len(lines), len(SEEDS))]
        for cell, line, result in zip((cell for cell in cells for _ in SEEDS), lines, results):
            if cell in counts:
                counts[cell] += 1
            if cell == "**FAILED**" and not result.passed:
                print(f"{name} {line}\n{result.output[-3000:]}", flush=True)
        print(name, *cells, flush=True)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    total = len(names) * len(columns) * len(SEEDS)
    word, kind = ("", "") if target == "sm_90a" else (f" {target}", f"`{target}` is an experiment ([HOPPER.md](HOPPER.md)). ")
    found = "races, reads of products in flight and missing proxy fences"
    if has_roles:
        found = "races, reads of products and copies in flight, and missing fences, barriers and arrivals. A kernel that roles cannot take has none"
    paragraphs = [
        f"{kind}Each specification of `examples/specs` is compiled for {target} and run by the interpreter (`runtime/ptx`), forward and backward, "
        f"at {shape}. The interpreter runs the warps of each kernel in {len(SEEDS)} orders (`--ptx-seed`), and reports {found}.",
        "A cell is the largest error of the output and of all gradients, as a part of what the contract allows (`dialect/Reference/Contract.h`); "
        "more than 1 fails. `refused`: weights without a bound have no code in f16, whose largest number they may exceed.",
        f"{total} runs: {total - sum(counts.values())} within the contract, {counts['refused']} refused, {counts['**FAILED**']} failed."]
    prose = "\n\n".join(textwrap.fill(paragraph, 100, break_long_words=False, break_on_hyphens=False) for paragraph in paragraphs)
    text = f"""# {target}: every specification in the interpreter

    python3 test/endtoend/Inputs/started.py table build/bin examples/specs {file}{word}

{prose}

| specification | {' | '.join(f'd = {d}, {dtype}' for d, dtype in columns)} |
|{'---|' * (len(columns) + 1)}
""" + "\n".join(rows) + "\n"
    if not chosen:
        pathlib.Path(file).write_text(text, encoding="utf-8")
    return 1 if counts["**FAILED**"] else 0


def main():
    what, *rest = sys.argv[1:]
    if what == "roles":
        return check_cover(*rest, ROLES, "sm_90a+roles")
    if what == "overlap":
        return check_cover(*rest, OVERLAP, "sm_90a+roles+overlap")
    return check_cover(*rest) if what == "cover" else write_table(*rest)


if __name__ == "__main__":
    sys.exit(main())
