# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A process that dies, hangs or fails ends the others, with a message that names it, within 30 s, whoever started them.
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %full %t
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

config, spec, full, out = sys.argv[1:]
LIMIT = 30  # seconds


def command(*more):
    return ["taylor-train", "--config", config, "--attention", spec, "--out", out, "--set", "train.batch=3", "--set", "train.steps=1000000",
            "--set", "evaluation.every=0", "--set", "checkpoint.every=0", *more]


def wait_for_steps(processes):
    metrics = pathlib.Path(out, "metrics.jsonl")
    while not metrics.exists() or metrics.stat().st_size < 500:
        assert all(process.poll() is None for process in processes), [process.communicate() for process in processes]
        time.sleep(0.05)


def start(environment=lambda rank: {}):
    """Three processes as torchrun would start them, once they train."""
    shutil.rmtree(out, ignore_errors=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    processes = []
    for rank in range(3):
        variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 3, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": 1}
        variables = {**os.environ, **{name: str(value) for name, value in variables.items()}}
        processes.append(subprocess.Popen(command(), env=variables, stderr=subprocess.PIPE, text=True))
    wait_for_steps(processes)
    return processes


def require_end(processes, lost, messages):
    begin = time.monotonic()
    for rank, process in enumerate(processes):
        if rank == lost:
            continue
        _, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 1, (rank, process.returncode, errors)
        lines = [line for line in errors.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1 and re.search(messages, lines[0]) and f"process {rank} of 3" in lines[0], (rank, errors)
        assert "frame #" not in errors, errors
    assert time.monotonic() - begin < LIMIT, time.monotonic() - begin


processes = start()
processes[1].send_signal(signal.SIGKILL)
require_end(processes, 1, r"process 1 \(.*\) has been silent for 15 s; .*--resume")

processes = start()
processes[0].send_signal(signal.SIGKILL)
require_end(processes, 0, r"lost the connection to process 0 \(.*\) at 127\.0\.0\.1:\d+")

processes = start()
processes[2].send_signal(signal.SIGSTOP)
require_end(processes, 2, r"process 2 \(.*\) has been silent for 15 s")
processes[2].kill()

# All stopped for longer than that, as on a machine that sleeps, and gone on: none has a reason to miss another. (It takes its time: --full alone.)
if full == "1":
    processes = start()
    for number, seconds in ((signal.SIGSTOP, 18), (signal.SIGCONT, 4)):
        for process in processes:
            process.send_signal(number)
        time.sleep(seconds)
    assert all(process.poll() is None for process in processes), [process.communicate() for process in processes]
    processes[0].send_signal(signal.SIGTERM)
    for process in processes:
        _, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 128 + signal.SIGTERM and "error" not in errors, (process.returncode, errors)

# The launcher sees who died, and ends the others at once.
shutil.rmtree(out, ignore_errors=True)
launcher = subprocess.Popen(command("--processes", "3"), stderr=subprocess.PIPE, text=True)
wait_for_steps([launcher])
children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(launcher.pid)], capture_output=True, text=True).stdout.split()
os.kill(int(children[1]), signal.SIGKILL)
_, errors = launcher.communicate(timeout=LIMIT)
assert launcher.returncode == 128 + signal.SIGKILL, (launcher.returncode, errors)
assert "error: process 1 of 3 was killed by signal 9; the others are ended" in errors, errors
for child in children:
    assert not pathlib.Path("/proc", child).exists(), child
