# RUN: %python %s %t %source_dir/examples/quickstart/report.py
"""The quickstart's table and plot, from runs made up here."""
import json
import os
import struct
import subprocess
import sys
import xml.etree.ElementTree

folder, report = sys.argv[1:]


def make_run(name, offset, lines=40, checkpoint=True):
    run = os.path.join(folder, name)
    os.makedirs(run, exist_ok=True)
    for file in os.listdir(run):
        os.remove(os.path.join(run, file))
    with open(os.path.join(run, "metrics.jsonl"), "w") as f:
        for step in range(1, lines + 1):
            f.write(json.dumps({"step": step, "loss": offset + 8.0 / step, "tokens_per_second": 1000.0 * step}) + "\n")
            if step % 20 == 0:
                f.write(json.dumps({"step": step, "validation_loss": offset + step}) + "\n")
    if checkpoint:
        header = json.dumps({"__metadata__": {}, "a": {"shape": [30, 50]}, "b": {"shape": [7]}}).encode()
        with open(os.path.join(run, "model.safetensors"), "wb") as f:
            f.write(struct.pack("<Q", len(header)) + header)
    return run


def run_report(*runs):
    return subprocess.run([sys.executable, report, folder, *runs], capture_output=True, text=True)


first, second = make_run("first", 1.0), make_run("second", 2.0)
done = run_report("alpha=" + first, "beta_2=" + second)
assert done.returncode == 0, done.stderr
table = [line.split() for line in done.stdout.splitlines()]
# Mean of the last 4 of 40 training losses: 1 + 8 (1/37 + 1/38 + 1/39 + 1/40) / 4 = 1.2079.
assert table[2] == ["alpha", "1,507", "40", "21,000", "1.208", "41.000"], table
assert table[3] == ["beta_2", "1,507", "40", "21,000", "2.208", "42.000"], table
with open(os.path.join(folder, "losses.png"), "rb") as f:
    data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (1200, 750), data[:32]
text = "".join(xml.etree.ElementTree.parse(os.path.join(folder, "losses.svg")).getroot().itertext())
for name in ("alpha, training", "beta_2, training", "alpha, validation", "beta_2, validation", "step"):
    assert name in text, (name, text)

for run, message in [
    (make_run("empty", 1.0, lines=0), "error: expected training and validation losses in '{}', but got 0 and 0"),
    (make_run("bare", 1.0, checkpoint=False), "error: expected a checkpoint (model.safetensors) in"),
    (os.path.join(folder, "absent"), "error: cannot read '{}': No such file or directory"),
]:
    done = run_report("x=" + run)
    assert done.returncode == 1 and message.format(os.path.join(run, "metrics.jsonl")) in done.stderr, done.stderr
with open(os.path.join(first, "metrics.jsonl"), "a") as f:
    f.write('{"step"')
done = run_report("x=" + first)
assert done.returncode == 1 and "error: expected JSON lines in" in done.stderr, done.stderr
