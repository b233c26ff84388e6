# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Two hosts, as network namespaces with one cable between them: a run over both gives the weights of two processes on one; a cable that is pulled ends both.
# REQUIRES: network-namespaces
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %t
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import time

config, spec, out = sys.argv[1:]
HOSTS = [f"taylor-{os.getpid()}-{i}" for i in range(2)]
ADDRESSES = ["10.213.0.1", "10.213.0.2"]


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def command(name, steps):
    return ["taylor-train", "--config", config, "--attention", spec, "--out", f"{out}.{name}", "--overwrite", "--set", f"train.steps={steps}",
            "--set", "evaluation.every=0", "--set", "checkpoint.every=0", "--set", "run.threads=1"]


def start(name, steps):
    # Each host has a folder of its own: the second needs none of the first's files.
    processes = []
    for rank, host in enumerate(HOSTS):
        variables = {"RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": ADDRESSES[0], "MASTER_PORT": "29400"}
        processes.append(subprocess.Popen(["ip", "netns", "exec", host, *command(f"{name}{rank}", steps)], env={**os.environ, **variables},
                                          stderr=subprocess.PIPE, text=True))
    return processes


try:
    for host in HOSTS:
        ip("netns", "add", host)
        ip("-n", host, "link", "set", "lo", "up")
    ip("-n", HOSTS[0], "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", HOSTS[1])
    for host, address in zip(HOSTS, ADDRESSES):
        ip("-n", host, "addr", "add", f"{address}/24", "dev", "cable")
        ip("-n", host, "link", "set", "cable", "up")

    for rank in range(2):
        shutil.rmtree(f"{out}.hosts{rank}", ignore_errors=True)
        shutil.rmtree(f"{out}.cut{rank}", ignore_errors=True)
    for process in start("hosts", 20):
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    subprocess.run([*command("one", 20), "--processes", "2"], check=True, stderr=subprocess.DEVNULL)
    name = "checkpoints/step-000020/model.safetensors"
    assert filecmp.cmp(f"{out}.hosts0/{name}", f"{out}.one/{name}", shallow=False)
    assert not pathlib.Path(f"{out}.hosts1").exists()

    processes = start("cut", 1000000)
    metrics = pathlib.Path(f"{out}.cut0", "metrics.jsonl")
    while not metrics.exists() or metrics.stat().st_size < 500:
        assert all(process.poll() is None for process in processes), [process.communicate() for process in processes]
        time.sleep(0.05)
    ip("-n", HOSTS[1], "link", "set", "cable", "down")
    begin = time.monotonic()
    first, second = (process.communicate(timeout=60)[1] for process in processes)
    assert time.monotonic() - begin < 30, time.monotonic() - begin
    assert [process.returncode for process in processes] == [1, 1], (first, second)
    assert "process 1 (" in first and "has been silent for 15 s" in first, first
    assert "lost the connection to process 0 (" in second, second
finally:
    for host in HOSTS:
        subprocess.run(["ip", "netns", "del", host], stderr=subprocess.DEVNULL)
