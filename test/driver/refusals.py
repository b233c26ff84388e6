# Exit statuses of taylorc and taylor-run: 3 where a sound specification has no code for what was asked of it, on purpose; 1 for faults of what was given.
# With --cases a refused case is no failed one.
# REQUIRES: taylorc
# RUN: %python %s %spec_dir %t
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from cases import REFUSED

specs, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)


def expect(status, message, *command, text=None):
    done = subprocess.run([*map(str, command)], input=text, capture_output=True, text=True)
    assert done.returncode == status, f"{command}: expected status {status}, but got {done.returncode}: {done.stderr}"
    assert message in done.stderr, f"{command}: expected '{message}', but got {done.stderr}"
    return done.stdout


artifact = out / "refused.so"
expect(REFUSED, "unsupported recurrent form: ", "taylorc", specs / "softmax.mlir", "--form=recurrent", "-o", artifact)
expect(REFUSED, "unsupported chunked form: ", "taylorc", specs / "softmax.mlir", "--form=chunked", "-o", artifact)
expect(REFUSED, "unsupported --states: ", "taylorc", specs / "softmax.mlir", "--states", "-o", artifact)
unbounded = specs / "beyond" / "relu-squared.mlir"
expect(REFUSED, "the largest number of f16", "taylorc", unbounded, "--dtype=f16", "--target=sm_80", "-o", artifact)
(out / "queries.mlir").write_text("!q = !taylor.array<[b, h, t, d]>\n!k = !taylor.array<[b, g, u, d]>\ntaylor.spec @x(%q: !q, %k: !k) {\n"
                                  "  %y = taylor.map %q / size(t) : !q\n  taylor.yield %y : !q\n}\n")
expect(REFUSED, "unsupported size(t) with documents: ", "taylorc", out / "queries.mlir", "--documents", "-o", artifact)
(out / "axes.mlir").write_text("!w = !taylor.array<[b, h, t, d, r = 2, s = 2, v = 2, w = 2, x = 2]>\ntaylor.spec @x(%w: !w) {\n"
                               "  %y = taylor.map %w * 2.0 : !w\n  taylor.yield %y : !w\n}\n")
expect(REFUSED, "unsupported array 'w' of 9 axes: ", "taylorc", out / "axes.mlir", "-o", artifact)
expect(REFUSED, "unsupported for sm_80: --form=long", "taylorc", specs / "softmax.mlir", "--target=sm_80", "--form=long", "-o", artifact)
expect(REFUSED, "unsupported documents in PyTorch code", "taylorc", specs / "decay-gates.mlir", "--documents", "--emit=torch")
# One thing is refused with one status, whether an option or the specification asks for it.
softmax = (specs / "softmax.mlir").read_text()
(out / "narrow.mlir").write_text(softmax.replace("d]", "d = 20]"))
for source, size in ((specs / "softmax.mlir", ["--head-dim=20"]), (out / "narrow.mlir", [])):
    expect(REFUSED, "unsupported for sm_80: --head-dim=20; ", "taylorc", source, *size, "--target=sm_80", "-o", artifact)
expect(REFUSED, "unsupported for native: --row-sums=atomic", "taylorc", specs / "softmax.mlir", "--row-sums=atomic", "-o", artifact)
expect(REFUSED, "unsupported for native: --emit=ptx", "taylorc", specs / "softmax.mlir", "--emit=ptx")
hidden = softmax.replace("causal", "causal visible(t < u)")
assert hidden != softmax
(out / "hidden.mlir").write_text(hidden)
expect(REFUSED, "expected a mask by which a query sees some key", "taylorc", out / "hidden.mlir", "-o", artifact)
for device in ("cpu", "ptx", "tile", "reference"):
    expect(REFUSED, "expected a mask by which a query sees some key", "taylor-run", out / "hidden.mlir", "--shape=1,1,4,16", f"--device={device}")
assert not artifact.exists()
expect(1, "unsupported target 'vax'", "taylorc", specs / "softmax.mlir", "--target=vax", "-o", artifact)
words = "!q = !taylor.array<[b, h, t, d]>\ntaylor.spec @x%s(%%q: !q) %s{\n  %%y = taylor.map %%q * 2.0 : !q\n  taylor.yield %%y : !q\n}\n"
for word, written in {"of": (" of @x", ""), "form": ("", "form #tile.form<parallel of forward> "), "carries": ("", "carries #taylor.carry<pieces> ")}.items():
    (out / "words.mlir").write_text(words % written)
    message = f"error: unsupported '{word}' in the text of a specification: passes write it; remove it"
    expect(1, message, "taylorc", out / "words.mlir", "-o", artifact)
    expect(1, message, "taylor-run", out / "words.mlir", "--shape=1,1,4,16", "--device=cpu", "--check")
assert not artifact.exists()
(out / "broken.mlir").write_text("taylor.spec @f() {")
expect(1, "error: ", "taylorc", out / "broken.mlir", "-o", artifact)

run = ["taylor-run", "--device=ptx", unbounded, "--check", "--forward-only", "--shape=1,1,4,16"]
expect(REFUSED, "the largest number of f16", *run, "--dtype=f16")
expect(1, "expected --dtype=f32, bf16, f16 or f64", *run, "--dtype=f8")
tile = ["taylor-run", specs / "softmax.mlir", "--device=tile", "--check", "--shape=1,1,4,16"]
expect(REFUSED, "unsupported chunked form: ", *tile, "--tiles=form=chunked")
expect(1, "expected ", *tile, "--tiles=form=choked")
printed = expect(REFUSED, "the largest number of f16", *run, "--cases=-", text="--seed=1\n--dtype=f16\n--seed=2\n")
assert "case 1: ok" in printed and "case 2: refused" in printed and "case 3: ok" in printed and "2 cases passed, 0 failed, 1 refused" in printed, printed
failing = expect(1, "the largest number of f16", *run, "--cases=-", text="--dtype=f16\n--kernel=none.so\n")
assert "case 1: refused" in failing and "case 2: FAILED" in failing and "0 cases passed, 1 failed, 1 refused" in failing, failing
