# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times over sequence lengths: our kernels beside torch's, in the same rounds."""
import gc

import torch

from clock import GpuClock, HostClock, measure, median, ratio
from contenders import BACKENDS, Ours, Problem, distance, eager, sdpa
from errors import Unavailable, reason
from library import DTYPES
from opponents import COMPILED, ROWS

TOKENS, CHANNELS = 16384, 2048  # per call, whatever the length and the head size
LENGTHS = (4096, 512, 16384, 2048, 8192, 1024)  # in the order in which they are timed, should time run out
QUICK = (2048,)
HOST_LENGTHS = (64,)
DETAILED = (4096, 16384)  # of LENGTHS, where rows that take long to compile are timed unless rows or lengths are chosen
FAR = 0.1  # relative; two kernels of one function with bf16 operands differ by a hundredth, another function by about one


def make_problem(device, t, d, dtype="bf16"):
    """As many tokens and channels at every length, but fewer heads where one sequence is longer than that."""
    scale = 1 if device.name == "cuda" else 64  # a processor times the logic, not the machine
    tokens = max(TOKENS // scale, t)
    heads = max(1, CHANNELS // d // scale * (TOKENS // scale) // tokens)
    sizes = {"b": tokens // t, "h": heads, "g": heads, "t": t, "u": t, "d": d, "e": d}
    return Problem(sizes, DTYPES[dtype][1], device)


def timed_artifacts(folder, d=None):
    """Names of artifacts by the titles of their rows; of one head size, or of all."""
    return {f"{entry['spec']}, {entry['mode']}": name for name, entry in folder.index["artifacts"].items()
            if entry["timed"] and d in (None, entry["sizes"]["d"])}


def titles(folder):
    """Titles of all rows that can be timed, except SDPA's, which are the base and always there."""
    opponents = [title for _, row in ROWS for title, _ in row]
    ours = timed_artifacts(folder)
    return opponents + list(ours) + sorted({f"{title.split(',')[0]}, eager" for title in ours})


class Timer:
    """Collects rows: contender, direction, t, d, milliseconds, TFLOP/s, times as fast as the base; and reasons of what is left out.
    `chosen` has the titles of the rows to time, `lengths` (or None) the lengths. `whole`: rows that take long to compile at every length."""

    def __init__(self, folder, load, device, progress, only_quick, chosen, lengths=None, whole=False):
        self.folder, self.load, self.device, self.progress, self.only_quick = folder, load, device, progress, only_quick
        self.chosen, self.whole = set(chosen), whole
        self.lengths = lengths or (QUICK if only_quick else LENGTHS if device.name == "cuda" else HOST_LENGTHS)
        self.clock = GpuClock() if device.name == "cuda" else HostClock()
        self.rows, self.skipped = [], []

    def skip(self, contender, problem, why):
        self.skipped.append({"contender": contender, "t": problem.sizes["t"], "d": problem.sizes["d"], "reason": why})

    def make(self, name, problem, maker, say=None):
        """The contender, or None, and why."""
        (say or self.progress.step)(f"t = {problem.sizes['t']}, d = {problem.sizes['d']}: {name} ...")
        try:
            return maker()
        except Unavailable as error:
            self.skip(name, problem, str(error))
            return None

    def opponent(self, spec, row, problem, references):
        """The first of a row's titles that runs here, with its contender; nothing where none does."""
        for title, maker in row:
            if title not in self.chosen:
                continue
            needed = 60 if title in COMPILED else 0
            if needed and self.only_quick:
                self.skip(title, problem, "--quick leaves it out: it takes long to compile")
            elif self.progress.left() < needed:
                self.skip(title, problem, "the time was up; --minutes=N gives more")
            elif title in COMPILED and spec and not self.whole and problem.sizes["t"] not in DETAILED:
                self.skip(title, problem, f"it takes long to compile, and is timed at {DETAILED[0]} and {DETAILED[1]}; --rows=REGEX times it elsewhere")
            elif contender := self.make(title, problem, lambda: self.agreeing(maker, problem, spec, references), self.progress.say if needed else None):
                return {title: contender}
        return {}

    def agreeing(self, maker, problem, spec, references):
        """A contender whose results are those of our kernel of the specification. Whatever fails in code that is not ours leaves its row out."""
        try:
            contender = maker(problem)
            if spec in references:
                contender.off = distance(contender.results(), references[spec].results())
                if not contender.off <= FAR:
                    raise Unavailable(f"its results are off from {spec}, deterministic by {contender.off:.2g}")
            return contender
        except Unavailable:
            raise
        except Exception as error:
            raise Unavailable(reason(error)) from None

    def time(self, contenders, problem, seconds, report):
        """One group, forward and backward; ratios are to the first contender that is SDPA. Rows of the names in `report`."""
        names = list(contenders)
        base = next((i for i, name in enumerate(names) if name in BACKENDS), None)
        for direction in ("forward", "backward"):
            self.progress.step(f"t = {problem.sizes['t']}, d = {problem.sizes['d']}: {direction} of {', '.join(report)} ...")
            rounds = measure(self.clock, [getattr(contenders[name], direction) for name in names], seconds)
            for i, name in enumerate(names):
                if name not in report:
                    continue
                ms = median(rounds, i)
                self.rows.append({"contender": name, "direction": direction, "t": problem.sizes["t"], "d": problem.sizes["d"],
                                  "b": problem.sizes["b"], "h": problem.sizes["h"], "ms": ms, "rounds": len(rounds),
                                  "tflops": problem.operations(direction) / ms / 1e9,
                                  "base": None if base is None else names[base], "speed": None if base is None else ratio(rounds, i, base),
                                  "off": getattr(contenders[name], "off", None)})

    def shape(self, t, d):
        """All contenders at one length and head size. Eager code keeps t x t arrays, so each is timed with SDPA alone beside it."""
        problem = make_problem(self.device, t, d)
        artifacts = self.folder.index["artifacts"]
        timed = timed_artifacts(self.folder, d)
        group = {name: self.make(name, problem, lambda name=name: sdpa(problem, name)) for name in BACKENDS}
        if self.chosen & COMPILED and not self.only_quick:
            torch._dynamo.reset()  # what was compiled for other shapes goes
        ours = {title: self.make(title, problem, lambda artifact=artifact: Ours(problem, self.load(artifact))) for title, artifact in timed.items()
                if title in self.chosen or title.endswith(", deterministic")}
        references = {title.split(",")[0]: contender for title, contender in ours.items() if contender and title.endswith(", deterministic")}
        for spec, row in ROWS:
            group |= self.opponent(spec, row, problem, references)
        group |= {title: contender for title, contender in ours.items() if title in self.chosen}
        group = {name: contender for name, contender in group.items() if contender}
        if group:
            self.time(group, problem, 1.0, report=group)
        base = next((name for name in group if name in BACKENDS), None)
        opponents = {artifacts[name]["spec"]: name for name in timed.values()}  # one for each specification
        for spec, artifact in opponents.items():
            if f"{spec}, eager" not in self.chosen:
                continue
            if self.progress.left() < 30:
                self.skip(f"{spec}, eager", problem, "the time was up")
                continue
            text = (self.folder.path / artifacts[artifact]["eager"]).read_text(encoding="utf-8")
            contender = self.make(f"{spec}, eager", problem, lambda: eager(problem, self.load(artifact), text))
            if contender:
                pair = ({base: group[base]} if base else {}) | {f"{spec}, eager": contender}
                self.time(pair, problem, 0.3, report=[f"{spec}, eager"])
            contender = None
            gc.collect()
            if self.device.name == "cuda":
                torch.cuda.empty_cache()

    def run(self):
        heads = sorted({entry["sizes"]["d"] for entry in self.folder.index["artifacts"].values() if entry["timed"]})
        for t in self.lengths:
            for d in heads:
                if self.progress.left() < 45:
                    self.skipped.append({"contender": "all", "t": t, "d": d, "reason": "the time was up; --minutes=N gives more"})
                    continue
                begin = self.progress.elapsed()
                self.shape(t, d)
                self.progress.say(f"timed t = {t}, d = {d} in {self.progress.elapsed() - begin:.0f} s")
        return self.rows, self.skipped
