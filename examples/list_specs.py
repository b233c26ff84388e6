#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: list_specs.py [--check] [FOLDER]: writes the tables of all specifications into README.md of the folder
(default: this one), from the comments in its specs/ and specs/beyond/. --check writes nothing: it says whether the
tables are those.

Forms and times are those of measured.json (measure_specs.py).

A comment opens with a sentence. Lines that are indented further are the formulas; formulas on one line are separated by
spaces. `Figure 6, left` names a figure of the paper."""
import json
import pathlib
import re
import sys

BEGIN, END = "<!-- Written by examples/list_specs.py from the comments in {}. -->", "<!-- End of what list_specs.py wrote of {}. -->"


def read(path):
    """(figures, formulas) of a specification's comment."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:])
    formulas = [part for line in lines if line.startswith("   ") for part in re.split(r"\s{3,}", line.strip())]
    if not formulas:
        sys.exit(f"error: expected a comment with a formula, indented by three spaces, at the top of {path}")
    figures = re.findall(r"Figure (\d+(?:, (?:left|middle|right))?)", " ".join(line.strip() for line in lines))
    return sorted(set(figures)), formulas


def line(cells):
    return f"| {' | '.join(cells)} |\n"


def table(folder, specs, measured):
    specifications = sorted((figures[-1:] or ["~"], path.stem, figures, formulas) for path in (folder / specs).glob("*.mlir") for figures, formulas in [read(path)])
    of_paper = any(figures for _, _, figures, _ in specifications)
    header = ["specification", "formula", "figure of the paper", "forms", "time"]
    rows = []
    for _, name, figures, formulas in specifications:
        entry = measured.get(f"{specs}/{name}".removeprefix("specs/"), {})
        # A bar ends a cell of a table, also within code.
        code = "<br>".join("`" + formula.replace("|", "\\|") + "`" for formula in formulas)
        forms = ", ".join(entry.get("forms", ["parallel"]))
        rows.append([f"[{name}]({specs}/{name}.mlir)", code, "; ".join(figures), forms, f"{entry['time']:.2f}" if "time" in entry else ""])
    if not of_paper:
        for cells in [header, *rows]:
            del cells[2]
    return line(header) + "|" + "---|" * len(header) + "\n" + "".join(map(line, rows))


def main(arguments):
    check = "--check" in arguments
    folders = [argument for argument in arguments if argument != "--check"]
    if len(folders) > 1 or any(folder.startswith("-") for folder in folders):
        sys.exit(f"{__doc__}\n\nerror: expected --check or a folder, but got {' '.join(arguments)}")
    folder = pathlib.Path(folders[0]) if folders else pathlib.Path(__file__).resolve().parent
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8")
    wanted = text
    facts_file = folder / "measured.json"
    measured = json.loads(facts_file.read_text(encoding="utf-8")) if facts_file.exists() else {}
    for specs in ("specs", "specs/beyond"):
        begin, end = BEGIN.format(specs), END.format(specs)
        if begin not in wanted or end not in wanted:
            sys.exit(f"error: expected the lines '{begin}' and '{end}' in {readme}")
        before, rest = wanted.split(begin, 1)
        wanted = f"{before}{begin}\n{table(folder, specs, measured)}{end}{rest.split(end, 1)[1]}"
    if wanted == text:
        return 0
    if check:
        sys.exit(f"error: a table of specifications in {readme} is not that of the files: run examples/list_specs.py")
    readme.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
