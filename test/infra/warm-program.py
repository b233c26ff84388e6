# RUN: %python %s %source_dir %cc %t
# UNSUPPORTED: sanitizer
"""Programs that tests say are WARM: a call is a fork of one that is loaded, with its own arguments, folder, environment, limits and streams, or, where
more differs, the program itself; it ends as the call does."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

source, compiler, folder = sys.argv[1:]
folder = pathlib.Path(folder)
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
sys.path.insert(0, os.path.join(source, "test", "runner"))
from warm_programs import start_warm_programs

PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static int loaded; // by which process
__attribute__((constructor)) static void load(void) { loaded = getpid(); }
int main(int count, char **arguments) {
  char here[4096], line[100] = "";
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  if (count > 2 && !strcmp(arguments[1], "signal"))
    raise(atoi(arguments[2]));
  if (count > 1 && !strcmp(arguments[1], "wait"))
    for (puts("waits"), fflush(stdout);;)
      pause();
  if (!fgets(line, sizeof line, stdin))
    line[0] = 0;
  printf("%s %s %s %s %d %s\n", arguments[count - 1], getcwd(here, sizeof here), getenv("ONE"), line, (int)files.rlim_cur,
         getenv("LD_PRELOAD") ? "preloaded" : "alone");
  fprintf(stderr, "%s\n", loaded == getpid() ? "cold" : "warm");
  return count > 1 ? atoi(arguments[1]) : 0;
}
"""
(folder / "bin").mkdir()
subprocess.run([compiler, "-x", "c", "-", "-o", folder / "bin/echo-all"], input=PROGRAM, text=True, check=True)
environment = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"}
clients, servers = start_warm_programs(str(folder / f"programs-{os.getpid()}"), os.getpid(), [str(folder / "bin/echo-all")], compiler, environment)
environment = {**environment, "PATH": clients, "TAYLOR_WARM_PROGRAMS": servers, "ONE": "1", "TAYLOR_TEST_SECONDS": str(folder / "seconds")}
call = os.path.join(clients, "echo-all")


def run(*arguments, input="in", **more):
    environment_now = environment | more.pop("added", {})
    return subprocess.run([call, *arguments], input=input, capture_output=True, text=True, env=environment_now, cwd=folder / "bin", **more)


done = run("3", "last argument")
files = os.sysconf("SC_OPEN_MAX")
assert (done.returncode, done.stdout, done.stderr) == (3, f"last argument {folder}/bin 1 in {files} alone\n", "warm\n"), done
assert float((folder / "seconds").read_text()) >= 0
import resource

done = run("0", "x", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99)))
assert (done.returncode, done.stdout, done.stderr) == (0, f"x {folder}/bin 1 in 99 alone\n", "warm\n"), done
# Other surroundings: the program itself.
for added in ({"OMP_NUM_THREADS": "2"}, {"LD_PRELOAD": os.path.join(servers, "server.so")}, {"TAYLOR_WARM_PROGRAMS": "/nowhere"}):
    done = run("0", "x", added=added)
    assert (done.returncode, done.stderr) == (0, "cold\n") and ("LD_PRELOAD" not in added or "preloaded" in done.stdout), (added, done)
import tempfile

with tempfile.TemporaryFile() as more:
    for surroundings in (dict(preexec_fn=lambda: signal.signal(signal.SIGUSR2, signal.SIG_IGN)), dict(pass_fds=[more.fileno()]),
                         dict(preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])),
                         dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))):
        done = run("0", "x", **surroundings)
        assert (done.returncode, done.stderr) == (0, "cold\n"), (surroundings, done)
assert run("0", preexec_fn=lambda: os.close(0), stdin=None, input=None).stderr in ("cold\n", "warm\n")
# How it ends is how the call ends, and the other way around.
assert run("signal", str(int(signal.SIGUSR1))).returncode == -signal.SIGUSR1
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
    process = subprocess.Popen([call, "wait"], env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "waits\n"
    process.send_signal(number)
    assert process.wait(timeout=60) == -number, number
    assert process.stdout.read() == ""  # ends when the program has
