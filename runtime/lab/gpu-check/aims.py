# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What issue 39 wants of sm_90a: its figures (section 4), the kernels and opponents that each needs, and the cases of the
run on a GPU in their order of importance. No torch, so that a report needs none."""
import collections

# Titles of the kernels of a row, with what pack.py has to know of each.
KERNELS = {
    "softmax": {"spec": "softmax", "heads": (64, 128)},
    "softmax-norm-l2": {"spec": "softmax-norm-l2", "heads": (64, 128)},
    "softmax-count-gate": {"spec": "softmax-count-gate", "heads": (64, 128)},
    "softmax-count-layernorm": {"spec": "softmax-count-layernorm", "heads": (64, 128)},
    "softmax-taylor": {"spec": "softmax-taylor", "heads": (64, 128)},
    "linear-relu": {"spec": "linear-relu", "heads": (64,)},
    "order 2 in chunks": {"spec": "softmax-taylor", "heads": (64,), "set": ["order=2"], "options": ["--form=chunked"]},
    "order 1 in chunks": {"spec": "softmax-taylor", "heads": (64,), "set": ["order=1"], "options": ["--form=chunked"]},
    "order 3 in chunks": {"spec": "softmax-taylor", "heads": (16,), "set": ["order=3"], "options": ["--form=chunked"]},
}
# What a row times together, in the same rounds.
GROUPS = {
    "softmax": ["softmax"],
    "beside softmax": ["softmax", "softmax-norm-l2", "softmax-count-gate", "softmax-count-layernorm"],
    "series of order 10": ["softmax-taylor"],
    "linear-relu": ["linear-relu"],
    "order 2 in chunks": ["order 2 in chunks"],
    "order 1 in chunks": ["order 1 in chunks"],
    "order 3 in chunks": ["order 3 in chunks"],
}
BASE = ["SDPA flash", "SDPA cuDNN"]


def by_backend(suffix):
    """The best back end first: the first that is installed is timed."""
    return [f"FlexAttention (FLASH){suffix}", f"FlexAttention (Triton){suffix}"]


# Opponents of a group: those that are there at once, and those that take long to compile (opponents.py).
QUICK = {"softmax": [["SDPA cuDNN + rotation"]], "linear-relu": [["linear-relu, chunks in Triton"]]}
COMPILED = {"softmax": [by_backend(""), by_backend(" + rotation")], "series of order 10": [by_backend(", softmax-taylor")],
            "linear-relu": [by_backend(", linear-relu")], "order 2 in chunks": [by_backend(", softmax-taylor of order 2")]}

Row = collections.namedtuple("Row", "group t d")
# In the order of the table, and after it what the table does not have.
ROWS = [Row("softmax", 16384, 64), Row("softmax", 16384, 128), Row("softmax", 1024, 64), Row("softmax", 1024, 128),
        Row("beside softmax", 16384, 64), Row("beside softmax", 16384, 128),
        Row("series of order 10", 16384, 64), Row("series of order 10", 16384, 128),
        Row("linear-relu", 16384, 64), Row("order 2 in chunks", 16384, 64)]
LATE_ROWS = [Row("beside softmax", 1024, 64), Row("order 1 in chunks", 16384, 64), Row("order 3 in chunks", 16384, 16)]
EAGER_ROWS = ROWS[2:4]  # at 16384 tokens its T x T arrays fit no GPU's memory
CONTEXTS = [(1024, 8), (4096, 2)]  # tokens and sequences of a training step

# A figure: milliseconds before the issue and wanted on an H100, and cuDNN's on the same chip, where there is one to
# compare with; or how many times as fast (training), or as long as softmax (beside it).
Aim = collections.namedtuple("Aim", "row kernel direction now wanted cudnn")


def aims_of(row, kernel, forward, backward):
    names = [(direction, figures) for direction, figures in (("forward", forward), ("backward", backward)) if figures]
    return [Aim(row, kernel, direction, *figures) for direction, figures in names]


AIMS = [
    *aims_of(ROWS[0], "softmax", (3.55, 2.5, 2.35), (10.95, 8.0, 5.97)),
    *aims_of(ROWS[1], "softmax", (3.51, 1.95, 1.74), (11.3, 6.4, 4.75)),
    *aims_of(ROWS[2], "softmax", (0.38, 0.28, 0.21), (1.09, 0.75, 0.74)),
    *aims_of(ROWS[3], "softmax", (0.38, 0.22, 0.16), (1.14, 0.65, 0.60)),
    *aims_of(ROWS[6], "softmax-taylor", (8.57, 2.9, 2.35), (28.4, 9.0, 5.97)),
    *aims_of(ROWS[7], "softmax-taylor", (7.89, 2.0, 1.74), (31.4, 6.6, 4.75)),
    *aims_of(ROWS[8], "linear-relu", (0.66, 0.40, None), None),
    *aims_of(ROWS[9], "order 2 in chunks", (3.2, 1.6, None), None),
]
BESIDE = 1.03  # at most so many times softmax's time
TRAINING = {(1024, 8): (168000, 1.15), (4096, 2): (128000, 1.3)}  # tokens/s before the issue, times as fast wanted

# Seconds that a case takes at a guess, and after which it is ended.
SECONDS = {"products": (12, 45), "check": (1.5, 20), "time": (9, 45), "compiled": (45, 100), "eager": (12, 45),
           "training": (30, 90)}
PRODUCTS = 17  # of the integer products every so many: no multiple of the numbers of layouts


def title_of(row):
    return f"{row.group}, t = {row.t}, d = {row.d}"


def ours(kernel, variant):
    return f"{kernel} [{variant}]"


def case_of(kind, name, **more):
    seconds, limit = SECONDS[kind]
    return {"kind": kind, "name": name, "seconds": seconds, "limit": limit, **more}


class State:
    """What is known so far: kernels that are wrong or hang, as (variant, artifact); cases that are done; median times,
    (case, direction, kernel) -> {variant: milliseconds}."""

    def __init__(self):
        self.faulty, self.done, self.times = set(), set(), {}

    def take(self, line):
        """A line of results."""
        if line["kind"] == "end" and line["status"] != "left out":
            self.done.add(line["case"])
        for fault in line.get("faulty", []):
            self.faulty.add(tuple(fault))
        if line["kind"] == "time" and line.get("variant"):
            self.times.setdefault((line["case"], line["direction"], line["kernel"]), {})[line["variant"]] = line["ms"]

    def fastest(self, variants, d, most):
        """The default, and experiments that were faster than it at softmax of d channels, in the order of their gain;
        all where softmax was not timed."""
        plain, gains = variants[0], {}
        softmax = {key: times for key, times in self.times.items() if key[2] == "softmax" and plain in times}
        timed = [times for (case, _, _), times in softmax.items() if case.endswith(f"d = {d}")]
        if not softmax or (not timed and d >= 64):
            return list(variants)
        timed = timed or list(softmax.values())  # narrower heads are never timed at softmax
        for times in timed:
            for variant, ms in times.items():
                gains[variant] = max(gains.get(variant, 0), times[plain] / ms)
        found = sorted((v for v in gains if v != plain and gains[v] > 1.0), key=gains.get, reverse=True)
        return [plain, *found[:most]]


class Plan:
    """The cases of a folder in their order. They are made one after the other: later ones depend on what is known."""

    def __init__(self, index, device, state):
        self.index, self.device, self.state = index, device, state
        self.variants = list(index["variants"])
        self.times = device != "ptx"

    def artifact(self, kernel, d):
        found = [name for name, entry in self.index["artifacts"].items() if entry["title"] == kernel and entry["sizes"]["d"] == d]
        return found[0] if found else None

    def checks(self, kernel, d, variants, most):
        """Each stored case of a kernel by itself, the smallest first."""
        artifact = self.artifact(kernel, d)
        cases = sorted((c for c in self.index["cases"] if c["artifact"] == artifact), key=lambda c: not c["quick"])
        for variant in variants:
            if artifact in self.index["variants"][variant]["artifacts"]:
                for case in cases[:most]:
                    if (variant, artifact) not in self.state.faulty:
                        yield case_of("check", f"check {case['name']} [{variant}]", stored=case["name"], variant=variant, artifact=artifact)

    def kernels(self, row, variants):
        """Our contenders of a row that are there and are not known to be wrong."""
        for kernel in GROUPS[row.group]:
            artifact = self.artifact(kernel, row.d)
            for variant in variants:
                if artifact in self.index["variants"][variant]["artifacts"] and (variant, artifact) not in self.state.faulty:
                    yield {"title": ours(kernel, variant), "kernel": kernel, "variant": variant, "artifact": artifact}

    def row(self, row, kind, variants, opponents, suffix=""):
        kernels = list(self.kernels(row, variants))
        if kernels:
            yield case_of(kind, title_of(row) + suffix, t=row.t, d=row.d, kernels=kernels, opponents=opponents)

    def row_with_checks(self, row):
        variants = self.variants if row.group == "softmax" else self.state.fastest(self.variants, row.d, 3)
        for kernel in GROUPS[row.group]:
            yield from self.checks(kernel, row.d, variants, 2 if row.group == "softmax" else 1)
        if self.times:
            yield from self.row(row, "time", variants, [[title] for title in BASE] + QUICK.get(row.group, []))

    def training(self):
        for tokens, sequences in self.index["training"]["contexts"] if self.index.get("training") else ():
            kernels = list(self.kernels(Row("softmax", tokens, 64), self.state.fastest(self.variants, 64, 2)[:3]))
            if kernels:
                yield case_of("training", f"training, {tokens} x {sequences}", context=tokens, sequences=sequences, kernels=kernels)

    def cases(self):
        """Those that are not done yet."""
        return (case for case in self.all_cases() if case["name"] not in self.state.done)

    def all_cases(self):
        yield case_of("products", "products of integers", every=PRODUCTS)
        for row in ROWS:
            yield from self.row_with_checks(row)
        if self.times:
            yield from self.training()
            for row in EAGER_ROWS:
                yield from self.row(row, "eager", self.variants[:1], [["SDPA cuDNN"], [f"{GROUPS[row.group][0]}, eager"]], ", eager")
            for row in ROWS:
                if row.group in COMPILED:
                    yield from self.row(row, "compiled", self.variants[:1], [["SDPA cuDNN"], *COMPILED[row.group]], ", FlexAttention")
        for row in LATE_ROWS:
            yield from self.row_with_checks(row)
