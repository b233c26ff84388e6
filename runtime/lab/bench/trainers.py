# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A taylor-train that makes a step when it is told to, timed by the processor. commits.py has two take turns."""
import json
import os
import pathlib
import subprocess
import time

WARM_STEPS = 2  # the first pays for pages and loads the kernels
LAYERS = 2
TEXT = pathlib.Path(__file__).resolve().parents[3] / "examples" / "guide"


class TrainerError(Exception):
    """A trainer that ended before its work was done. `said`: on standard error. `has_begun`: that it is ready."""

    def __init__(self, trainer, said):
        super().__init__(f"'{' '.join(trainer.command)}' ended before its work was done:\n{said}")
        self.program, self.has_begun, self.said = trainer.program, trainer.has_begun, said


class Trainer:
    """A `taylor-train --lockstep` of one thread, with the compiler beside it. It is stopped where `with` ends.

    `sizes`: sequences, heads, channels of a head. `folder`: for its run; its caches of kernels and tokens lie in
    `cache`, for all runs of one build."""

    def __init__(self, program, spec, precision, sizes, tokens, folder, cache):
        batch, heads, head_dim = sizes
        settings = {"model.layers": LAYERS, "model.heads": heads, "model.hidden": heads * head_dim,
                    "model.intermediate": 3 * heads * head_dim, "data.path": TEXT, "data.vocabulary": 1024,
                    "data.validation_fraction": 0.5, "train.batch": batch, "train.context": tokens,
                    "train.steps": 10 ** 6, "train.precision": precision, "run.threads": 1, "evaluation.every": 0,
                    "evaluation.sequences": 1, "checkpoint.every": 0, "log.tensorboard": "false", "log.peak": 1e12}
        command = [program, "--attention", spec, "--out", folder, "--overwrite", "--lockstep",
                   *(word for name, value in settings.items() for word in ("--set", f"{name}={value}"))]
        self.program, self.has_begun = program, False
        self.command = [str(part) for part in command]
        environment = os.environ | {"TAYLORC": str(program.with_name("taylorc")), "TAYLOR_CACHE_DIR": str(cache),
                                    "XDG_CACHE_HOME": str(cache)}
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "errors").open("wb") as errors:
            self.process = subprocess.Popen(self.command, env=environment, text=True, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors)
        self.errors = folder / "errors"
        # The clock of all threads of a process, as clock_getcpuclockid makes its number.
        self.clock = ~self.process.pid << 3 | 2

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def hear(self):
        try:
            json.loads(self.process.stdout.readline())
        except ValueError:
            raise TrainerError(self, self.errors.read_text(errors="replace").rstrip()[-2000:]) from None

    def begin(self):
        """Waits until it is ready for steps, and lets it make some."""
        self.hear()
        self.has_begun = True
        for _ in range(WARM_STEPS):
            self.step()

    def step(self):
        """Seconds of processor time that a step takes."""
        before = time.clock_gettime(self.clock)
        try:
            self.process.stdin.write("step\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # hear says what it said
        self.hear()
        return time.clock_gettime(self.clock) - before
