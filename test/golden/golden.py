# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The golden corpus: hashes of taylorc's output for every specification that ships. A change of code that should change
no kernel is seen to change none, and one that should names what it changed.

usage: golden.py [--write] [--missing] [--share=I/N] [--only=REGEX] [--jobs=N] [--bin=FOLDER] [--corpus=FILE]
       golden.py --text=ENTRY [--bin=FOLDER]

Without --write, compares, prints each entry that differs, and fails if one does.

  --write        write the corpus anew, and print each entry that changed, is new or is gone
  --missing      make only the entries that the corpus lacks, with --write
  --share=I/N    every Nth entry from the Ith on, in an order unrelated to names (./test.sh takes 0/10)
  --only=REGEX   entries whose line matches
  --jobs=N       processes of taylorc at a time (default: 1)
  --bin=FOLDER   folder of taylorc (default: build/bin)
  --corpus=FILE  file of the corpus (default: test/golden/corpus.txt)
  --text=ENTRY   print the text of an entry, as the corpus writes it: "softmax parallel f32 x86-64-v4 asm"

An entry is a line: the specification, its form, the storage type, the target, the level, and the first 16 digits of the
text's SHA-256, or why there is no text. A text has both directions, and the step if there is one. Machine code is
LLVM's too: with another LLVM than the corpus was made with, only the text of our own levels is compared, and golden.py
says so."""
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Inputs"))
from cases import REFUSED

SPECS = HERE.parents[1] / "examples" / "specs"
DEFAULTS = {"share": "0/1", "only": "", "jobs": "1", "bin": str(HERE.parents[1] / "build" / "bin"), "corpus": str(HERE / "corpus.txt"), "text": ""}
TYPES = ["f32", "bf16", "f16", "f64"]
# Types that differ on a target: sapphirerapids multiplies bf16 on its matrix unit, and is x86-64-v4 otherwise; no GPU code in f64. sm_90a
# multiplies operands of 16 bits in its own way, and f32 as sm_90 does.
TARGETS = {"x86-64-v4": TYPES, "x86-64-v3": ["f32", "bf16"], "sapphirerapids": ["bf16"], "sm_80": ["f32", "bf16", "f16"],
           "sm_90a": ["bf16", "f16"]}
TILE_TARGETS = ["x86-64-v4", "sm_80", "sm_90a"]  # tile sizes are a target's
# Fewer channels than by default: the same code, with shorter loops.
CHANNELS = 32
# Series have states up to a few orders.
SERIES = re.compile(r"-taylor(-as-coded)?$")
FORMS = {"parallel": ["--form=parallel"], "chunked": ["--form=chunked"], "recurrent": ["--form=recurrent"], "states": ["--form=parallel", "--states", "--decode=state"],
         "cache": ["--form=parallel", "--decode=cache"]}
# What an option, or a target that is an experiment, makes of each specification: code alone, of the types that it is about.
VARIATIONS = {"documents": (["--form=parallel", "--documents"], {"x86-64-v4": ["f32"], "sm_80": ["bf16"]}),
              "split": (["--form=parallel", "--bf16-products=split"], {"sm_80": ["bf16"]}),
              "tf32": (["--form=parallel", "--f32-products=tf32"], {"sm_80": ["f32"]}),
              "atomic": (["--form=parallel", "--row-sums=atomic"], {"sm_80": ["bf16"]}),
              "long": (["--form=long", "--head-dim=64"], {"sm_90a+lengths": ["bf16"]}),
              "roles": (["--form=parallel"], {"sm_90a+roles": ["bf16"], "sm_90a+roles+overlap+persistent": ["bf16"]})}
WITH_STATES = {"linear-cosine-as-coded", "linear-cosine", "linear-elu", "linear-relu", "relu-count-layernorm", "relu-norm-l2", "relu-norm-rms",
               "cosine-taylor", "elu-taylor", "relu-taylor", "softmax-taylor-as-coded", "softmax-taylor", "beyond/window-and-recurrence"}
# Steps over keys: rotated, normed, convolved, with positions or running sums of their own, two queries a key.
WITH_CACHE = {"softmax", "softmax-norm-l2", "conv-gates", "decay-gates", "beyond/alibi", "beyond/differential", "beyond/relative-bias",
              "beyond/sliding-window"}


class Entry(NamedTuple):
    spec: str
    form: str
    dtype: str
    target: str  # "-" for levels without one
    level: str

    @property
    def key(self):
        return " ".join(self)

    def is_ours(self):
        """Whether LLVM has no part in the text."""
        return self.level in ("pairwise", "tile")

    def command(self, taylorc):
        options = FORMS[self.form] if self.form in FORMS else VARIATIONS[self.form][0]
        line = [taylorc, str(SPECS / f"{self.spec}.mlir"), "--quiet", f"--emit={self.level}", f"--dtype={self.dtype}", *options]
        line += [] if any(option.startswith("--head-dim=") for option in options) else [f"--head-dim={CHANNELS}"]
        line += [f"--target={self.target}"] if self.target != "-" else []
        return line + (["--set=order=2"] if SERIES.search(self.spec) and self.form in FORMS and self.form != "parallel" else [])


def list_code(spec, form, targets):
    return [Entry(spec, form, dtype, target, "ptx" if target.startswith("sm_") else "asm") for target, types in targets.items() for dtype in types]


def list_entries():
    entries = []
    for path in sorted(SPECS.rglob("*.mlir")):
        spec = str(path.relative_to(SPECS).with_suffix(""))
        with_states = [form for form in FORMS if form != "cache"] if spec in WITH_STATES else ["parallel"]
        for form in with_states + ["cache"] * (spec in WITH_CACHE):
            entries += [Entry(spec, form, dtype, "-", "pairwise") for dtype in TYPES if form == "parallel"]
            entries += [Entry(spec, form, dtype, target, "tile") for target in TILE_TARGETS for dtype in TARGETS[target]]
            entries += list_code(spec, form, TARGETS)
        for form, (_, targets) in VARIATIONS.items():
            entries += list_code(spec, form, targets)
    return entries


def make_text(entry, taylorc):
    """The text, or the message of a refusal without its place."""
    done = subprocess.run(entry.command(taylorc), capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout, None
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    if done.returncode not in (1, REFUSED) or not errors:
        sys.exit(f"error: {' '.join(entry.command(taylorc))} ended with status {done.returncode}:\n{done.stderr}")
    return "", "refused: " + errors[0].split("error: ", 1)[1]


def make_hash(entry, taylorc):
    """Neither the plan nor the form is in the hash, nor why an array has memory: a size that changes nothing of a program changes no entry, and no word does."""
    text, refusal = make_text(entry, taylorc)
    text = re.sub(r' plan #tile\.plan<[^>]*>| form #tile\.form<[^>]*>| because "[^"]*"$', "", text, flags=re.MULTILINE)
    return refusal or hashlib.sha256(text.encode()).hexdigest()[:16]


def read_corpus(path):
    """The LLVM version it was made with, and hashes by key."""
    version, corpus = "", {}
    if os.path.exists(path):
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            if line.startswith("# LLVM "):
                version = line.removeprefix("# LLVM ")
            elif not line.startswith("#"):
                *key, value = line.split(" ", 5)
                corpus[" ".join(key)] = value
    return version, corpus


def write_corpus(path, version, corpus):
    order = {entry.key: i for i, entry in enumerate(list_entries())}
    lines = ["# Written by test/golden/golden.py --write; README.md says what an entry is.", f"# LLVM {version}"]
    lines += [f"{key} {corpus[key]}" for key in sorted(corpus, key=lambda key: order.get(key, len(order)))]
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def select(entries, options):
    share, shares = map(int, options["share"].split("/"))
    # By their names' hashes, so that a new specification moves no other entry into another share.
    mine = [entry for entry in entries if int(hashlib.sha256(entry.key.encode()).hexdigest(), 16) % shares == share]
    return [entry for entry in mine if re.search(options["only"], entry.key)]


def parse(arguments):
    options = dict(DEFAULTS) | {"write": False, "missing": False}
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if argument in ("-h", "--help"):
            sys.exit(print(__doc__))
        if argument in ("--write", "--missing"):
            options[name] = True
        elif argument.startswith("--") and equals and name in DEFAULTS:
            options[name] = value
        else:
            sys.exit(f"golden.py: error: unsupported argument '{argument}'; see --help")
    if not re.fullmatch(r"\d+/[1-9]\d*", options["share"]):
        sys.exit(f"golden.py: error: expected --share=I/N, but got '{options['share']}'")
    if not re.fullmatch(r"[1-9]\d*", options["jobs"]):
        sys.exit(f"golden.py: error: expected --jobs of 1 or more, but got '{options['jobs']}'")
    return options


def make_all(entries, taylorc, jobs, keep):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for entry, value in zip(entries, pool.map(lambda entry: make_hash(entry, taylorc), entries)):
            keep(entry.key, value)


def write(entries, known, version, options, taylorc):
    path, corpus = options["corpus"], dict(known)
    entries = [entry for entry in entries if not options["missing"] or entry.key not in known]
    counts = {"changed": 0, "new": 0, "gone": 0}

    def say(kind, key):
        counts[kind] += 1
        print(f"{kind}: {key}", flush=True)

    def keep(key, value):
        if known.get(key) != value:
            say("changed" if key in known else "new", key)
        corpus[key] = value

    try:
        make_all(entries, taylorc, int(options["jobs"]), keep)
        existing = {entry.key for entry in list_entries()}
        for key in [key for key in corpus if key not in existing]:
            say("gone", key)
            del corpus[key]
    finally:  # what an interrupted run made is kept
        write_corpus(path, version, corpus)
    print(f"{path}: {len(entries)} entries made, {counts['changed']} changed, {counts['new']} new, {counts['gone']} gone")
    return 0


def compare(entries, known, taylorc, jobs):
    missing = [entry.key for entry in entries if entry.key not in known]
    changed, made = [], {}
    make_all([entry for entry in entries if entry.key in known], taylorc, jobs, made.__setitem__)
    changed = [key for key, value in made.items() if known[key] != value]
    for key in changed:
        print(f"changed: {key}: {known[key]} before, {made[key]} now")
    for key in missing:
        print(f"missing: {key}")
    print(f"{len(made)} entries compared, {len(changed)} changed, {len(missing)} missing")
    if changed or missing:
        print("If that is meant, run test/golden/golden.py --write, and name the entries and why in the commit; the text of one: golden.py --text='ENTRY'")
    return 1 if changed or missing or not made else 0


def main(arguments):
    options = parse(arguments)
    taylorc = os.path.join(options["bin"], "taylorc")
    if options["text"]:
        found = [entry for entry in list_entries() if entry.key == options["text"]]
        if not found:
            sys.exit(f"golden.py: error: expected an entry of the corpus, but got '{options['text']}'")
        text, refusal = make_text(found[0], taylorc)
        sys.exit(print(refusal or text, end=""))
    version = re.search(r"LLVM ([\d.]+)", subprocess.run([taylorc, "--version"], capture_output=True, text=True, check=True).stdout)[1]
    entries = select(list_entries(), options)
    made_with, known = read_corpus(options["corpus"])
    if not entries:
        sys.exit(f"golden.py: error: expected entries that match --only={options['only']}, but got none of {len(list_entries())}")
    if options["write"]:
        if known and made_with != version and len(entries) < len(list_entries()):
            sys.exit(f"golden.py: error: the corpus was made with LLVM {made_with}, and this is LLVM {version}; write all of it, without --share and --only")
        return write(entries, known, version, options, taylorc)
    if made_with != version:
        print(f"the corpus was made with LLVM {made_with}, and this is LLVM {version}: only the text of our own levels is compared")
        entries = [entry for entry in entries if entry.is_ours()]
    return compare(entries, known, taylorc, int(options["jobs"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
