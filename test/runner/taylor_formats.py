# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit's formats of tests, with four things more: a test file may be several tests (SHARDS), each test's processor seconds are written down
and bounded, tests in Python share one interpreter (warm_python.py), and calls of programs that load libtorch one loaded program (WARM,
warm_program.c)."""
import fcntl
import json
import os
import re
import resource
import subprocess
import time

import lit.formats
import lit.Test
import lit.TestRunner

from warm_programs import start_warm_programs

# A test that takes longer fails, except under ./test.sh --full and with sanitizers. Of a processor: what else the machine does is no fault
# of the test. What sleeps is ended by lit's own limit.
SECONDS = 120

SHARD = re.compile(r"(.*)\.(\d+)of(\d+)")


def read_head(path, key):
    """What is after `key: ` in the first lines of a test, or ''."""
    with open(path, encoding="utf-8", errors="replace") as f:
        head = f.read(4000)
    found = re.search(rf"^\W*{key}: (.*)$", head, re.M)
    return found[1] if found else ""


class ShardTest(lit.Test.Test):
    """One of several tests of a file: `decode.py.2of4` of `decode.py`. Its RUN lines take %shard, here 1/4."""

    def __init__(self, suite, path_in_suite, config):
        self.source, shard, shards = SHARD.fullmatch(path_in_suite[-1]).groups()
        self.shard = f"{int(shard) - 1}/{shards}"
        super().__init__(suite, path_in_suite, config)

    def getSourcePath(self):
        return self.suite.getSourcePath((*self.path_in_suite[:-1], self.source))


def processor_seconds():
    """Of all processes that this one waited for, and those that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(execute, test, lit_config):
    """Runs one test and appends its line to test-times.jsonl of the build folder. A worker of lit runs one test at a time, so what its
    processes used, and scripts that the warm interpreter ran for it, is what the test used, however busy the machine is."""
    elsewhere = os.path.join(test.config.taylor_build, f"seconds-{os.getpid()}")
    test.config.environment["TAYLOR_TEST_SECONDS"] = elsewhere
    before = processor_seconds()
    result = execute(test, lit_config)
    if not isinstance(result, lit.Test.Result):
        result = lit.Test.Result(*result)
    seconds = processor_seconds() - before
    if os.path.exists(elsewhere):
        with open(elsewhere) as f:
            seconds += sum(map(float, f))
        os.unlink(elsewhere)
    line = json.dumps({"name": test.getFullName(), "code": result.code.name, "seconds": round(seconds, 3)})
    # One write of a short line to a file that is open for appending is not torn.
    with open(os.path.join(test.config.taylor_build, "test-times.jsonl"), "a", encoding="utf-8") as f:
        f.write(line + "\n")
    limit = test.config.taylor_seconds
    if limit and seconds > limit and not result.code.isFailure:
        return lit.Test.Result(lit.Test.FAIL, f"expected at most {limit} s of a processor, but it took {seconds:.0f} s: make it faster, divide it "
                               f"(SHARDS), or move a part of it under ./test.sh --full (test/README.md)\n{result.output}")
    return result


def write_warm_python(path, python):
    """A program at `path` that is warm_python.py as a client. Returns what a RUN line calls."""
    client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm_python.py")
    # Linux reads 256 bytes of such a line.
    if len(python) > 240 or " " in python:
        return python
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}-{os.getpid()}"
    with open(temporary, "w") as f:
        f.write(f"#!{python} -IS\nwith open({client!r}) as f:\n    text = f.read()\nexec(compile(text, {client!r}, 'exec'))\n")
    os.chmod(temporary, 0o755)
    os.replace(temporary, path)
    return path


def start_warm_python(folder, owner, python, environment):
    """The server of warm_python.py, once in a run of lit: its process `owner` names the folder. Returns when it listens; it imports what it
    imports while the first script waits."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(os.path.join(folder, "log")):
            return
        with open(os.path.join(folder, "log"), "w") as log:
            client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm_python.py")
            subprocess.Popen([python, client, "--serve", folder, str(owner), "numpy", "torch"], env=environment, stdin=subprocess.DEVNULL,
                             stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 20
        while not os.path.exists(os.path.join(folder, "socket")) and time.monotonic() < deadline:
            time.sleep(0.01)


class ShellTest(lit.formats.ShTest):
    def getTestsForPath(self, suite, path_in_suite, lit_config, config):
        name = path_in_suite[-1]
        for test in super().getTestsForPath(suite, path_in_suite, lit_config, config):
            shards = int(read_head(suite.getSourcePath(path_in_suite), "SHARDS") or 1)
            if shards == 1:
                yield test
            for shard in range(1, shards + 1) if shards > 1 else ():
                yield ShardTest(suite, (*path_in_suite[:-1], f"{name}.{shard}of{shards}"), config)

    def run(self, test, lit_config):
        warm = getattr(test.config, "taylor_warm_python", None)
        if warm:
            with open(test.getSourcePath(), encoding="utf-8", errors="replace") as f:
                if "%python" in f.read():
                    start_warm_python(*warm, test.config.environment)
        warm, programs = getattr(test.config, "taylor_warm_programs", None), read_head(test.getSourcePath(), "WARM").split()
        environment = test.config.environment
        if warm and programs:
            folder, owner, bin_dir, compiler = warm
            clients, servers = start_warm_programs(folder, owner, [os.path.join(bin_dir, name) for name in programs], compiler, environment)
            test.config.environment = {**environment, "PATH": clients + os.pathsep + environment["PATH"], "TAYLOR_WARM_PROGRAMS": servers}
        more = [("%shard", getattr(test, "shard", "0/1"))]
        try:
            return lit.TestRunner.executeShTest(test, lit_config, self.execute_external, more)
        finally:
            test.config.environment = environment

    def execute(self, test, lit_config):
        return measured(self.run, test, lit_config)


class UnitTest(lit.formats.GoogleTest):
    def execute(self, test, lit_config):
        return measured(super().execute, test, lit_config)
