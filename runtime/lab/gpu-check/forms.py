# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms of a specification beside each other, over sequence lengths: what the compiler would choose there, and what its costs are off by."""
import gc

import torch

from clock import measure, median, ratio
from contenders import Ours
from errors import Unavailable
from times import make_problem

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 65536)
HOST_LENGTHS = (64,)


def rank(target, capability):
    """How well code for a target runs on a GPU, both by name, as runtime/cuda chooses: none at all for a processor's or a later GPU's, and what
    was made for this GPU alone, "sm_90a" for "sm_90", before the newest number."""
    number, name = int(capability.removeprefix("sm_")), target.split("+")[0].removeprefix("sm_")
    if name == target.split("+")[0]:
        return None
    exact = name[-1].isalpha()
    made_for = int(name[:-1] if exact else name)
    return (exact, made_for) if made_for == number or made_for < number and not exact else None


def choose(targets, capability):
    """Of targets in a manifest, that whose code runs here; without a GPU the last."""
    if not capability:
        return targets[-1]
    return max((target for target in targets if rank(target["name"], capability)), key=lambda target: rank(target["name"], capability))


def cost_of(code, sizes):
    """The compiler's estimate of a call in picoseconds (codegen/Targets/CostModel.h)."""
    b, h, g, t, u = (sizes[a] for a in "bhgtu")
    cost = code["cost"]
    return cost["call"] + cost["pair"] * b * h * t * (t + 1) / 2 + cost["query"] * b * h * t + cost["key"] * b * g * u


class FormTimer:
    """Collects rows: spec, setting, direction, d, t, for each form milliseconds and estimated cost, and the median of chunked over parallel."""

    def __init__(self, folder, load, device, progress, clock):
        self.folder, self.load, self.device, self.progress, self.clock = folder, load, device, progress, clock
        self.rows, self.skipped = [], []

    def code(self, kernel, function):
        """The code that runs here."""
        return choose(kernel.manifest["targets"], self.device.describe().get("capability"))["functions"][function]

    def shape(self, names, setting, dtype, t, d):
        problem = make_problem(self.device, t, d, dtype)
        try:
            group = {form: Ours(problem, self.load(name)) for form, name in names.items()}
        except Unavailable as error:
            self.skipped.append({"contender": setting, "t": t, "d": d, "reason": str(error)})
            return
        order = list(group)
        for direction in ("forward", "backward"):
            rounds = measure(self.clock, [getattr(one, direction) for one in group.values()], 0.2, rounds=(3, 15))
            costs = {form: cost_of(self.code(self.load(name), direction), problem.sizes) for form, name in names.items()}
            states = self.code(self.load(names["chunked"]), direction)["state"]
            self.rows.append({"setting": setting, "direction": direction, "d": d, **{a: problem.sizes[a] for a in "bht"}, **states,
                              "ms": {form: median(rounds, i) for i, form in enumerate(order)}, "costs": costs,
                              "measured": ratio(rounds, order.index("parallel"), order.index("chunked")),
                              "estimated": costs["chunked"] / costs["parallel"]})

    def run(self):
        groups = {}
        for name, entry in self.folder.index["artifacts"].items():
            if entry["form"]:
                setting = f"{entry['spec']} {' '.join(entry['set'])}, {entry['dtype']}, {entry['mode']}"
                groups.setdefault((setting, entry["dtype"], entry["sizes"]["d"]), {})[entry["form"]] = name
        for (setting, dtype, d), names in groups.items():
            if len(names) < 2:
                self.skipped.append({"contender": setting, "t": "all", "d": d, "reason": "one of its forms was not compiled"})
                continue
            lengths = [t for t in LENGTHS if dtype == "bf16" or t <= 16384]  # multiply-adds of f32 take long
            for t in lengths if self.device.name == "cuda" else HOST_LENGTHS:
                self.progress.step(f"{setting}, d = {d}: both forms at t = {t} ...")
                if self.progress.left() < 15:
                    self.skipped.append({"contender": setting, "t": t, "d": d, "reason": "the time was up; --minutes=N gives more"})
                    continue
                self.shape(names, setting, dtype, t, d)
                gc.collect()
                if self.device.name == "cuda":
                    torch.cuda.empty_cache()
        return self.rows, self.skipped
