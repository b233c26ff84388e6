# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: check_catalogue.py DEVICE PART FULL BIN_DIR SPEC_DIR FOLDER [SHARE]: checks the specifications of one part of
catalogue.py or beyond.py (or of one of the two) on the cover of its table below for the device.

Each case compares the fp64 reference, its outputs and the gradients of every argument, with the PyTorch formula, and
the kernels compiled for the device (cpu, ptx) with the reference. PART forms: the kernels alone, in the forms that
states have (the reference knows no forms). SHARE, such as 0/3: the first third of the specifications."""
import itertools
import json
import pathlib
import shutil
import sys

import numpy as np
import torch

from beyond import BEYOND, SETTINGS
from catalogue import CATALOGUE, CAUSAL_ONLY, NORMS_OVER_HEADS, ORDERS, STATES
from cover import cover

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from cases import run_cases

CPU = {
    "spec": [name for rows in CATALOGUE.values() for name in rows],
    "dtype": ["f32", "bf16"],
    "mask": ["causal", "bidirectional"],
    "d": [16, 32, 64, 96, 128, 192],
    "e": ["same", 32, 80],
    "tokens": [(65, 65), (37, 101), (41, 25)],  # queries, keys; the last: 16 queries that see no key
    "heads": [(2, 2, 1), (1, 3, 3), (1, 4, 2)],  # b, h, g
    "order": ["default", 2, 4],
    "scale": ["1", "8"],  # of logits: with 8 many are clamped
}
# What has states. Chunks of 64 tokens, and more tokens than two of them: with fewer, no state is read. In pieces: one shorter and two longer than a
# chunk, so that states come in from before and are read within.
CHUNKED = ["--form=chunked", "--chunk=64"]
PIECES = ["--states=3,70"]
PARALLEL = ["--form=parallel"]
FORMS = {"parallel": PARALLEL, "chunked": CHUNKED, "recurrent": ["--form=recurrent", "--forward-only"], "pieces": PIECES + PARALLEL, "chunked pieces": PIECES + CHUNKED}
WHOLE = (150, 150)
CPU_FORMS = CPU | {
    "spec": [*STATES],
    "form": [*FORMS],
    "d": [16, 64, 96, 192],  # the other sizes are in the table above
    "tokens": [WHOLE, (150, 190), (190, 140)],  # the last: 50 queries that see no key
    "heads": [(2, 2, 1), (1, 3, 3), (1, 8, 1), (1, 4, 2)],
}
# The interpreter is slow: few tokens, and few channels where masks must leave out tiles.
LONG = (150, 200)
PTX = CPU | {"e": ["same", 24], "tokens": [(33, 40), (40, 33)], "heads": [(1, 2, 2), (1, 2, 1)]}
# Groups of 1, 4 and 8 query heads; no orders.
CPU_BEYOND = {name: levels for name, levels in CPU.items() if name != "order"} | {
    "spec": [name for rows in BEYOND.values() for name in rows],
    "heads": [(2, 2, 2), (1, 4, 1), (1, 8, 1), (1, 4, 2)],
}
PTX_BEYOND = CPU_BEYOND | {"e": ["same", 24], "tokens": [(33, 40), (40, 33), LONG], "heads": [(1, 2, 2), (1, 4, 1), (1, 8, 1)]}
# Forms on GPUs. split: bf16, whose computed operands of products are two numbers.
PTX_FORMS = {
    "spec": [*STATES],
    "dtype": ["f32", "bf16", "split"],
    "mask": ["causal", "bidirectional"],
    "d": [16, 32],
    "e": ["same", 24],
    "form": ["parallel", "chunked"],
    "tokens": [(150, 150), (130, 190)],
    "heads": [(1, 2, 2), (1, 2, 1)],
    "order": ["default", 2, 4],
    "scale": ["1"],
}
# By device: the tables; of how many factors all combinations of levels occur, by default and in the full run. ONCE: one case per specification, which
# together have as many combinations of two as they have room for. KERNELS: few kernels, and several problems for each.
ONCE, KERNELS = 0, 1
TABLES = {
    "cpu": {"catalogue": (CPU, KERNELS, 3), "forms": (CPU_FORMS, 2, 3), "beyond": (CPU_BEYOND, KERNELS, 3)},
    "ptx": {"catalogue": (PTX, ONCE, 2), "forms": (PTX_FORMS, 2, 3), "beyond": (PTX_BEYOND, ONCE, 2)},
}
COLLECTIONS = {"catalogue": CATALOGUE, "beyond": BEYOND, "forms": {}}
# Of the reference, in long double, against PyTorch in fp64: relative, and for what cancels to 0, per element.
TOLERANCE, ROUNDING = 1e-10, 1e-12
PRODUCTS = {"split": ["--dtype=bf16", "--bf16-products=split"]}


def allowed(case):
    spec = case.get("spec")
    queries, keys = case.get("tokens", (1, 1))
    if spec in CAUSAL_ONLY and (case.get("mask") == "bidirectional" or queries > keys):
        return False
    # A norm over one head gives a sign, whose derivative is 0: what is left is rounding over the length, of which no contract speaks.
    if spec in NORMS_OVER_HEADS and case.get("heads", (1, 2, 2))[2] == 1:
        return False
    if case.get("tokens") == LONG and (case.get("d", 16) > 64 or not (spec is None or spec in SETTINGS)):
        return False
    # A high power of large logits leaves the range in which a series means anything.
    series = spec in ORDERS or case.get("order", "default") != "default"
    return not (series and (case.get("scale") == "8" or spec not in (None, *ORDERS)))


def allowed_forms(case):
    """Of CPU_FORMS and PTX_FORMS."""
    # States go on token after token, in causal sums; no more features than they can have.
    if case.get("form", "chunked") not in ("parallel", "chunked") and (case.get("mask") == "bidirectional" or case.get("tokens", WHOLE) != WHOLE):
        return False
    if case.get("spec") in ORDERS and case.get("order") == "default" or case.get("order") == 4 and case.get("d", 16) > 16:
        return False
    return allowed(case)


def settings(case):
    """Parameters of the specification that are not left at their defaults."""
    order = case.get("order", "default")
    return SETTINGS.get(case["spec"], {}) | ({} if order == "default" else {"order": order})


def check_reference(case, formula, folder):
    """The reference's results in the folder against the formula's on the same arguments."""
    load = lambda file: torch.from_numpy(np.load(folder / f"{file}.npy")).double()
    rows = json.loads((folder / "contract.json").read_text())
    inputs = {row["name"]: load(f"input.{row['name']}").requires_grad_() for row in rows if row["kind"] == "gradient"}
    orders = {"order": ORDERS[case["spec"]]} if case["spec"] in ORDERS else {}
    o = formula(**inputs, causal=case["mask"] == "causal", **orders | settings(case))
    found = {"output.o": o.detach()}
    gradients = torch.autograd.grad(o, list(inputs.values()), load("cotangent.o"))
    found |= {f"gradient.{name}": gradient for name, gradient in zip(inputs, gradients)}
    assert len(found) == len(rows)
    problems = []
    for name, theirs in found.items():
        ours = load(name)
        error = (ours - theirs).norm().item()
        if not error <= TOLERANCE * theirs.norm().item() + ROUNDING * theirs.numel() ** 0.5:
            problems.append(f"{name} of the reference is off by {error:.2e} of {theirs.norm():.2e}")
    return problems


def few_kernels(table, possible):
    """Cases in which each specification has each order, and each number of tokens, heads and scale, but one type, mask and number of channels beside: these
    occur with each other, with every order, and with other specifications. A kernel is compiled for its channels, type, mask and order, and compiling takes longest;
    so each specification has as few kernels as that takes, and its problems are spread over them."""
    run = {name: table[name] for name in ("tokens", "heads", "scale")}
    kernels = cover({name: levels for name, levels in table.items() if name not in run}, 2, possible, apart=[("spec", name) for name in ("dtype", "mask", "d", "e")])
    cases = []
    for i, spec in enumerate(table["spec"]):
        own = [case for case in kernels if case["spec"] == spec] or cover({**{name: table[name] for name in kernels[0]}, "spec": [spec]}, 2, possible, once="spec")
        for j in range(max(len(own), *map(len, run.values()))):
            # One level further in each factor from case to case, and from specification to specification; where that is not allowed, the next that is.
            places = itertools.product(*(range(len(levels)) for levels in reversed(run.values())))
            for places in itertools.product((j, *range(len(own))), places):
                chosen = {name: levels[(j + k + i * (n + 1)) % len(levels)] for n, ((name, levels), k) in enumerate(zip(run.items(), reversed(places[1])))}
                case = {**own[(places[0] + i // 2) % len(own)], **chosen}
                if possible(case):
                    cases.append({name: case[name] for name in table})
                    break
    return cases


def mixed(table, possible):
    """What is possible, where of each four specifications two have the first type under the first mask, or the second under the second, and two have not."""

    def is_mixed(case):
        if "spec" in case and case["spec"] not in CAUSAL_ONLY and "dtype" in case and "mask" in case:
            same = table["dtype"].index(case["dtype"]) == table["mask"].index(case["mask"])
            if same != (table["spec"].index(case["spec"]) % 4 < 2):
                return False
        return possible(case)

    return is_mixed


def other_than(cases, possible):
    """What is possible, of each specification in the other type, and under the other mask, than its case in `cases` has (of another device)."""
    taken = {case["spec"]: case for case in cases}

    def is_other(case):
        theirs = taken.get(case.get("spec"))
        if not theirs or case["spec"] in ORDERS:  # a series has a kernel for each order
            return possible(case)
        fixed = ["dtype"] if case["spec"] in CAUSAL_ONLY else ["dtype", "mask"]
        return all(case.get(name) != theirs[name] for name in fixed) and possible(case)

    return is_other


def list_cases(device, collection, full):
    """Of the device's table."""
    table, strength, full_strength = TABLES[device][collection]
    possible = allowed_forms if collection == "forms" else allowed
    if full:
        return cover(table, full_strength, possible)
    if collection == "forms":
        # In the parallel form few problems run here that the tests of the catalogue do not have, and pieces in chunks are pieces, and chunks. These are
        # for the full run, with each number of channels, type and order of each specification, with wide states of series, and with order 4 in
        # the interpreter.
        table = table | {"form": [form for form in table["form"] if form not in ("parallel", "chunked pieces")], "d": [d for d in table["d"] if d != 96]}
        if device == "ptx":
            table["order"] = ["default", 2]
        apart = [(factor, name) for factor in ("spec", "order") for name in table if name not in ("spec", "form")]
        return cover(table, strength, lambda case: possible(case) and not (case.get("spec") in ORDERS and case.get("d", 16) > 64), apart=apart)
    if strength == ONCE:
        table = table | {"d": [d for d in table["d"] if d <= 96]}
        return cover(table, 2, mixed(table, possible), once="spec")
    return few_kernels(table, other_than(list_cases("ptx", collection, full), possible))


def arguments(case):
    (t, u), (b, h, g), d = case["tokens"], case["heads"], case["d"]
    e = d if case["e"] == "same" else case["e"]
    line = [f"--shape=b={b},h={h},g={g},t={t},u={u},d={d},e={e}", *PRODUCTS.get(case["dtype"], [f"--dtype={case['dtype']}"]), f"--mask={case['mask']}", f"--scale={case['scale']}", f"--seed={t + d}"]
    # Of what has states both forms would be compiled, and the parallel one would run: PART forms has the others.
    form = case.get("form", "parallel" if case["spec"] in STATES else None)
    # Large scores of an odd order cancel.
    line += ["--strict"] * ("form" in case and case["scale"] == "1")
    return line + [f"--set={name}={value}" for name, value in settings(case).items()] + FORMS.get(form, [])


def check(device, cases, formulas, bin_dir, spec_dir, folder):
    """How many of them pass."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [f"{bin_dir}/taylor-run", f"--device={device}", "--check", "--poison", "--threads=1"]
    lines = [[f"{spec_dir}/{case['spec']}.mlir", *arguments(case)] for case in cases]
    written = [[f"--references={folder / str(i)}"] if "form" not in case else [] for i, case in enumerate(cases)]
    results = run_cases(command, [" ".join(line + more) for line, more in zip(lines, written)])
    passed = 0
    for i, (case, line, result) in enumerate(zip(cases, lines, results)):
        problems = [] if result.passed else [result.output[-4000:]]
        if (folder / str(i) / "contract.json").exists():
            problems += check_reference(case, formulas[case["spec"]], folder / str(i))
        if problems:
            print("\n".join([" ".join(command + line), *problems]), flush=True)
        passed += not problems
    shutil.rmtree(folder, ignore_errors=True)
    return passed


def main():
    device, part, full, bin_dir, spec_dir, folder = sys.argv[1:7]
    share, shares = map(int, sys.argv[7].split("/")) if len(sys.argv) > 7 else (0, 1)
    torch.set_num_threads(1)
    formulas = {name: formula for parts in COLLECTIONS.values() for rows in parts.values() for name, formula in rows.items()}
    root = pathlib.Path(spec_dir)
    files = {str(path.relative_to(root).with_suffix("")) for path in root.rglob("*.mlir")}
    assert files == set(formulas), f"files without a formula in catalogue.py or beyond.py, or formulas without a file: {sorted(files ^ set(formulas))}"
    collection = next(name for name, parts in COLLECTIONS.items() if part == name or part in parts)
    table, cases = TABLES[device][collection][0], list_cases(device, collection, full == "1")
    cases = [case for case in cases if part == collection or case["spec"] in COLLECTIONS[collection][part]]
    mine = sorted({case["spec"] for case in cases})[share::shares]
    # Those of one kernel, and of one problem, stand together.
    cases = sorted((case for case in cases if case["spec"] in mine), key=lambda case: [str(case[name]) for name in table])
    passed = check(device, cases, formulas, bin_dir, spec_dir, pathlib.Path(folder))
    print(f"{device} {part}: {passed} passed, {len(cases) - passed} failed")
    return 0 if cases and passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
