# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of experiments.py from its lines of JSON, as Markdown; also of a run that was cut off. No torch."""
import json
import re

from aims import AIMS, BESIDE, CONTEXTS, GROUPS, ROWS, TRAINING, title_of

NOTHING, UNMEASURED = "-", "unmeasured"


def read(file, offset=0):
    """Lines from a byte on; a last one that was cut off is left out."""
    if not file.exists():
        return []
    with open(file, "rb") as stream:
        stream.seek(offset)
        text = stream.read()
    lines = []
    for line in text.split(b"\n"):
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue
    return lines


def table(head, rows):
    """Of Markdown."""
    if not rows:
        return ""
    return "\n".join(["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]) + "\n"


def number(value, digits=3):
    return NOTHING if value is None else f"{value:.{digits}f}"


class Times:
    """Medians of a row's cases: a row may have been timed with quick opponents, compiled ones, and eager code."""

    def __init__(self, lines):
        machines = [line["machine"] for line in lines if line["kind"] == "run" and line["device"] == "cuda"]
        self.on_gpu = bool(machines)
        self.on_h100 = self.on_gpu and all(re.search(r"\bH100\b", machine) for machine in machines)
        self.lines = [line for line in lines if line["kind"] == "time"]
        self.plain = next((line["variant"] for line in self.lines if line["variant"]), None)

    def of(self, row, direction, **wanted):
        """The first case is that with all variants."""
        return [line for line in self.lines if line["case"].split(", FlexAttention")[0].split(", eager")[0] == title_of(row) and line["direction"] == direction
                and all(line[key] == value for key, value in wanted.items())]

    def variants(self, row, direction, kernel):
        """Variant -> its line, of the case with most of them."""
        found = {}
        for line in self.of(row, direction, kernel=kernel):
            found.setdefault(line["variant"], line)
        return found

    def best(self, row, direction, kernel):
        """The default's line, and that of the fastest experiment, where one is faster."""
        lines = self.variants(row, direction, kernel)
        plain = lines.get(self.plain)
        others = [line for variant, line in lines.items() if variant != self.plain]
        fastest = min(others, key=lambda line: line["ms"], default=None)
        return plain, fastest


def verdict(aim, line, times):
    """Whether the figure is reached. Its milliseconds are an H100's and count there alone; on another chip the ratio to cuDNN in the same rounds counts."""
    if line is None or not times.on_gpu:
        return UNMEASURED
    if times.on_h100:
        share = line["ms"] / aim.wanted
    elif aim.cudnn and line["to_cudnn"]:
        share = line["to_cudnn"] / (aim.wanted / aim.cudnn)
    else:
        return "no H100, no ratio to cuDNN"
    return "reached" if share <= 1 else f"missed: {share:.2f} times"


def aims_table(times):
    rows = []
    for aim in AIMS:
        plain, other = times.best(aim.row, aim.direction, aim.kernel)
        best = min((line for line in (plain, other) if line), key=lambda line: line["ms"], default=None)
        experiment = f"{other['ms']:.3f} ({other['variant']})" if other else NOTHING
        rows.append([f"{aim.kernel} {aim.direction}, {aim.row.t}, d = {aim.row.d}", number(aim.now, 2), number(aim.wanted, 2), number(plain and plain["ms"]), experiment,
                     number(best and best["to_cudnn"], 2), number(aim.cudnn and aim.wanted / aim.cudnn, 2), verdict(aim, best, times)])
    for row in (row for row in ROWS if row.group == "beside softmax"):
        for kernel in GROUPS[row.group][1:]:
            for direction in ("forward", "backward"):
                plain, other = times.best(row, direction, kernel)
                share = plain and plain["to_first"]
                said = UNMEASURED if share is None or not times.on_gpu else "reached" if share <= BESIDE else f"missed: {share / BESIDE:.2f} times"
                rows.append([f"{kernel} over softmax, {direction}, {row.t}, d = {row.d}", "0.96 to 1.05", f"at most {BESIDE}", number(share),
                             f"{other['to_first']:.3f} ({other['variant']})" if other else NOTHING, number(plain and plain["to_cudnn"], 2), NOTHING, said])
    return table(["figure (ms)", "before", "wanted", "measured", "fastest experiment", "over cuDNN", "wanted over cuDNN", ""], rows)


def training_table(lines, on_gpu):
    rows, timed = [], [(line["context"], line["sequences"]) for line in lines if line["kind"] == "training"]
    for context in dict.fromkeys([*CONTEXTS, *timed]):
        found = [line for line in lines if line["kind"] == "training" and (line["context"], line["sequences"]) == context]
        now, wanted = TRAINING.get(context, (None, None))
        if not found:
            rows.append([f"{context[0]} x {context[1]}", NOTHING, NOTHING, NOTHING, f"{wanted} ({now} tokens/s before)", UNMEASURED])
        for line in found:
            times_as_fast = line["over_before"]
            said = NOTHING if not on_gpu or wanted is None or line["build"] != "now" else "reached" if times_as_fast >= wanted else f"missed: {wanted / times_as_fast:.2f} times"
            rows.append([f"{context[0]} x {context[1]}", line["title"], f"{line['tokens_per_second']:.0f}", number(line["peak_share"]),
                         f"{times_as_fast:.3f}" + (f" of {wanted} wanted" if wanted else ""), said])
    return table(["tokens x sequences", "trainer", "tokens/s", "share of the bf16 peak", "times as fast as before", ""], rows)


def contenders_table(times, row_names):
    """For each case all contenders, by the order in which they were timed."""
    parts = []
    for case in row_names:
        some = [line for line in times.lines if line["case"] == case]
        rows = []
        for title in dict.fromkeys(line["title"] for line in some):
            cells = {line["direction"]: line for line in some if line["title"] == title}
            shown = [f"{cells[d]['ms']:.3f} ({number(cells[d]['to_cudnn'], 2)})" if d in cells else NOTHING for d in ("forward", "backward")]
            gains = [f"{cells[d]['to_plain'][1]:.3f} ({cells[d]['to_plain'][0]:.3f} to {cells[d]['to_plain'][2]:.3f})" if d in cells and cells[d]["to_plain"] else NOTHING
                     for d in ("forward", "backward")]
            off = next((line["off"] for line in cells.values() if line["off"] is not None), None)
            rows.append([title, *shown, *gains, NOTHING if off is None else f"{off:.1e}"])
        parts.append(f"**{case}**\n\n" + table(["", "forward, ms (over cuDNN)", "backward", "forward over the default", "backward over the default", "off"], rows))
    return "\n".join(parts)


def problems(lines):
    out = []
    for line in lines:
        if line["kind"] == "lost":
            out.append(f"* {line['case']}: {line['status']}, in {line['title'] or 'its process'}: {line['why']}")
        elif line["kind"] == "wrong":
            out.append(f"* {line['case']}: {line['title']}: {line['why']}")
        elif line["kind"] in ("check", "products"):
            out += [f"* {line['case']}: {row.get('slot', row.get('product'))}: {row['verdict']}" for row in line["wrong"]]
    return "\n".join(dict.fromkeys(out))


def report(lines):
    times = Times(lines)
    runs = [line for line in lines if line["kind"] == "run"]
    ends = [line for line in lines if line["kind"] == "end"]
    left_out = [line["case"] for line in ends if line["status"] == "left out" and not any(o["case"] == line["case"] and o["status"] != "left out" for o in ends)]
    checks = [line for line in lines if line["kind"] == "check"]
    products = [line for line in lines if line["kind"] == "products"]
    head = [f"{run['date']}: {run['machine']}, commit {run['about']['commit']}, `{run['command']}`" for run in runs]
    text = ["\n".join(head), ""]
    for line in products:
        text.append(f"Products of integers: {line['run']} ran, {len(line['wrong'])} wrong" + (f" (skipped: {line['skipped']})" if line["skipped"] else "") + ".")
    wrong = {line["case"] for line in checks if line["wrong"]}
    text.append(f"Checks: {len(checks)} cases of kernels, {sum(line['results'] for line in checks)} results, {len(wrong)} cases wrong.\n")
    text += ["## Figures of issue 39\n", aims_table(times), training_table(lines, times.on_gpu)]
    if times.lines:
        text += ["## All contenders\n", contenders_table(times, list(dict.fromkeys(line["case"] for line in times.lines)))]
    if found := problems(lines):
        text += ["## Wrong, lost, failed\n", found, ""]
    not_timed = {}
    for line in lines:
        if line["kind"] == "not timed":
            not_timed.setdefault((line["title"], line["why"]), []).append(line["case"])
    if not_timed:
        text += ["## Not timed\n", *[f"* {title} ({'; '.join(dict.fromkeys(where))}): {why}" for (title, why), where in not_timed.items()], ""]
    if left_out:
        text += ["## Left out, since the budget was spent\n", "; ".join(dict.fromkeys(left_out)), ""]
    ended = {line["case"] for line in ends}
    cut = [case for case in dict.fromkeys(line["case"] for line in lines if line["kind"] == "begin") if case not in ended]
    if cut:
        text += ["## Cut off while it ran\n", "; ".join(cut), ""]
    return "\n".join(text)
