# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %source_dir %t
"""test/runner: tests in parts, the limit of a test, one line for each that fails, and what has grown."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

source, work = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(source / "test" / "runner"))
import shares

COLON = ":"
RUN = "RUN" + COLON  # apart, for lit reads this file too
CONFIG = f"""
import sys
sys.path.insert(0, {str(source / "test" / "runner")!r})
import taylor_formats
config.name, config.suffixes = "Taylor", [".test"]
config.test_source_root = config.test_exec_root = {str(work / "test")!r}
config.test_format = taylor_formats.ShellTest(execute_external=False)
config.taylor_build, config.taylor_seconds = {str(work)!r}, 1
"""
TESTS = {
    "good": f"{RUN} true",
    "bad": f"{RUN} echo what it said && false",
    "slow": f"{RUN} {sys.executable} %S/busy.py",
    "parts": f"# A line of words.\nSHARDS{COLON} 3\n{RUN} echo part %shard >> %S/parts.txt",
}

shutil.rmtree(work, ignore_errors=True)
for folder in ("test", "unittests"):
    (work / folder).mkdir(parents=True)
(work / "test" / "lit.cfg").write_text(CONFIG)
(work / "unittests" / "lit.cfg").write_text(CONFIG.replace(str(work / "test"), str(work / "unittests")).replace('"Taylor"', '"Taylor-Unit"'))
(work / "test" / "busy.py").write_text("import time\nwhile time.process_time() < 2:\n    pass\n")
for name, text in TESTS.items():
    (work / "test" / f"{name}.test").write_text(text + "\n")


def run(*options):
    command = [sys.executable, source / "test" / "runner" / "run_tests.py", shutil.which("lit"), work, "-j", "1", *options]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"LIT_OPTS": ""})


done = run()
assert done.returncode == 1, done
lines = done.stdout.splitlines()
failed = [line for line in lines if line.startswith("FAIL: ")]
assert len(failed) == 2 and failed[0].startswith("FAIL: Taylor :: bad.test; alone: ") and " :: slow.test; " in failed[1], lines
assert sorted((work / "test" / "parts.txt").read_text().split()) == ["0/3", "1/3", "2/3", "part", "part", "part"]
# The command runs the test that failed and no other; the file has what it printed.
command = failed[0].split("alone: ")[1].split("; it printed ")[0]
again = subprocess.run(command, shell=True, capture_output=True, text=True)
assert again.returncode == 1 and "FAIL: Taylor :: bad.test (1 of 1)" in again.stdout, again
assert "what it said" in pathlib.Path(failed[0].split("; it printed ")[1]).read_text()
assert "expected at most 1 s of a processor, but it took 2 s" in pathlib.Path(failed[1].split("; it printed ")[1]).read_text()
assert any(line.startswith("tests: 6 of 6, 2 failed, ") for line in lines), lines
assert "minutes of a processor; the slowest tests" in done.stdout and lines[lines.index(next(l for l in lines if "slowest" in l)) + 1].endswith(" slow.test")
results = json.loads((work / "test-results.json").read_text())["tests"]
assert {test["name"].split(" :: ")[1] for test in results} == {"good.test", "bad.test", "slow.test", *(f"parts.test.{i}of3" for i in (1, 2, 3))}
for options, count in ((["--filter=good|parts"], 4), (["--filter", "GOOD"], 1), (["--filter-out=bad|slow"], 4)):
    some = run(*options)
    assert some.returncode == 0 and f"tests: {count} of {count}, 0 failed, " in some.stdout, (options, some)

# ---- Shares: on a machine that is half as fast nothing has grown; what takes over three times its share has.
recorded = {"a": 10.0, "b": 20.0, "c": 30.0, "small": 0.1}
assert shares.find_grown({name: 2 * seconds for name, seconds in recorded.items()}, recorded) == []
grown = shares.find_grown({"a": 70.0, "b": 40.0, "c": 60.0, "small": 2.0, "new": 500.0}, recorded)
assert [name for name, _, _ in grown] == ["a"] and 3 < grown[0][2] < 4, grown
said = []
shares.report({"a": 70.0, "b": 40.0, "c": 60.0}, recorded, said.append)
assert said[-1].startswith("grown: a takes 70.0 s of a processor, 3.5 times its recorded share (10.0 s)"), said

# ---- The record, written from a run and read again.
path = work / "seconds.txt"
shares.update([work], path)
assert set(shares.read_recorded(path)) == {"Taylor :: good.test", *(f"Taylor :: parts.test.{i}of3" for i in (1, 2, 3))}, path.read_text()
shutil.copy(path, work / "before.txt")
run()
shares.update([work], path)
assert {"Taylor :: bad.test", "Taylor :: slow.test"} <= set(shares.read_recorded(path))
