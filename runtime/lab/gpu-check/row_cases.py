# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a case of experiments.py does in its process (case_process.py): integer products, a stored case of a kernel,
contenders in interleaved rounds, or steps of trainers."""
import functools
import itertools
import os
import pathlib

import torch

import opponents
from cases import Case, Steps
from clock import GpuClock, HostClock, measure, median, quartiles
from contenders import BACKENDS, Ours, distance, eager, sdpa
from device import open_device
from errors import Unavailable, reason
from folder import Folder
from library import Library
from times import FAR, make_problem

HERE = pathlib.Path(__file__).resolve().parent
HOST_LENGTH = 64  # where no GPU is, the program is tried and nothing is measured
NEAR = 0.03  # relative: two of our kernels of one formula, in bf16


class Worker:
    def __init__(self, case, device, lines):
        self.case, self.lines = case, lines
        self.folder, self.device = Folder(HERE), open_device(device)
        self.library = Library(HERE / "libtaylor.so")

    @functools.cache
    def kernel(self, variant, name):
        return self.library.load(self.file(variant, name))

    def file(self, variant, name):
        """Files of two variants have different names: one that is loaded already would be taken for the other."""
        file = pathlib.Path(self.folder.unpacked.name) / f"{variant}-{name}.so"
        file.write_bytes(self.folder.unpack(self.folder.index["variants"][variant]["artifacts"][name]))
        return file

    # ---- Kinds of cases. Each gives its status: ok, wrong, or skipped.

    def products(self):
        if self.device.name == "cpu" or (self.device.name == "ptx" and not os.environ.get("TAYLOR_CUDA_DRIVER")):
            self.lines.add("products", run=0, wrong=[], skipped="they need a GPU")
            return "skipped"
        from hopper import Hopper
        from products import all_products, rows_of
        from progress import Progress

        some = list(itertools.islice(all_products(), 0, None, self.case["every"]))
        try:
            with Hopper() as gpu:
                rows = list(rows_of(gpu, some, Progress(0)))
        except Unavailable as error:
            self.lines.add("products", run=0, wrong=[], skipped=str(error))
            return "skipped"
        wrong = [row for row in rows if row["verdict"] != "ok"]
        self.lines.add("products", run=len(rows), wrong=wrong, skipped=None)
        return "wrong" if wrong else "ok"

    def check(self):
        entry = next(e for e in self.folder.index["cases"] if e["name"] == self.case["stored"])
        kind = Steps if self.folder.index["artifacts"][entry["artifact"]]["decode"] else Case
        case = kind(self.folder, entry, self.kernel(self.case["variant"], entry["artifact"]), self.device)
        case.run()
        rows = case.judge()
        wrong = [row for row in rows if row["verdict"] != "ok"]
        worst = max((row["error"] / row["allowed"] for row in rows if row["allowed"]), default=0.0)
        self.lines.add("check", variant=self.case["variant"], results=len(rows), nearest=worst, wrong=wrong)
        return "wrong" if wrong else "ok"

    def time(self):
        """Contenders of one row: each runs once by itself, is compared, and then all take turns."""
        t = self.case["t"] if self.device.name == "cuda" else HOST_LENGTH
        problem = make_problem(self.device, t, self.case["d"])
        contenders, plain, wrong = {}, {}, False
        for entry in self.case["kernels"]:
            contender = self.attempt(entry["title"], lambda: Ours(problem, self.kernel(entry["variant"], entry["artifact"])), entry)
            if contender is None:
                continue
            first = plain.setdefault(entry["kernel"], contender)
            off = 0.0 if first is contender else distance(contender.results(), first.results())
            if off <= NEAR:
                contenders[entry["title"]] = (contender, entry, off)
                continue
            wrong = True
            self.lines.add("wrong", title=entry["title"], why=f"results are off from the default's by {off:.2g}", faulty=[[entry["variant"], entry["artifact"]]])
        for titles in self.case["opponents"]:
            for title in titles:
                contender = self.attempt(title, lambda: self.opponent(title, problem, plain), {})
                if contender:
                    contenders[title] = (contender, {"kernel": None, "variant": None}, getattr(contender, "off", None))
                    break
        self.rounds(contenders, problem)
        return "wrong" if wrong else "ok"

    compiled = eager = time

    def attempt(self, title, maker, entry):
        """The contender after a first run; the line before it tells a parent whom to leave out if this never ends."""
        self.lines.add("begin", title=title, faulty_if_last=[[entry["variant"], entry["artifact"]]] if entry else [])
        try:
            contender = maker()
            contender.forward()
            contender.backward()
            self.device.synchronize()
            return contender
        except Unavailable as error:
            torch.zeros(1, device=self.device.torch).item()  # raises where a kernel's fault has taken the GPU's context
            self.lines.add("not timed", title=title, why=str(error))
        except torch.OutOfMemoryError as error:
            self.lines.add("not timed", title=title, why=reason(error))
        return None

    def opponent(self, title, problem, plain):
        """A contender that is not ours; compared with our kernel where it computes the same."""
        if title in BACKENDS:
            return sdpa(problem, title)
        if title.endswith(", eager"):
            return self.eager_of(title.removesuffix(", eager"), problem)
        spec, maker = self.makers()[title]
        try:
            contender = maker(problem)
            if spec in plain:
                contender.off = distance(contender.results(), plain[spec].results())
                if not contender.off <= FAR:
                    raise Unavailable(f"its results are off from {spec} by {contender.off:.2g}")
            return contender
        except (Unavailable, torch.OutOfMemoryError):
            raise
        except Exception as error:  # whatever fails in code that is not ours leaves its row out
            raise Unavailable(reason(error)) from None

    def makers(self):
        made = {title: (spec, maker) for spec, row in opponents.ROWS for title, maker in row}
        for backend in ("FLASH", "Triton"):
            made[f"FlexAttention ({backend}), softmax-taylor of order 2"] = (
                "order 2 in chunks", functools.partial(opponents.flex_series, backend=backend, order=2))
        return made

    def eager_of(self, kernel, problem):
        artifact = next(entry["artifact"] for entry in self.case["kernels"] if entry["kernel"] == kernel)
        text = (HERE / self.folder.index["artifacts"][artifact]["eager"]).read_text(encoding="utf-8")
        return eager(problem, self.kernel(self.case["kernels"][0]["variant"], artifact), text)

    def rounds(self, contenders, problem):
        clock = GpuClock() if self.device.name == "cuda" else HostClock()
        names = list(contenders)
        base = names.index("SDPA cuDNN") if "SDPA cuDNN" in names else None
        for direction in ("forward", "backward") if names else ():
            self.lines.add("begin", title=f"{direction} of {len(names)} contenders in turn", faulty_if_last=[])
            rounds = measure(clock, [getattr(contenders[name][0], direction) for name in names], 1.0, (5, 25))
            for i, name in enumerate(names):
                _, entry, off = contenders[name]
                to_base = None if base is None else sorted(r[i] / r[base] for r in rounds)[len(rounds) // 2]
                plain = next((j for j, other in enumerate(names) if contenders[other][1]["kernel"] == entry["kernel"]), i) if entry["kernel"] else None
                to_plain = None if plain is None else quartiles([r[i] / r[plain] for r in rounds])
                ms = median(rounds, i)
                self.lines.add("time", direction=direction, title=name, kernel=entry["kernel"], variant=entry["variant"], t=self.case["t"], d=self.case["d"],
                               ms=ms, rounds=len(rounds), to_cudnn=to_base, to_plain=to_plain, off=off, tflops=problem.operations(direction) / ms / 1e9,
                               to_first=sorted(r[i] / r[0] for r in rounds)[len(rounds) // 2])

    def training(self):
        import training

        return training.run_case(self.case, self.folder, self.device, self.file, self.lines)
