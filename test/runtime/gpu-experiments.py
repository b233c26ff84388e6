# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler, torch, avx2
# UNSUPPORTED: sanitizer
# SHARDS: 3
# Kernels of processors are timed, which shows that the program runs; those of experiments run in the interpreter.
# RUN: env TAYLOR_PTXAS= %python %s %source_dir %bin_dir %lib_dir %t %python %shard
"""The prepared run of issue 39, runtime/lab/gpu-check/experiments.py: its plan, and what it makes of cases that hang, crash,
are wrong, are cut off or left out; its report; the trainers that take turns; every message, whole."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

source, binaries, libraries, work = map(pathlib.Path, sys.argv[1:5])
python, shard = sys.argv[5:7]
HERE = source / "runtime" / "lab" / "gpu-check"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import aims
import aims_report


def call(program, *words, status=0, **environment):
    done = subprocess.run([python, program, *map(str, words)], capture_output=True, text=True, cwd=work, env={**os.environ, **environment})
    assert done.returncode == status, f"{program} {words}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def pack(name, *words, status=0):
    return call(HERE / "experiments.py", "pack", f"--bin={binaries}", f"--lib={libraries}", "--small", "--jobs=2", f"--folder={work / name}", *words, status=status)


def copy(name, *edits):
    """A copy of the folder `good`, with (program, old, new) replaced, or a file by the bytes of another (target, source)."""
    shutil.rmtree(work / name, ignore_errors=True)
    shutil.copytree(work / "good", work / name)
    for file, *change in edits:
        if len(change) == 1:
            shutil.copy(work / name / change[0], work / name / file)
            continue
        text = (work / name / file).read_text()
        assert text.count(change[0]) == 1, (file, change[0])
        (work / name / file).write_text(text.replace(*change))
    index = json.loads((work / name / "pack.json").read_text())
    index["files"] = {file: (work / name / file).stat().st_size for file in index["files"]}
    (work / name / "pack.json").write_text(json.dumps(index))
    return work / name


def run(name, *words, status=0, out=None, device="cpu", **environment):
    """What it printed, and its lines."""
    out = work / (out or f"{name}-out")
    shutil.rmtree(out, ignore_errors=True)
    done = call(work / name / "experiments.py", "run", f"--device={device}", f"--out={out}", *words, status=status, **environment)
    assert (out / "report.txt").read_text() in done.stdout
    return done.stdout, aims_report.read(out / "results.jsonl")


def statuses(lines):
    return {line["case"]: line["status"] for line in lines if line["kind"] == "end"}


def timed(lines, case):
    return {line["title"] for line in lines if line["kind"] == "time" and line["case"] == case}


ROW = "softmax, t = 16384, d = 64"
OTHER = "x86-64-v3"


def check_processor():
    packed = pack("good", f"--variants=native,{OTHER}", "--kernels=softmax,softmax-norm-l2", "--no-training").stdout
    assert "2 artifacts, 4 cases, 0 not compiled" in packed and re.search(r"to carry: [\d.]+ MiB of \S+ and [\d.]+ of the working tree, of 64\n", packed), packed

    # ---- The plan: in the order of the table, each case once; what does not fit is named.
    planned = call(work / "good" / "experiments.py", "plan", "--device=cpu").stdout
    cases = [line.split(" s  ")[1].split(" (")[0] for line in planned.splitlines() if " s  " in line]
    assert cases[0] == "products of integers" and cases[1:5] == [f"check softmax-bf16-d64 {shape} [{target}]" for target in ("native", OTHER)
                                                              for shape in ("1x2/1x37/111", "2x2/1x65")] and cases[5] == ROW, cases
    assert len(cases) == len(set(cases)) and planned.endswith("left out with --budget=540: nothing\n"), planned
    assert cases.index(ROW) < cases.index("softmax, t = 1024, d = 64") < cases.index("beside softmax, t = 16384, d = 64") < cases.index(f"{ROW}, FlexAttention"), cases
    short = call(work / "good" / "experiments.py", "plan", "--device=cpu", "--budget=40").stdout
    assert f" s  {ROW} (2 kernels, 3 opponents)\n" in short and f"{ROW}, FlexAttention" in short.split("left out with --budget=40: ")[1], short

    # ---- All right: results by rounds, next to opponents that run here.
    said, lines = run("good", "--only=products|check|^softmax, t = 16384, d = 64$|^beside softmax, t = 16384|eager")
    assert timed(lines, "softmax, t = 1024, d = 64, eager") == {"softmax [native]", "softmax, eager"}
    assert set(statuses(lines).values()) == {"ok", "skipped"} and "not right" not in said, said
    assert timed(lines, ROW) == {"softmax [native]", f"softmax [{OTHER}]", "SDPA flash"}, timed(lines, ROW)
    assert timed(lines, "beside softmax, t = 16384, d = 64") >= {"softmax [native]", "softmax-norm-l2 [native]", "SDPA flash"}
    for line in (line for line in lines if line["kind"] == "time" and line["case"] == ROW):
        assert line["ms"] > 0 and line["rounds"] >= 5 and line["to_first"] > 0 and (line["to_plain"] is None) == (line["title"] == "SDPA flash"), line
    assert {line["variant"] for line in lines if line["kind"] == "check"} == {"native", OTHER}
    assert "Checks: 6 cases of kernels, 24 results, 0 cases wrong." in said or "Checks: 5 cases" in said, said
    assert "* SDPA cuDNN (" in said and "| softmax forward, 16384, d = 64 | 3.55 | 2.50 |" in said and "unmeasured |" in said, said
    assert "reached" not in said and "missed" not in said, "a processor's times reach no figure"
    assert f"---- {ROW}\n" in (work / "good-out" / "log.txt").read_text()

    # ---- It goes on where a run was cut off: a line that is half written is none.
    whole = (work / "good-out" / "results.jsonl").read_text()
    cut = whole[: whole.index('"kind": "time"') + 200]
    (work / "cut.jsonl").write_text(cut)
    report = call(work / "good" / "experiments.py", "report", work / "cut.jsonl").stdout
    assert f"## Cut off while it ran\n\n{ROW}\n" in report and "Checks: " in report, report
    said, more = run("good", "--only=check|^softmax, t = 16384, d = 64$", f"--after={work / 'cut.jsonl'}", out="more")
    ran = [line.split("] ")[1] for line in said.splitlines() if line.startswith("[")]
    assert ran and ran[0].startswith(f"{ROW}: ok"), ran
    assert "## Cut off" not in said and timed(more, ROW) == timed(lines, ROW), said

    # ---- The budget: what does not fit is left out, and said; smaller cases still run.
    said, lines = run("good", "--budget=16", "--only=products|check softmax-bf16|^softmax, t = 16384, d = 64$")
    assert statuses(lines)["products of integers"] == statuses(lines)[ROW] == "left out", statuses(lines)
    assert "ok" in statuses(lines).values() and f"{ROW}: left out, " in said and "## Left out, since the budget was spent" in said, said


def check_faults():
    # ---- A check that does not end costs its kernel, which no row times then.
    copy("hangs", ("aims.py", '"check": (1.5, 20)', '"check": (1.5, 10)'), ("row_cases.py", "        case.run()\n",
         f"        import time\n        time.sleep(60 * (self.case['variant'] == '{OTHER}'))\n        case.run()\n"))
    said, lines = run("hangs", "--only=check softmax-bf16|^softmax, t = 16384, d = 64$", status=1)
    name = f"check softmax-bf16-d64 1x2/1x37/111 [{OTHER}]"
    assert statuses(lines)[name] == "hung" and f"{name}: hung: no end after 10 s" in said, said
    assert f"* {name}: hung, in its process: no end after 10 s" in said and said.rstrip().endswith(f"not right: {name}"), said
    assert f"check softmax-bf16-d64 2x2/1x65 [{OTHER}]" not in statuses(lines), "the kernel is known to hang"
    assert timed(lines, ROW) == {"softmax [native]", "SDPA flash"}, timed(lines, ROW)

    # ---- A process that is lost in a contender begins again without it: a kernel that ends it, an opponent that hangs.
    copy("crashes", ("aims.py", '"time": (9, 45)', '"time": (1, 25)'), ("row_cases.py", "            contender = maker()\n            contender.forward()",
         f"            os.abort() if title == 'softmax [{OTHER}]' else None\n            contender = maker()\n            __import__('time').sleep(60 * (title == 'SDPA flash'))\n"
         "            contender.forward()"))
    said, lines = run("crashes", "--only=^softmax, t = 16384, d = 64$", status=1)
    lost = [(line["title"], line["why"]) for line in lines if line["kind"] == "lost"]
    assert lost == [(f"softmax [{OTHER}]", "ended with -6"), ("SDPA flash", "no end after 25 s")], lost
    assert statuses(lines)[ROW] == "incomplete" and timed(lines, ROW) == {"softmax [native]"}, (statuses(lines), timed(lines, ROW))
    assert f"{ROW}: incomplete: without softmax [{OTHER}]; SDPA flash (" in said and f"* {ROW}: failed, in softmax [{OTHER}]: ended with -6" in said, said
    assert [line["faulty"] for line in lines if line["kind"] == "lost"] == [[[OTHER, "softmax-bf16-d64"]], []]

    # ---- Wrong results: of a stored case; and at a row's size, next to the default.
    other = f"kernels/{OTHER}/softmax-norm-l2-bf16-d64.so.xz"
    copy("wrong", (f"kernels/{OTHER}/softmax-bf16-d64.so.xz", other))
    said, lines = run("wrong", "--only=check softmax-bf16|^softmax, t = 16384, d = 64$", status=1)
    assert statuses(lines)[name] == "wrong" and f"* {name}: output:o: WRONG" in said and timed(lines, ROW) == {"softmax [native]", "SDPA flash"}, said
    said, lines = run("wrong", "--only=^softmax, t = 16384, d = 64$", status=1)
    assert statuses(lines) == {ROW: "wrong"} and f"* {ROW}: softmax [{OTHER}]: results are off from the default's by " in said, said

    # ---- The run is ended from outside: what was found stays, and nothing goes on.
    copy("endless", ("row_cases.py", "        self.rounds(contenders, problem)\n", "        __import__('time').sleep(60)\n"))
    out = work / "endless-out"
    running = subprocess.Popen([python, work / "endless" / "experiments.py", "run", "--device=cpu", "--only=check softmax-bf16|^softmax, t = 16384", f"--out={out}"],
                               stdout=subprocess.DEVNULL, start_new_session=True)
    begin = time.monotonic()
    while not any(line["kind"] == "begin" for line in aims_report.read(out / "results.jsonl")):
        assert time.monotonic() - begin < 60 and running.poll() is None
        time.sleep(0.1)
    assert processes_of(work / "endless"), "those that are to end"
    os.kill(running.pid, signal.SIGTERM)
    running.wait()
    killed = time.monotonic()
    while processes_of(work / "endless"):
        assert time.monotonic() - killed < 30, processes_of(work / "endless")
        time.sleep(0.1)
    report = call(work / "endless" / "experiments.py", "report", out / "results.jsonl").stdout
    assert "Checks: 4 cases of kernels" in report and f"## Cut off while it ran\n\n{ROW}\n" in report, report


def processes_of(folder):
    """Numbers of processes that a run in the folder began, and that have not ended."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"PYTHONPATH={folder}".encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


def check_messages():
    def refused(done, message):
        assert done.stderr.splitlines()[-1] == message, f"expected {message!r}, but got {done.stderr!r}"

    program = work / "good" / "experiments.py"
    refused(call(HERE / "experiments.py", "plan", status=2), f"experiments.py: error: expected a folder that 'experiments.py pack' made, but {HERE} has no pack.json with variants")
    refused(call(program, "run", "--device=cpu", f"--out={work / 'good-out'}", status=2),
            f"experiments.py: error: expected no results in {work / 'good-out'}, but results.jsonl is there; --after FILE goes on where a run was cut off")
    refused(call(program, "run", status=2, TAYLOR_CUDA_DRIVER="/nowhere.so"), "experiments.py: error: requires an NVIDIA driver, but /nowhere.so could not be loaded "
            "(/nowhere.so: cannot open shared object file: No such file or directory); --device=ptx checks the kernels in the interpreter (slow; start with --quick), without times")
    refused(call(program, "run", "--only=(", status=2),
            "experiments.py: error: expected a regular expression in --only, but got '(': missing ), unterminated subpattern at position 0")
    refused(call(program, "run", "--after=nowhere", status=2), "experiments.py: error: expected a file of results in --after, but 'nowhere' does not exist")
    refused(pack("no", "--kernels=gelu", status=2), f"experiments.py pack: error: expected kernels of {', '.join(aims.KERNELS)} in --kernels, but got 'gelu'")
    refused(pack("no", "--contexts=64", status=2), "experiments.py pack: error: expected tokens x sequences, such as 1024x8, by comma in --contexts, but got '64'")
    refused(pack("no", "--contexts=0x8", status=2), "experiments.py pack: error: expected tokens x sequences, such as 1024x8, by comma in --contexts, but got '0x8'")
    large = pack("large", "--variants=native", "--kernels=softmax", "--no-training", "--carry=3", status=1).stderr.strip()
    assert re.fullmatch(r"error: expected at most 3 MiB to carry, but got [\d.]+: [\d.]+ MiB of \S+large and [\d.]+ of the working tree; "
                        r"fewer --variants or --kernels, or --no-training, make it smaller", large), large
    refused(pack("no", "--variants=native", "--kernels=softmax", f"--bin={work}", status=1), f"error: cannot run {work}/taylorc: No such file or directory; ./gpu-check.sh builds it, and --bin names its folder")


# ---- What is timed where, and what the report says, from lines alone.
def line(row, title, direction, ms, to_cudnn=None, kernel=None, variant=None, to_first=None):
    return {"kind": "time", "case": aims.title_of(row), "title": title, "direction": direction, "ms": ms, "to_cudnn": to_cudnn, "kernel": kernel, "variant": variant,
            "to_first": to_first, "to_plain": [1.0, 1.0, 1.0] if kernel else None, "off": None, "t": row.t, "d": row.d}


def check_report():
    begin = {"kind": "run", "case": "", "about": {"commit": "c"}, "device": "cuda", "date": "today", "machine": "NVIDIA H200", "command": "run"}
    first, beside = aims.ROWS[0], aims.ROWS[4]
    lines = [begin, line(first, "softmax [sm_90a]", "forward", 2.6, 1.1, "softmax", "sm_90a"), line(first, "softmax [sm_90a+roles]", "forward", 2.4, 1.0, "softmax", "sm_90a+roles"),
             line(first, "SDPA cuDNN", "forward", 2.4, 1.0), line(first, "softmax [sm_90a]", "backward", 9.0, 1.5, "softmax", "sm_90a"),
             line(beside, "softmax-norm-l2 [sm_90a]", "forward", 2.6, 1.1, "softmax-norm-l2", "sm_90a", 1.02),
             line(beside, "softmax-count-gate [sm_90a]", "forward", 2.9, 1.2, "softmax-count-gate", "sm_90a", 1.133),
             {"kind": "training", "case": "t", "title": "now [sm_90a]", "build": "now", "variant": "sm_90a", "context": 1024, "sequences": 8, "tokens_per_second": 2e5,
              "peak_share": 0.31, "over_before": 1.2},
             {"kind": "training", "case": "t", "title": "now [sm_90a]", "build": "now", "variant": "sm_90a", "context": 4096, "sequences": 2, "tokens_per_second": 1.5e5,
              "peak_share": 0.25, "over_before": 1.0}]
    text = aims_report.report(lines)
    for expected in ("| softmax forward, 16384, d = 64 | 3.55 | 2.50 | 2.600 | 2.400 (sm_90a+roles) | 1.00 | 1.06 | reached |",
                     "| softmax backward, 16384, d = 64 | 10.95 | 8.00 | 9.000 | - | 1.50 | 1.34 | missed: 1.12 times |",
                     "| softmax forward, 16384, d = 128 | 3.51 | 1.95 | - | - | - | 1.12 | unmeasured |",
                     "| softmax-norm-l2 over softmax, forward, 16384, d = 64 | 0.96 to 1.05 | at most 1.03 | 1.020 | - | 1.10 | - | reached |",
                     "| softmax-count-gate over softmax, forward, 16384, d = 64 | 0.96 to 1.05 | at most 1.03 | 1.133 | - | 1.20 | - | missed: 1.10 times |",
                     "| 1024 x 8 | now [sm_90a] | 200000 | 0.310 | 1.200 of 1.15 wanted | reached |",
                     "| 4096 x 2 | now [sm_90a] | 150000 | 0.250 | 1.000 of 1.3 wanted | missed: 1.30 times |"):
        assert expected in text, (expected, text)
    # On an H100, by its name, milliseconds count; on another chip the ratio to cuDNN, and where a figure has none, or cuDNN did not run, nothing is reached.
    linear = aims.ROWS[8]

    def judge(machine, row, ms, to_cudnn):
        name = aims.GROUPS[row.group][0]
        text = aims_report.report([{**begin, "machine": f"{machine}, 580.159.04, 1980 MHz, 30"}, line(row, f"{name} [sm_90a]", "forward", ms, to_cudnn, name, "sm_90a")])
        return next(row for row in text.splitlines() if f"| {ms:.3f} |" in row).split(" | ")[-1].removesuffix(" |")

    for machine, row, ms, to_cudnn, expected in (
            ("NVIDIA H100 80GB HBM3", first, 2.4, 1.2, "reached"), ("NVIDIA H100 80GB HBM3", first, 2.7, 1.05, "missed: 1.08 times"),
            ("NVIDIA H100 80GB HBM3", linear, 0.39, None, "reached"), ("NVIDIA H100 80GB HBM3", linear, 0.44, None, "missed: 1.10 times"),
            ("NVIDIA H200", first, 2.4, 1.2, "missed: 1.13 times"), ("NVIDIA H200", first, 2.7, 1.05, "reached"),
            ("NVIDIA H200", first, 2.4, None, "no H100, no ratio to cuDNN"), ("NVIDIA GH200 480GB", linear, 0.39, None, "no H100, no ratio to cuDNN"),
            ("unknown", first, 2.4, 1.2, "missed: 1.13 times")):
        assert judge(machine, row, ms, to_cudnn) == expected, (machine, row, ms, to_cudnn, expected)
    both = [{**begin, "machine": "NVIDIA H100 80GB HBM3"}, begin, line(first, "softmax [sm_90a]", "forward", 2.4, 1.2, "softmax", "sm_90a")]
    assert "| missed: 1.13 times |" in aims_report.report(both), "of two runs one was on another chip"
    assert aims_report.report([]).count(" unmeasured |") == len(aims.AIMS) + 12 + 2

    # Later rows take the default and the experiments that gained at softmax, the best first; all where nothing is known.
    state, variants = aims.State(), ["sm_90a", "a", "b", "c"]
    assert state.fastest(variants, 64, 2) == variants
    for variant, ms in (("sm_90a", 2.0), ("a", 1.9), ("b", 2.1), ("c", 1.5)):
        state.take(line(first, variant, "forward", ms, None, "softmax", variant))
    assert state.fastest(variants, 64, 2) == ["sm_90a", "c", "a"] and state.fastest(variants, 64, 1) == ["sm_90a", "c"] and state.fastest(variants, 128, 1) == variants
    assert state.fastest(variants, 16, 1) == ["sm_90a", "c"], "narrow heads: what gained elsewhere"


    # A line that a process could not end takes no other with it.
    import case_process

    (work / "torn.jsonl").write_text('{"kind": "run"}\n{"kind": "ti')
    for number in (1.0, float("nan")):
        case_process.append(work / "torn.jsonl", {"kind": "end", "case": "c", "ms": number})
    assert aims_report.read(work / "torn.jsonl") == [{"kind": "run"}, {"kind": "end", "case": "c", "ms": 1.0}, {"kind": "end", "case": "c", "ms": None}]


def check_interpreter():
    target = "sm_90a+roles+persistent+early"
    pack("ptx", f"--variants=sm_90a,{target}", "--kernels=softmax", "--no-training")
    said, lines = run("ptx", "--only=1x37", device="ptx")
    assert [line["variant"] for line in lines if line["kind"] == "check"] == ["sm_90a", target] and set(statuses(lines).values()) == {"ok"}, said
    some = ("aims.py", "PRODUCTS = 17 ", "PRODUCTS = 289 ")
    shutil.copytree(work / "ptx", work / "good")
    copy("some", some)
    said, lines = run("some", "--only=products", device="ptx", TAYLOR_CUDA_DRIVER=str(libraries / "libfake-cuda-driver.so"))
    assert "Products of integers: 4 ran, 0 wrong." in said, said


TINY = "[model]\nhidden = 128\nintermediate = 128\nlayers = 1\nheads = 2\n[data]\nvocabulary = 384\ndocument_mask = false\n"


def check_training():
    """Two builds take turns; both are this one here. Operations per token are those of trainer/model/Cost.h."""
    (work / "tiny.toml").write_text(TINY)
    (work / "before").mkdir()
    for name, folder in (("bin", binaries), ("lib", libraries)):
        (work / "before" / name).symlink_to(folder)
    pack("train", "--variants=native", "--kernels=softmax", f"--train-config={work / 'tiny.toml'}", "--before-target=x86-64-v3", f"--before={work / 'before'}", "--contexts=64x2",
         "--text=ARCHITECTURE.md,CONTRIBUTING.md,LICENSE,examples/**/*.md")
    said, lines = run("train", "--only=training")
    rows = [line for line in lines if line["kind"] == "training"]
    assert [row["build"] for row in rows] == ["before", "now"] and rows[0]["title"].startswith("before (x86-64-v3, taylor-train "), rows
    products = 4 * 128 * 128 + 3 * 128 * 128 + 384 * 128
    operations = 3 * (2 * products + 2 * (64 + 64) * (64 + 1) / 2 * 2)
    for row in rows:
        assert row["tokens_per_second"] > 0 and row["rounds"] >= 5 and row["over_before"] > 0 and row["peak_share"] is None, row
        assert abs(row["operations_per_token"] / operations - 1) < 1e-3, (row["operations_per_token"], operations)
    assert "| 64 x 2 | now [native] |" in said, said
    file = work / "train" / "pack.json"
    file.write_text(file.read_text().replace('"torch": "', '"torch": "0.'))
    said, lines = run("train", "--only=training", status=2)
    assert statuses(lines) == {"training, 64 x 2": "skipped"} and "* taylor-train (training, 64 x 2): it is for torch 0." in said, said
    assert pack("no", "--variants=native", "--kernels=softmax", f"--before={work}", status=1).stderr == f"error: expected taylor-train in {work}/bin, but it is not there; --no-training leaves it out\n"


PARTS = ((check_processor, check_messages), (lambda: pack("good", f"--variants=native,{OTHER}", "--kernels=softmax,softmax-norm-l2", "--no-training"), check_faults),
         (check_report, check_interpreter, check_training))
for part in PARTS[int(shard.split("/")[0]) - 1]:
    part()
