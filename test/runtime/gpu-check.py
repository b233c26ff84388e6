# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler, torch
# UNSUPPORTED: sanitizer
# SHARDS: 3
# The programs run on processors and in the interpreter, which reads the text of PTX and no machine code.
# RUN: env TAYLOR_PTXAS= %python %s %source_dir %bin_dir %lib_dir %t %cc %shard %python
"""runtime/lab/gpu-check: a folder is packed and its program run here, on the processor; damage is found; every message, whole."""
import contextlib
import io
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys

import torch

source, binaries, libraries, work = map(pathlib.Path, sys.argv[1:5])
HERE = source / "runtime" / "lab" / "gpu-check"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import pack as packing


def run(program, *arguments, status=0, **environment):
    done = subprocess.run([sys.argv[7], program, *map(str, arguments)], capture_output=True, text=True, cwd=work, env={**os.environ, **environment})
    assert done.returncode == status, f"{program} {arguments}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def pack(name, *arguments, status=0):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        got = packing.main([f"--bin={binaries}", f"--lib={libraries}", "--small", "--jobs=2", f"--folder={work / name}", *arguments])
    assert got == status, f"pack.py {arguments}: status {got}\n{out.getvalue()}\n{err.getvalue()}"
    return subprocess.CompletedProcess(arguments, got, out.getvalue(), err.getvalue())


def check(name, *arguments, status=0, **environment):
    return run(work / name / "check.py", *arguments, status=status, **environment)


def refused(done, message):
    assert done.stderr == f"error: {message}\n", f"expected {message!r}, but got {done.stderr!r}"


def load(file):
    return torch.load(io.BytesIO(lzma.decompress(file.read_bytes())), weights_only=True)


def save(stored, file):
    """Replaces a reference, also its size in pack.json."""
    packed = io.BytesIO()
    torch.save(stored, packed)
    file.write_bytes(lzma.compress(packed.getvalue()))
    index = file.parents[1] / "pack.json"
    described = json.loads(index.read_text())
    described["files"][f"references/{file.name}"] = file.stat().st_size
    index.write_text(json.dumps(described))


def copy(name):
    shutil.rmtree(work / name, ignore_errors=True)
    shutil.copytree(work / "good", work / name)
    return work / name


def check_shared_tensors():
    """Contenders of one specification have the same gates and weights: their results are compared."""
    import device
    from contenders import Problem
    from times import make_problem

    class Gated:
        manifest = {"sizes": {"d": 64, "e": 64}, "tensors": {"inputs": [
            {"name": name, "axes": list(axes), "dtype": "f32", "source": {"kind": kind}}
            for name, axes, kind in (("q", "bhtd", "projection"), ("out_gate", "bht", "projection"), ("norm_weight", "e", "parameter"))]}}

        def dtype(self, slot):
            return torch.float32

        def shape(self, slot, sizes):
            return [(sizes | self.manifest["sizes"])[axis] for axis in {"input:out_gate": "bht", "input:norm_weight": "e"}[slot]]

    problem = make_problem(device.open_device("cpu"), 64, 64, "f32")
    assert isinstance(problem, Problem)
    first, second = problem.inputs(Gated()), problem.inputs(Gated())
    assert first.keys() == second.keys() == {"input:q", "input:out_gate", "input:norm_weight"}, first.keys()
    assert all(torch.equal(first[slot], second[slot]) for slot in first)
    assert first["input:out_gate"].std() > 0.05 and abs(first["input:norm_weight"].mean() - 1) < 0.1


def check_targets():
    """The code that runs on a GPU, whatever the order in which it was compiled: its own, then the newest; never that of another GPU alone, or a processor's."""
    from forms import choose

    def chosen(capability, *names):
        return choose([{"name": name} for name in names], capability)["name"]

    assert chosen("sm_90", "sm_90a", "sm_80") == chosen("sm_90", "sm_80", "sm_90a") == chosen("sm_90", "sm_90a", "sm_90") == "sm_90a"
    assert chosen("sm_90", "sm_90a+roles", "sm_80") == "sm_90a+roles" and chosen("sm_100", "sm_90a+roles", "sm_80") == "sm_80"
    assert chosen("sm_80", "sm_80", "sm_90a") == chosen("sm_100", "sm_80", "sm_90a") == chosen("sm_89", "sm_90", "sm_80", "native") == "sm_80"
    assert chosen("sm_100", "sm_100", "sm_90", "sm_120", "native") == "sm_100" and chosen(None, "sm_80", "native") == "native"


def check_decoding():
    # ---- Decoding with states, token by token, held against the whole sequence.
    pack("decode", "--targets=native,sm_80", "--types=f32", "--specs=softmax-taylor")
    for device in ("cpu", "ptx"):
        done = check("decode", f"--device={device}", "--only=decode$|decode ", "--no-times")
        assert "1 cases, 1 results, 0 wrong" in done.stdout and "features: skipped" in done.stdout + done.stderr, (done.stdout, done.stderr)

    # ---- Both forms beside each other, with what the compiler's costs say.
    done = check("decode", "--device=cpu", "--only=decode$|decode ", "--times", "--minutes=100", "--out=forms.json")
    forms = json.loads((work / "forms.json").read_text())["forms"]
    assert {(row["direction"], row["d"], row["t"]) for row in forms} == {("forward", 16, 64), ("backward", 16, 64)}, forms
    for row in forms:
        assert row["setting"] == "softmax-taylor order=1, f32, deterministic" and row["features"] >= 16 and row["channels"] >= 16, row
        assert min(row["ms"].values()) > 0 and row["measured"] > 0 and abs(row["estimated"] - row["costs"]["chunked"] / row["costs"]["parallel"]) < 1e-9, row
    assert "softmax-taylor order=1, f32, deterministic, d = 16, backward" in done.stdout, done.stdout


def check_interpreter():
    # ---- The GPU's code in the interpreter, by the same program; a damaged reference is seen there too.
    pack("ptx", "--targets=sm_80", "--types=bf16", "--specs=softmax,softmax-count-gate")
    interpreted = check("ptx", "--device=ptx", "--quick")
    assert "5 cases, 19 results, 0 wrong" in interpreted.stdout and "for sm_80" in interpreted.stdout, interpreted.stdout
    why = "they need a GPU, or --device=ptx and a driver with the interpreter that TAYLOR_CUDA_DRIVER names"
    assert f"integer products: skipped: {why}\n" in interpreted.stdout, interpreted.stdout
    assert json.loads((work / "ptx" / "results.json").read_text())["products"] == {"gpu": None, "run": 0, "wrong": [], "skipped": why}
    features = {row["feature"]: row["verdict"] for row in json.loads((work / "ptx" / "results.json").read_text())["features"]}
    assert features["same bits again"] == features["two at the same time"] == "ok", features
    case = next(c for c in json.loads((work / "ptx" / "pack.json").read_text())["cases"] if c["quick"])
    stored = load(work / "ptx" / case["file"])
    stored["output:o"].view(-1)[0] += 2 * case["contract"]["output:o"]["allowed"]
    save(stored, work / "ptx" / case["file"])
    # A product of integers that is wrong is seen in the same run. The driver has the interpreter; it is asked for the products of 8 columns alone.
    file = work / "ptx" / "products.py"
    text = file.read_text()
    for old, new in (("(8, 16, 24, 64, 96, 128, 192, 256)", "(8,)"), ("max(swizzle // 16, 1)", "max(swizzle // 32, 1)")):
        assert text.count(old) == 1, old
        text = text.replace(old, new.ljust(len(old)))
    file.write_text(text)
    wrong = check("ptx", "--device=ptx", "--quick", status=1, TAYLOR_CUDA_DRIVER=str(libraries / "libfake-cuda-driver.so"))
    results = json.loads((work / "ptx" / "results.json").read_text())
    products = results["products"]
    assert not results["passed"] and products["gpu"] == "Fake H100" and products["run"] == 2 * 9 * 8 and products["skipped"] is None, products
    # Of nine places of A and eight of B, three and two have no swizzle.
    assert len(products["wrong"]) == 2 * (9 * 8 - 3 * 2) and all(", swizzle " in row["product"] for row in products["wrong"]), products
    assert f"integer products on Fake H100: 144, 132 wrong\n{products['wrong'][0]['product']}: {products['wrong'][0]['verdict']}\n" in wrong.stdout, wrong.stdout
    assert products["wrong"][0]["verdict"].startswith("WRONG: ") and "19 results, 133 wrong" in wrong.stdout, wrong.stdout
    rows = results["checks"]
    assert [(row["case"], row["slot"]) for row in rows if row["verdict"] != "ok"] == [(case["name"], "output:o")], rows
    refused(check("ptx", "--device=cpu", status=2), "expected a folder with code for --device=cpu, but it was packed for sm_80; ./gpu-check.sh --targets=native makes one")


# Three parts: what follows, of a processor; targets, decoding and forms; the interpreter.
if sys.argv[6] == "1/3":
    check_targets()
    check_shared_tensors()
    check_decoding()
    sys.exit()
if sys.argv[6] == "2/3":
    check_interpreter()
    sys.exit()

# ---- All right: two specifications, one of them with learned weights.
packed = pack("good", "--targets=native", "--types=bf16,f32", "--specs=softmax,softmax-count-layernorm")
assert "5 artifacts, 9 cases, 0 not compiled" in packed.stdout, packed.stdout
done = check("good", "--device=cpu", "--times", "--minutes=100")
results = json.loads((work / "good" / "results.json").read_text())
assert results["passed"] and results["machine"]["device"] == "cpu" and results["folder"]["targets"] == ["native"], results
assert len({row["case"] for row in results["checks"]}) == 9 and len(results["checks"]) == 4 * 4 + 4 * 6 + 1, len(results["checks"])
assert all(row["verdict"] == "ok" and row["error"] <= row["allowed"] for row in results["checks"])
verdicts = {row["feature"]: row["verdict"] for row in results["features"]}
assert verdicts == {"same bits again": "ok", "two at the same time": "ok", "CUDA graph": "skipped: CUDA graphs are the GPU's", "torch operator": "ok",
                    "Gloo, one process": "ok"}, verdicts
timed = {(row["contender"], row["direction"]) for row in results["times"]}
assert {(c, d) for c in ("SDPA flash", "SDPA flash + rotation", "softmax, deterministic", "softmax, eager") for d in ("forward", "backward")} <= timed, timed
assert all(row["ms"] > 0 and row["tflops"] > 0 and row["base"] == "SDPA flash" and row["speed"] > 0 for row in results["times"])
assert all(0 < row["off"] < 0.02 if row["contender"] == "SDPA flash + rotation" else row["off"] is None for row in results["times"]), results["times"]
reasons = {row["contender"]: row["reason"] for row in results["skipped"]}
expected = {f"FlexAttention ({name}){kind}" for name in ("FLASH", "Triton") for kind in ("", " + rotation", ", softmax-taylor", ", linear-relu")}
expected |= {"SDPA cuDNN", "SDPA cuDNN + rotation", "SDPA cuDNN + rotation, compiled", "SDPA flash + rotation, compiled", "linear-relu, chunks in Triton"}
assert set(reasons) == expected and all(reasons.values()), reasons
assert reasons["FlexAttention (Triton)"] == "compiled code is timed on a GPU alone: on a processor FlexAttention has no backward", reasons
assert reasons["FlexAttention (Triton) + rotation"].endswith("is timed at 4096 and 16384; --rows=REGEX times it elsewhere"), reasons
assert "forward, d = 64, causal, bf16: milliseconds (times as fast as SDPA flash)" in done.stdout and "9 cases, 41 results, 0 wrong" in done.stdout, done.stdout
quick = check("good", "--device=cpu", "--quick", "--only=^softmax", "--out=quick.json")
assert "5 cases, 21 results, 0 wrong" in quick.stdout and not json.loads((work / "quick.json").read_text())["times"], quick.stdout

# ---- Chosen rows at chosen lengths; SDPA is their base.
check("good", "--device=cpu", "--quick", "--only=^softmax-f32", "--times", "--minutes=100", "--rows=flash . rot|^softmax, det", "--lengths=64,128", "--out=rows.json")
rows = json.loads((work / "rows.json").read_text())
assert {(row["contender"], row["t"]) for row in rows["times"]} == {
    (name, t) for name in ("SDPA flash", "SDPA flash + rotation", "softmax, deterministic") for t in (64, 128)}, rows["times"]
reasons = {row["contender"]: row["reason"] for row in rows["skipped"]}
assert set(reasons) == {"SDPA cuDNN", "SDPA flash + rotation, compiled"} and rows["forms"] == [], reasons
assert reasons["SDPA flash + rotation, compiled"] == "--quick leaves it out: it takes long to compile", reasons
none = check("good", "--device=cpu", "--times", "--rows=gelu", status=2).stderr
assert none.startswith("error: expected a row that matches --rows=gelu, but got none of 17: SDPA flash + rotation; ") and none.endswith("softmax-count-layernorm, eager\n"), none

# An opponent that computes something else, or fails in whatever way, is not timed.
(broken := copy("changed") / "linear_triton.py").write_bytes(b"raise AttributeError('broken')".ljust(broken.stat().st_size))
(changed := work / "changed" / "opponents.py").write_text(changed.read_text().replace("THETA = 10000.0", "THETA = 10.0000"))
check("changed", "--device=cpu", "--quick", "--only=^softmax-f32", "--times", "--minutes=100", "--rows=^SDPA flash . rotation$|chunks in")
rows = json.loads((work / "changed" / "results.json").read_text())
assert {row["contender"] for row in rows["times"]} == {"SDPA flash"}, rows["times"]
reasons = {row["contender"]: row["reason"] for row in rows["skipped"]}
assert reasons["SDPA flash + rotation"].startswith("its results are off from softmax, deterministic by "), reasons
assert reasons["linear-relu, chunks in Triton"] == "AttributeError: broken", reasons

# ---- Against another folder: each kernel in turn with its own of the same name, by that folder's library.
other = copy("other")
(other / "kernels" / "softmax-f32-d64.so.xz").unlink()
against = run(work / "good" / "against.py", other, "--device=cpu", "--lengths=64", "--seconds=0.01", "--minutes=100",
              "--only=^softmax-(bf16|f32)-d64$|^softmax-bf16-d64-decode$")
rows = json.loads((work / "good" / "against.json").read_text())["rows"]
assert [(row["kernel"], row["t"], row["direction"]) for row in rows] == [
    ("softmax-bf16-d64", 64, "forward"), ("softmax-bf16-d64", 64, "backward"), ("softmax-bf16-d64-decode", 64, "step")], rows
assert all(row["rounds"] >= 15 and 0 < row["low"] <= row["ratio"] <= row["high"] and row["ms"] > 0 and row["other_ms"] > 0 for row in rows), rows
assert "softmax-bf16-d64                                  64 backward" in against.stdout, against.stdout
refused(run(work / "good" / "against.py", other, "--only=^softmax-f32", status=2),
        f"expected kernels of one name in {work / 'good'} and {other} that match --only=^softmax-f32, but there are none")
for arguments, message in ((["--lengths=0"], "expected lengths of at least 1, but got 0"),
                           (["--lengths=x"], "expected a regular expression in --only and whole numbers in --lengths: invalid literal for int() with base 10: 'x'")):
    assert run(work / "good" / "against.py", other, *arguments, status=2).stderr.endswith(f"against.py: error: {message}\n")

# ---- A result that is wrong: one element of a stored gradient, in one case.
folder = copy("damaged")
case = next(c for c in json.loads((folder / "pack.json").read_text())["cases"] if c["name"].startswith("softmax-bf16-d64 1x2/1x37"))
stored = load(folder / case["file"])
stored["gradient:k"].view(-1)[5] += 2 * case["contract"]["gradient:k"]["allowed"]
save(stored, folder / case["file"])
wrong = check("damaged", "--device=cpu", status=1)
rows = json.loads((folder / "results.json").read_text())["checks"]
assert [(row["case"], row["slot"]) for row in rows if row["verdict"] != "ok"] == [(case["name"], "gradient:k")] and "41 results, 1 wrong" in wrong.stdout
# An argument that is not a number: results are none, and that is wrong.
stored["gradient:k"].view(-1)[5] -= 2 * case["contract"]["gradient:k"]["allowed"]
stored["input:v"].view(-1)[0] = float("nan")
save(stored, folder / case["file"])
check("damaged", "--device=cpu", "--only=^softmax-bf16", status=1)
rows = json.loads((folder / "results.json").read_text())["checks"]
assert ("output:o", None, "WRONG") in [(row["slot"], row["error"], row["verdict"]) for row in rows], rows

# ---- Each judge can fail: an element unwritten, a write outside, other bits.
import features
from cases import Case
from device import Host
from folder import Folder
from library import Library

good, library, host = Folder(work / "good"), Library(work / "good" / "libtaylor.so"), Host("cpu")
entry = next(c for c in good.index["cases"] if c["layout"] == "bthc")


def solved():
    problem = Case(good, entry, library.load(good.artifact(entry["artifact"])), host)
    problem.run()
    return problem


def verdicts_of(problem):
    return {row["slot"]: row["verdict"] for row in problem.judge() if row["verdict"] != "ok"}


assert solved().tensors["input:q"].stride()[1] == solved().tensors["input:q"].shape[-1] and verdicts_of(solved()) == {}
problem = solved()
problem.tensors["output:o"][0, 0, 0, 0] = float("nan")
assert verdicts_of(problem) == {"output:o": "WRONG"}
problem = solved()
problem.buffers["gradient:q"].memory[1] = 0
assert verdicts_of(problem) == {"gradient:q": "WRONG: wrote outside of it"}
once = solved()
original, runs = Case.run, []


def drifting(self, workspace=None):
    original(self, workspace)
    runs.append(1)
    self.tensors["gradient:v"].view(-1)[0] += len(runs)


Case.run = drifting
assert features.repeatable(once) == "WRONG: other bits in gradient:v"
assert features.two_streams([once, solved()]) == "WRONG: other bits in gradient:v"
Case.run = original

# ---- Where nothing can be checked: status 2 and one message.
AGAIN = "run ./gpu-check.sh in Taylor's repository and copy all of build/gpu-check"
PTX = "--device=ptx checks the kernels in the interpreter (slow; start with --quick), without times"
refused(run(HERE / "check.py", status=2), f"expected pack.json beside check.py, but {HERE} has none; {AGAIN}")
refused(check("good", status=2, TAYLOR_CUDA_DRIVER="/nowhere.so"),
        f"requires an NVIDIA driver, but /nowhere.so could not be loaded (/nowhere.so: cannot open shared object file: No such file or directory); {PTX}")


def driver(count):
    library = work / f"driver{count}.so"
    text = f"int cuInit(unsigned f) {{ return f; }}\nint cuDeviceGetCount(int *n) {{ *n = {count}; return 0; }}\n"
    subprocess.run([sys.argv[5], "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=text, text=True, check=True)
    return str(library)


none = {"TAYLOR_CUDA_DRIVER": driver(0)}
refused(check("good", status=2, **none, CUDA_VISIBLE_DEVICES=""), f"requires an NVIDIA GPU, but the driver finds none (CUDA_VISIBLE_DEVICES=''); {PTX}")
if not torch.cuda.is_available():
    built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
    refused(check("good", status=2, TAYLOR_CUDA_DRIVER=driver(1)),
            f"requires a torch that can use the GPU, but torch {torch.__version__} ({built}) cannot; install one that fits the driver")
(work / "bare").mkdir()
(work / "bare" / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")\n")
refused(check("good", "--device=cpu", status=2, PYTHONPATH=str(work / "bare")), f"requires torch, but {sys.executable} has none (No module named 'torch'); use a Python that has it, "
        "or: python3 -m pip install torch")
refused(check("good", "--device=ptx", status=2), "expected a folder with code for --device=ptx, but it was packed for native; "
        "./gpu-check.sh --targets=sm_80,sm_90 makes one")
refused(check("good", "--device=cpu", "--only=gelu", status=2), "expected a case that matches --only=gelu, but got none of 9")
for arguments, message in ((["--only=("], "expected a regular expression in --only, but got '(': missing ), unterminated subpattern at position 0"),
                           (["--rows=("], "expected a regular expression in --rows, but got '(': missing ), unterminated subpattern at position 0"),
                           (["--lengths=64,0"], "expected whole numbers of at least 1, by comma, in --lengths, but got '64,0'"),
                           (["--lengths="], "expected whole numbers of at least 1, by comma, in --lengths, but got ''"),
                           (["--device=ptx", "--times"], "unsupported --times with --device=ptx: the interpreter has no times")):
    assert check("good", *arguments, status=2).stderr.endswith(f"check.py: error: {message}\n")

file = next(iter(good.index["artifacts"].values()))["file"]
folder = copy("broken")
(folder / file).unlink()
refused(check("broken", "--device=cpu", status=2), f"expected {file} in {folder}, but it is not there; {AGAIN}")
(folder / file).write_bytes((work / "good" / file).read_bytes()[:-1])
size = (work / "good" / file).stat().st_size
refused(check("broken", "--device=cpu", status=2), f"expected {size} bytes in {file}, but got {size - 1}; {AGAIN}")
(folder / file).write_bytes(b"x" * size)
refused(check("broken", "--device=cpu", status=2), f"cannot unpack {file}: Input format not supported by decoder; {AGAIN}")
(folder / "pack.json").write_text("{}")
refused(check("broken", "--device=cpu", status=2), f"expected a folder of format 2, but {folder} has format None; {AGAIN}")
(folder / "pack.json").write_text("{")
refused(check("broken", "--device=cpu", status=2),
        f"cannot read {folder}/pack.json: Expecting property name enclosed in double quotes: line 1 column 2 (char 1); {AGAIN}")
folder = copy("foreign")
data = b"no library".ljust((folder / "libtaylor.so").stat().st_size)
(folder / "libtaylor.so").write_bytes(data)
refused(check("foreign", "--device=cpu", status=2), f"cannot load {folder}/libtaylor.so: {folder}/libtaylor.so: invalid ELF header; "
        "the folder is made for Linux on x86-64 with glibc 2.36 or newer")

# ---- Messages of pack.py.
large = pack("large", "--targets=native", "--types=bf16", "--specs=softmax", "--limit=0.5", status=1)
start, end = large.stderr.split("; the largest: ")
assert start.startswith(f"error: expected at most 0.5 MB in {work / 'large'}, but got ") and end.endswith("; fewer --targets, --types or --specs make it smaller\n"), large.stderr
assert len(end.split("), ")) == 5 and end.startswith("libtaylor"), end
refused(pack("other", "--specs=gelu", status=1), "expected a specification of examples/specs in --specs, but got 'gelu'")
(work / "mine").mkdir()
(work / "mine" / "thesis.tex").write_text("x")
refused(pack("mine", status=1), f"expected an empty folder or one that gpu-check.sh made, but {work / 'mine'} has other files; --folder names another")
assert (work / "mine" / "thesis.tex").exists()
refused(pack("other", "--bin=/nowhere", status=1), "cannot run /nowhere/taylorc: No such file or directory; ./gpu-check.sh builds it, and --bin names its folder")
target = pack("other", "--targets=i8086", "--specs=softmax", status=1)
assert target.stderr.startswith("error: taylorc: error: unsupported target 'i8086'; expected "), target.stderr
assert target.stderr.count("\n") == 1, target.stderr
# What taylorc refuses on purpose is noted, kernel by kernel; here it is all of them.
none = pack("other", "--targets=sm_80", "--types=f16", "--specs=beyond/relu-squared", status=1)
assert none.stderr.startswith("error: expected at least one kernel, but taylorc made none; the first: expected weights of at most 65504, "), none.stderr
# The marker of a folder that is half made is enough for the next one to replace it.
pack("other", "--targets=native", "--types=bf16", "--specs=softmax")
