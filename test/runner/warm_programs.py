# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts the servers of warm_program.c for the tests that say which programs are WARM."""
import fcntl
import glob
import os
import shutil
import subprocess
import time


def start_warm_programs(folder, owner, programs, compiler, environment):
    """Servers of warm_program.c for these programs, once in a run of lit. Returns the folder of the programs to call in their place, and that of
    the servers."""
    for old in glob.glob(f"{folder.rpartition('-')[0]}-*"):  # of runs that have ended
        if not os.path.exists(f"/proc/{old.rpartition('-')[2]}"):
            shutil.rmtree(old, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm_program.c")
        library, client, clients = (os.path.join(folder, name) for name in ("server.so", "client", "bin"))
        if not os.path.exists(client):
            build = [compiler, "-O1", source, "-o"]
            subprocess.run([*build, library, "-shared", "-fPIC", "-ldl"], check=True)
            subprocess.run([*build, client, f'-DCLIENT="{os.path.dirname(programs[0])}"'], check=True)
            os.makedirs(clients)
        for program in programs:
            path = os.path.join(folder, os.path.basename(program))
            call = os.path.join(clients, os.path.basename(program))
            if os.path.exists(call):
                continue
            added = {"TAYLOR_WARM_SERVE": path, "TAYLOR_WARM_OWNER": str(owner), "LD_PRELOAD": library}
            with open(f"{path}.log", "w") as log:
                subprocess.Popen([program], env={**environment, **added}, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                 start_new_session=True)
            deadline = time.monotonic() + 20
            while not os.path.exists(path) and time.monotonic() < deadline:
                time.sleep(0.01)
            os.link(client, call)
    return clients, folder
