# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folder that goes to a machine with a GPU: artifacts, their fp64 results, the runtime, and the programs next
to this file. Called by gpu-check.sh; runs in Taylor's repository after a build, with torch and numpy."""
import argparse
import concurrent.futures
import datetime
import io
import itertools
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy
import torch

from folder import FORMAT
from library import DTYPES, Library

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
PROGRAMS = ["check.py", "against.py", "cases.py", "clock.py", "contenders.py", "device.py", "driver.py", "errors.py", "features.py", "folder.py", "forms.py", "hopper.py", "library.py",
            "linear_triton.py", "opponents.py", "products.py", "progress.py", "report.py", "times.py", "README.md"]

# Sizes that break things: grouped heads, fewer queries than keys, ragged ends, rows that see no key, one token; small, for the references.
SHAPES = [
    {"b": 2, "h": 2, "g": 1, "t": 65, "u": 65, "layout": "bhtc"},
    {"b": 1, "h": 2, "g": 1, "t": 37, "u": 111, "layout": "bthc"},
    {"b": 1, "h": 1, "g": 1, "t": 171, "u": 171, "layout": "bthc"},
    {"b": 1, "h": 2, "g": 2, "t": 129, "u": 64, "layout": "bhtc"},
    {"b": 1, "h": 1, "g": 1, "t": 1, "u": 1, "layout": "bhtc"},
]
TYPES = ("bf16", "f32", "f16")
HEADS = ((64, 64), (128, 128))
OTHER_HEADS = ((16, 48), (192, 192))  # of one specification
# What is packed unless --specs says more: kernels that differ most from each other; all of them are many times what the folder may have.
SPECS = ("softmax", "softmax-norm-l2", "softmax-count-gate", "softmax-count-layernorm", "linear-relu", "decay-gates", "softmax-taylor")
TIMED = ("softmax", "softmax-norm-l2", "softmax-count-gate", "softmax-count-layernorm", "softmax-taylor", "linear-relu")
# Decoded token by token: with states of a finite order, with keys and values of all tokens.
DECODED = ({"spec": "softmax-taylor", "set": ["order=2"], "decode": "state"}, {"spec": "softmax", "set": [], "decode": "cache"})
DECODED_SHAPE = {"b": 2, "h": 4, "g": 2, "t": 19, "u": 19, "layout": "bhtc"}
# Checked in their other forms: in the shortest chunks there are, of 64 or 128 tokens, and of sequences that hold several documents; on shapes of
# SHAPES that are several chunks and several documents.
FORMED_SHAPES = (2, 0)
FORMED = (
    {"spec": "linear-relu", "options": ["--form=chunked", "--chunk=64"]},
    {"spec": "softmax-taylor", "set": ["order=2"], "options": ["--form=chunked", "--chunk=64"]},
    {"spec": "softmax", "options": ["--documents"]},
    {"spec": "decay-gates", "options": ["--documents"]},
    {"spec": "softmax-taylor", "set": ["order=2"], "options": ["--form=chunked", "--chunk=64", "--documents"]},
)
# Timed in both forms, for the costs that the compiler chooses by: orders and head sizes of the series, by types and modes.
FORMS = ("parallel", "chunked")
COSTS = {
    ("bf16", "deterministic"): ((1, 16), (1, 64), (1, 128), (2, 16), (2, 64), (2, 128), (3, 16)),
    ("bf16", "split"): ((1, 16), (1, 64), (1, 128), (2, 16), (2, 64)),
    ("f32", "deterministic"): ((1, 16), (1, 64), (2, 16), (2, 64)),
}
PLAIN = {"mode": "deterministic", "mask": None, "timed": False, "set": [], "decode": None, "options": [], "shapes": None, "checked": True, "form": None}
MODES = {"deterministic": [], "atomic": ["--row-sums=atomic"], "split": ["--bf16-products=split"]}
SPLIT = ("softmax-taylor", "linear-relu")  # timed with operands of two numbers of bf16, too
REFUSED = 3  # the status of taylorc where it refuses on purpose (TAYLOR_REFUSED, runtime/taylor.h)


class Failure(Exception):
    """One message, and exit status 1."""


class Refusal(Failure):
    """What taylorc has no code for, on purpose; any other failure ends the packing."""

    @property
    def reason(self):
        """What the compiler said, in one line."""
        lines = [line for line in str(self).splitlines() if "error:" in line] or str(self).splitlines()
        return lines[0].split("error: ")[-1]


def name_of(entry):
    """softmax-bf16-d64, softmax-taylor-bf16-d64-order2-chunked: what tells an artifact from others."""
    sizes, mode, mask = entry["sizes"], entry["mode"], entry["mask"]
    parts = [entry["spec"].replace("/", "-"), entry["dtype"], f"d{sizes['d']}" + (f"e{sizes['e']}" if sizes["e"] != sizes["d"] else "")]
    return "-".join(parts + ([mode] if mode != "deterministic" else []) + ([mask] if mask else []) + (["decode"] if entry["decode"] else [])
                    + [word.replace("=", "") for word in (entry["set"] if not entry["decode"] else [])]
                    + [word.removeprefix("--form=").lstrip("-").replace("=", "") for word in entry["options"]])


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build" / "bin",
                        help="folder of taylorc and taylor-run (default: build/bin)")
    parser.add_argument("--lib", type=pathlib.Path, default=SOURCE / "build" / "lib",
                        help="folder of libtaylor.so and libtaylor_torch.so (default: build/lib)")
    parser.add_argument("--folder", type=pathlib.Path, default=SOURCE / "build" / "gpu-check",
                        help="folder to make; one of ours is replaced (default: build/gpu-check)")
    parser.add_argument("--targets", default="sm_80,sm_90a",
                        help="machines to compile for, as in taylorc --target (default: %(default)s)")
    parser.add_argument("--specs", default=",".join(SPECS), metavar="NAME,..",
                        help="specifications of examples/specs, or all (default: %(default)s)")
    parser.add_argument("--types", default=",".join(TYPES), metavar="NAME,..",
                        help="storage types (default: %(default)s)")
    parser.add_argument("--small", action="store_true",
                        help="pack the first two shapes and the first head size only, for tests of the folder itself")
    parser.add_argument("--limit", type=float, default=80, metavar="MB",
                        help="most megabytes of the folder (10^6 bytes; default: 80)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time (default: all processors)")
    return parser.parse_args(words)


class Packer:
    def __init__(self, options):
        self.options, self.folder, self.manifests = options, options.folder, {}
        self.index = {"format": FORMAT, "about": {}, "artifacts": {}, "cases": [], "refused": {}, "operator": None, "files": {}}
        self.call("taylorc", "--version")  # a compiler that is not there is said before anything is made
        self.has_modes = {mode: not flags or "sm_" in options.targets for mode, flags in MODES.items()}
        self.lock, self.said, self.done = threading.Lock(), time.monotonic(), 0

    def call(self, program, *flags):
        """The standard output; fails with what the program said."""
        try:
            done = subprocess.run([self.options.bin / program, *map(str, flags)], capture_output=True, text=True, cwd=SOURCE)
        except OSError as error:
            raise Failure(f"cannot run {self.options.bin / program}: {error.strerror}; ./gpu-check.sh builds it, and --bin names its folder") from None
        if done.returncode != 0:
            raise (Refusal if done.returncode == REFUSED else Failure)(done.stderr.strip() or f"{program} failed with status {done.returncode}")
        return done.stdout

    def say(self, text, total):
        with self.lock:
            self.done += 1
            if time.monotonic() - self.said >= 2:
                self.said = time.monotonic()
                print(f"  {self.done} of {total}: {text}", flush=True)

    # ---- What is in it

    def artifacts(self):
        """Every specification in every type and head size; one in other head sizes and without a mask in the first type; timed ones in every mode that changes them."""
        options = self.options
        files = (SOURCE / "examples" / "specs").rglob("*.mlir")
        every = sorted(str(file.relative_to(SOURCE / "examples" / "specs").with_suffix("")) for file in files)
        specs = every if options.specs == "all" else options.specs.split(",")
        for spec in specs:
            if spec not in every:
                raise Failure(f"expected a specification of examples/specs in --specs, but got '{spec}'")
        types, heads = options.types.split(","), HEADS[: 1 if options.small else None]
        for spec, dtype, (d, e) in itertools.product(specs, types, heads):
            changed = [m for m in MODES if self.has_modes[m] and (m != "split" or (spec in SPLIT and dtype == "bf16"))]
            for mode in changed if spec in TIMED and dtype == types[0] else ["deterministic"]:
                yield {**PLAIN, "spec": spec, "dtype": dtype, "sizes": {"d": d, "e": e}, "mode": mode, "timed": spec in TIMED and dtype == types[0]}
        for entry, dtype in itertools.product([e for e in DECODED if e["spec"] in specs], types[:1] if options.small else [x for x in types if x != "f16"]):
            yield {**PLAIN, **entry, "dtype": dtype, "sizes": {"d": heads[0][0], "e": heads[0][1]}}
        for (dtype, mode), sizes in COSTS.items() if "softmax-taylor" in specs else ():
            timed = sizes[: 1 if options.small else None] if dtype in types and self.has_modes[mode] else ()
            for (order, d), form in itertools.product(timed, FORMS):
                yield {**PLAIN, "spec": "softmax-taylor", "dtype": dtype, "mode": mode, "sizes": {"d": d, "e": d}, "set": [f"order={order}"],
                       "options": [f"--form={form}"], "checked": False, "form": form}
        if options.small:
            return
        for d, e in OTHER_HEADS:
            yield {**PLAIN, "spec": "softmax" if "softmax" in specs else specs[0], "dtype": types[0], "sizes": {"d": d, "e": e}}
        for spec in specs:
            yield {**PLAIN, "spec": spec, "dtype": types[0], "sizes": {"d": heads[0][0], "e": heads[0][1]}, "mask": "bidirectional"}
        for entry, dtype in itertools.product([e for e in FORMED if e["spec"] in specs], [x for x in types if x != "f16"]):
            yield {**PLAIN, **entry, "dtype": dtype, "shapes": FORMED_SHAPES, "sizes": {"d": heads[0][0], "e": heads[0][1]}}

    def flags(self, entry):
        """Those of taylorc and taylor-run that both know."""
        return [f"examples/specs/{entry['spec']}.mlir", f"--dtype={entry['dtype']}"] + ([f"--mask={entry['mask']}"] if entry["mask"] else []) + [
            f"--set={setting}" for setting in entry["set"]] + entry["options"]

    def compiler_flags(self, entry):
        decode = [f"--decode={entry['decode']}"] if entry["decode"] else []
        return self.flags(entry) + decode + [f"--head-dim={entry['sizes']['d']}", f"--value-dim={entry['sizes']['e']}"]

    def build(self, entry, file, targets):
        """The packed artifact, and its manifest."""
        artifact = (self.folder / file).with_suffix("")
        self.call("taylorc", *self.compiler_flags(entry), f"--target={targets}", *MODES[entry["mode"]], "-o", artifact)
        described = artifact.with_suffix(".json")  # the artifact has it too
        manifest = json.loads(described.read_text(encoding="utf-8"))
        (self.folder / file).write_bytes(lzma.compress(artifact.read_bytes()))
        described.unlink()
        artifact.unlink()
        return manifest

    def compile(self, name, entry):
        """The artifact and the specification as PyTorch code. What the compiler refuses is noted, with its reason."""
        file = f"kernels/{name}.so.xz"  # text of PTX becomes a tenth
        try:
            self.manifests[name] = self.build(entry, file, self.options.targets)
        except Refusal as refusal:
            return {"refused": refusal.reason}
        if entry["timed"]:
            flags = self.compiler_flags(entry)
            settings = [word.replace("=", "") for word in entry["set"]]
            eager = f"eager/{'-'.join([entry['spec'].replace('/', '-'), *settings])}.py"
            (self.folder / eager).write_text(self.call("taylorc", *flags, "--emit=torch"), encoding="utf-8")
            entry["eager"] = eager
        return {**entry, "file": file}

    def cases(self):
        """Each artifact on two shapes, in turn, so that every specification meets every shape, but wide heads on one, for the folder's size;
        what reads keys at query positions has no more queries than keys."""
        shapes = SHAPES[: 2 if self.options.small else None]
        for number, (name, entry) in enumerate((n, e) for n, e in self.index["artifacts"].items() if e["checked"]):
            fit = [DECODED_SHAPE] if entry["decode"] else [s for s in shapes if not self.manifests[name].get("aligned") or s["t"] <= s["u"]]
            chosen = [fit[number % len(fit)], fit[(number + 2) % len(fit)]] if len(fit) > 2 else fit
            if entry["shapes"]:
                chosen = [SHAPES[i] for i in entry["shapes"]]
            if entry["sizes"]["d"] > HEADS[0][0]:
                chosen = [next(s for s in chosen if s["t"] > 1)]
            smallest = min(chosen, key=lambda s: s["b"] * s["h"] * s["t"] * s["u"] if s["t"] > 1 else 1e9)
            for shape in chosen:
                sizes = {a: shape[a] for a in "bhgtu"}
                title = f"{name} {shape['b']}x{shape['h']}/{shape['g']}x{shape['t']}" + (f"/{shape['u']}" if shape["t"] != shape["u"] else "")
                yield {"name": title, "artifact": name, "sizes": sizes, "layout": shape["layout"], "quick": shape is smallest,
                       "file": f"references/{name}-{shape['t']}.pt.xz"}

    def refer(self, case, scratch):
        """Arguments, cotangents and fp64 results by taylor-run, in one file: arguments in their type, results in f32 where a kernel's type has 16 bits."""
        entry = self.index["artifacts"][case["artifact"]]
        shape = ",".join(f"{a}={n}" for a, n in {**case["sizes"], **entry["sizes"]}.items())
        flags = [flag for flag in self.flags(entry) if not flag.startswith("--chunk")]  # no matter to the reference
        self.call("taylor-run", *flags, f"--shape={shape}", "--threads=1", f"--references={scratch}")
        # What a decoder carries begins at zero, and gradients have no steps: the whole sequence's outputs are what is held against it.
        inputs = {x["name"]: x["dtype"] for x in self.manifests[case["artifact"]]["tensors"]["inputs"]}
        wide = torch.float64 if entry["dtype"] in ("f32", "f64") else torch.float32
        stored = {}
        for file in sorted(scratch.glob("*.npy")):
            kind, name = file.stem.split(".", 1)
            dtype = DTYPES[inputs[name]][1] if kind == "input" else DTYPES[entry["dtype"]][1] if kind == "cotangent" else wide
            stored[f"{kind}:{name}"] = torch.from_numpy(numpy.load(file)).to(dtype)
        packed = io.BytesIO()
        torch.save(stored, packed)
        (self.folder / case["file"]).write_bytes(lzma.compress(packed.getvalue()))
        rows = json.loads((scratch / "contract.json").read_text(encoding="utf-8"))
        case["contract"] = {f"{row.pop('kind')}:{row.pop('name')}": row for row in rows if not entry["decode"] or row["kind"] == "output"}

    # ---- Steps

    def clear(self):
        """An old folder of ours goes; anything else stays, and is an error."""
        if self.folder.exists():
            if any(self.folder.iterdir()) and not (self.folder / "pack.json").is_file():
                raise Failure(f"expected an empty folder or one that gpu-check.sh made, but {self.folder} has other files; --folder names another")
            shutil.rmtree(self.folder)
        for part in ("kernels", "references", "eager"):
            (self.folder / part).mkdir(parents=True)
        (self.folder / "pack.json").write_text("{}\n", encoding="utf-8")  # marks it as ours while it is made

    def in_parallel(self, work, items, title):
        self.done = 0
        print(f"{title}: {len(items)}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(max(1, self.options.jobs)) as pool:
            futures = [pool.submit(work, item, len(items)) for item in items]
            try:
                return [future.result() for future in futures]
            except BaseException:
                for future in futures:
                    future.cancel()
                raise

    def pack(self):
        self.clear()
        self.compile_all()
        self.refer_all()
        self.copy_programs()
        self.describe()
        self.check_size()

    def compile_all(self):
        def compile_one(entry, total):
            name = name_of(entry)
            result = self.compile(name, entry)
            self.say(name, total)
            return name, result

        for name, result in self.in_parallel(compile_one, list(self.artifacts()), "artifacts"):
            if "refused" in result:
                self.index["refused"][name] = result["refused"]
            else:
                self.index["artifacts"][name] = result
        if not self.index["artifacts"]:
            raise Failure(f"expected at least one kernel, but taylorc made none; the first: {next(iter(self.index['refused'].values()))}")
        for name, why in self.index["refused"].items():
            print(f"not compiled: {name}: {why}", flush=True)

    def refer_all(self):
        def refer_one(case, total):
            with tempfile.TemporaryDirectory() as scratch:
                self.refer(case, pathlib.Path(scratch))
            self.say(case["name"], total)
            return case

        self.index["cases"] = self.in_parallel(refer_one, list(self.cases()), "references")

    def copy_programs(self, more=()):
        for name in (*PROGRAMS, *more):
            shutil.copy(HERE / name, self.folder / name)
        shutil.copy(self.options.lib / "libtaylor.so", self.folder / "libtaylor.so")
        operator = self.options.lib / "libtaylor_torch.so"
        if operator.is_file():
            shutil.copy(operator, self.folder / operator.name)
            self.index["operator"] = {"file": operator.name, "torch": torch.__version__.split("+")[0]}

    def describe(self):
        git = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True, cwd=SOURCE)
        self.index["about"] = {"taylor": Library(self.options.lib / "libtaylor.so").version(), "commit": git.stdout.strip() or "unknown", "targets": self.options.targets.split(","),
                               "made": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                               "modes": [mode for mode, there in self.has_modes.items() if there]}
        files = [file for file in self.folder.rglob("*") if file.is_file() and file.name != "pack.json"]
        self.index["files"] = {str(file.relative_to(self.folder)): file.stat().st_size for file in sorted(files)}
        (self.folder / "pack.json").write_text(json.dumps(self.index, indent=1) + "\n", encoding="utf-8")

    def check_size(self):
        sizes = self.index["files"]
        total = sum(sizes.values()) + (self.folder / "pack.json").stat().st_size
        if total > self.options.limit * 1e6:
            largest = sorted(sizes, key=sizes.get, reverse=True)[:5]
            names = ", ".join(f"{name} ({sizes[name] / 1e6:.1f})" for name in largest)
            raise Failure(f"expected at most {self.options.limit:g} MB in {self.folder}, but got {total / 1e6:.1f}; the largest: {names}; "
                          "fewer --targets, --types or --specs make it smaller")
        counts = f"{len(self.index['artifacts'])} artifacts, {len(self.index['cases'])} cases, {len(self.index['refused'])} not compiled"
        print(f"{self.folder}: {counts}, {total / 1e6:.1f} MB")


def main(words=None):
    """The exit status."""
    try:
        Packer(arguments(words)).pack()
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
