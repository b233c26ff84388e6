#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: charts.py [--check] [FOLDER]: draws speed-gpu.svg and speed-cpu.svg into the folder (default: this one), from
runtime/lab/gpu-check/h200.json and examples/measured.json. The caption of the first has ratios of runtime/lab/gpu-check/RESULTS.md.

--check writes nothing: it says whether the files are those, and whether ratios that README.md and the pages of PAGES name are
those of the JSON, of runtime/lab/bench/epyc.json and of RESULTS.md."""
import json
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from drawing import Drawing

ROOT = HERE.parent
GPU, CPU = ROOT / "runtime" / "lab" / "gpu-check" / "h200.json", HERE / "measured.json"
RESULTS, EPYC = ROOT / "runtime" / "lab" / "gpu-check" / "RESULTS.md", ROOT / "runtime" / "lab" / "bench" / "epyc.json"
# Pages that show times of h200.json, which are of sm_90, and so say how sm_90a compares.
PAGES = ["README.md", "examples/guide/speed.md", "examples/guide/gpus.md", "cmake/site/benchmarks.md"]
WIDTH = 860
T, D = 4096, 64
# What a row shows, and who computes it: (name, colour, contender in the JSON). Sums of finitely many orders have rows of both kinds of
# operands there: "rounded" is the default, the others are of --bf16-products=split.
ROWS = [
    ("softmax", [("SDPA, cuDNN", "second", "SDPA cuDNN"), ("FlexAttention", "third", "FlexAttention"), ("SDPA, flash", "first", "SDPA flash"),
                 ("Taylor", "ours", "softmax, deterministic"), ("eager PyTorch", "grey", "softmax, eager")]),
    ("norm for the denominator", [("Taylor", "ours", "softmax-norm-l2, deterministic"), ("eager PyTorch", "grey", "softmax-norm-l2, eager")]),
    ("count and output gate", [("Taylor", "ours", "softmax-count-gate, deterministic"), ("eager PyTorch", "grey", "softmax-count-gate, eager")]),
    ("Taylor series of order 10", [("Taylor", "ours", "softmax-taylor, rounded"), ("eager PyTorch", "grey", "softmax-taylor, eager")]),
    ("linear, ReLU features", [("Taylor", "ours", "linear-relu, rounded"), ("eager PyTorch", "grey", "linear-relu, eager")]),
]
SPECS = ["softmax", "softmax-norm-l2", "softmax-count-gate", "decay-gates", "conv-gates", "beyond/sliding-window", "beyond/sigmoid",
         "beyond/softplus", "softmax-taylor", "linear-relu", "relu-norm-l2", "beyond/differential"]
# Opponents whose speed beside ours README.md gives, and as what.
OPPONENTS = {"FlexAttention": "FlexAttention", "cuDNN": "SDPA cuDNN", "flash": "SDPA flash"}


def gpu_times(results):
    """FlexAttention's rows name its back end since there are several; the charts do not."""
    return {(row["contender"].removesuffix(" (Triton)"), row["d"], row["direction"], row["t"]): row["ms"] for row in results["times"]}


def table_after(results, title):
    """The table of RESULTS.md that follows a bold title: first cell of a row -> the numbers of its others, of a cell all that `;` separates."""
    table = re.search(rf"\*\*{re.escape(title)}\*\*.*?\n\n(\|.*?)\n\n", results, re.S)[1]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return cells[0], {row[0]: [[float(part.split()[0]) for part in cell.split(";")] if cell[0].isdigit() else [] for cell in row[1:]] for row in cells[2:]}


def times_as_long(results):
    """Of sm_90a: our softmax' times over SDPA's flash kernel's and cuDNN's, least and most, and over FlexAttention's at 512 tokens, forward and
    backward. From both tables of RESULTS.md that have them."""
    _, times = table_after(results, "Against what a model would run instead")
    head, targets = table_after(results, "sm_90a next to sm_90.")

    def over(opponent):
        return [ours[0] / theirs[0] for ours, theirs in zip(times["softmax"], times[opponent]) if theirs]

    def range_over(opponent):
        rows = [[row[head.index(name) - 1] for name in ("sm_90a", opponent.replace(",", ""))] for row in targets.values()]
        found = over(opponent) + [ours / theirs for row in rows for ours, theirs in zip(*row)]
        return f"{min(found):.2f} to {max(found):.2f}"
    return range_over("SDPA, flash"), range_over("SDPA, cuDNN"), *(f"{ratio:.2f}" for ratio in over("FlexAttention (Triton)"))


def draw_gpu(results, newer):
    times = gpu_times(results)
    both = {name: sum(times[name, D, direction, T] for direction in ("forward", "backward")) for _, row in ROWS for _, _, name in row}
    left, right, top, row_height = 235, 30, 88, 44
    height = top + row_height * len(ROWS) + 120
    drawing = Drawing(WIDTH, height, f"Forward and backward on one {results['machine']['name']}, milliseconds")
    drawing.text(20, 28, "Forward and backward on one GPU: milliseconds, fewer is better", size=15, weight="bold")
    low, high = min(both.values()) * 0.8, max(both.values()) * 1.35
    scale = (WIDTH - left - right) / math.log(high / low)

    def at(ms):
        return left + scale * math.log(ms / low)

    x = 20
    for label, colour, _ in ROWS[0][1]:
        drawing.dot(x + 5, 50, colour)
        drawing.text(x + 15, 54.5, label, size=12)
        x += 32 + 7.4 * len(label)
    bottom = top + row_height * len(ROWS)
    for ms in (3, 10, 30, 100, 300):
        if low <= ms <= high:
            drawing.line(at(ms), top - 10, at(ms), bottom)
            drawing.text(at(ms), bottom + 17, f"{ms} ms", "soft", 11, "middle")
    for number, (label, row) in enumerate(ROWS):
        y = top + row_height * number + row_height / 2
        drawing.text(left - 14, y + 4, label, anchor="end")
        drawing.line(left, y, WIDTH - right, y)
        last = {"above": -100.0, "below": -100.0}
        for _, colour, name in sorted(row, key=lambda entry: both[entry[2]]):
            # Numbers of neighbours go above and below the line in turn.
            side = "above" if at(both[name]) - last["above"] > 40 else "below"
            last[side] = max(at(both[name]), last[side] + 32)
            drawing.dot(at(both[name]), y, colour)
            drawing.text(last[side], y - 9 if side == "above" else y + 18, f"{both[name]:.3g}", colour, 11, "middle")
    machine, date, commit = results["machine"]["name"], results["date"][:10], results["folder"]["commit"]
    flash, cudnn, forward, backward = newer
    lines = [f"{machine}, {date}, commit {commit}, torch {results['torch']}; causal, bf16, T = {T}, d = {D}, 16384 tokens a call; logarithmic.",
             "Taylor rotates queries and keys (RoPE) in these times, the SDPA backends and FlexAttention do not.",
             f"Kernels are of {', '.join(results['folder']['targets'])}. Those of sm_90a, measured since, are faster: softmax takes {flash} of the time of SDPA's",
             f"flash kernel, {cudnn} of cuDNN's, and at 512 tokens {forward} forward and {backward} backward of FlexAttention's."]
    for number, line in enumerate(lines):
        drawing.text(20, height - 74 + 18 * number, line, "soft", 11)
    return drawing.svg()


def draw_cpu(measured):
    rows = sorted(((measured[name]["time"], name) for name in SPECS))
    left, right, top, row_height = 235, 60, 62, 24
    height = top + row_height * len(rows) + 82
    machines = sorted({measured[name]["measured"].split(", ", 1)[1] for name in SPECS})
    drawing = Drawing(WIDTH, height, f"Forward and backward on two cores of one {machines[0]}, as a part of the time of libtorch's softmax")
    drawing.text(20, 28, "Forward and backward on a CPU: time, where libtorch's softmax (SDPA) takes 1", size=15, weight="bold")
    scale = (WIDTH - left - right) / max(1.2, rows[-1][0])
    bottom = top + row_height * len(rows)
    for value in (0.25, 0.5, 0.75, 1.0):
        drawing.line(left + scale * value, top - 8, left + scale * value, bottom, "first" if value == 1 else "rule", 2 if value == 1 else 1)
        drawing.text(left + scale * value, bottom + 15, "SDPA, softmax: 1" if value == 1 else f"{value:g}", "first" if value == 1 else "soft", 11, "middle")
    for number, (time, name) in enumerate(rows):
        y = top + row_height * number
        drawing.text(left - 14, y + 13, name.rpartition("/")[2], anchor="end")
        drawing.bar(left, y + 2, scale * time, row_height - 8)
        drawing.text(left + scale * time + 6, y + 13, f"{time:.2f}", "text", 12)
    dates = sorted({measured[name]["measured"].split(", ", 1)[0] for name in SPECS})
    commits = sorted({measured[name]["commit"] for name in SPECS})
    drawing.text(20, height - 38, f"{', '.join(machines)}, {' and '.join(dates)}, commit {' and '.join(commits)}; 1,4,1024,64, f32, causal, two threads, "
                 "interleaved in one process.", "soft", 11)
    drawing.text(20, height - 20, "SDPA computes softmax without a rotation in every row. softmax-taylor has order 2 here; of chunked and parallel "
                 "forms the compiler's choice.", "soft", 11)
    return drawing.svg()


def ratios(results):
    """How many times as fast as our softmax each opponent is, least and most over sizes and directions."""
    times = gpu_times(results)
    found = {}
    for name, contender in OPPONENTS.items():
        values = [times["softmax, deterministic", d, direction, t] / ms for (who, d, direction, t), ms in times.items() if who == contender]
        found[name] = f"{min(values):.1f} to {max(values):.1f} times"
    return found


def check_readme(text, results, epyc):
    """Each line of README.md that names a ratio to an opponent has the JSON's."""
    values = [ratio for name, row in epyc["rows"].items() if name.startswith("FlexAttention's forward") for ratio in row.values() if isinstance(ratio, float)]
    ratio = f"{min(values):.2f} to {max(values):.2f} times"
    said = re.findall(r"FlexAttention's forward takes (\d+\.\d+ to \d+\.\d+ times) as long", text)
    if said != [ratio]:
        sys.exit(f"error: expected 'FlexAttention's forward takes {ratio} as long' once in README.md, as {EPYC.name} has it, but got {said}")
    for name, ratio in ratios(results).items():
        said = re.findall(rf"{name} is (\d+\.\d to \d+\.\d times) as fast", text)
        if said != [ratio]:
            sys.exit(f"error: expected '{name} is {ratio} as fast' once in README.md, as {GPU.name} has it, but got {said}")


def check_pages(newer):
    """Pages with times of sm_90 name the ratios of sm_90a."""
    flash, cudnn, forward, backward = newer
    wanted = (f"takes {flash} of the time of SDPA's flash kernel, {cudnn} of cuDNN's, and at 512 tokens {forward} forward and {backward} "
              "backward of FlexAttention's")
    for page in PAGES:
        if wanted not in " ".join((ROOT / page).read_text(encoding="utf-8").split()):
            sys.exit(f"error: expected 'softmax {wanted}' in {page}, as {RESULTS.name} has it of sm_90a, but it is not there")


def main(arguments):
    check = "--check" in arguments
    folders = [argument for argument in arguments if argument != "--check"]
    if len(folders) > 1 or any(folder.startswith("-") for folder in folders):
        sys.exit(f"{__doc__}\n\nerror: expected --check or a folder, but got {' '.join(arguments)}")
    folder = pathlib.Path(folders[0]) if folders else HERE
    results, measured = (json.loads(path.read_text(encoding="utf-8")) for path in (GPU, CPU))
    newer = times_as_long(RESULTS.read_text(encoding="utf-8"))
    for name, text in (("speed-gpu.svg", draw_gpu(results, newer)), ("speed-cpu.svg", draw_cpu(measured))):
        path = folder / name
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"error: {path} is not what {GPU.name}, {RESULTS.name} and {CPU.name} give: run examples/charts.py")
    if check:
        check_readme((ROOT / "README.md").read_text(encoding="utf-8"), results, json.loads(EPYC.read_text(encoding="utf-8")))
        check_pages(newer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
