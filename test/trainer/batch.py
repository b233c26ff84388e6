# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Several prompts at a time: each text is the one that its prompt gives alone, for states and for keys and values, whatever else is in its batch,
# also where it outgrows the context; and texts come in order, as they grow.
# WARM: taylor-train taylor-generate
# REQUIRES: taylorc
# RUN: %python %s %tiny %spec_dir %S/../passes/Inputs %full %t
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from safetensors.torch import load_file

config, specifications, inputs, full, out = sys.argv[1:]
out = pathlib.Path(out)
shutil.rmtree(out, ignore_errors=True)
out.mkdir()
# Of 1, 4 and 9 tokens and more, some of equal length, one longer than the context.
prompts = ["You may", "", "Licensor\nshall", "You now", "the Work or Derivative Works thereof in any medium, with or without modifications, and in Source", "Licensor", "a"]
(out / "prompts.jsonl").write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts))
(out / "lines.txt").write_text("".join(prompt.replace("\n", " ") + "\n" for prompt in prompts))


def generate(folder, *more, status=0):
    result = subprocess.run(["taylor-generate", "--checkpoint", folder, *map(str, more)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == status, (result.returncode, result.stderr)
    return result


def texts(folder, *more):
    lines = map(json.loads, generate(folder, "--json", "--tokens", 40, *more).stdout.splitlines())
    return {line["prompt"]: (line["prompt_tokens"], line["tokens"], line["text"]) for line in lines}


# Keys and values are kept with what convolutions need, states with a decay; fewer things under ./test.sh --full too.
kept = {"conv-gates": "keys and values", "decay-linear": "states"}
if full == "1":
    kept |= {"softmax-norm-l2": "keys and values", "retention": "states"}
for name, what in kept.items():
    spec = next(path for folder in (specifications, inputs) if (path := pathlib.Path(folder, name + ".mlir")).exists())
    run = out / name
    subprocess.run(["taylor-train", "--config", config, "--attention", spec, "--out", run, "--set", "train.steps=2"], check=True, stderr=subprocess.DEVNULL)
    alone, logits = {}, {}
    for number, prompt in enumerate(prompts):
        made = texts(run, "--prompt", prompt, "--seed", 5 + number, "--logits", run / f"alone.{number}")
        alone[number], logits[number] = made[0], load_file(run / f"alone.{number}")["logits"]
        assert len(logits[number]) == len(made[0][1])
    for batch in (3,):
        together = texts(run, "--prompts", out / "prompts.jsonl", "--seed", 5, "--batch", batch, "--logits", run / f"together.{batch}")
        assert together == alone, (name, batch)
        for key, rows in load_file(run / f"together.{batch}").items():
            want = logits[int(key.removeprefix("logits."))]
            assert rows.shape == want.shape and (rows - want).abs().max() < 1e-5 * want.abs().max(), (name, batch, key)
    result = generate(run, "--prompts", out / "lines.txt", "--seed", 5, "--batch", 2, "--tokens", 4)
    assert f"of 7 prompts in " in result.stderr and result.stderr.endswith(f"tokens/s, from {what}\n"), result.stderr
    places = [result.stdout.find(f"==> {number} <==\n{prompt[:9]}") for number, prompt in enumerate((out / "lines.txt").read_text().splitlines(), 1)]
    assert places == sorted(places) and places[0] == 0, (places, result.stdout)

# A seed gives the same texts again, another one others.
first, again, other = (texts(run, "--prompts", out / "lines.txt", "--top-k", 50, "--top-p", 0.9, "--seed", seed) for seed in (1, 1, 2))
assert first == again and all(first[number] != other[number] for number in first)

# A text is printed while it grows; a signal ends it, with what there is.
process = subprocess.Popen(["taylor-generate", "--checkpoint", run, "--prompt", "You may", "--tokens", "10000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
begun = b""
while len(begun) < 100:
    begun += os.read(process.stdout.fileno(), 100)
assert process.poll() is None and begun.startswith(b"You may")
process.send_signal(signal.SIGTERM)
rest, errors = process.communicate(timeout=60)
assert process.returncode == 128 + signal.SIGTERM and (begun + rest).endswith(b"\n") and b"tokens/s" in errors, errors

# Prompts that are none.
(out / "none.txt").write_text("")
(out / "bytes.txt").write_bytes(b"one\nt\xffo\n")
(out / "bad.jsonl").write_text('{"prompt": "a"}\n{"prompts": "b"}\n')
for arguments, message in ((("--prompts", out / "none.txt"), f"expected prompts, one per line, but '{out}/none.txt' has none"),
                           (("--prompts", out / "bytes.txt"), f"expected UTF-8 in '{out}/bytes.txt', but byte 1 of line 2 is not"),
                           (("--prompts", out / "bad.jsonl"), f"expected {{\"prompt\": \"..\"}} on each line of '{out}/bad.jsonl', but line 2 is something else"),
                           (("--prompts", out / "nowhere"), f"cannot read '{out}/nowhere': No such file or directory"),
                           (("--batch", 0), "expected --batch to be between 1 and 65536, but got 0"),
                           (("--logits", out / "nowhere" / "file"), f"cannot write '{out}/nowhere/file': No such file or directory; name another with --logits FILE"),
                           (("--logits", out / "none.txt" / "file"), f"cannot write '{out}/none.txt/file': Not a directory; name another with --logits FILE"),
                           (("--logits", out), f"cannot write '{out}': Is a directory; name another with --logits FILE"),
                           (("--logits", "/dev/full"), "cannot write '/dev/full': No space left on device")):
    assert generate(run, *arguments, status=1).stderr.endswith(f"error: {message}\n"), (arguments, generate(run, *arguments, status=1).stderr)
