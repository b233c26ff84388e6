#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: gallery.py --output FOLDER [--only=REGEX] | --check: writes a page in Markdown for each specification of
specs/ and specs/beyond/, and an index. --check writes them into a temporary folder and says what is missing.

A page has the specification's formula, its text in the dialect and in Python, plots of its weights, its forms, times
and loss curves. The plots show what the compiled kernels compute on the processor. A specification's text is compiled
with the numerators of its sums over keys as its results; where values are unit vectors, a numerator is a row of
weights. Nothing here knows what an attention means.

Needs torch, taylorc and _taylor.so: those of build/, or TAYLORC and TAYLOR_LIB."""
import csv
import html
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "runtime" / "python"), str(HERE)]
import list_specs
from drawing import Drawing, Plot

SPECS, TWINS, EXPERIMENTS = HERE / "specs", HERE / "python" / "specs", HERE / "experiments"
CHANNELS, KEYS, HEADS = 16, 128, 4
QUERY = 95  # of the row: some keys come after it
UNIT = 32.0  # values are this times a unit vector: a power of two, and so large that silu(32) is 32
SCORES = [i / 10 for i in range(-60, 61)]
# What the plots give to inputs other than q, k and v; all else is 0, or what a new model has.
CHOSEN = {"in_gate": UNIT, "decay_gate": -64.0}
RANDOM = {"table"}  # a new model's biases are too small to see
PARAMETERS = {"window": 32, "prefix": 112}
INDEX = "index" + ".md"  # of the gallery, not of this tree
LABELS = {"L2 norm, /S": "e L2 norm, /S"}  # results drawn before 2026-11-26 have the old label
FILTERS = {
    "linear-time": ("Linear time", "has a chunked form: states between chunks, work that grows with the tokens and not with their square"),
    "in-the-paper": ("In the paper", "belongs to a figure of the paper"),
    "gates": ("Gates", "has inputs that a model projects besides queries, keys and values"),
    "learned-weights": ("Learned weights", "has parameters of its own"),
    "positions": ("Positions", "has a mask, a bias or a decay that depends on positions"),
    "trained": ("Trained here", "has a loss curve"),
    "timed-on-a-gpu": ("Timed on a GPU", "stands in h200.json"),
}


class Entry:
    """What lies in the tree about one specification."""

    def __init__(self, path, measured, gpu, curves):
        self.path, self.name = path, path.relative_to(SPECS).with_suffix("").as_posix()
        self.page = self.name.replace("/", "-")
        self.text = path.read_text(encoding="utf-8")
        self.figures, self.formulas = list_specs.read(path)
        comment = [line[2:].strip() for line in self.text.splitlines() if line.startswith("//")]
        paragraphs = "\n".join(comment).split("\n\n")
        self.summary = " ".join(paragraphs[0].split())
        self.notes = [" ".join(part.split()) for part in paragraphs[2:]]
        self.twin = TWINS / path.parent.relative_to(SPECS) / (path.stem.replace("-", "_") + ".py")
        self.measured = measured.get(self.name, {})
        self.gpu = [row for row in gpu["times"] if row["contender"].split(",")[0] == self.name]
        self.curves = curves.get(path, [])
        self.tags = [tag for tag, has in zip(FILTERS, self.facts()) if has]

    def facts(self):
        projected = [name for name, source in re.findall(r"%(\w+): [^%]*? from (\w+)", self.text) if source == "projection"]
        return ("chunked" in self.measured.get("forms", []), self.figures, projected, " from parameter" in self.text,
                re.search(r"visible\(|decay\(|lag|\(t - u\)", self.code()), self.curves, self.gpu)

    def code(self):
        return "".join(line + "\n" for line in self.text.splitlines() if not line.startswith("//"))

    def python(self):
        lines = self.twin.read_text(encoding="utf-8").splitlines()
        return "\n".join(line for line in lines if not line.startswith("# SPDX")).strip() + "\n"

    def settings(self, chosen=()):
        """The parameters of a kernel, as taylorc's options."""
        declared = re.search(r"parameters\((.*)\)", self.text)
        names = re.findall(r"(\w+)(?: : index)? = ", declared[1]) if declared else []
        return [option for name in names if name in chosen for option in ("--set", f"{name}={chosen[name]}")]

    def parameters(self):
        found = re.search(r"parameters\((.*)\)", self.text)
        return found[1] if found else ""


def load_curves():
    """{file of a specification: [(figure, panel, label, settings)]}, of the runs whose results lie in experiments/results."""
    found = {}
    for path in sorted((EXPERIMENTS / "figures").glob("figure-*.toml")):
        results = EXPERIMENTS / "results" / f"{path.stem}.csv"
        if not results.exists() or path.stem == "figure-recall":  # recall has accuracies, and no curves
            continue
        with open(results, encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "test"]
        lines = {}
        for row in rows:
            lines.setdefault((row["panel"], LABELS.get(row["label"], row["label"])), []).append((float(row["step"]), float(row["mean"])))
        panels = {panel for panel, _ in lines}
        for panel in tomllib.loads(path.read_text(encoding="utf-8"))["panel"]:
            # A figure of one panel is named in the results by its text.
            title = panel.get("title", next(iter(panels)) if len(panels) == 1 else "")
            for run in panel["runs"]:
                points = lines.get((title, run["label"]))
                config = (path.parent / run["config"]).resolve()
                attention = tomllib.loads(config.read_text(encoding="utf-8")).get("attention", {})
                if points and "specification" in attention:
                    file = (config.parent / attention["specification"]).resolve()
                    found.setdefault(file, []).append({"figure": path.stem, "label": run["label"], "parameters": attention.get("parameters", {}),
                                                       "points": points, "softmax": lines[title, "softmax"]})
    return found


def load_twin(path):
    import taylor_attention as ta
    description = importlib.util.spec_from_file_location("twin_" + path.stem, path)
    module = importlib.util.module_from_spec(description)
    description.loader.exec_module(module)
    spec, = (value for value in vars(module).values() if isinstance(value, ta.Spec))
    return spec


def weights_program(entry):
    """The text with the numerators of its sums over keys as results before its own, and the names of all."""
    text = entry.text
    sums = re.findall(r"%(\w+)(?:, %\w+)* = taylor\.recurrences", text)
    result = re.search(r"^  taylor\.yield %(\w+) : (!\w+)$", text, re.M)
    if not sums or not result:
        sys.exit(f"error: expected sums over keys (taylor.recurrences) and one result, whose type has a name, in {entry.path}")
    names = list(dict.fromkeys([*sums, result[1]]))
    return text.replace(result[0], f"  taylor.yield {', '.join('%' + name for name in names)} : {', '.join([result[2]] * len(names))}"), sums


def argument(entry, array, sizes, generator):
    """A tensor for an input other than q, k, v."""
    import torch
    shape = [sizes[axis.name] if axis.size is None else axis.size for axis in array.axes]
    if array.name in RANDOM:
        return torch.randn(shape, generator=generator)
    if array.name in CHOSEN:
        return torch.full(shape, CHOSEN[array.name])
    if array.axes and array.axes[-1].name == "j":  # the taps of a convolution: the newest token alone
        taps = torch.zeros(shape)
        taps[..., -1] = 1.0
        return taps
    constant = re.search(r"constant\((.*?)\)", array.source)
    return torch.full(shape, 1.0 if "ones" in array.source else float(constant[1]) if constant else 0.0)


def run(entry, spec, sizes, tensors, offset, generator):
    """The weights of each sum, [B, H, T, e], from kernels: tensors gives q, k and v by the first letter of a name."""
    import taylor_attention as ta
    text, names = weights_program(entry)
    inputs = [tensors[array.name[0]] if re.fullmatch(r"[qkv]\d?", array.name) else argument(entry, array, sizes, generator) for array in spec.arguments]
    options = " ".join(["--forward-only", *entry.settings(PARAMETERS)])
    outputs = ta.attention(*inputs, spec=text, options=options, offset=offset, all_outputs=True)
    return {name: output / UNIT for name, output in zip(names, outputs)}


def weight_curves(entry, spec):
    """{sum: [(s, w)]}: one query and one key at one place; q = (x, 6, 0, ..), k = (2, 0, ..), so that <q, k> / sqrt(d) = x / 2 = s."""
    import torch
    batch = len(SCORES)
    q, k, v = torch.zeros(batch, 1, 1, CHANNELS), torch.zeros(batch, 1, 1, CHANNELS), torch.zeros(batch, 1, 1, KEYS)
    k[..., 0] = 2.0
    q[:, 0, 0, 0] = torch.tensor(SCORES) * CHANNELS**0.5 / 2.0
    q[..., 1] = 6.0
    v[..., 0] = UNIT
    sizes = {"b": batch, "h": 1, "g": 1, "t": 1, "u": 1, "d": CHANNELS, "e": KEYS, "lag": 1}
    found = run(entry, spec, sizes, {"q": q, "k": k, "v": v}, 0, torch.Generator().manual_seed(1))
    return {name: list(zip(SCORES, output[:, 0, 0, 0].tolist())) for name, output in found.items()}


def row_curves(entry, spec):
    """{sum: ([w of random keys], [w of keys that are all alike])} of query 95 over 128 keys, of the first of four heads."""
    import torch
    generator = torch.Generator().manual_seed(1)
    q = torch.randn(1, HEADS, 1, CHANNELS, generator=generator)
    random = torch.randn(1, HEADS, KEYS, CHANNELS, generator=generator)
    v = (UNIT * torch.eye(KEYS)).expand(1, HEADS, KEYS, KEYS).contiguous()
    sizes = {"b": 1, "h": HEADS, "g": HEADS, "t": 1, "u": KEYS, "d": CHANNELS, "e": KEYS}
    rows = []
    for keys in (random, q.expand(1, HEADS, KEYS, CHANNELS).contiguous()):
        found = run(entry, spec, sizes, {"q": q, "k": keys, "v": v}, QUERY, torch.Generator().manual_seed(1))
        rows.append({name: output[0, 0, 0].tolist() for name, output in found.items()})
    return {name: (rows[0][name], rows[1][name]) for name in rows[0]}


def span(values, floor=0.0):
    low, high = min(floor, *values), max(floor, *values)
    room = 0.05 * (high - low) or 1.0
    return low - (room if low < floor else 0), high + room


COLOURS = ["ours", "first", "second", "third", "fourth"]


def draw_weight(entry, curves, small=False):
    width, height = (170, 96) if small else (420, 270)
    drawing = Drawing(width, height, f"{entry.name}: the weight of a key by its score")
    box = (8, 8, width - 16, height - 16) if small else (56, 44, width - 76, height - 92)
    y = span([w for points in curves.values() for _, w in points])
    plot = Plot(drawing, box, (-6, 6), y)
    if small:
        drawing.line(*plot.at(-6, 0), *plot.at(6, 0))
    else:
        plot.axes("s", "w(s)")
    for (name, points), colour in zip(curves.items(), COLOURS):
        plot.curve(points, colour, 1.6 if small else 2.2)
        if len(curves) > 1 and not small:
            drawing.text(64 + 90 * list(curves).index(name), 20, f"sum {name}", colour, 12)
    return drawing.svg()


def draw_row(entry, rows):
    width, panel = 660, 150
    drawing = Drawing(width, 40 + (panel + 62) * len(rows), f"{entry.name}: the weights of one query over {KEYS} keys")
    drawing.text(56, 20, "keys drawn at random", "ours", 12)
    drawing.text(220, 20, "all keys alike, so that the position alone tells", "first", 12)
    for number, (name, (random, alike)) in enumerate(rows.items()):
        scaled = [[w / (max(map(abs, values)) or 1.0) for w in values] for values in (random, alike)]
        top = 52 + (panel + 62) * number
        plot = Plot(drawing, (56, top, width - 76, panel), (0, KEYS - 1), span(scaled[0] + scaled[1]))
        plot.axes("key", "w / max |w|" if len(rows) == 1 else f"sum {name}: w / max |w|")
        for u, w in enumerate(scaled[0]):
            (x, y), (_, zero) = plot.at(u, w), plot.at(u, 0)
            drawing.bar(x - 1.6, min(y, zero), 3.2, abs(y - zero), "ours")
        plot.curve(list(enumerate(scaled[1])), "first")
        x, y = plot.at(QUERY, plot.y[1])
        drawing.line(x, y, x, top + panel, "soft", 1, "4 3")
        drawing.text(x + 4, top + 11, f"query {QUERY}", "soft", 10)
    return drawing.svg()


def draw_losses(entry):
    drawing = Drawing(520, 300, f"{entry.name}: test loss by step, against softmax")
    lines = {}
    for curve in entry.curves:
        lines.setdefault("softmax", curve["softmax"])
        lines.setdefault(curve["label"] if entry.curves[0]["parameters"] else entry.name.rpartition("/")[2], curve["points"])
    losses = [loss for points in lines.values() for _, loss in points]
    plot = Plot(drawing, (50, 44, 300, 200), (0, max(step for step, _ in lines["softmax"])), (1.8, min(6.0, max(losses) + 0.1)))
    plot.axes("step", "test loss, nats per token")
    for number, (label, points) in enumerate(lines.items()):
        colour = "grey" if label == "softmax" else COLOURS[(number - 1) % len(COLOURS)]
        plot.curve([(step, loss if plot.y[0] <= loss <= plot.y[1] else None) for step, loss in points], colour)
        drawing.text(362, 56 + 20 * number, f"{label}: {points[-1][1]:.3f}", colour, 12)
    return drawing.svg()


def state_of(entry, taylorc):
    """The state of one head in the chunked form at 64 channels, from the manifest: (rows, columns, settings)."""
    settings = entry.settings({"order": 2})
    command = [taylorc, entry.path, "--form=chunked", "--emit=manifest", "--forward-only", "--target=x86-64-v3", "--quiet", *settings]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {entry.path}: {done.stderr.strip()}")
    function = json.loads(done.stdout)["targets"][0]["functions"]["forward"]
    return function["state"]["features"], function["state"]["channels"], " ".join(settings)


def relative(path, folder):
    return os.path.relpath(path, folder).replace(os.sep, "/")


def table(header, rows):
    line = lambda cells: f"| {' | '.join(map(str, cells))} |\n"
    return line(header) + "|" + "---|" * len(header) + "\n" + "".join(map(line, rows))


def times_of(entry, gpu, folder):
    rows = []
    if "time" in entry.measured:
        rows.append((f"{entry.measured['measured']}, commit {entry.measured['commit']}", "forward and backward, f32, 1,4,1024,64, two threads",
                     f"{entry.measured['time']:.2f} of SDPA's time"))
    flash = {(row["direction"], row["d"], row["t"]): row["ms"] for row in gpu["times"] if row["contender"] == "SDPA flash"}
    # Sums of finitely many orders were measured with both kinds of operands, of which rounded ones are the default.
    mode = "rounded" if any(row["contender"].endswith("rounded") for row in entry.gpu) else "deterministic"
    ours = {(row["direction"], row["d"], row["t"]): row["ms"] for row in entry.gpu if row["contender"].endswith(mode)}
    eager = {(row["direction"], row["d"], row["t"]): row["ms"] for row in entry.gpu if row["contender"].endswith("eager")}
    for key, ms in sorted(ours.items()):
        direction, d, t = key
        against = f"SDPA flash {flash[key]:.2f} ms" + (f", eager {eager[key]:.2f} ms" if key in eager else ", eager does not fit the memory")
        rows.append((f"{gpu['machine']['name']}, {', '.join(gpu['folder']['targets'])}, {gpu['date'][:10]}, commit {gpu['folder']['commit']}", f"{direction}, bf16, d = {d}, {t} tokens",
                     f"{ms:.2f} ms; {against}"))
    if not rows:
        return "Not measured.\n"
    sources = f"[measured.json]({relative(HERE / 'measured.json', folder)}), [h200.json]({relative(ROOT / 'runtime/lab/gpu-check/h200.json', folder)})"
    newer = (f" Kernels of sm_90a, [measured since]({relative(ROOT / 'runtime/lab/gpu-check/RESULTS.md', folder)}#sm_90a-on-an-h200), are faster than these of sm_90."
             if ours else "")
    return table(("machine", "what", "time"), rows) + f"\nSDPA is torch's softmax attention without a rotation. From {sources}.{newer}\n"


def page(entry, gpu, state, folder):
    """The text of one page."""
    source = f"[{entry.path.name}]({relative(entry.path, folder)}), [{entry.twin.name}]({relative(entry.twin, folder)})"
    figures = f" In the paper: Figure {'; '.join(entry.figures)}." if entry.figures else ""
    parts = [f"# {entry.name}\n", f"[All attentions]({INDEX}) · {source}\n", entry.summary + figures + "\n",
             "```text\n" + "\n".join(entry.formulas) + "\n```\n", *(note + "\n" for note in entry.notes), "## The text\n",
             "<table><tr><th>dialect</th><th>Python</th></tr><tr><td>\n\n```mlir\n" + entry.code() + "```\n\n</td><td>\n\n```python\n" + entry.python()
             + "```\n\n</td></tr></table>\n"]
    chosen = [f"{name} = {value}" for name, value in PARAMETERS.items() if name in entry.parameters()]
    chosen += [f"{name} = {value:g}" for name, value in CHOSEN.items() if f"%{name}:" in entry.text]
    chosen += [f"{name} at random" for name in RANDOM if f"%{name}:" in entry.text]
    parts += ["## The weight\n",
              f"![The weight of a key by its score](plots/{entry.page}-weight.svg)\n",
              f"The weight of one key at the query's own place, by the score s = <q, k> / sqrt(d) of what is given: q = (x, 6, 0, ..), k = (2, 0, ..), d = {CHANNELS}, "
              "x = 2 s. Where an attention takes features or lengths of q and k, these are of the same vectors.\n",
              f"![One row of weights](plots/{entry.page}-row.svg)\n",
              f"The weights of query {QUERY} over {KEYS} keys, in the first of {HEADS} heads; each curve over its largest."
              + (f" Chosen for the plot: {', '.join(chosen)}." if chosen else "") + "\n"]
    forms = entry.measured.get("forms", ["parallel"])
    parts += ["## Forms\n", f"{', '.join(forms)}." + (f" A head's state has {state[0]} rows and {state[1]} columns of f32 at 64 channels"
                                                      + (f" (`{state[2]}`)." if state[2] else ".") if state else "") + "\n",
              "## Times\n", times_of(entry, gpu, folder)]
    if entry.curves:
        results = ", ".join(f"[{name}]({relative(EXPERIMENTS / 'results' / (name + '.csv'), folder)})" for name in sorted({curve["figure"] for curve in entry.curves}))
        parts += ["## Trained\n", f"![Test loss by step](plots/{entry.page}-loss.svg)\n",
                  f"Mean over seeds, 4.7 million parameters, 600 steps ([what was trained]({relative(EXPERIMENTS / 'RESULTS.md', folder)})); from {results}.\n"]
    parts += ["## Check it\n", "Outputs and all gradients of the compiled kernels against the reference in fp64:\n",
              f"    build/bin/taylor-run {entry.path.relative_to(ROOT)} --device=cpu --shape 1,4,256,64 --grad --check\n"]
    return "\n".join(parts)


def cards(entries):
    """Thumbnails, four in a row."""
    cells = [f'<td align="center"><a href="{entry.page}.md"><img src="plots/{entry.page}-thumbnail.svg" alt="w(s) of {entry.name}" width="170"><br>'
             f"{html.escape(entry.name.rpartition('/')[2])}</a></td>" for entry in entries]
    rows = ["<tr>" + "".join(cells[i:i + 4]) + "</tr>" for i in range(0, len(cells), 4)]
    return "<table>\n" + "\n".join(rows) + "\n</table>\n"


def write(folder, only=""):
    """All pages into the folder; returns their entries."""
    measured = json.loads((HERE / "measured.json").read_text(encoding="utf-8"))
    gpu = json.loads((ROOT / "runtime/lab/gpu-check/h200.json").read_text(encoding="utf-8"))
    curves = load_curves()
    paths = sorted(SPECS.glob("*.mlir")) + sorted(SPECS.glob("beyond/*.mlir"))
    entries = [Entry(path, measured, gpu, curves) for path in paths]
    entries = [entry for entry in entries if re.search(only, entry.name)]
    if not entries:
        sys.exit(f"error: expected a specification that matches '{only}', but none does")
    from taylor_attention.files import program
    plots = folder / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        spec = load_twin(entry.twin)
        weight, row = weight_curves(entry, spec), row_curves(entry, spec)
        with open(plots / f"{entry.page}.json", "w", encoding="utf-8") as file:
            json.dump({"weight": weight, "row": row}, file)
        for name, picture in (("weight", draw_weight(entry, weight)), ("thumbnail", draw_weight(entry, weight, small=True)), ("row", draw_row(entry, row))):
            (plots / f"{entry.page}-{name}.svg").write_text(picture, encoding="utf-8")
        if entry.curves:
            (plots / f"{entry.page}-loss.svg").write_text(draw_losses(entry), encoding="utf-8")
        state = state_of(entry, program("taylorc")) if "chunked" in entry.measured.get("forms", []) else None
        (folder / f"{entry.page}.md").write_text(page(entry, gpu, state, folder), encoding="utf-8")
    filters = [(tag, title, words, [entry for entry in entries if tag in entry.tags]) for tag, (title, words) in FILTERS.items()]
    for tag, title, words, found in filters:
        (folder / f"filter-{tag}.md").write_text(f"# {title}\n\n[All attentions]({INDEX}). Each of these {words}.\n\n{cards(found)}", encoding="utf-8")
    rows = [(f"[{title}](filter-{tag}.md)", words, len(found)) for tag, title, words, found in filters]
    (folder / INDEX).write_text(f"# {len(entries)} attentions\n\nA thumbnail is the weight of a key by its score.\n\n"
                                     + table(("filter", "an attention that", "number"), rows) + "\n" + cards(entries), encoding="utf-8")
    return entries


def faults(folder, entries):
    """What is missing in the folder, in words."""
    found = []
    for entry in entries:
        file = folder / f"{entry.page}.md"
        if not file.exists():
            found.append(f"{entry.name}: no page")
            continue
        text = file.read_text(encoding="utf-8")
        wanted = ["```mlir\n", "```python\nimport taylor_attention as ta", "taylor.spec @", *entry.formulas, "-weight.svg", "-row.svg", "## Forms", "## Times", "--grad --check"]
        wanted += ["-loss.svg"] if entry.curves else []
        wanted += ["A head's state has "] if "chunked" in entry.measured.get("forms", []) else []
        found += [f"{entry.name}: its page lacks '{part}'" for part in wanted if part not in text]
        index = (folder / INDEX).read_text(encoding="utf-8")
        if f'href="{entry.page}.md"' not in index or f"plots/{entry.page}-thumbnail.svg" not in index:
            found.append(f"{entry.name}: not in {INDEX}")
        data = json.loads((folder / "plots" / f"{entry.page}.json").read_text(encoding="utf-8"))
        for name, points in data["weight"].items():
            values = [w for _, w in points]
            if not all(abs(w) < float("inf") for w in values) or min(values) == max(values):
                found.append(f"{entry.name}: the weight of {name} is the same for all scores, or no number")
        for name, rows in data["row"].items():
            for values in rows:
                if not all(abs(w) < float("inf") for w in values) or not any(values):
                    found.append(f"{entry.name}: a row of {name} is all 0, or no number")
    for file in sorted(folder.glob("*.md")):
        text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)#\s]+)\)", text) + re.findall(r'(?:href|src)="([^"]+)"', text):
            if not (folder / target).exists():
                found.append(f"{file.name}: no {target}")
    for file in sorted((folder / "plots").glob("*.svg")):
        try:
            xml.etree.ElementTree.fromstring(file.read_text(encoding="utf-8"))
        except xml.etree.ElementTree.ParseError as error:
            found.append(f"{file.name}: {error}")
    return found


def main(arguments):
    options = {"output": "", "only": "", "check": False}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in options or (equals and name == "check"):
            sys.exit(f"{__doc__}\n\nerror: unsupported option '{word}'")
        options[name] = True if name == "check" else value if equals else next(words, "")
    if bool(options["output"]) == options["check"]:
        sys.exit(f"{__doc__}\n\nerror: expected --output FOLDER or --check")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options["output"] or temporary).resolve()
        entries = write(folder, options["only"])
        found = faults(folder, entries)
    if found:
        sys.exit("error: the gallery is not whole:\n" + "\n".join(found))
    print(f"{len(entries)} attention{'s' * (len(entries) != 1)}" + (f" in {options['output']}" if options["output"] else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
