# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folder of experiments.py: a folder of gpu-check for the first target, its kernels for the other targets, two
builds of the trainer with tokens, and the comparison of its size with what may be carried. Stays in the repository."""
import argparse
import os
import pathlib
import re
import subprocess
import sys

import pack
import training
from aims import CONTEXTS, KERNELS
from pack import PLAIN, SOURCE, Failure, Packer, Refusal, name_of

VARIANTS = ("sm_90a", "sm_90a+roles", "sm_90a+roles+overlap", "sm_90a+roles+persistent", "sm_90a+roles+overlap+persistent+early", "sm_90a+early",
            "sm_90a+computed", "sm_90a+lengths", "sm_90a+roles+lengths")
TEXT = ("*.md", "passes/**/*.cpp", "codegen/**/*.cpp", "runtime/*.cpp", "trainer/**/*.cpp")
PROGRAMS = ["experiments.py", "aims.py", "aims_report.py", "case_process.py", "row_cases.py", "training.py"]


def carried_beside():
    """Bytes of the working tree that travel with the folder: tracked files, and others that git does not ignore."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, cwd=SOURCE, check=False)
    files = [SOURCE / name for name in listed.stdout.split("\0") if name]
    return sum(file.stat().st_size for file in files if file.is_file())


class ExperimentsPacker(Packer):
    def artifacts(self):
        for title in self.options.kernels:
            kernel = KERNELS[title]
            for d in kernel["heads"][: 1 if self.options.small else None]:
                yield {**PLAIN, "title": title, "spec": kernel["spec"], "dtype": "bf16", "sizes": {"d": d, "e": d}, "timed": True,
                       "set": kernel.get("set", []), "options": kernel.get("options", [])}

    def vary(self):
        """Kernels of the first target are the folder's own; each other target has the same ones, or a reason."""
        first, *others = self.options.variants
        artifacts = self.index["artifacts"]
        self.index["variants"] = {first: {"artifacts": {name: entry["file"] for name, entry in artifacts.items()}, "refused": {}}}

        def build_one(item, total):
            variant, name = item
            file = f"kernels/{variant}/{name}.so.xz"
            try:
                self.build(artifacts[name], file, variant)
            except Refusal as refusal:
                file, why = None, refusal.reason
            self.say(f"{name} for {variant}", total)
            return variant, name, file, None if file else why

        for variant in others:
            (self.folder / "kernels" / variant).mkdir()
            self.index["variants"][variant] = {"artifacts": {}, "refused": {}}
        for variant, name, file, why in self.in_parallel(build_one, [(v, name) for v in others for name in artifacts], "kernels of experiments"):
            if file:
                self.index["variants"][variant]["artifacts"][name] = file
            else:
                self.index["variants"][variant]["refused"][name] = why
                print(f"not compiled: {name} for {variant}: {why}", flush=True)

    def pack(self):
        options = self.options
        places = training.places_of(options) if options.contexts else None
        self.clear()
        self.compile_all()
        self.vary()
        self.refer_all()
        self.index["training"] = training.pack(options, places, self.folder) if places else None
        self.copy_programs(PROGRAMS)
        self.describe()
        self.check_size()
        self.check_carried()

    def check_carried(self):
        own = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        tree, limit = carried_beside(), self.options.carry * 2**20
        parts = f"{own / 2**20:.1f} MiB of {self.folder} and {tree / 2**20:.1f} of the working tree"
        if own + tree > limit:
            raise Failure(f"expected at most {self.options.carry:g} MiB to carry, but got {(own + tree) / 2**20:.1f}: {parts}; "
                          "fewer --variants or --kernels, or --no-training, make it smaller")
        print(f"to carry: {parts}, of {self.options.carry:g}")


def parse(words):
    parser = argparse.ArgumentParser(prog="experiments.py pack", description=__doc__, allow_abbrev=False)
    parser.add_argument("--folder", type=pathlib.Path, default=SOURCE / "build" / "experiments", help="folder to make (default: build/experiments)")
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build" / "bin",
                        help="folder of taylorc, taylor-run and taylor-train (default: build/bin)")
    parser.add_argument("--lib", type=pathlib.Path, default=SOURCE / "build" / "lib",
                        help="folder of libtaylor.so and libtaylor_torch.so (default: build/lib)")
    parser.add_argument("--variants", default=",".join(VARIANTS), metavar="TARGET,..",
                        help="targets; the others are held against the first (default: %(default)s)")
    parser.add_argument("--kernels", default=",".join(KERNELS), metavar="NAME,..", help="kernels (default: %(default)s)")
    parser.add_argument("--before", type=pathlib.Path, metavar="BUILD",
                        help="build folder of the commit before the issue, with bin/taylor-train, bin/taylorc and lib: "
                             "its trainer is the one to beat (default: this one, with kernels for sm_90)")
    parser.add_argument("--before-target", default="sm_90", metavar="TARGET", help="target of the kernels to beat (default: %(default)s)")
    parser.add_argument("--train-config", type=pathlib.Path, default=SOURCE / "examples" / "experiments" / "speed-gpu.toml", metavar="FILE",
                        help="model to train (default: examples/experiments/speed-gpu.toml)")
    parser.add_argument("--text", default=",".join(TEXT), metavar="GLOB,..", help="files of the repository to train on (default: %(default)s)")
    parser.add_argument("--contexts", default=",".join(f"{t}x{n}" for t, n in CONTEXTS), metavar="TxN,..",
                        help="tokens and sequences of a training step (default: %(default)s)")
    parser.add_argument("--no-training", action="store_true", help="leave the trainer out")
    parser.add_argument("--small", action="store_true", help="two shapes and one head size, for tests of the folder itself")
    parser.add_argument("--carry", type=float, default=64, metavar="MIB",
                        help="most MiB of the folder and the working tree together (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time (default: all processors)")
    options = parser.parse_args(words)
    for name in ("variants", "kernels", "text"):
        setattr(options, name, getattr(options, name).split(","))
    for name in options.kernels:
        if name not in KERNELS:
            parser.error(f"expected kernels of {', '.join(KERNELS)} in --kernels, but got '{name}'")
    words = [] if options.no_training else options.contexts.split(",")
    if not all(re.fullmatch(r"[1-9]\d*x[1-9]\d*", word) for word in words):
        parser.error(f"expected tokens x sequences, such as 1024x8, by comma in --contexts, but got '{options.contexts}'")
    options.contexts = [tuple(map(int, word.split("x"))) for word in words]
    options.targets, options.limit = options.variants[0], 1e9  # what is carried has a limit of its own
    return options


def main(words):
    """The exit status."""
    try:
        ExperimentsPacker(parse(words)).pack()
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0
