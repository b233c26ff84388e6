# The one interpreter of tests in Python (runner/warm_python.py): a script behaves as by an interpreter of its own.
# RUN: %python %s %S/../runner/warm_python.py %t
# REQUIRES: torch
import os
import signal
import subprocess
import sys
import time

client, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
script = os.path.join(folder, "script.py")
environment = {k: v for k, v in os.environ.items() if k not in ("TAYLOR_WARM_PYTHON", "TAYLOR_TEST_SECONDS")}
server_folder = os.path.join(folder, "server")
subprocess.run(["rm", "-rf", server_folder], check=True)
os.makedirs(server_folder)
server = subprocess.Popen([sys.executable, client, "--serve", server_folder, str(os.getpid()), "json"], env=environment)
while not os.path.exists(os.path.join(server_folder, "socket")):
    assert server.poll() is None
    time.sleep(0.01)
warm = environment | {"TAYLOR_WARM_PYTHON": server_folder, "TAYLOR_TEST_SECONDS": os.path.join(folder, "seconds")}


def run(text, *arguments, environment=warm, stdin="", prefix=(), by=("-IS", client)):
    with open(script, "w") as f:
        f.write(text)
    done = subprocess.run([*prefix, sys.executable, *by, script, *arguments], env=environment, input=stdin, capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stdout, done.stderr


IS_WARM = "import sys; print('json' in sys.modules)"
assert run(IS_WARM) == (0, "True\n", "")
assert run(IS_WARM, environment=environment) == (0, "False\n", ""), "without a server, a plain interpreter"

# What both ways must agree on.
for text in (
    "import sys; print(sys.argv[1:], sys.stdin.read(), sys.path[0]); print('e', file=sys.stderr)",
    "import os; print(os.getcwd(), os.environ['MARK'], __name__, os.path.basename(__file__))",
    "raise SystemExit(3)",
    "raise SystemExit('no')",
    "import sys; sys.exit()",
    "import os; os._exit(7)",
    "import atexit; atexit.register(print, 'at exit')",
    "import os; os.kill(os.getpid(), 15)",
    "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()",
    "import unittest\nclass T(unittest.TestCase):\n  def test(self):\n    self.fail()\nunittest.main()",
    "import pickle\nclass C:\n  x = 1\nprint(pickle.loads(pickle.dumps(C())).x)",
):
    ways = [run(text, "a", "b c", environment=e | {"MARK": "m"}, stdin="in") for e in (warm, environment)]
    ways = [(code, out, [line for line in err.splitlines() if "seconds" not in line and "Ran" not in line]) for code, out, err in ways]
    assert ways[0] == ways[1], (text, ways)
code, out, err = run("def f():\n  raise ValueError('why')\nf()")
assert code == 1 and err.endswith("ValueError: why\n") and 'script.py", line 2, in f' in err, err

# By -c too, and other options of python by a plain one.
run("")
done = subprocess.run([sys.executable, "-IS", client, "-c", "import sys; print('json' in sys.modules, sys.argv)", "x"], env=warm, capture_output=True, text=True)
assert done.stdout == "True ['-c', 'x']\n", done
done = subprocess.run([sys.executable, "-IS", client, "-B", "-c", IS_WARM], env=warm, capture_output=True, text=True)
assert done.stdout == "False\n", done

# A plain one where surroundings are others: what a library reads once, limits.
assert run(IS_WARM, environment=warm | {"OMP_NUM_THREADS": "3"})[1] == "False\n"
assert run(IS_WARM, prefix=("sh", "-c", 'ulimit -n 200; exec "$@"', "sh"))[1] == "False\n"

# Its seconds are told, with those of its children.
os.unlink(os.path.join(folder, "seconds"))
busy = "import time\nwhile time.process_time() < 0.3: pass"
assert run(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])")[0] == 0
with open(os.path.join(folder, "seconds")) as f:
    assert 0.25 < float(f.read()) < 30

# A client that is killed takes its script with it.
with open(script, "w") as f:
    f.write("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)")
client_process = subprocess.Popen([sys.executable, "-IS", client, script], env=warm, stdout=subprocess.PIPE, text=True)
pid = int(client_process.stdout.readline())
client_process.send_signal(signal.SIGKILL)
deadline = time.monotonic() + 30
while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
    time.sleep(0.01)
assert not os.path.exists(f"/proc/{pid}")
server.terminate()
