# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of taylor-train, of this commit and of the one before the issue, as processes that take turns (--lockstep).
`pack` brings the programs, the libraries that a machine with torch may lack, and tokens; `run_case` needs no compiler:
the trainer loads compiled kernels."""
import json
import lzma
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

VALIDATION = 0.1  # of the documents, by their contents: a hundredth of a few hundred can be none, as any edit of them decides
WARM = {"cuda": 4, "cpu": 1}  # steps that are not timed
PEAK = 989e12  # operations a second in bf16 by the maker's sheet, as trainer/model/Gpus.cpp has them
ROUNDS, SECONDS = (5, 16), 12.0  # rounds of a step each; no more begin after so many seconds
# Of the system, or of torch, which is there.
PROVIDED = ("libtorch", "libc10", "libgomp", "libcu", "libnv", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libutil.so",
            "libgcc_s", "libstdc++", "ld-linux", "linux-vdso", "libtaylor_torch")


# ---- In the repository


def packed(source, target):
    """Compresses a file into the folder; its name there. Less than the most: libraries of 50 MB took half a minute."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(lzma.compress(source.read_bytes(), preset=2))
    return target.name


def libraries(program):
    """Shared objects that the program needs and another machine may lack."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in listed.splitlines() if "=>" in line]
    return [pathlib.Path(line[2]) for line in words if len(line) > 2 and line[2].startswith("/") and not line[0].startswith(PROVIDED)]


def make_tokens(trainer, config, patterns, source, target):
    """A part of the repository's own text, by a tokenizer of the configuration's vocabulary."""
    import tomllib

    vocabulary = tomllib.loads(config.read_text(encoding="utf-8"))["data"]["vocabulary"]
    files = sorted({str(file) for pattern in patterns for file in source.glob(pattern)})
    command = [trainer, "prepare", *files, "--train-tokenizer", str(vocabulary), f"--validation-fraction={VALIDATION}", "--threads=1", "--out", target]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"taylor-train prepare ended with {done.returncode}")


def places_of(options):
    """Folders of programs and of libraries of each build."""
    import pack as packing

    before = options.before and options.before.resolve()
    places = {"now": (options.bin, options.lib)} | ({"before": (before / "bin", before / "lib")} if before else {})
    for programs, _ in places.values():
        if not (programs / "taylor-train").is_file():
            raise packing.Failure(f"expected taylor-train in {programs}, but it is not there; --no-training leaves it out")
    return places


def pack(options, places, folder):
    """The entry of pack.json."""
    import torch

    import pack as packing

    root = folder / "training"
    builds, found = {}, {}
    for name, (programs, shared) in places.items():
        trainer = programs / "taylor-train"
        version = subprocess.run([trainer, "--version"], capture_output=True, text=True, check=False).stdout.strip()
        builds[name] = {"version": version, "files": [packed(file, root / name / f"{file.name}.xz") for file in (trainer, shared / "libtaylor_torch.so")]}
        found |= {file.name: file for file in libraries(trainer)}
    kernel = root / "before.so"
    compiler = (places.get("before") or places["now"])[0] / "taylorc"
    command = [compiler, "examples/specs/softmax.mlir", "--dtype=bf16", "--head-dim=64", f"--target={options.before_target}", "-o", kernel]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=packing.SOURCE, check=False)
    if done.returncode:
        raise packing.Failure(done.stderr.strip())
    packed(kernel, root / "before.so.xz")
    kernel.unlink()
    kernel.with_suffix(".json").unlink()
    try:
        make_tokens(options.bin / "taylor-train", options.train_config, options.text, packing.SOURCE, root / "tokens")
    except RuntimeError as error:
        raise packing.Failure(str(error)) from None
    shutil.copy(options.train_config, root / "model.toml")
    return {"contexts": options.contexts, "builds": builds, "before": {"build": list(places)[-1], "target": options.before_target},
            "torch": torch.__version__, "libraries": [packed(file, root / "lib" / f"{name}.xz") for name, file in sorted(found.items())]}


# ---- On the GPU's machine


def unpack(folder, about, scratch):
    """Programs, libraries and the kernel to beat, as files."""
    root = folder.path / "training"
    for part, names in [("lib", about["libraries"])] + [(name, build["files"]) for name, build in about["builds"].items()]:
        (scratch / part).mkdir()
        for name in names:
            file = scratch / part / name.removesuffix(".xz")
            file.write_bytes(lzma.decompress((root / part / name).read_bytes()))
            file.chmod(0o755)
    (scratch / "before.so").write_bytes(lzma.decompress((root / "before.so.xz").read_bytes()))


class Trainer:
    """A process that makes a step when it is told to."""

    def __init__(self, title, build, variant, command, out, environment):
        self.title, self.build, self.variant, self.out, self.seconds = title, build, variant, out, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def hear(self):
        line = self.process.stdout.readline()
        try:
            return json.loads(line)
        except ValueError:
            raise RuntimeError(f"expected JSON of taylor-train ({self.title}), but got '{line.strip()}'") from None

    def step(self):
        self.process.stdin.write("step\n")
        self.process.stdin.flush()
        return self.hear()

    def operations_per_token(self, peak):
        """By the trainer's own count: a step's share of `peak`, over its tokens in a second."""
        lines = [json.loads(line) for line in (self.out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        last = [line for line in lines if line.get("mfu")][-1]
        return last["mfu"] * peak / last["tokens_per_second"]

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def peak_of(device):
    """PEAK where it is this chip's."""
    name = device.describe()["name"]
    return PEAK if device.name == "cuda" and any(chip in name for chip in ("H100", "H200", "GH200")) else None


def command_of(program, case, kernel, given, out, device, steps):
    settings = {"train.context": case["context"], "train.batch": case["sequences"], "train.steps": steps, "train.precision": "bf16", "log.peak": int(PEAK),
                "evaluation.every": 0, "evaluation.sequences": 1, "checkpoint.every": 0, "log.tensorboard": "false"}
    words = [program, "--config", given / "model.toml", "--attention", kernel, "--data", given / "tokens", "--out", out, "--overwrite", "--lockstep", "--device", device]
    return [str(word) for word in words] + [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def run_case(case, folder, device, write_kernel, lines):
    """Writes a line for each trainer. `write_kernel(variant, artifact)` gives a kernel's file."""
    import torch

    about = folder.index["training"]
    if torch.__version__ != about["torch"]:
        lines.add("not timed", title="taylor-train", why=f"it is for torch {about['torch']}, and this is {torch.__version__}")
        return "skipped"
    with tempfile.TemporaryDirectory(prefix="taylor-") as scratch:
        scratch = pathlib.Path(scratch)
        unpack(folder, about, scratch)
        before = about["before"]
        entries = [(f"before ({before['target']}, {about['builds'][before['build']]['version']})", "before", before["build"], None, scratch / "before.so")]
        entries += [(f"now [{k['variant']}]", "now", "now", k, write_kernel(k["variant"], k["artifact"])) for k in case["kernels"]]
        steps = WARM[device.name] + ROUNDS[1] + 1  # a last step, which saves the run, is never asked for
        trainers = []
        try:
            for number, (title, build, programs, entry, kernel) in enumerate(entries):
                lines.add("begin", title=title, faulty_if_last=[[entry["variant"], entry["artifact"]]] if entry else [])
                found = [scratch / programs, scratch / "lib", pathlib.Path(torch.__file__).parent / "lib"]
                environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, found))}
                out = scratch / f"run{number}"
                command = command_of(scratch / programs / "taylor-train", case, kernel, folder.path / "training", out, device.name, steps)
                trainer = Trainer(title, build, entry and entry["variant"], command, out, environment)
                trainers.append(trainer)
                trainer.hear()
                for _ in range(WARM[device.name]):
                    trainer.step()
            take_turns(trainers, lines)
            tell(trainers, case, peak_of(device), lines)
        finally:
            for trainer in trainers:
                trainer.end()
    return "ok"


def take_turns(trainers, lines):
    lines.add("begin", title=f"{len(trainers)} trainers in turn", faulty_if_last=[])
    begin = time.monotonic()
    for number in range(ROUNDS[1]):
        if number >= ROUNDS[0] and time.monotonic() - begin > SECONDS:
            break
        for trainer in trainers:
            trainer.seconds.append(trainer.step()["seconds"])


def tell(trainers, case, peak, lines):
    tokens = case["context"] * case["sequences"]
    for trainer in trainers:
        speed = tokens / statistics.median(trainer.seconds)
        operations = trainer.operations_per_token(PEAK)
        lines.add("training", title=trainer.title, build=trainer.build, variant=trainer.variant, context=case["context"], sequences=case["sequences"],
                  tokens_per_second=speed, rounds=len(trainer.seconds), operations_per_token=operations, peak_share=speed * operations / peak if peak else None,
                  over_before=statistics.median(a / b for a, b in zip(trainers[0].seconds, trainer.seconds)))
